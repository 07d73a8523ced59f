"""From a boosted model's settings to what trains a network on each hop."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from adagcn.errors import InputError
from adagcn.estimators.problem import FitProblem
from adagcn.estimators.settings import Settings
from adagcn.training.hop_fitter import NetworkFitter
from adagcn.training.loop import Learner, TrainingSettings


def network_fitter(
    estimator: Any, problem: FitProblem, settings: Settings, seed: int
) -> NetworkFitter:
    """Return the fitter of an estimator whose ``make_network`` gives its network."""
    dtype = torch_dtype(problem.source.features.dtype)

    def make_learner(generator: torch.Generator, n_features: int) -> Learner:
        n_classes = len(problem.classes)
        network: Learner = estimator.make_network(settings, n_features, n_classes, generator, dtype)
        return network

    return NetworkFitter(
        make_learner=make_learner,
        labels=problem.nodes.labels,
        stop_labels=problem.stop_labels,
        settings=training_settings(settings),
        seed=seed,
        carry_parameters=settings.carry_parameters,
        carry_optimizer=settings.carry_optimizer,
        share_stopping=settings.share_stopping,
        device=checked_device(estimator.device),
    )


def training_settings(settings: Settings) -> TrainingSettings:
    """Return the part of the settings that the training loop needs."""
    return TrainingSettings(
        learning_rate=settings.learning_rate,
        weight_decay=settings.weight_decay,
        max_epochs=settings.max_epochs,
        patience=settings.patience,
        stop_on=settings.stop_on,
        stop_penalty=settings.stop_penalty,
        align_weights=settings.align_weights,
    )


def torch_dtype(dtype: np.dtype[Any]) -> torch.dtype:
    """Return float64 for float64 features and float32 for any other."""
    return torch.float64 if dtype == np.float64 else torch.float32


def checked_device(device: str) -> str:
    """Return the device if torch can use it here."""
    try:
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError, TypeError) as error:
        raise InputError(
            "AGC-I642",
            f"device cannot be used here: {str(error).splitlines()[0]}",
            got=device,
            fix="use device='cpu'",
        ) from None
    return str(device)
