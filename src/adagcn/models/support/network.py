"""The systems that are networks: their contract, what they share, and how they are trained.

A network is a :class:`GraphNetwork` built from its settings and a :class:`Start`. One whose loss or
stopping is not the usual kind brings its own :meth:`GraphNetwork.trainee`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Any, Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.functional import log_softmax

from adagcn.engines.memory import ParameterCount
from adagcn.errors import FormatError
from adagcn.models.support.field_of_view import field_of_view
from adagcn.models.support.model_file import Tensors
from adagcn.models.support.problem import torch_dtype
from adagcn.models.support.settings import NetworkSettings, NonNegative, SystemSettings
from adagcn.models.support.system import FitContext, GraphInput, NodeProblem, Recipe
from adagcn.training.loop import Trainee, TrainingRecord, finite_log_proba, stopping_loss, train
from adagcn.training.random_streams import torch_stream
from adagcn.training.stopping import make_stopper

FirstLayerL2 = Annotated[NonNegative, "λ of the penalty (λ/2)‖W0‖² on the first weights"]
# The settings that decide how many parameters a network has.
WIDTHS = ("hidden_units", "n_heads", "output_heads", "hidden_widths", "output_slices")
EveryLayerL2 = Annotated[NonNegative, "λ of the penalty (λ/2)‖·‖² on all weights"]


class GraphNetwork(nn.Module):
    """A network over the nodes of a graph; a subclass gives :meth:`forward`.

    All that is learned is in parameters and buffers. Dropout is on where a generator is handed in,
    and draws from nothing else.

    Parameters
    ----------
    l2 : float
        λ of the penalty (λ/2)‖W‖² on :meth:`penalized`.
    n_steps : int
        Steps over the graph that the answer for a node depends on.
    """

    def __init__(self, l2: float, n_steps: int = 0) -> None:
        super().__init__()
        self.l2 = l2
        self.n_steps = n_steps

    def view(self, inputs: GraphInput, nodes: NDArray[np.intp]) -> Any:
        """Return what the forward pass needs for some different nodes, computed once.

        Here the nodes within ``n_steps`` steps, and the rows of Â between them.
        """
        return field_of_view(inputs, nodes, self.n_steps, next(self.parameters()))

    def training_view(self, inputs: GraphInput, nodes: NDArray[np.intp]) -> Any:
        """Return a view that many epochs look at; more may be computed beforehand."""
        return self.view(inputs, nodes)

    def forward(self, view: Any, generator: torch.Generator | None = None) -> Tensor:
        """Return logits of shape (n_nodes of the view, n_classes); a generator drops out."""
        raise NotImplementedError

    def losses(self, view: Any, target: Tensor, generator: torch.Generator) -> Iterator[Tensor]:
        """Yield the losses of one epoch, each before the step that lowers it.

        Here one: Σ_i w_i (−log p_i,y_i) over all training nodes. ``target`` has shape (n_train,
        n_classes), with w_i in the column of y_i. The L2 term is part of the optimizer's decay.
        """
        yield -(log_softmax(self(view, generator), dim=1) * target).sum()

    def penalized(self) -> list[nn.Parameter]:
        """Return the parameters under the L2 term; here the first one, W0."""
        return [next(self.parameters())]

    def penalty(self) -> Tensor:
        """Return the L2 term, as it stands in the stopping loss."""
        total: Tensor = torch.stack([p.square().sum() for p in self.penalized()]).sum()
        return 0.5 * self.l2 * total

    def trainee(
        self, problem: NodeProblem, settings: NetworkSettings, generator: torch.Generator
    ) -> Trainee:
        """Return this network with its data and its optimizer, as the epoch loop trains it."""
        return NetworkTrainee(self, problem, settings, generator)

    def make_optimizer(self, settings: NetworkSettings) -> torch.optim.Optimizer:
        """Return Adam, with the gradient λW of the L2 term as part of W's (coupled) decay."""
        chosen = {id(parameter) for parameter in self.penalized()}
        penalized = [p for p in self.parameters() if id(p) in chosen]
        others = [p for p in self.parameters() if id(p) not in chosen]
        groups = [
            {"params": penalized, "weight_decay": settings.weight_decay + self.l2},
            {"params": others, "weight_decay": settings.weight_decay},
        ]
        groups = [group for group in groups if group["params"]]
        return torch.optim.Adam(groups, lr=settings.learning_rate, fused=True)


