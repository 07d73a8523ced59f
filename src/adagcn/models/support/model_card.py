"""A model as a card for notebooks: its state, how good it is, its layers, the values in force."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from adagcn.errors import AdaGCNError, counted
from adagcn.formats import html_card
from adagcn.models.support.boosted_settings import PREFIX, flattened
from adagcn.models.support.persistence import LOOK

_ABOUT_LAYERS = (
    "Training error: under the node weights. Weight: in the ensemble. Sample size: the share of "
    "the labeled nodes that the node weights rest on. Accuracy alone: of the layer by itself, on "
    "the stopping nodes."
)


def model_card(model: Any) -> str:
    """Return the HTML of a model's card.

    Parameters
    ----------
    model : NodeClassifier
        Fitted or not; settings that cannot be used are said so instead of raised.
    """
    is_fitted = hasattr(model, "params_")
    about = f"{'fitted' if is_fitted else 'not fitted'}, on {model.graph!r}"
    parts = [html_card.facts(_learned(model))] if is_fitted else []
    if is_fitted and hasattr(model, "layers_"):
        summary = f"Layers ({len(model.layers_):,})"
        parts.append(html_card.folded(summary, _layers(model)))
    settings = list(_settings(model))
    everyday = html_card.settings(row for row in settings if not row[0].startswith(PREFIX))
    parts.append(
        html_card.folded("Settings in force (bold: yours)", everyday, is_open=not is_fitted)
    )
    switches = [row for row in settings if row[0].startswith(PREFIX)]
    if switches:
        parts.append(html_card.folded("Switches of the variant", html_card.settings(switches)))
    return html_card.card(type(model).__name__, about, *parts)


def _learned(model: Any) -> Iterator[tuple[str, str]]:
    """Yield what a fit has come to, as names and values."""
    accuracy = model.stop_accuracy_
    if accuracy is None:
        yield "accuracy", "not measured: there were no stopping nodes"
    else:
        yield "accuracy", f"{100 * accuracy:.1f} % on the stopping nodes, which the fit has seen"
    classes = [str(each) for each in model.classes_[:7]]
    more = ", …" if len(model.classes_) > len(classes) else ""
    yield "classes", f"{len(model.classes_):,}: {', '.join(classes)}{more}"
    yield "features", f"{model.n_features_in_:,} columns{_kept_columns(model)}"
    epochs = [each for each in model.n_epochs_ if each]
    if epochs:
        yield "training", f"{counted(sum(epochs), 'epoch')}, seed {model.seed_}"
    else:
        yield "training", f"in closed form, no epochs; seed {model.seed_}"
    if LOOK in model.params_:
        yield "chosen", str(model.params_[LOOK])
    yield from _calibration(model)
    digest = _digest(model)
    if digest is not None:
        yield "digest", digest


def _calibration(model: Any) -> Iterator[tuple[str, str]]:
    """Yield how probabilities and prediction sets were calibrated, where they were."""
    temperature = getattr(model, "temperature_", None)
    if temperature is not None:
        yield "calibrated", f"probabilities, by temperature {temperature:.3g}"
    scores = getattr(model, "conformity_scores_", None)
    if scores is not None:
        yield "sets", f"prediction sets rest on {counted(len(scores), 'calibration node')}"


def _digest(model: Any) -> str | None:
    """Return the digest of what was learned; None of what cannot be written to a file.

    That is so with a learner of scikit-learn, and with an argument that was changed to nonsense
    after the fit: a card must show these too.
    """
    try:
        return str(model.model_digest_)
    except (AdaGCNError, AttributeError, TypeError, ValueError):
        return None


def _kept_columns(model: Any) -> str:
    """Return how many of the columns a boosted model looks at, if not all."""
    if getattr(model, "coordinates_", None) is not None:
        return f", seen as {model.coordinates_.shape[1]:,} coordinates of the nodes"
    columns = getattr(model, "columns_", None)
    return "" if columns is None else f", {len(columns):,} of them used"


def _layers(model: Any) -> str:
    """Return a table of the layers of a boosted model."""
    errors, weights = model.layer_errors_, model.layer_weights_
    sizes, epochs = model.effective_sample_sizes_, model.n_epochs_
    alone = [getattr(layer.learner.record, "stop_accuracy", None) for layer in model.layers_]
    header = ["hop", "epochs", "training error", "weight", "sample size", "accuracy alone"]
    rows = [
        (
            [
                str(layer.hop),
                f"{epochs[i]:,}" if epochs[i] else "–",
                f"{errors[i]:.4f}",
                f"{weights[i]:.3g}",
                f"{100 * sizes[i]:.0f} %",
                "–" if accuracy is None else f"{100 * accuracy:.1f} %",
            ],
            accuracy,
        )
        for i, (layer, accuracy) in enumerate(zip(model.layers_, alone, strict=True))
    ]
    return html_card.table(header, rows) + html_card.text(_ABOUT_LAYERS, 400)


def _settings(model: Any) -> Iterator[tuple[str, str, bool]]:
    """Yield every setting in force, and whether the user gave it."""
    yours = {name: value for name, value in model.given_settings().items() if value is not None}
    with suppress(AdaGCNError):
        yours = flattened(yours)
    for name, value in model.values_in_force().items():
        if name != LOOK:
            yield name, str(value), name in yours
