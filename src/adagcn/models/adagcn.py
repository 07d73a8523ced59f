"""AdaGCN: boosted two-layer perceptrons over the hops of a graph.

Sun, Zhu and Lin, "AdaGCN: Adaboosting Graph Convolutional Networks into Deep Models", ICLR 2021
(https://arxiv.org/abs/1908.05081). With node weights w that start equal, for l = 0, 1, 2, …::

    f_l = argmin_f  Σ_i w_i (−log p_i,y_i) + (λ/2)‖W0‖²    p = softmax(f(B_l)), f(B) = ReLU(B W0) W1
    h_k = (K − 1)(log p_k − (1/K) Σ_j log p_j)
    w_i ∝ w_i exp(−((K − 1)/K) y_iᵀ log p_i)
    B_{l+1} = Â B_l                                        B_0 = X

and the prediction is argmax_k Σ_l h_k. Each f starts from the parameters of the one before.
Which line of Algorithm 1 is where: docs/algorithm.md.
"""

from __future__ import annotations

from typing import Any, Literal

import torch

from adagcn.boosting.hop_boosting import FitHop
from adagcn.engines import current_engine
from adagcn.errors import InputError
from adagcn.graph import Graph
from adagcn.learners.blend import Blend, BlendFitter
from adagcn.learners.perceptron import TwoLayerPerceptron
from adagcn.learners.ridge import RidgeFitter, RidgeLearner
from adagcn.learners.sklearn_learner import SklearnFitter
from adagcn.models.support.boosted import BoostedClassifier
from adagcn.models.support.boosted_settings import BoostedSettings, Variant
from adagcn.models.support.presets import ADAGCN_PRESETS
from adagcn.training.events import Events


def perceptron(
    settings: BoostedSettings,
    n_features: int,
    n_classes: int,
    generator: torch.Generator,
    dtype: torch.dtype,
) -> TwoLayerPerceptron:
    """Return the perceptron of one hop, at its start."""
    assert settings.first_layer_l2 != "auto"
    return TwoLayerPerceptron(
        n_features,
        n_classes,
        hidden_units=settings.hidden_units,
        n_members=settings.variant.n_members,
        input_dropout=settings.dropout,
        hidden_dropout=settings.hidden_dropout,
        first_layer_l2=settings.first_layer_l2,
        relu_logits=settings.variant.relu_logits,
        generator=generator,
        dtype=dtype,
    )


def perceptron_shapes(
    settings: BoostedSettings, n_features: int, n_classes: int
) -> dict[str, tuple[int, ...]]:
    """Return the shapes of the perceptron's parameters."""
    members, units = settings.variant.n_members, settings.hidden_units
    return {
        "hidden": (n_features, members * units),
        "output": (members, units, n_classes),
    }


def _refuse_train_workers() -> None:
    """Refuse workers where there are no epochs to share."""
    n_workers = getattr(current_engine(), "train_workers", 1)
    if n_workers > 1:
        raise InputError(
            "AGC-I1715",
            "--train-workers train perceptrons, and this fit has none",
            got=n_workers,
            fix="use a preset that has, such as tuned, or leave it out",
        )


