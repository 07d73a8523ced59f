"""All randomness of a fit: one stream of random numbers per purpose and place, from one seed.

Streams depend on nothing but these, so that a layer draws the same numbers whether it is fitted in
one go with the others or added later.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
import torch

Purpose = Literal["start", "training", "pseudo_labels", "look", "doctor"]

_NUMBER = {"start": 0, "training": 1, "pseudo_labels": 2, "look": 3, "doctor": 10}


def seed_sequence(seed: int, purpose: Purpose, *place: int) -> np.random.SeedSequence:
    """Return what a stream grows from; ``place`` is for example a hop."""
    return np.random.SeedSequence(seed, spawn_key=(_NUMBER[purpose], *place))


def torch_stream(seed: int, purpose: Purpose, *place: int, device: str = "cpu") -> torch.Generator:
    """Return a stream for networks."""
    state = seed_sequence(seed, purpose, *place).generate_state(1, np.uint64)
    return torch.Generator(device).manual_seed(int(state[0] >> np.uint64(1)))


def numpy_stream(seed: int, purpose: Purpose, *place: int) -> np.random.Generator:
    """Return a stream for drawing nodes."""
    return np.random.default_rng(seed_sequence(seed, purpose, *place))
