"""Duan et al.: A Comprehensive Study on Large-Scale Graph Training, NeurIPS 2022: EnGCN.

https://arxiv.org/abs/2210.07494

A perceptron over the hops of a graph, whose votes are summed as in AdaGCN while all nodes weigh the
same; known labels are propagated as well and are a second input, and sure predictions become labels
for the hops that follow::

    X^(0) = X      E^(0) = Y      S = D^−½ A D^−½, without added self-loops
    Z_l     = f(X^(l)) + [l > 0] (1/R) Σ_r g_r(E^(l))           p_l = softmax(Z_l)
    V_l+1   = V_l and the nodes with max_k p_l,k ≥ τ, these as what they are predicted to be
    X^(l+1) = S X^(l)                                           E^(l+1) = S E^(l)
    F       = Σ_l (K − 1)(log p_l − (1/K) Σ_k log p_l,k)        l = 0 … L − 1

On each hop f and all g_r, perceptrons with batch normalization, minimize the mean of −log p_l over
the nodes V_l, which start as the training nodes; they carry on from the hop before, and so does
Adam. The prediction is argmax_k F_k.

Shapes: X (n_nodes, n_features); E (n_nodes, n_classes); Z and F (n_nodes, n_classes); hidden layers
(·, hidden_units). L is ``n_hops``, R ``n_heads``, τ ``threshold``; a τ above 1 adds no node. Y has
a training node's weight, over the mean weight, in the column of its class.

Not copied from the authors' code: stopping nodes never become training nodes; S^l Y as the
input of a training node lacks what walks of l steps bring back of its own label,
(S^l)_ii Y_i; the rate of dropout is that of the setting, for f as well; batches are shuffled. Until
February 2023 that code also trained on labels of validation and test nodes.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import sparse
from torch import Tensor, nn

from adagcn.boosting.samme import Combination
from adagcn.errors import FormatError
from adagcn.graph import Features
from adagcn.learners.inputs import Input, as_input
from adagcn.models.support.batch_norm import trained
from adagcn.models.support.deep_perceptron import DeepPerceptron
from adagcn.models.support.graph_model import GraphModelClassifier
from adagcn.models.support.known_nodes import NAMES, KnownNodes
from adagcn.models.support.label_spreading import normalized_adjacency
from adagcn.models.support.model_file import Tensors
from adagcn.models.support.network import Start
from adagcn.models.support.sampling import batch_loss, batches
from adagcn.models.support.settings import (
    BatchSize,
    Count,
    HiddenUnits,
    LearningRate,
    NonNegative,
    Positive,
    Share,
    SystemSettings,
)
from adagcn.models.support.system import (
    FitContext,
    GraphInput,
    NodeProblem,
    Recipe,
    RowsOfStudy,
    measured,
)
from adagcn.propagation.hops import Hop, hop_stream
from adagcn.training.loop import TrainingRecord, finite_log_proba, stopping_loss, train
from adagcn.training.random_streams import torch_stream
from adagcn.training.stopping import Stopper


class EnGCNSettings(SystemSettings):
    """Settings of EnGCN."""

    n_hops: Annotated[Count, "L, hops that vote: X, SX, … S^(L−1) X"] = 4
    hidden_units: HiddenUnits = 256
    n_dense_layers: Annotated[Count, "linear maps of every perceptron"] = 3
    dropout: Annotated[Share, "rate on the hidden layers"] = 0.5
    use_labels: Annotated[bool, "whether propagated labels are a second input"] = True
    n_heads: Annotated[Count, "R, perceptrons on the propagated labels"] = 1
    threshold: Annotated[
        Positive, "τ, the probability from which on a prediction becomes a label; above 1: none"
    ] = 0.9
    batch_size: BatchSize = 1000
    learning_rate: LearningRate = 2e-3
    weight_decay: Annotated[NonNegative, "coupled decay of all parameters"] = 1e-4
    max_epochs: Annotated[Count, "maximum number of epochs on each hop"] = 70
    check_every: Annotated[Count, "epochs from one look at the stopping nodes to the next"] = 5
    patience: Annotated[Count, "looks that may bring no higher accuracy"] = 2


class HopNetwork(nn.Module):
    """f and all g_r, which serve one hop after the other."""

    def __init__(self, settings: EnGCNSettings, start: Start) -> None:
        super().__init__()
        hidden = [settings.hidden_units] * (settings.n_dense_layers - 1)
        n_heads = settings.n_heads if settings.use_labels else 0

        def perceptron(n_inputs: int) -> DeepPerceptron:
            widths = [n_inputs, *hidden, start.n_classes]
            return DeepPerceptron(widths, start, dropout=settings.dropout, batch_norm=True)

        self.features = perceptron(start.n_features)
        self.heads = nn.ModuleList(perceptron(start.n_classes) for _ in range(n_heads))

    def forward(
        self, rows: Input, labels: Tensor | None, generator: torch.Generator | None = None
    ) -> Tensor:
        """Return Z_l from rows of X^(l) and of E^(l); without the latter on hop 0."""
        logits: Tensor = self.features(rows, generator)
        if labels is None or not self.heads:
            return logits
        by_head = torch.stack([head(labels, generator) for head in self.heads])
        return logits + by_head.mean(dim=0)

    @property
    def like(self) -> Tensor:
        """A parameter."""
        return next(self.parameters())


@dataclass(frozen=True)
class HopInputs:
    """X^(l) and E^(l) of all nodes; the latter is None on hop 0."""

    hop: Hop
    labels: NDArray[np.float64] | None

    def rows(self, nodes: NDArray[np.intp]) -> tuple[Features, NDArray[np.float64] | None]:
        """Return the rows of some nodes."""
        return self.hop.rows(nodes), None if self.labels is None else self.labels[nodes]


def hop_inputs(inputs: GraphInput, known: KnownNodes, n_hops: int) -> Iterator[HopInputs]:
    """Yield what the network sees of each hop."""
    matrix = normalized_adjacency(inputs.adjacency)
    which, nodes = known.found_in(inputs)
    labels = (known.weights / known.weights.mean())[which, None] * known.one_hot[which]
    hops = hop_stream(matrix.astype(inputs.features.dtype), inputs.features)
    spread = label_hops(matrix, nodes, labels)
    for number, hop, label_hop in zip(range(n_hops), hops, spread, strict=False):
        yield HopInputs(hop, label_hop if number else None)


def label_hops(
    matrix: sparse.csr_array, nodes: NDArray[np.intp], labels: NDArray[np.float64]
) -> Iterator[NDArray[np.float64]]:
    """Yield S^l Y without the diagonal of S^l, for l = 0, 1, …: no node sees its own label."""
    spread = np.zeros((matrix.shape[0], labels.shape[1]))
    spread[nodes] = labels
    for returned in returned_shares(matrix, nodes):
        found = spread.copy()
        found[nodes] -= returned[:, None] * labels
        yield found
        spread = matrix @ spread


def returned_shares(
    matrix: sparse.csr_array, nodes: NDArray[np.intp]
) -> Iterator[NDArray[np.float64]]:
    """Yield (S^l)_ii of some nodes, from l = 0 on.

    As Σ_j (S^a)_ij (S^b)_ji with a + b = l, a − b ≤ 1: half the steps there and half of them back
    reach fewer nodes than all.
    """
    chosen = sparse.csr_array(
        (np.ones(len(nodes)), (np.arange(len(nodes)), nodes)), shape=(len(nodes), matrix.shape[0])
    )
    there, back, backward = chosen, chosen, matrix.T.tocsr()
    while True:
        yield np.asarray(there.multiply(back).sum(axis=1)).ravel()
        there = sparse.csr_array(there @ matrix)
        yield np.asarray(there.multiply(back).sum(axis=1)).ravel()
        back = sparse.csr_array(back @ backward)


@dataclass(frozen=True)
class Labels:
    """V_l: nodes that are trained on, their classes and what each counts."""

    nodes: NDArray[np.intp]
    classes: NDArray[np.int64]
    weights: NDArray[np.float64]

    def target(self, n_classes: int, like: Tensor) -> Tensor:
        """Return a matrix with the weights in the columns of the classes; they sum to one."""
        found = np.zeros((len(self.nodes), n_classes))
        found[np.arange(len(found)), self.classes] = self.weights / self.weights.sum()
        return torch.from_numpy(found).to(like.device, like.dtype)


class PseudoLabels:
    """Which nodes have become sure so far, and of which class; stopping nodes never do."""

    def __init__(self, problem: NodeProblem, threshold: float) -> None:
        n_nodes, nodes = problem.inputs.n_nodes, problem.nodes
        self.problem, self.threshold = problem, threshold
        self.classes = np.full(n_nodes, -1, dtype=np.int64)
        self.barred = np.zeros(n_nodes, dtype=bool)
        self.barred[nodes.train_nodes] = True  # true labels always win
        if nodes.stop_nodes is not None:
            self.barred[nodes.stop_nodes] = True

    def add(self, log_proba: NDArray[np.float64]) -> None:
        """Take in what a hop says of all nodes."""
        sure = ~self.barred & (log_proba.max(axis=1) >= np.log(self.threshold))
        self.classes[sure] = log_proba[sure].argmax(axis=1)

    def labels(self) -> Labels:
        """Return V: the training nodes, then the others, each as heavy as the mean of those."""
        nodes = self.problem.nodes
        added = np.flatnonzero(self.classes >= 0)
        # In an order that does not depend on how the graph happens to be stored.
        added = added[np.argsort(self.problem.inputs.node_ids[added], kind="stable")]
        weights = np.full(len(added), nodes.sample_weight.mean())
        return Labels(
            np.concatenate([nodes.train_nodes, added]),
            np.concatenate([nodes.labels, self.classes[added]]),
            np.concatenate([nodes.sample_weight, weights]),
        )


@dataclass
class CheckedStopper(Stopper):
    """The rule of the authors' code: a look at the accuracy every few epochs.

    The patience is counted in looks, and only a higher accuracy refills it.

    Parameters
    ----------
    every : int
        Epochs from one look to the next.
    """

    every: int = 1
    n_epochs: int = 0

    def should_stop(self, accuracy: float, loss: float, learner: nn.Module) -> bool:
        """Take in one epoch's result on the stopping nodes; return whether to stop."""
        self.n_epochs += 1
        if self.n_epochs % self.every:
            return False
        if accuracy > self.kept_accuracy:
            self.kept_accuracy, self.kept_loss = accuracy, loss
            self.patience_left = self.patience
            self._keep(learner)
        else:
            self.patience_left -= 1
        return self.patience_left == 0


