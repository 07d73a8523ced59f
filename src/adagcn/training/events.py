"""What a fit tells while it runs: an event after every epoch and every layer, and one at the end.

``fit(..., callbacks=[…])`` takes objects with any of the methods of :class:`Callback`. A method
that returns ``True`` ends the fit cleanly: the layer in training keeps the best parameters so far,
and the model of the layers up to it is ready to use. A warm start fits a layer that was cut short
again, so that it continues the fit as if it had never been ended.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from adagcn.errors import InputError

logger = logging.getLogger("adagcn")

Reason = Literal["finished", "callback", "perfect layer", "error"]


@dataclass(frozen=True)
class EpochEvent:
    """One epoch of one network has been trained.

    Parameters
    ----------
    layer, member : int
        Which layer, and which of the networks that are averaged on it; both count from 0.
    epoch, max_epochs : int
        How far the training is; it may stop early.
    loss : float
        Training loss before the step.
    stop_accuracy, stop_loss : float or None
        On the stopping nodes after the step; None where there are none.
    """

    layer: int
    member: int
    epoch: int
    max_epochs: int
    loss: float
    stop_accuracy: float | None
    stop_loss: float | None


@dataclass(frozen=True)
class LayerEvent:
    """One layer of the model is complete; a model that is not boosted has one.

    Parameters
    ----------
    layer : int
        Which one, from 0; on hop ``layer`` of the graph.
    n_layers : int or None
        How many there will be at the most; None where the fit finds that out by itself.
    epochs : int or None
        Epochs trained; None for a learner without any.
    weighted_error : float or None
        Training error under the weights of the labeled nodes; None for a model that is not boosted.
    stop_accuracy : float or None
        Of this layer alone, on the stopping nodes.
    """

    layer: int
    n_layers: int | None
    epochs: int | None
    weighted_error: float | None
    stop_accuracy: float | None


@dataclass(frozen=True)
class StopEvent:
    """The fit has ended.

    Parameters
    ----------
    reason : str
        Why: "finished", "callback", "perfect layer" or "error".
    n_layers : int
        How many layers the model has.
    params : mapping or None
        The parameters in force by name, as ``params_`` holds them; None if nothing was fitted.
    stop_accuracy : float or None
        Of the whole model, on the stopping nodes; None where there are none.
    """

    reason: Reason
    n_layers: int
    params: Mapping[str, Any] | None = None
    stop_accuracy: float | None = None


class Callback:
    """What a fit calls; a subclass, or any object, has those methods that it needs."""

    def on_epoch(self, event: EpochEvent) -> bool | None:
        """Take note of an epoch; return True to end the fit with this layer."""

    def on_layer(self, event: LayerEvent) -> bool | None:
        """Take note of a layer; return True to end the fit with it."""

    def on_stop(self, event: StopEvent) -> None:
        """Take note of the end of a fit that has begun, whatever the reason."""


@dataclass(frozen=True)
class Checkpoint(Callback):
    """Keeps finished layers in files, so that a fit that was killed goes on after the last one.

    ``model.fit(ids, labels, callbacks=[Checkpoint("folder")])``; run the same again after a kill,
    a crash or Ctrl-C, and the model has the bits of a fit that was never interrupted. Layers of
    another graph, other labels, settings or seeds are never used. The files are removed when the
    fit ends. A fit on a stored graph does this by itself, inside of the store.

    Parameters
    ----------
    folder : str, path-like or None
        Where; every fit has a folder of its own in there. ``"auto"``: ``fits`` in the store of the
        graph. None: nowhere, also for a stored graph.
    resume : bool
        Whether to go on with what is there. False removes it and starts over.
    """

    folder: str | os.PathLike[str] | None = "auto"
    resume: bool = True

    def __post_init__(self) -> None:
        """Check the values."""
        if self.folder is not None and not isinstance(self.folder, str | os.PathLike):
            raise InputError(
                "AGC-I1701",
                "the folder of a Checkpoint must be a path",
                got=self.folder,
                fix="write Checkpoint('folder')",
            )
        if not isinstance(self.resume, bool | np.bool_):
            raise InputError("AGC-I1702", "resume must be True or False", got=self.resume)


class LogCallback(Callback):
    """Writes a line to the log ``adagcn`` for every layer; every fit has one."""

    def on_layer(self, event: LayerEvent) -> None:
        """Write what is known of the layer."""
        error = event.weighted_error
        about = "" if error is None else f", training error {error:.4f}"
        facts = {"event": "layer", "layer": event.layer, "epochs": event.epochs}
        logger.info(f"layer %(layer)d: %(epochs)s epochs{about}", facts)


_METHODS = ("on_epoch", "on_layer", "on_stop")


class Events:
    """Hands events to the callbacks of one fit, and remembers whether one asked to stop.

    Parameters
    ----------
    callbacks : iterable
        Objects with at least one method of :class:`Callback`.
    *always : Callback
        Those of every fit.
    """

    def __init__(self, callbacks: Iterable[Any] = (), *always: Callback) -> None:
        if not isinstance(callbacks, Iterable):
            raise InputError(
                "AGC-I511", "callbacks must be a list", got=callbacks, fix="write callbacks=[…]"
            )
        found = [*always, *callbacks]
        for each in found:
            methods = [getattr(each, name) for name in _METHODS if hasattr(each, name)]
            if isinstance(each, type) or not methods or not all(map(callable, methods)):
                raise InputError(
                    "AGC-I510",
                    f"a callback needs at least one of the methods {', '.join(_METHODS)}",
                    got=each,
                    fix="derive it from adagcn.Callback, and pass an object rather than a class",
                )
        self._calls = {
            name: [getattr(each, name) for each in found if _has_own(each, name)]
            for name in _METHODS
        }
        checkpoints = [each for each in found if isinstance(each, Checkpoint)]
        if len(checkpoints) > 1:
            raise InputError(
                "AGC-I1703",
                "a fit keeps its layers in one place",
                got=checkpoints,
                fix="pass one Checkpoint",
            )
        self.checkpoint = checkpoints[0] if checkpoints else None
        self.stopped = False

    @property
    def has_epoch_callbacks(self) -> bool:
        """Whether anybody listens to epochs; if not, none need be described."""
        return bool(self._calls["on_epoch"])

    def epoch(self, event: EpochEvent) -> None:
        """Tell of an epoch."""
        self._notify("on_epoch", event)

    def layer(self, event: LayerEvent) -> None:
        """Tell of a layer."""
        self._notify("on_layer", event)

    def stop(self, event: StopEvent) -> None:
        """Tell of the end."""
        self._notify("on_stop", event)

    def _notify(self, method: str, event: Any) -> None:
        for call in self._calls[method]:
            answer = call(event)
            if answer is not None and not isinstance(answer, bool | np.bool_):
                raise InputError(
                    "AGC-I512",
                    f"{method} of a callback must return True (stop), False or None",
                    got=answer,
                    fix="return nothing where the fit should go on",
                )
            self.stopped = self.stopped or bool(answer)


def _has_own(callback: Any, method: str) -> bool:
    """Return whether a callback does anything there: what it inherits does nothing."""
    found = getattr(callback, method, None)
    return found is not None and getattr(found, "__func__", found) is not getattr(Callback, method)