class AdaGCNClassifier(BoostedClassifier):
    """Classify the nodes of a graph from few labels by boosting over hops.

    Features are propagated hop by hop (X, ÂX, Â²X, …), a small network is fitted on each hop,
    warm-started from the one before, and the votes are summed as multi-class AdaBoost (SAMME.R)
    does. Every hyper-parameter defaults to ``None``, which means the preset's value; ``params_``
    holds what was used.

    The default preset, ``"adaptive"``, first tries a few ways to scale, select and smooth the
    features on the stopping nodes and keeps the best of each; ``choices_`` holds what it chose and
    ``params_["look"]`` why. Without stopping nodes (``X_val``, or ``validation_fraction``) it has
    nothing to choose by, and uses the settings of ``"instant"``.

    With ``graph=None``, X is a feature matrix and every hop is X itself: a
    boosted perceptron in float64, for which the searched presets have 3 layers, no teleport, all
    columns and no pseudo-labels.

    Examples
    --------
    >>> from adagcn.data import planted_partition
    >>> graph = planted_partition(n_nodes=200, n_classes=3, n_features=32, seed=0)
    >>> labeled = graph.node_ids[:60]
    >>> clf = AdaGCNClassifier(graph, n_layers=3, validation_fraction=0.25, random_state=0)
    >>> clf = clf.fit(labeled, graph.classes[graph.labels[:60]])
    >>> clf.predict(graph.node_ids[60:]).shape
    (140,)
    >>> "teleport" in clf.choices_
    True
    """

    model_key = "adagcn"
    default_preset = "adaptive"
    parameters = tuple(name for name in BoostedSettings.model_fields if name != "variant")
    switches = tuple(Variant.model_fields)
    beside = ("learner", *BoostedClassifier.beside)
    make_network = staticmethod(perceptron)

    @classmethod
    def presets(cls) -> tuple[str, ...]:
        """Return the names of the presets, the default first."""
        return ADAGCN_PRESETS

    def __init__(  # noqa: PLR0913
        self,
        graph: Graph | None = None,
        *,
        preset: str = "adaptive",
        n_layers: int | Literal["auto"] | None = None,
        teleport: float | Literal["auto"] | None = None,
        max_features: int | Literal["all", "auto"] | None = None,
        feature_norm: str | None = None,
        hidden_units: int | None = None,
        dropout: float | None = None,
        hidden_dropout: float | None = None,
        first_layer_l2: float | Literal["auto"] | None = None,
        weight_decay: float | None = None,
        learning_rate: float | None = None,
        max_epochs: int | None = None,
        batch_size: int | Literal["all"] | None = None,
        patience: int | None = None,
        validation_fraction: float | None = None,
        reweight_rate: float | None = None,
        combine: str | None = None,
        pseudo_labels: int | Literal["auto"] | None = None,
        variant: Variant | None = None,
        learner: Any | None = None,
        class_weight: dict[Any, float] | str | None = None,
        calibrate: Literal["temperature"] | None = None,
        warm_start: bool = False,
        random_state: Any = None,
        device: str = "cpu",
        n_threads: int | None = None,
        row_memory: int | None = None,
    ) -> None:
        self.graph = graph
        self.preset = preset
        self.n_layers = n_layers
        self.teleport = teleport
        self.max_features = max_features
        self.feature_norm = feature_norm
        self.hidden_units = hidden_units
        self.dropout = dropout
        self.hidden_dropout = hidden_dropout
        self.first_layer_l2 = first_layer_l2
        self.weight_decay = weight_decay
        self.learning_rate = learning_rate
        self.max_epochs = max_epochs
        self.batch_size = batch_size
        self.patience = patience
        self.validation_fraction = validation_fraction
        self.reweight_rate = reweight_rate
        self.combine = combine
        self.pseudo_labels = pseudo_labels
        self.variant = variant
        self.learner = learner
        self.class_weight = class_weight
        self.calibrate = calibrate
        self.warm_start = warm_start
        self.random_state = random_state
        self.device = device
        self.n_threads = n_threads
        self.row_memory = row_memory

    def _fit_hop(
        self, settings: BoostedSettings, n_classes: int, dtype: Any, seed: int, events: Events
    ) -> FitHop:
        if self.learner is not None or settings.variant.learner == "ridge":
            _refuse_train_workers()
        if self.learner is not None:
            return SklearnFitter(self.learner, n_classes, seed)
        ridge = RidgeFitter(n_classes, dtype, settings.variant.judge == "left_out")
        if settings.variant.learner == "ridge":
            return ridge
        network = super()._fit_hop(settings, n_classes, dtype, seed, events)
        return network if settings.variant.learner == "perceptron" else BlendFitter(network, ridge)

    @classmethod
    def make_learner(
        cls, settings: Any, n_features: int, n_classes: int, generator: Any, dtype: Any
    ) -> Any:
        """Return the learner of a hop at its start: the perceptron, the ridge or both."""
        kind = settings.variant.learner
        ridge = RidgeLearner(torch.zeros(n_features + 1, n_classes, dtype=dtype))
        if kind == "ridge":
            return ridge
        network = cls.make_network(settings, n_features, n_classes, generator, dtype)
        return (
            network if kind == "perceptron" else Blend(network, ridge, torch.zeros(2, dtype=dtype))
        )

    @classmethod
    def parameter_shapes(
        cls, settings: Any, n_features: int, n_classes: int
    ) -> dict[str, tuple[int, ...]]:
        """Return the shape of every parameter of the learner of a hop."""
        kind = settings.variant.learner
        ridge: dict[str, tuple[int, ...]] = {"coefficients": (n_features + 1, n_classes)}
        network = perceptron_shapes(settings, n_features, n_classes)
        if kind != "both":
            return ridge if kind == "ridge" else network
        return {
            **{f"perceptron.{name}": shape for name, shape in network.items()},
            **{f"ridge.{name}": shape for name, shape in ridge.items()},
            "shares": (2,),
        }
