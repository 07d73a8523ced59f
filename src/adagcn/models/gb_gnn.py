"""Oono and Suzuki: Analysis of Transduction through Gradient Boosting, NeurIPS 2020: GB-GNN.

https://arxiv.org/abs/2006.08550 ("Optimization and Generalization Analysis of Transduction through
Gradient Boosting and Application to Multi-scale Graph Neural Networks"), the theory that AdaGCN's
paper names. A new perceptron on each of the features X^(1), X^(2), …, boosted by SAMME. With
weights w that start equal, for t = 1 … T::

    f_t     = argmin_f Σ_i w_i (−log p_i,y_i)                    p = softmax(f(X^(t)))
    ε       = Σ_i w_i [f_t wrong on i]                           α_t = log((1 − ε)/ε) + log(K − 1)
    w_i     ∝ w_i exp(α_t [f_t wrong on i])
    X^(t+1) = Â X^(t)                                            aggregation="adjacency"
    X^(t+1) = (1 − ρ) X + ρ Â X^(t)                              aggregation="initial"
    X^(t+1) = Σ_j c_j Â^p_j X^(t), p = 0, 1, 2, 4, 8             aggregation="alignment"

and the prediction is argmax_k Σ_t α_t [f_t says k]. c maximizes the alignment of the kernel of the
training nodes, x_iᵀ x_j, with that of their labels, [y_i = y_j]: the cosine of the two matrices.
Where there are stopping nodes, the learners up to the highest accuracy on them are kept.

Shapes: X^(t) (n_nodes, n_features); hidden layers (·, hidden_units); c (5,). ρ is
``propagated_share``. A perfect learner counts as if it had a quarter of an error
(:func:`adagcn.boosting.samme.layer_weight`).

Not copied from the authors' code: dropout stays on in predictions; each learner sees one random
batch only; a learner no better than guessing votes with α ≤ 0 (here it ends the boosting, without a
vote; a first one that is no better predicts alone); Â is dense; the size of c is left to chance, so
that features grow or vanish. Their joint training of all learners afterwards ("fine tuning") is not
here.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated, Any, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from pydantic import Field
from scipy import sparse
from torch import Tensor

from adagcn.boosting.fit_state import BoostedLayer, FitState
from adagcn.boosting.hop_boosting import HopBoosting
from adagcn.boosting.samme import BoostingRule, Combination
from adagcn.engines.memory import check_memory
from adagcn.errors import FormatError, LayerWarning, NumericalError
from adagcn.graph import Features
from adagcn.learners.inputs import Input, as_input
from adagcn.models.support.deep_perceptron import DeepPerceptron
from adagcn.models.support.graph_model import GraphModelClassifier
from adagcn.models.support.model_file import Tensors
from adagcn.models.support.network import Start
from adagcn.models.support.problem import torch_dtype
from adagcn.models.support.settings import (
    Count,
    LearningRate,
    NonNegative,
    Positive,
    Share,
    SystemSettings,
)
from adagcn.models.support.system import FitContext, GraphInput, NodeProblem, Recipe, measured
from adagcn.propagation.hops import Hop, first_hop, hop_stream
from adagcn.propagation.products import product
from adagcn.training.hop_fitter import FittedHop, HopFitter, HopTask, TrainingSettings
from adagcn.training.loop import TrainingRecord

POWERS = (0, 1, 2, 4, 8)
# Features that are spread together: few enough for the processor's cache.
COLUMNS_AT_ONCE = 128

# What takes less memory than an alignment does.
_NOT_ALIGNED = "use aggregation='adjacency' or 'initial'"

RULE = BoostingRule(Combination("samme", vote="hard"), on_perfect="continue")


class GBGNNSettings(SystemSettings):
    """Settings of GB-GNN."""

    aggregation: Annotated[
        Literal["adjacency", "initial", "alignment"], "how the next learner's features are made"
    ] = "adjacency"
    n_learners: Annotated[Count, "T, boosted learners at the most"] = 40
    n_hidden_layers: Annotated[int, Field(ge=0), "hidden layers of a learner; 0: a linear map"] = 1
    hidden_units: Annotated[Count, "width of the hidden layers"] = 64
    dropout: Annotated[Share, "rate on the hidden layers"] = 0.5
    propagated_share: Annotated[
        float, Field(gt=0.0, le=1.0), 'ρ of ``aggregation="initial"``: the share that is not X'
    ] = 0.9
    alignment_steps: Annotated[Count, 'steps of Adam for c, where ``aggregation="alignment"``'] = (
        100
    )
    alignment_rate: Annotated[Positive, "learning rate of these steps"] = 0.01
    learning_rate: LearningRate = 0.01
    weight_decay: Annotated[NonNegative, "coupled decay of all parameters"] = 5e-4
    max_epochs: Annotated[Count, "steps of every learner"] = 100


class WeakLearner(DeepPerceptron):
    """A perceptron as :class:`adagcn.training.hop_fitter.HopFitter` takes it."""

    def __init__(self, settings: GBGNNSettings, start: Start) -> None:
        hidden = [settings.hidden_units] * settings.n_hidden_layers
        widths = [start.n_features, *hidden, start.n_classes]
        super().__init__(widths, start, dropout=settings.dropout)

    def as_input(self, rows: Features) -> Input:
        """Return rows of a hop as this network takes them."""
        return as_input(rows, self.weights[0])

    def loss_gradients(
        self, inputs: Input, target: Tensor, generator: torch.Generator
    ) -> tuple[Tensor, list[Tensor]]:
        """Return the loss −Σ_ik T_ik log p_ik under dropout, and its gradient by each parameter."""
        loss = -(torch.log_softmax(self(inputs, generator), dim=1) * target).sum()
        return loss.detach(), list(torch.autograd.grad(loss, list(self.parameters())))

    def members(self) -> list[WeakLearner]:
        """Return what is trained: this network."""
        return [self]

    def take(self, members: Sequence[WeakLearner]) -> None:
        """Nothing to put together."""

    def penalty(self) -> Tensor:
        """Return zero: there is no L2 term besides the decay."""
        return torch.zeros(())

    def decays(self, weight_decay: float) -> list[float]:
        """Return the decay of each parameter."""
        return [weight_decay for _ in self.parameters()]


# Features of one learner after the other


class Aggregation:
    """Makes X^(1), X^(2), …, and remembers or is given the c of each step.

    Parameters
    ----------
    inputs : GraphInput
        The graph.
    settings : GBGNNSettings
        Which kind of aggregation.
    shares : sequence of ndarray of shape (5,)
        c of the steps that are known already.
    """

    def __init__(
        self, inputs: GraphInput, settings: GBGNNSettings, shares: Sequence[NDArray[np.float64]]
    ) -> None:
        self.inputs, self.settings, self.shares = inputs, settings, list(shares)

    def hops(
        self, train_nodes: NDArray[np.intp] | None = None, labels: NDArray[np.int64] | None = None
    ) -> Iterator[Hop]:
        """Yield the features, without end; the labels of training nodes are for a c yet to find."""
        inputs, settings = self.inputs, self.settings
        if settings.aggregation != "alignment":
            is_initial = settings.aggregation == "initial"
            teleport = 1.0 - settings.propagated_share if is_initial else 0.0
            yield from hop_stream(inputs.propagator, inputs.features, teleport=teleport)
            return
        features: Features = inputs.features
        step = 0
        while True:
            yield first_hop(None, features, teleport=0.0)
            if step == len(self.shares):
                assert train_nodes is not None
                assert labels is not None
                rows = rows_of_powers(inputs.propagator, features, train_nodes)
                self.shares.append(aligned_shares(rows, labels, settings))
            features = mixed(inputs.propagator, features, self.shares[step])
            step += 1


def rows_of_powers(
    matrix: sparse.csr_array, features: Features, nodes: NDArray[np.intp]
) -> NDArray[np.float64]:
    """Return the rows of some nodes of Â^p_j X, of shape (5, n_rows, n_features), in float64."""
    shape = len(POWERS), len(nodes), features.shape[1]
    _check_dense(8, shape, "the training nodes' rows of every power of Â")
    found = np.empty(shape)
    for block, columns in _column_blocks(features):
        for number, power in enumerate(_powers(matrix, columns)):
            found[number, :, block] = power.numpy()[nodes]
    return found


def mixed(
    matrix: sparse.csr_array, features: Features, shares: NDArray[np.float64]
) -> NDArray[Any]:
    """Return Σ_j c_j Â^p_j X of all nodes."""
    _check_dense(features.dtype.itemsize, features.shape, "the mixed features of all nodes")
    result = np.empty(features.shape, dtype=features.dtype)
    for block, columns in _column_blocks(features):
        total = torch.zeros_like(columns)
        for share, power in zip(shares.tolist(), _powers(matrix, columns), strict=True):
            total += share * power
        result[:, block] = total.numpy()
    return result


def aligned_shares(
    rows: NDArray[np.float64], labels: NDArray[np.int64], settings: GBGNNSettings
) -> NDArray[np.float64]:
    """Return the c of largest ⟨K_c, K_y⟩ / (‖K_c‖ ‖K_y‖) with K_c = Z Zᵀ, Z = Σ_j c_j Z_j.

    Both are forms in c: ⟨K_c, K_y⟩ of degree 2, ‖K_c‖² of degree 4. So they are taken apart once,
    and a step knows nothing of nodes. ``rows`` holds Z_j, of shape (5, n_rows, n_features). The
    alignment says nothing of the size of c: it is such that the training rows keep theirs.
    """
    n_powers, n_rows, _ = rows.shape
    check_memory(
        8.0 * n_powers**2 * n_rows**2,
        "the kernels of all pairs of training nodes",
        got=f"{n_rows:,} training nodes",
        fix=_NOT_ALIGNED,
    )
    by_class = np.stack([rows[:, labels == each].sum(axis=1) for each in np.unique(labels)])
    with_labels = torch.from_numpy(np.einsum("kjf,klf->jl", by_class, by_class))
    kernels = np.einsum("jif,lmf->jlim", rows, rows, optimize=True).reshape(n_powers**2, -1)
    with_itself = torch.from_numpy(kernels @ kernels.T)
    norm_of_labels = float(np.sqrt((np.bincount(labels) ** 2).sum()))
    shares = torch.ones(n_powers, dtype=torch.float64, requires_grad=True)
    optimizer = torch.optim.Adam([shares], lr=settings.alignment_rate)
    for _ in range(settings.alignment_steps):
        pairs = torch.outer(shares, shares).flatten()
        size = (pairs @ with_itself @ pairs).clamp_min(1e-300).sqrt()
        alignment = (shares @ with_labels @ shares) / (size * norm_of_labels)
        optimizer.zero_grad()
        (-alignment).backward()  # type: ignore[no-untyped-call]
        optimizer.step()
    found = shares.detach().numpy()
    size_after = np.linalg.norm(np.tensordot(found, rows, 1))
    return found * (np.linalg.norm(rows[0]) / size_after) if size_after > 0.0 else found


def _check_dense(itemsize: int, shape: tuple[int, ...], what: str) -> None:
    """Refuse an array of ``aggregation="alignment"`` that has no place in memory."""
    got = f"{' × '.join(f'{size:,}' for size in shape)} values"
    check_memory(float(itemsize) * math.prod(shape), what, got=got, fix=_NOT_ALIGNED)


def _powers(matrix: sparse.csr_array, columns: Tensor) -> Iterator[Tensor]:
    """Yield Â^p_j V for every p_j."""
    done = 0
    for power in POWERS:
        for _ in range(power - done):
            columns = product(matrix, columns)
        done = power
        yield columns


def _column_blocks(features: Features) -> Iterator[tuple[slice, Tensor]]:
    """Yield columns, a few at a time, and where they stand."""
    by_column: Any = features
    if not isinstance(features, np.ndarray):
        by_column = sparse.csc_array(features)
    for start in range(0, features.shape[1], COLUMNS_AT_ONCE):
        block = slice(start, start + COLUMNS_AT_ONCE)
        columns = by_column[:, block]
        columns = columns if isinstance(columns, np.ndarray) else columns.toarray()
        yield block, torch.from_numpy(np.array(columns, order="C"))


# The fit


@dataclass(frozen=True)
class FittedGBGNN:
    """The learners with their α, and how features are made for them."""

    learners: Sequence[WeakLearner]
    coefficients: NDArray[np.float64]
    shares: Sequence[NDArray[np.float64]]
    settings: GBGNNSettings
    record: TrainingRecord

    def log_proba(self, inputs: GraphInput, positions: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return log-probabilities of shape (len(positions), n_classes).

        They are those of the mean votes; see :class:`adagcn.boosting.samme.CombinedVotes`.
        """
        hops = Aggregation(inputs, self.settings, self.shares).hops()
        pairs = zip(self.coefficients.tolist(), self.learners, hops, strict=False)
        return RULE.combination.sum_votes(
            (weight, FittedHop(learner, self.record).log_proba(hop.rows(positions)))
            for weight, learner, hop in pairs
        ).log_proba()

    def tensors(self) -> dict[str, NDArray[Any]]:
        """Return the parameters of every learner, all α and all c."""
        found = {
            f"learner.{number:03d}.{name}": np.ascontiguousarray(value.cpu().numpy())
            for number, learner in enumerate(self.learners)
            for name, value in learner.state_dict().items()
        }
        shares = np.array(self.shares, dtype=np.float64).reshape(-1, len(POWERS))
        return {**found, "coefficients": self.coefficients, "shares": shares}


