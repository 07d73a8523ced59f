"""A look at a graph before anything is fitted for good: what it is like, and advice."""

from adagcn.doctor.diagnosis import Advice, Diagnosis
from adagcn.doctor.examination import examine

__all__ = ["Advice", "Diagnosis", "examine"]
