"""AdaGCN: boosted two-layer perceptrons over the hops of a graph (Algorithm 1)."""

from __future__ import annotations

from typing import Any, Literal

import torch

from adagcn.boosting.hop_boosting import FitHop
from adagcn.estimators.hop_classifier import HopBoostingClassifier
from adagcn.estimators.network import network_fitter
from adagcn.estimators.problem import FitProblem
from adagcn.estimators.settings import Settings
from adagcn.graph import Graph
from adagcn.learners.mlp import TwoLayerPerceptron
from adagcn.learners.sklearn_learner import SklearnFitter


class AdaGCNClassifier(HopBoostingClassifier):
    """Classify the nodes of a graph from few labels by boosting over hops.

    AdaGCN (Sun, Zhu and Lin, ICLR 2021) propagates features hop by hop (X, ÂX, Â²X, …), fits a
    small network on each hop, warm-started from the one before, and sums the networks' votes as
    multi-class AdaBoost (SAMME.R) does. Every hyper-parameter defaults to ``None``, which means
    the preset's value; ``params_`` holds what was used.

    Parameters
    ----------
    graph : Graph or None
        The graph whose node ids ``fit`` and ``predict`` take. ``None``: X is a feature matrix and
        every hop is X itself, a boosted perceptron in float64.
    preset : {"tuned", "boosted", "unweighted", "paper", "released"}
        Where unset hyper-parameters come from; see :mod:`adagcn.estimators.presets`.
    n_layers : int or "auto"
        Boosted learners, on hops 0 to n_layers − 1 (the paper's L is n_layers − 1). ``"auto"``
        adds hops until three in a row bring no lower loss on the stopping nodes.
    hidden_units : int
        Width of the hidden layer.
    n_members : int
        Networks fitted side by side on every hop, each from its own random start; their votes are
        averaged.
    learning_rate : float
        Adam's.
    reweight_rate : float
        Factor on the exponent of the node-weight update: 1 is the paper, 0 none.
    weight_update : {"onehot", "hastie", "released", "none"}
        Reading of the update; see :func:`adagcn.boosting.samme_r.log_weight_change`.
    combine : {"samme_r", "samme", "ema", "last"}
        How layers become one prediction; see :class:`adagcn.boosting.combination.Combination`.
    vote : {"hard", "logits"}
        What a layer casts under ``combine="samme"``.
    ema_teleport : float
        γ of ``combine="ema"``.
    on_perfect : {"stop", "continue"}
        Whether ``combine="samme"`` ends with a layer that makes no training error.
    voting_share : float
        Of an ensemble of d layers the last ⌈d · voting_share⌉ vote; the ones before them only
        prepare the start of the next.
    adopted_nodes : int
        Unlabeled nodes, drawn by chance, that layers from ``adopted_from`` on learn from as the
        ensemble so far sees them; see :mod:`adagcn.boosting.adoption`. Without a graph there are
        none to draw.
    adopted_from : int
        The first layer that learns from them.
    adopted_weight : float
        Their share of the training loss.
    adopted_sharpness : float
        Exponent on the ensemble's probabilities as targets: above 1 they are surer.
    first_layer_l2, weight_decay : float
        λ of (λ/2)‖W0‖², and Adam's decay on all parameters.
    dropout, hidden_dropout : float
        Rates on the input (stored values only, where features are sparse) and the hidden layer.
    relu_logits : bool
        A ReLU on the logits as well, as in the released code.
    max_epochs, patience : int
        Epochs of a layer, and how many may bring no improvement on the stopping nodes.
    stop_on : {"ranked", "loss", "accuracy"}
        What the stopping rule watches; see :class:`adagcn.training.stopping.Stopper`.
    stop_penalty : {"full", "diluted", "none"}
        The L2 term's part in the stopping loss.
    validation_fraction : float
        Share of the labeled nodes set aside for stopping where ``fit`` gets no ``X_val``.
    carry_parameters, carry_optimizer, share_stopping, align_weights : bool
        What a layer takes over from the one before, and whether weights meet their own nodes; see
        :class:`adagcn.training.hop_fitter.NetworkFitter` and
        :class:`adagcn.training.loop.TrainingSettings`.
    normalization : {"symmetric", "random_walk"}
        Of the adjacency.
    teleport : float
        γ: share of the input features that every hop keeps.
    hop_scale : {"none", "row_l2", "hop"}
        Size of hop features; see :mod:`adagcn.propagation.scaling`.
    feature_norm : {"l1", "none", "graph"}
        Divide rows of features by their L1 norm; ``"graph"``: as the graph's features are.
    max_features : int or "all"
        Columns of the features that are used: those with the largest sums of squares.
    learner : scikit-learn classifier, optional
        Fitted on every hop instead of the perceptron; needs ``predict_proba`` and
        ``sample_weight``. Such a model cannot be saved to a file.
    class_weight : dict, "balanced" or None
        Weight of each class before boosting.
    warm_start : bool
        Whether ``fit`` with a larger ``n_layers`` adds layers to the ones there are.
    random_state : int, generator or None
        All randomness of a fit. An integer makes it repeatable to the bit.
    device : str
        Torch device of the networks.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Label values, sorted.
    params_ : dict
        The resolved hyper-parameters and the preset.
    layers_ : tuple of BoostedLayer
        The fitted layers.
    layer_weights_, layer_errors_, effective_sample_sizes_ : ndarray of shape (n_layers,)
        Coefficient, weighted training error and weight concentration of each layer.
    sample_weights_ : ndarray of shape (n_layers, n_train)
        Node weights that each layer was fitted with.
    stop_accuracy_ : float or None
        The ensemble's accuracy on the stopping nodes.
    n_features_in_ : int
        Feature columns.
    columns_ : ndarray or None
        Feature columns that ``max_features`` kept; None for all.

    Examples
    --------
    >>> from adagcn.data import planted_partition
    >>> graph = planted_partition(n_nodes=200, n_classes=3, n_features=32, seed=0)
    >>> labeled = graph.node_ids[:60]
    >>> clf = AdaGCNClassifier(graph, n_layers=3, max_epochs=20, random_state=0)
    >>> clf = clf.fit(labeled, graph.classes[graph.labels[:60]])
    >>> clf.predict(graph.node_ids[60:]).shape
    (140,)
    """

    model_key = "adagcn"

    def __init__(  # noqa: PLR0913
        self,
        graph: Graph | None = None,
        *,
        preset: str = "tuned",
        n_layers: int | Literal["auto"] | None = None,
        hidden_units: int | None = None,
        n_members: int | None = None,
        learning_rate: float | None = None,
        reweight_rate: float | None = None,
        weight_update: str | None = None,
        combine: str | None = None,
        vote: str | None = None,
        ema_teleport: float | None = None,
        on_perfect: str | None = None,
        voting_share: float | None = None,
        adopted_nodes: int | None = None,
        adopted_from: int | None = None,
        adopted_weight: float | None = None,
        adopted_sharpness: float | None = None,
        first_layer_l2: float | None = None,
        weight_decay: float | None = None,
        dropout: float | None = None,
        hidden_dropout: float | None = None,
        relu_logits: bool | None = None,
        max_epochs: int | None = None,
        patience: int | None = None,
        stop_on: str | None = None,
        stop_penalty: str | None = None,
        validation_fraction: float | None = None,
        carry_parameters: bool | None = None,
        carry_optimizer: bool | None = None,
        share_stopping: bool | None = None,
        align_weights: bool | None = None,
        normalization: str | None = None,
        teleport: float | None = None,
        hop_scale: str | None = None,
        feature_norm: str | None = None,
        max_features: int | Literal["all"] | None = None,
        learner: Any | None = None,
        class_weight: dict[Any, float] | str | None = None,
        warm_start: bool = False,
        random_state: Any = None,
        device: str = "cpu",
    ) -> None:
        self.graph = graph
        self.preset = preset
        self.n_layers = n_layers
        self.hidden_units = hidden_units
        self.n_members = n_members
        self.learning_rate = learning_rate
        self.reweight_rate = reweight_rate
        self.weight_update = weight_update
        self.combine = combine
        self.vote = vote
        self.ema_teleport = ema_teleport
        self.on_perfect = on_perfect
        self.voting_share = voting_share
        self.adopted_nodes = adopted_nodes
        self.adopted_from = adopted_from
        self.adopted_weight = adopted_weight
        self.adopted_sharpness = adopted_sharpness
        self.first_layer_l2 = first_layer_l2
        self.weight_decay = weight_decay
        self.dropout = dropout
        self.hidden_dropout = hidden_dropout
        self.relu_logits = relu_logits
        self.max_epochs = max_epochs
        self.patience = patience
        self.stop_on = stop_on
        self.stop_penalty = stop_penalty
        self.validation_fraction = validation_fraction
        self.carry_parameters = carry_parameters
        self.carry_optimizer = carry_optimizer
        self.share_stopping = share_stopping
        self.align_weights = align_weights
        self.normalization = normalization
        self.teleport = teleport
        self.hop_scale = hop_scale
        self.feature_norm = feature_norm
        self.max_features = max_features
        self.learner = learner
        self.class_weight = class_weight
        self.warm_start = warm_start
        self.random_state = random_state
        self.device = device

    def _fit_hop(self, problem: FitProblem, settings: Settings, seed: int) -> FitHop:
        if self.learner is not None:
            labels = problem.nodes.labels
            return SklearnFitter(self.learner, labels, len(problem.classes), seed)
        return network_fitter(self, problem, settings, seed)

    @staticmethod
    def make_network(
        settings: Settings,
        n_features: int,
        n_classes: int,
        generator: torch.Generator,
        dtype: torch.dtype,
    ) -> TwoLayerPerceptron:
        """Return the network of one hop, at its start."""
        return TwoLayerPerceptron(
            n_features,
            n_classes,
            hidden_units=settings.hidden_units,
            n_members=settings.n_members,
            input_dropout=settings.dropout,
            hidden_dropout=settings.hidden_dropout,
            first_layer_l2=settings.first_layer_l2,
            relu_logits=settings.relu_logits,
            generator=generator,
            dtype=dtype,
        )