class GBGNNSystem:
    """The system; see :class:`adagcn.models.support.system.System`."""

    settings = GBGNNSettings
    # The authors fix nothing: they search anew for every run, by 1,000 trials. These are ours,
    # from within the ranges that they search.
    recipes: Mapping[str, Recipe] = {
        "adjacency": Recipe(),
        "initial": Recipe(aggregation="initial"),
        "alignment": Recipe(aggregation="alignment"),
    }

    def fit(
        self, problem: NodeProblem, settings: GBGNNSettings, context: FitContext
    ) -> FittedGBGNN:
        """Boost learner after learner, and keep those up to the best on the stopping nodes."""
        dtype, n_classes = torch_dtype(problem.inputs.features.dtype), problem.n_classes
        fit_hop = HopFitter(
            partial(_made, settings, n_classes, dtype),
            TrainingSettings(
                learning_rate=settings.learning_rate,
                weight_decay=settings.weight_decay,
                max_epochs=settings.max_epochs,
                carry_parameters=False,
            ),
            context.seed,
            context.events,
            context.device,
        )
        nodes = problem.nodes
        aggregation = Aggregation(problem.inputs, settings, ())
        hops = aggregation.hops(nodes.train_nodes, nodes.labels)
        fits = _LearnerFits(fit_hop)
        boosting = HopBoosting(fits, nodes, RULE)
        layers: tuple[BoostedLayer, ...] = ()
        for state in _better_than_guessing(boosting.states(FitState(None, ()), hops)):
            layers = state.layers
            if len(layers) == settings.n_learners or context.events.stopped:
                break
        layers = layers[: best_depth(layers, nodes.stop_labels)]
        fitted = FittedGBGNN(
            [layer.learner.learner for layer in layers] or fits.first,
            np.array([layer.coefficient for layer in layers] or [1.0]),
            aggregation.shares[: max(len(layers), 1) - 1],
            settings,
            TrainingRecord(fits.n_epochs),
        )
        return measured(fitted, problem)

    def restore(
        self, tensors: Tensors, settings: GBGNNSettings, n_features: int, n_classes: int
    ) -> FittedGBGNN:
        """Return what the tensors came from."""
        coefficients = tensors.get("coefficients", np.empty(0))
        shares = tensors.get("shares", np.empty(0))
        n_learners = len(coefficients)
        n_shares = n_learners - 1 if settings.aggregation == "alignment" else 0
        if not 1 <= n_learners <= settings.n_learners or shares.shape != (n_shares, len(POWERS)):
            raise _misfit([coefficients.shape, shares.shape])
        parts: dict[str, NDArray[Any]] = dict(tensors)
        del parts["coefficients"], parts["shares"]
        is_double = any(part.dtype == np.float64 for part in parts.values())
        dtype = torch.float64 if is_double else torch.float32
        generator = torch.Generator().manual_seed(0)
        learners = []
        for number in range(n_learners):
            learner = _made(settings, n_classes, dtype, generator, n_features)
            _fill(learner, f"learner.{number:03d}.", parts)
            learners.append(learner)
        if parts:
            raise _misfit(sorted(parts)[:5])
        return FittedGBGNN(learners, coefficients, list(shares), settings, TrainingRecord(0))


