"""GCN by the rules of its authors and of PPNP's study, and with residual connections."""

from __future__ import annotations

from typing import Any

from adagcn.baselines.gcn import VANILLA
from adagcn.baselines.gcn_es import EARLY_STOPPED
from adagcn.baselines.gcn_res import RESIDUAL
from adagcn.estimators.graph_model import GraphModelClassifier
from adagcn.graph import Graph


class GCNClassifier(GraphModelClassifier):
    """Graph convolutional network, trained as its authors did.

    Formula and presets: :mod:`adagcn.baselines.gcn`. Methods and attributes:
    :class:`~adagcn.estimators.graph_model.GraphModelClassifier`.

    Parameters
    ----------
    graph : Graph
        The graph whose node ids ``fit`` and ``predict`` take.
    preset : {"paper", "authors"}
        Where unset hyper-parameters come from: PPNP's study, or the original publication.
    n_layers : int
        Products with Â, each with weights of its own.
    hidden_units : int
        Width of the hidden layers.
    dropout : float
        Rate on the input of every layer (stored values only, where features are sparse).
    first_layer_l2, weight_decay : float
        λ of (λ/2)‖W0‖², and Adam's decay on all parameters.
    learning_rate : float
        Adam's.
    max_epochs, patience : int
        Epochs, and how many may bring no improvement on the stopping nodes (``stop_on="window"``:
        how many losses the newest is compared with).
    stop_on : {"ranked", "loss", "accuracy", "both", "window", "never"}
        The stopping rule; see :func:`adagcn.baselines.stopping.make_stopper`.
    stop_penalty : {"full", "diluted", "none"}
        The L2 term's part in the stopping loss.
    validation_fraction : float
        Share of the labeled nodes set aside for stopping where ``fit`` gets no ``X_val``.
    feature_norm : {"l1", "none", "graph"}
        Divide rows of features by their L1 norm; ``"graph"``: as the graph's features are.
    class_weight : dict, "balanced" or None
        Weight of each class in the loss.
    random_state : int, generator or None
        All randomness of a fit. An integer makes it repeatable to the bit.
    device : str
        Torch device of the network.

    Examples
    --------
    >>> from adagcn.data import planted_partition
    >>> graph = planted_partition(n_nodes=200, n_classes=3, n_features=32, seed=0)
    >>> clf = GCNClassifier(graph, max_epochs=20, random_state=0)
    >>> clf = clf.fit(graph.node_ids[:60], graph.labels[:60])
    >>> clf.predict(graph.node_ids[60:]).shape
    (140,)
    """

    model_key = "gcn"
    system = VANILLA

    def __init__(  # noqa: PLR0913
        self,
        graph: Graph | None = None,
        *,
        preset: str = "paper",
        n_layers: int | None = None,
        hidden_units: int | None = None,
        dropout: float | None = None,
        first_layer_l2: float | None = None,
        weight_decay: float | None = None,
        learning_rate: float | None = None,
        max_epochs: int | None = None,
        patience: int | None = None,
        stop_on: str | None = None,
        stop_penalty: str | None = None,
        validation_fraction: float | None = None,
        feature_norm: str | None = None,
        class_weight: dict[Any, float] | str | None = None,
        random_state: Any = None,
        device: str = "cpu",
    ) -> None:
        self._store(locals())


class EarlyStoppedGCNClassifier(GCNClassifier):
    """GCN of the size and with the early stopping of PPNP's study; parameters as of GCN.

    Presets: :mod:`adagcn.baselines.gcn_es`.
    """

    model_key = "gcn_es"
    system = EARLY_STOPPED


class ResidualGCNClassifier(GCNClassifier):
    """GCN with residual connections between hidden layers; parameters as of GCN.

    Formula and presets: :mod:`adagcn.baselines.gcn_res`.
    """

    model_key = "gcn_res"
    system = RESIDUAL
