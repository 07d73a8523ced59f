"""Where graphs come from: the paper's data sets, converters, cleaning, splits and generators."""

from adagcn.data.catalog import CATALOG, Counts, DataFile, DataSet, find_dataset
from adagcn.data.cleaning import clean, clean_as_paper
from adagcn.data.gasteiger import gasteiger_split
from adagcn.data.generators import planted_partition
from adagcn.data.holdout import holdout_split
from adagcn.data.load import (
    Verification,
    dataset_info,
    load_dataset,
    load_graph,
    locate_dataset,
    verify_dataset,
)
from adagcn.data.nodesets import Split, with_calibration
from adagcn.data.planetoid import convert_planetoid, read_planetoid
from adagcn.data.reddit import convert_reddit
from adagcn.data.split_files import file_split
from adagcn.data.splits import make_split, parse_split, public_split, stratified_split

__all__ = [
    "CATALOG",
    "Counts",
    "DataFile",
    "DataSet",
    "Split",
    "Verification",
    "clean",
    "clean_as_paper",
    "convert_planetoid",
    "convert_reddit",
    "dataset_info",
    "file_split",
    "find_dataset",
    "gasteiger_split",
    "holdout_split",
    "load_dataset",
    "load_graph",
    "locate_dataset",
    "make_split",
    "parse_split",
    "planted_partition",
    "public_split",
    "read_planetoid",
    "stratified_split",
    "verify_dataset",
    "with_calibration",
]