def _better_than_guessing(states: Iterator[FitState]) -> Iterator[FitState]:
    """Yield states until a learner is no better than guessing."""
    while True:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", LayerWarning)  # it would say that boosting goes on
                state = next(states)
        except NumericalError as error:
            if error.code != "AGC-N502":
                raise
            return  # the first learner
        if state.layers[-1].coefficient == 0.0:
            return
        yield state


def best_depth(layers: Sequence[BoostedLayer], stop_labels: NDArray[np.int64] | None) -> int:
    """Return how many layers have the highest accuracy on the stopping nodes; all without any."""
    if stop_labels is None or not layers:
        return len(layers)
    votes = RULE.combination.staged(
        (layer.coefficient, layer.stop_log_proba)
        for layer in layers
        if layer.stop_log_proba is not None
    )
    right = [(each.total.argmax(axis=1) == stop_labels).mean() for each in votes]
    return int(np.argmax(right)) + 1


@dataclass
class _LearnerFits:
    """Fits learners for all of their epochs: stopping nodes only choose how many are kept."""

    fit_hop: HopFitter
    first: Sequence[Any] = ()  # the first learner, as a sequence of one
    n_epochs: int = 0

    def __call__(self, task: HopTask) -> FittedHop:
        fitted = self.fit_hop(replace(task, stop_rows=None, stop_labels=None))
        self.first = self.first or (fitted.learner,)
        self.n_epochs += fitted.record.epochs
        return fitted


