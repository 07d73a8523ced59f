"""One fit on one split and its measures, as ``fit`` and ``demo`` report them."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from adagcn.cli.output import steps_bar
from adagcn.cli.split_options import label_counts
from adagcn.graph import Graph

if TYPE_CHECKING:
    from typing_extensions import TypeIs

    from adagcn.data import Split
    from adagcn.models.support.boosted import BoostedClassifier
    from adagcn.models.support.classifier import NodeClassifier
    from adagcn.training.events import LayerEvent


@dataclass(frozen=True)
class TrainingRun:
    """A fitted model and its results.

    Parameters
    ----------
    model : NodeClassifier
        Fitted on the training nodes of the split.
    split : str
        Name of the split.
    seconds : float
        Time of the fit alone.
    accuracy_by_depth : list of float
        Accuracy on the scored nodes of the ensembles of hops 0, 0–1, …; empty if none is scored.
    labels : dict
        How many labels are known, trained on, stopped on and scored.
    scores : dict
        Every measure on the scored nodes, None where it has no value; empty if none is scored.
    undefined : dict
        Why a measure has no value.
    """

    model: NodeClassifier
    split: str
    seconds: float
    accuracy_by_depth: list[float]
    labels: dict[str, int]
    scores: dict[str, float | None]
    undefined: dict[str, str]

    @property
    def accuracy(self) -> float | None:
        """Accuracy on the scored nodes; None if none is scored."""
        return self.accuracy_by_depth[-1] if self.accuracy_by_depth else None

    def facts(self) -> dict[str, Any]:
        """Return the results, ready for JSON."""
        model = self.model
        boosted = _is_boosted(model)
        return {
            "accuracy": self.accuracy,
            "balanced_accuracy": self.scores.get("balanced_accuracy"),
            "stop_accuracy": model.stop_accuracy_,
            "n_layers": len(model.n_epochs_),
            "epochs": sum(epochs or 0 for epochs in model.n_epochs_),
            "seconds": round(self.seconds, 3),
            "preset": model.preset,
            "class_weight": model.class_weight,
            "calibrate": model.calibrate,
            "temperature": model.temperature_,
            "split": self.split,
            "labels": self.labels,
            "scores": self.scores,
            "undefined": self.undefined,
            "model_digest": model.model_digest_,
            "model": model.model_key,
            "accuracy_by_depth": self.accuracy_by_depth,
            "effective_sample_size": model.effective_sample_sizes_.tolist() if boosted else None,
            "epochs_by_layer": model.n_epochs_,
            "coordinates": _n_coordinates(model),
            **choice_facts(model),
            "params": model.params_,
        }


def choice_facts(model: NodeClassifier) -> dict[str, Any]:
    """Return what was chosen before the fit, by setting, and why; nothing where all was given."""
    return {"choices": getattr(model, "choices_", {}), "look": model.params_.get("look")}


def _n_coordinates(model: NodeClassifier) -> int | None:
    """Return how many coordinates stand in for features, None if none do."""
    coordinates = getattr(model, "coordinates_", None)
    return None if coordinates is None else int(coordinates.shape[1])


def run_training(
    model: NodeClassifier, graph: Graph, split: Split, callbacks: Sequence[Any] = ()
) -> TrainingRun:
    """Fit ``model`` on a split of ``graph`` and measure it.

    Parameters
    ----------
    model : NodeClassifier
        Not fitted yet; its graph is ``graph``.
    graph : Graph
        The graph, with labels.
    split : Split
        Which nodes to train on, stop on and score.
    callbacks : sequence of Callback
        Told of the fit, too.

    Returns
    -------
    TrainingRun
        The fitted model and its measures.
    """
    from adagcn.cli.scores import all_measures
    from adagcn.data.nodesets import fit_on_split

    with steps_bar("training", _planned_layers(model)) as advance:
        seconds = fit_on_split(model, graph, split, [_LayersBar(advance), *callbacks])
    counts = label_counts(graph, split)
    if not len(split.score_nodes):
        return TrainingRun(model, split.name, seconds, [], counts, {}, {})
    ids, labels = graph.ids_and_labels(split.score_nodes)
    by_depth = list(model.staged_score(ids, labels))
    scores, undefined = all_measures(labels, model.predict_proba(ids), model.classes_)
    scores["accuracy"] = by_depth[-1]
    return TrainingRun(model, split.name, seconds, by_depth, counts, scores, undefined)


def _planned_layers(model: NodeClassifier) -> int | None:
    """Return how many layers there will be, None if the fit finds the number."""
    if not _is_boosted(model):
        return 1
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the fit will say it
        n_layers = model.resolved_settings().n_layers
    return None if n_layers == "auto" else n_layers


def _is_boosted(model: NodeClassifier) -> TypeIs[BoostedClassifier]:
    """Return whether a model has boosted layers."""
    from adagcn.models.support.boosted import BoostedClassifier

    return isinstance(model, BoostedClassifier)


class _LayersBar:
    """Moves a progress bar with every finished layer."""

    def __init__(self, advance: Callable[[], None]) -> None:
        self._advance, self._n_shown = advance, 0

    def on_layer(self, event: LayerEvent) -> None:
        while self._n_shown <= event.layer:  # the first one, of a fit that goes on, may be late
            self._advance()
            self._n_shown += 1