class HopTrainee:
    """Trains the network on one hop, with an optimizer that all hops share."""

    def __init__(
        self,
        fit: EnGCNFit,
        here: HopInputs,
        labels: Labels,
        generator: torch.Generator,
    ) -> None:
        nodes, self.fit, self.generator = fit.problem.nodes, fit, generator
        self.rows, self.label_rows = here.rows(labels.nodes)
        self.target = labels.target(fit.problem.n_classes, fit.network.like)
        if nodes.stop_nodes is not None and nodes.stop_labels is not None:
            self.stop_inputs = fit.as_inputs(*here.rows(nodes.stop_nodes))
            self.stop_labels = torch.from_numpy(nodes.stop_labels).to(generator.device)

    @property
    def module(self) -> nn.Module:
        """What is trained."""
        return self.fit.network

    def steps(self) -> Iterator[Tensor]:
        """Take a step for each batch of one epoch."""
        for batch in batches(len(self.target), self.fit.settings.batch_size, self.generator):
            some = batch.cpu().numpy()
            label_rows = None if self.label_rows is None else self.label_rows[some]
            inputs = self.fit.as_inputs(self.rows[some], label_rows)
            loss = batch_loss(self.fit.network(*inputs, self.generator), self.target, batch)
            self.fit.optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            self.fit.optimizer.step()
            yield loss

    @torch.no_grad()
    def evaluate(self) -> tuple[float, float]:
        """Return accuracy and loss on the stopping nodes."""
        logits = self.fit.network(*self.stop_inputs)
        return stopping_loss(logits, self.stop_labels, _no_penalty, "none")