def _made(
    settings: GBGNNSettings,
    n_classes: int,
    dtype: torch.dtype,
    generator: torch.Generator,
    n_features: int,
) -> WeakLearner:
    """Return a fresh learner, once it is clear that it fits into memory."""
    start = Start(n_features, n_classes, generator, dtype)
    WeakLearner(settings, start.planned(settings))
    return WeakLearner(settings, start)


def _fill(learner: WeakLearner, prefix: str, parts: dict[str, NDArray[Any]]) -> None:
    """Move the tensors of a learner from the parts into it."""
    with torch.no_grad():
        for name, value in learner.state_dict().items():
            found = parts.pop(prefix + name, None)
            if found is None or found.shape != tuple(value.shape):
                raise _misfit(prefix + name)
            value.copy_(torch.from_numpy(np.array(found)))


def _misfit(got: Any) -> FormatError:
    return FormatError(
        "AGC-F1092",
        "the model file's learners do not fit the model",
        got=got,
        fix="save the model again",
    )


class GBGNNClassifier(GraphModelClassifier):
    """Perceptrons on features that are propagated more and more, boosted by SAMME.

    The presets are the authors' three ways to propagate, with settings of ours: ``adjacency``
    multiplies by Â, ``initial`` keeps a share of the input features, and ``alignment`` mixes powers
    of Â by how well the kernel of the features fits the labels.
    """

    model_key = "gb_gnn"
    default_preset = "adjacency"
    system = GBGNNSystem()