@dataclass(frozen=True)
class Start:
    """What every network is built from besides its settings: its sizes, and its first parameters.

    Parameters
    ----------
    n_features, n_classes : int
        Sizes of input and output.
    generator : torch.Generator or None
        Draws the parameters, in the order in which a network asks for them; None: the network is
        only planned, and takes no memory.
    dtype : torch.dtype
        Their type.
    count : ParameterCount, optional
        Told of every parameter before it is made.
    """

    n_features: int
    n_classes: int
    generator: torch.Generator | None
    dtype: torch.dtype
    count: ParameterCount | None = None

    @classmethod
    def of(cls, problem: NodeProblem, context: FitContext) -> Self:
        """Return what a fit starts from."""
        features = problem.inputs.features
        generator = torch_stream(context.seed, "start", device=context.device)
        return cls(features.shape[1], problem.n_classes, generator, torch_dtype(features.dtype))

    def planned(self, settings: SystemSettings) -> Start:
        """Return a start that makes parameters without memory, and refuses too many of them."""
        widths = {name: value for name, value in settings.flat().items() if name in WIDTHS}
        return replace(self, generator=None, count=ParameterCount(self.dtype.itemsize, widths))

    @property
    def device(self) -> torch.device:
        """Where the network is."""
        return torch.device("meta") if self.generator is None else self.generator.device

    def glorot(self, n_in: int, n_out: int) -> nn.Parameter:
        """Return a weight of shape (n_in, n_out), uniform within ±√(6 / (n_in + n_out))."""
        self._tell(n_in * n_out)
        return nn.Parameter(self._draw(n_in, n_out, (6.0 / (n_in + n_out)) ** 0.5))

    def uniform(self, n_in: int, n_out: int) -> nn.Parameter:
        """Return a weight of shape (n_in, n_out), uniform within ±1/√n_in."""
        self._tell(n_in * n_out)
        return nn.Parameter(self._draw(n_in, n_out, n_in**-0.5))

    def linear(
        self, n_in: int, n_out: int, *, by_outputs: bool = False
    ) -> tuple[nn.Parameter, nn.Parameter]:
        """Return a weight of shape (n_in, n_out) and its bias, both uniform within ±1/√n_in.

        ``by_outputs``: within ±1/√n_out.
        """
        self._tell((n_in + 1) * n_out)
        bound = (n_out if by_outputs else n_in) ** -0.5
        bias = self._draw(n_in, n_out, bound)[0].clone()
        return nn.Parameter(self._draw(n_in, n_out, bound)), nn.Parameter(bias)

    def zeros(self, n_units: int) -> nn.Parameter:
        """Return a bias of zeros."""
        self._tell(n_units)
        return nn.Parameter(torch.zeros(n_units, dtype=self.dtype, device=self.device))

    def expect(self, n_parameters: int) -> None:
        """Refuse too many parameters that would be made one small part after the other."""
        if self.count is not None:
            replace(self.count).add(n_parameters)

    def _tell(self, n_parameters: int) -> None:
        if self.count is not None:
            self.count.add(n_parameters)

    def _draw(self, n_in: int, n_out: int, bound: float) -> Tensor:
        weight = torch.empty(n_in, n_out, dtype=self.dtype, device=self.device)
        return weight.uniform_(-bound, bound, generator=self.generator)


MakeNetwork = Callable[[Any, Start], GraphNetwork]