def _no_penalty() -> Tensor:
    return torch.zeros(())


class EnGCNFit:
    """One network and one optimizer, carried through the hops."""

    def __init__(self, problem: NodeProblem, settings: EnGCNSettings, context: FitContext) -> None:
        start = Start.of(problem, context)
        self.problem, self.settings, self.context = problem, settings, context
        self.network = made(settings, start)
        self.optimizer = torch.optim.Adam(
            trained(self.network),
            lr=settings.learning_rate,
            weight_decay=settings.weight_decay,
            fused=True,
        )

    def as_inputs(
        self, rows: Features, label_rows: NDArray[np.float64] | None
    ) -> tuple[Input, Tensor | None]:
        """Return rows as the network takes them."""
        return as_inputs(self.network, rows, label_rows)

    def run(self) -> FittedEnGCN:
        """Train on every hop; a callback that ends the fit leaves the hops so far."""
        known = KnownNodes.of(self.problem)
        sure = PseudoLabels(self.problem, self.settings.threshold)
        networks, n_epochs = [], 0
        hops = hop_inputs(self.problem.inputs, known, self.settings.n_hops)
        for number, here in enumerate(hops):
            n_epochs += self._train(number, here, sure.labels())
            networks.append(copy.deepcopy(self.network))
            if self.context.events.stopped:
                break
            sure.add(log_proba_of_all(self.network, here))
        fitted = FittedEnGCN(tuple(networks), known, TrainingRecord(n_epochs))
        return measured(fitted, self.problem)

    def _train(self, number: int, here: HopInputs, labels: Labels) -> int:
        """Train on one hop; return the epochs it took."""
        settings, context = self.settings, self.context
        stopper = None
        if self.problem.nodes.stop_nodes is not None:
            stopper = CheckedStopper(settings.patience, every=settings.check_every)
        generator = torch_stream(context.seed, "training", number, device=context.device)
        record = train(
            HopTrainee(self, here, labels, generator),
            max_epochs=settings.max_epochs,
            learning_rate=settings.learning_rate,
            stopper=stopper,
            events=context.events,
            layer=number,
        )
        return record.epochs


