"""How the networks are trained: one loop for all, full-batch unless a network says otherwise."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.special import log_softmax
from torch import Tensor
from torch.nn.functional import cross_entropy

from adagcn.baselines.network import GraphNetwork
from adagcn.baselines.settings import NetworkSettings
from adagcn.baselines.stopping import make_stopper
from adagcn.baselines.system import GraphInput, NodeProblem, Recipe
from adagcn.errors import FormatError, NumericalError
from adagcn.training.loop import StopPenalty, TrainingRecord

Purpose = Literal["start", "training"]
MakeNetwork = Callable[[Any, int, int, torch.Generator, torch.dtype], GraphNetwork]


@dataclass(frozen=True)
class NetworkSystem:
    """A system that is a network; see :class:`adagcn.baselines.system.System`.

    Parameters
    ----------
    settings : type
        Its settings.
    recipes : mapping
        Its presets, the default first.
    make_network : callable
        Takes settings, n_features, n_classes, a generator and a dtype; returns a fresh network on
        the generator's device.
    """

    settings: type[NetworkSettings]
    recipes: Mapping[str, Recipe]
    make_network: MakeNetwork

    def fit(
        self, problem: NodeProblem, settings: NetworkSettings, *, seed: int, device: str
    ) -> FittedNetwork:
        """Train a fresh network."""
        features = problem.inputs.features
        dtype = torch.float64 if features.dtype == np.float64 else torch.float32
        start = random_stream(seed, "start", device)
        network = self.make_network(settings, features.shape[1], problem.n_classes, start, dtype)
        record = train(network, problem, settings, random_stream(seed, "training", device))
        return FittedNetwork(network, record)

    def restore(
        self,
        tensors: Mapping[str, NDArray[Any]],
        settings: NetworkSettings,
        n_features: int,
        n_classes: int,
    ) -> FittedNetwork:
        """Return the network that the tensors came from."""
        kinds = {tensor.dtype for tensor in tensors.values() if tensor.dtype.kind == "f"}
        dtype = torch.float64 if np.dtype(np.float64) in kinds else torch.float32
        start = torch.Generator().manual_seed(0)
        network = self.make_network(settings, n_features, n_classes, start, dtype)
        _load(network, tensors)
        return FittedNetwork(network, TrainingRecord(0))


@dataclass(frozen=True)
class FittedNetwork:
    """A trained network."""

    network: GraphNetwork
    record: TrainingRecord

    @torch.no_grad()
    def log_proba(self, inputs: GraphInput, positions: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return log-probabilities of shape (len(positions), n_classes)."""
        nodes, place = np.unique(positions, return_inverse=True)
        logits = self.network(self.network.view(inputs, nodes)).cpu().numpy().astype(np.float64)
        if not np.isfinite(logits).all():
            raise NumericalError(
                "AGC-N1003",
                "the scores of the network are not finite numbers",
                got=f"{np.count_nonzero(~np.isfinite(logits))} of {logits.size}",
                fix="scale the features (feature_norm='l1')",
            )
        return np.asarray(log_softmax(logits, axis=1)[place])

    def tensors(self) -> dict[str, NDArray[Any]]:
        """Return parameters and buffers."""
        state = self.network.state_dict()
        return {name: np.ascontiguousarray(value.cpu().numpy()) for name, value in state.items()}


def train(
    network: GraphNetwork,
    problem: NodeProblem,
    settings: NetworkSettings,
    generator: torch.Generator,
) -> TrainingRecord:
    """Train a network in place, with a look at the stopping nodes after every epoch.

    Afterwards it holds the parameters that the stopping rule keeps, those of the last epoch where
    there are no stopping nodes.
    """
    nodes, device = problem.nodes, generator.device
    view = network.training_view(problem.inputs, nodes.train_nodes)
    target = _target(problem, next(network.parameters()))
    stop_rows = None
    if nodes.stop_nodes is not None and problem.stop_labels is not None:
        labels = torch.from_numpy(problem.stop_labels).to(device)
        stop_rows = network.training_view(problem.inputs, nodes.stop_nodes), labels
    stopper = make_stopper(settings.stop_on, settings.patience)
    optimizer = network.make_optimizer(settings)
    epoch = 0
    for epoch in range(1, settings.max_epochs + 1):
        for loss in network.losses(view, target, generator):
            optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            optimizer.step()
            _check_finite(loss, epoch, settings.learning_rate)
        if stop_rows is not None:
            accuracy, stop_loss = _evaluate(network, *stop_rows, settings.stop_penalty)
            if stopper.should_stop(accuracy, stop_loss, network):
                break
    if stop_rows is None:
        return TrainingRecord(epoch)
    stopper.restore(network)
    return TrainingRecord(epoch, stopper.kept_accuracy, stopper.kept_loss)


def random_stream(seed: int, purpose: Purpose, device: str) -> torch.Generator:
    """Return the stream of random numbers for one purpose of a fit."""
    key = ({"start": 0, "training": 1}[purpose],)
    state = np.random.SeedSequence(seed, spawn_key=key).generate_state(1, np.uint64)
    return torch.Generator(device).manual_seed(int(state[0] >> np.uint64(1)))


@torch.no_grad()
def _evaluate(
    network: GraphNetwork, view: Any, labels: Tensor, penalty: StopPenalty
) -> tuple[float, float]:
    """Return accuracy and loss on the stopping nodes, without dropout."""
    logits = network(view)
    correct = (logits.argmax(dim=1) == labels).sum().item()
    loss = cross_entropy(logits, labels)
    if penalty != "none":
        loss = loss + network.penalty() / (len(labels) if penalty == "diluted" else 1)
    return correct / len(labels), loss.item()


def _target(problem: NodeProblem, like: Tensor) -> Tensor:
    """Return a matrix of shape (n_train, n_classes) with w_i in the column of y_i."""
    nodes = problem.nodes
    target = np.zeros((len(nodes.labels), problem.n_classes))
    target[np.arange(len(nodes.labels)), nodes.labels] = nodes.sample_weight
    return torch.from_numpy(target).to(like.device, like.dtype)


def _check_finite(loss: Tensor, epoch: int, learning_rate: float) -> None:
    if not math.isfinite(loss.item()):
        raise NumericalError(
            "AGC-N1004",
            f"the training loss is no longer a finite number at epoch {epoch} "
            f"(learning_rate={learning_rate})",
            got=loss.item(),
            fix="lower learning_rate, or scale the features (feature_norm='l1')",
        )


def _load(network: GraphNetwork, tensors: Mapping[str, NDArray[Any]]) -> None:
    """Put stored tensors into a network if they are exactly those that it has."""
    wanted = {name: tuple(value.shape) for name, value in network.state_dict().items()}
    found = {name: tensor.shape for name, tensor in tensors.items()}
    if wanted != found:
        wrong = sorted(n for n in {*wanted, *found} if wanted.get(n) != found.get(n))
        raise FormatError(
            "AGC-F1005",
            f"the model file's tensors do not fit the model: {', '.join(wrong[:5])}",
            got=[found.get(name) for name in wrong[:5]],
            fix="save the model again",
        )
    with torch.no_grad():
        for name, value in network.state_dict().items():
            value.copy_(torch.from_numpy(np.array(tensors[name])))