@dataclass(frozen=True)
class NetworkSystem:
    """A system that is a network; see :class:`adagcn.models.support.system.System`.

    Parameters
    ----------
    settings : type
        The class of its settings; what a recipe leaves out has the default here.
    recipes : mapping
        Its presets, the default first.
    make_network : callable
        Takes settings and a :class:`Start`; returns a fresh network.
    """

    settings: type[NetworkSettings]
    recipes: Mapping[str, Recipe]
    make_network: MakeNetwork

    def fit(
        self, problem: NodeProblem, settings: NetworkSettings, context: FitContext
    ) -> FittedNetwork:
        """Train a fresh network."""
        network = self._made(settings, Start.of(problem, context))
        return FittedNetwork(network, train_network(network, problem, settings, context))

    def restore(
        self, tensors: Tensors, settings: NetworkSettings, n_features: int, n_classes: int
    ) -> FittedNetwork:
        """Return the network that the tensors came from."""
        kinds = {tensor.dtype for tensor in tensors.values() if tensor.dtype.kind == "f"}
        dtype = torch.float64 if np.dtype(np.float64) in kinds else torch.float32
        start = Start(n_features, n_classes, torch.Generator().manual_seed(0), dtype)
        network = self._made(settings, start)
        _load(network, tensors)
        return FittedNetwork(network, TrainingRecord(0))

    def _made(self, settings: NetworkSettings, start: Start) -> GraphNetwork:
        """Return a fresh network, once it is clear that it fits into memory."""
        self.make_network(settings, start.planned(settings))
        return self.make_network(settings, start)


@dataclass(frozen=True)
class FittedNetwork:
    """A trained network over the nodes of a graph."""

    network: GraphNetwork
    record: TrainingRecord

    @torch.no_grad()
    def log_proba(self, inputs: GraphInput, positions: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return log-probabilities of shape (len(positions), n_classes)."""
        nodes, place = np.unique(positions, return_inverse=True)
        return finite_log_proba(self.network(self.network.view(inputs, nodes)))[place]

    def tensors(self) -> dict[str, NDArray[Any]]:
        """Return parameters and buffers."""
        state = self.network.state_dict()
        return {name: np.ascontiguousarray(value.cpu().numpy()) for name, value in state.items()}


def train_network(
    network: GraphNetwork, problem: NodeProblem, settings: NetworkSettings, context: FitContext
) -> TrainingRecord:
    """Train a network in place, full-batch unless it says otherwise."""
    stopper = None
    if problem.nodes.stop_nodes is not None:
        stopper = make_stopper(settings.stop_on, settings.patience)
    generator = torch_stream(context.seed, "training", device=context.device)
    return train(
        network.trainee(problem, settings, generator),
        max_epochs=settings.max_epochs,
        learning_rate=settings.learning_rate,
        stopper=stopper,
        events=context.events,
    )


class NetworkTrainee:
    """The usual training: cross-entropy on the training nodes, and on the stopping nodes.

    Parameters
    ----------
    network : GraphNetwork
        Trained in place.
    problem : NodeProblem
        What on.
    settings : NetworkSettings
        How.
    generator : torch.Generator
        Draws dropout, batches and samples.
    """

    def __init__(
        self,
        network: GraphNetwork,
        problem: NodeProblem,
        settings: NetworkSettings,
        generator: torch.Generator,
    ) -> None:
        nodes, device = problem.nodes, generator.device
        self.module = network
        self.settings = settings
        self.generator = generator
        self.view = network.training_view(problem.inputs, nodes.train_nodes)
        self.target = _target(problem, next(network.parameters()))
        if nodes.stop_nodes is not None and nodes.stop_labels is not None:
            self.stop_labels = torch.from_numpy(nodes.stop_labels).to(device)
            self.stop_view = network.training_view(problem.inputs, nodes.stop_nodes)
        self.optimizer = network.make_optimizer(settings)

    def steps(self) -> Iterator[Tensor]:
        """Take a step for each loss of one epoch."""
        for loss in self.module.losses(self.view, self.target, self.generator):
            self.optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            self.optimizer.step()
            yield loss

    @torch.no_grad()
    def evaluate(self) -> tuple[float, float]:
        """Return accuracy and loss on the stopping nodes."""
        logits, how = self.module(self.stop_view), self.settings.stop_penalty
        return stopping_loss(logits, self.stop_labels, self.module.penalty, how)


def _target(problem: NodeProblem, like: Tensor) -> Tensor:
    """Return a matrix of shape (n_train, n_classes) with w_i in the column of y_i."""
    nodes = problem.nodes
    target = np.zeros((len(nodes.labels), problem.n_classes))
    target[np.arange(len(nodes.labels)), nodes.labels] = nodes.sample_weight
    return torch.from_numpy(target).to(like.device, like.dtype)


def _load(network: GraphNetwork, tensors: Tensors) -> None:
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