def as_inputs(
    network: HopNetwork, rows: Features, label_rows: NDArray[np.float64] | None
) -> tuple[Input, Tensor | None]:
    """Return rows as a network takes them."""
    like = network.like
    if label_rows is None:
        return as_input(rows, like), None
    return as_input(rows, like), torch.from_numpy(label_rows).to(like.device, like.dtype)


@torch.no_grad()
def log_proba_of(
    network: HopNetwork, rows: Features, label_rows: NDArray[np.float64] | None
) -> NDArray[np.float64]:
    """Return log p_l of some rows."""
    return finite_log_proba(network(*as_inputs(network, rows, label_rows)))


def log_proba_of_all(network: HopNetwork, here: HopInputs) -> NDArray[np.float64]:
    """Return log p_l of all nodes, block by block."""
    found, start = [], 0
    for rows in here.hop.blocks():
        some = slice(start, start + rows.shape[0])
        found.append(
            log_proba_of(network, rows, None if here.labels is None else here.labels[some])
        )
        start += rows.shape[0]
    return np.concatenate(found)


@dataclass(frozen=True)
class FittedEnGCN:
    """The network as it was after each hop, and the training nodes whose labels are propagated."""

    networks: Sequence[HopNetwork]
    known: KnownNodes
    record: TrainingRecord

    def log_proba(self, inputs: GraphInput, positions: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return log-probabilities of shape (len(positions), n_classes)."""
        hops = hop_inputs(inputs, self.known, len(self.networks))
        each = (
            (1.0, log_proba_of(network, *here.rows(positions)))
            for network, here in zip(self.networks, hops, strict=True)
        )
        return Combination().sum_votes(each).log_proba()

    def tensors(self) -> dict[str, NDArray[Any]]:
        """Return the parameters after each hop, and the training nodes."""
        found = {
            f"hop.{number:03d}.{name}": np.ascontiguousarray(value.cpu().numpy())
            for number, network in enumerate(self.networks)
            for name, value in network.state_dict().items()
        }
        return {**found, **self.known.tensors()}


def made(settings: EnGCNSettings, start: Start) -> HopNetwork:
    """Return a fresh network, once it is clear that it fits into memory."""
    HopNetwork(settings, start.planned(settings))
    return HopNetwork(settings, start)


class EnGCNSystem:
    """The system; see :class:`adagcn.models.support.system.System`."""

    settings = EnGCNSettings
    recipes: Mapping[str, Recipe] = {
        # Not the authors', who name no graph with few labels: values from within the ranges of
        # their four. Epochs and patience are more, since an epoch on few labels is a step or two,
        # and on Flickr 45 of them.
        "small": Recipe(max_epochs=500, patience=20),
        "authors": RowsOfStudy(
            {
                "flickr": {"learning_rate": 1e-4},
                "reddit": {
                    "learning_rate": 1e-3,
                    "weight_decay": 0.0,
                    "hidden_units": 512,
                    "threshold": 0.95,
                    "batch_size": 5000,
                },
                "ogbn-arxiv": {
                    "hidden_units": 1024,
                    "n_heads": 7,
                    "threshold": 0.5,
                    "batch_size": 10_000,
                    "max_epochs": 50,
                },
                "ogbn-products": {
                    "learning_rate": 1e-3,
                    "weight_decay": 0.0,
                    "hidden_units": 1024,
                    "n_hops": 8,
                    "n_heads": 3,
                    "threshold": 0.7,
                    "batch_size": 10_000,
                    "max_epochs": 50,
                },
            },
            standing_in="flickr",
        ),
    }

    def fit(
        self, problem: NodeProblem, settings: EnGCNSettings, context: FitContext
    ) -> FittedEnGCN:
        """Train a network through the hops."""
        return EnGCNFit(problem, settings, context).run()

    def restore(
        self, tensors: Tensors, settings: EnGCNSettings, n_features: int, n_classes: int
    ) -> FittedEnGCN:
        """Return what the tensors came from."""
        known = KnownNodes.from_tensors(tensors, n_classes)
        by_hop: dict[str, dict[str, NDArray[Any]]] = {}
        for name in sorted(tensors.keys() - set(NAMES)):
            hop, part = name[: len("hop.000")], name[len("hop.000.") :]
            by_hop.setdefault(hop, {})[part] = tensors[name]
        wanted = [f"hop.{number:03d}" for number in range(len(by_hop))]
        if list(by_hop) != wanted or not 1 <= len(by_hop) <= settings.n_hops:
            raise _misfit(list(by_hop))
        networks = tuple(
            _restored(settings, parts, n_features, n_classes) for parts in by_hop.values()
        )
        return FittedEnGCN(networks, known, TrainingRecord(0))


def _restored(
    settings: EnGCNSettings, parts: Mapping[str, NDArray[Any]], n_features: int, n_classes: int
) -> HopNetwork:
    """Return the network of one hop if its tensors are those that it has."""
    is_double = any(part.dtype == np.float64 for part in parts.values())
    dtype = torch.float64 if is_double else torch.float32
    start = Start(n_features, n_classes, torch.Generator().manual_seed(0), dtype)
    network = made(settings, start)
    state = network.state_dict()
    for name in {*state, *parts}:
        if name not in parts or name not in state or parts[name].shape != tuple(state[name].shape):
            raise _misfit(name)
    with torch.no_grad():
        for name, value in state.items():
            value.copy_(torch.from_numpy(np.array(parts[name])))
    return network


def _misfit(got: Any) -> FormatError:
    return FormatError(
        "AGC-F1091",
        "the model file's tensors do not fit the model",
        got=got,
        fix="save the model again",
    )


class EnGCNClassifier(GraphModelClassifier):
    """One perceptron through all hops, with labels as input and sure predictions as labels.

    The preset ``small`` is ours: the authors name settings for Flickr, Reddit and two graphs of the
    Open Graph Benchmark only. ``authors`` has these; other graphs get those of Flickr, with a
    notice.
    """

    model_key = "engcn"
    default_preset = "small"
    system = EnGCNSystem()
