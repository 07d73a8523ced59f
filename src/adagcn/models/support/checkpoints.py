"""Which checkpoint a fit may go on with, and what is said about it.

Every fit has a folder, named by a digest of all that its layers depend on: kind of model, settings,
graph, labeled nodes in their order, versions, training workers; and its seed. Other fits never meet
in it, and two processes do not write to it at the same time.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from importlib.metadata import version
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

from numpy.typing import NDArray

from adagcn.boosting.fit_state import FitBasis, FitState, differences
from adagcn.errors import AdaGCNError, CheckpointNotice
from adagcn.formats.build_folder import COPY_STORE, NAME_ANOTHER, is_held, make_folder
from adagcn.models.support import boosted_layers
from adagcn.models.support.adapting import Decision
from adagcn.models.support.boosted_layers import LayerForm
from adagcn.models.support.checkpoint_files import (
    FIT_FILE,
    FitEntry,
    FitFile,
    n_layer_files,
    read_fit,
    read_layers,
    write_fit,
    write_layer,
)
from adagcn.models.support.model_file import ClassValues, manifest_json
from adagcn.training.events import logger

_PACKAGES = ("adagcn", "numpy", "scipy", "torch")


@dataclass(frozen=True)
class AskedFit:
    """A fit before anything is decided or trained.

    Parameters
    ----------
    model : str
        Kind of the model.
    basis : FitBasis
        What it rests on, with the settings as they were asked for.
    classes : ClassValues
        The label values as a file holds them.
    any_seed : bool
        Whether no seed in particular was asked for.
    node_ids : callable
        Gives the ids of nodes at some positions, for messages.
    train_workers : int
        How many train a layer together: the last bits differ between their numbers.
    """

    model: str
    basis: FitBasis
    classes: ClassValues
    any_seed: bool
    node_ids: Callable[[NDArray[Any]], NDArray[Any]]
    train_workers: int = 1

    def digest(self) -> str:
        """Return a digest of all that the layers depend on, but for the seed."""
        basis = self.basis
        facts: list[Any] = [
            self.model,
            dict(basis.settings),
            basis.input_digest,
            self.classes.model_dump(),
            _versions(),
        ]
        if self.train_workers > 1:  # of one, as ever
            facts.append(self.train_workers)
        total = hashlib.sha256(manifest_json(facts))
        for name in boosted_layers.NODES:
            part = getattr(basis.nodes, name)
            total.update(b";" if part is None else part.tobytes() + b",")
        return total.hexdigest()[:16]


class Checkpoints:
    """The checkpoint of one fit, while it runs; a context that lets go of it at the end.

    Parameters
    ----------
    place : Path
        A folder with a folder for every fit.
    resume : bool
        Whether to go on with what is there.
    is_ours : bool
        Whether the place itself is removed once nothing is in it.
    """

    def __init__(self, place: Path, *, resume: bool, is_ours: bool) -> None:
        self._place, self._resume, self._is_ours = place, resume, is_ours
        self._folder: Path | None = None
        self._lock: IO[bytes] | None = None
        self._asked: AskedFit | None = None
        self._n_saved = 0
        self._stays = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        if not self._stays:
            self.release()

    # Before the fit

    def find(self, fit: AskedFit | None) -> FitFile | None:
        """Take the folder of a fit; return what an interrupted one has written down in it.

        None as the fit means that it cannot be written down.
        """
        if fit is None:
            return None
        self._asked = fit
        self._make_folder(self._place)
        digest = fit.digest()
        names = [f"{digest}-{fit.basis.seed}"]
        if fit.any_seed and self._resume:
            names = [path.name for path in _newest_first(self._place, f"{digest}-*")] + names
        for name in names:
            if self._take(self._place / name):
                break
        if self._folder is None:
            _notice(
                f"another process is at work on this very fit in {self._place}; this one keeps "
                "no checkpoint"
            )
            return None
        if not self._resume:
            _empty(self._folder)
        found = _read_or_none(self._folder)
        if found is None:
            _empty(self._folder)
            self._tell_of_others(fit)
        return found

    def begin(self, basis: FitBasis, decision: Decision, form: LayerForm, n_train: int) -> FitState:
        """Return the fit so far; write down what it rests on if that was not done yet.

        Parameters
        ----------
        basis : FitBasis
            What the fit rests on, with everything decided.
        decision : Decision
            What was decided, and why.
        form : LayerForm
            What the learners look like.
        n_train : int
            Training nodes, without those set aside for stopping.
        """
        state, fit, folder = FitState(basis), self._asked, self._folder
        if fit is None or folder is None:
            return state
        if not (folder / FIT_FILE).is_file():
            entry = FitEntry(
                model=fit.model,
                asked=dict(fit.basis.settings),
                decided=dict(basis.settings),
                input_digest=basis.input_digest,
                classes=fit.classes,
                seed=basis.seed,
                versions=_versions(),
                choices=dict(decision.choices),
                look=decision.reason,
                train_workers=fit.train_workers,
            )
            write_fit(folder, entry, fit.basis.nodes, decision)
            _log_start(0)
            return state
        state = read_layers(folder, form, state, n_train)
        self._n_saved = len(state.layers)
        _log_start(self._n_saved)
        self._tell_command()
        if n_layer_files(folder) > self._n_saved:
            _notice(
                f"the checkpoint of layer {self._n_saved} in {folder} is damaged: that layer and "
                "those after it are fitted again"
            )
        return state

    # During the fit

    def save(self, state: FitState) -> None:
        """Write the layers that are not written yet; a full disk does not end the fit."""
        if self._folder is None:
            return
        for layer in state.layers[self._n_saved :]:
            if not getattr(layer.learner, "complete", True):  # a callback cut it short
                return
            try:
                write_layer(self._folder, layer, state.input_size)
            except OSError as error:
                _notice(
                    f"layer {layer.hop} was not kept, so that this fit could not go on after "
                    f"it if it were killed: {_problem(error)}"
                )
                return
            self._n_saved += 1
        self._tell_command()

    def finish(self) -> None:
        """Remove the files of a fit that has ended, or leave that to :func:`kept_until_done`."""
        kept = _kept.get()
        if kept is None:
            self.remove()
        else:
            kept.ended.append(self)
            self._stays = True

    def release(self) -> None:
        """Let others have the folder; it goes if nothing was written to it."""
        if self._folder is not None and not (self._folder / FIT_FILE).is_file():
            self.remove()
        if self._lock is not None:
            self._lock.close()
        self._folder = self._lock = None

    def _tell_command(self) -> None:
        kept = _kept.get()
        if kept is not None and self._n_saved:
            kept.any_layer = True

    def remove(self) -> None:
        """Remove the files."""
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)
            if self._is_ours:
                with suppress(OSError):
                    self._place.rmdir()

    def _make_folder(self, folder: Path) -> None:
        make_folder(folder, fix=COPY_STORE if self._is_ours else NAME_ANOTHER)

    def _take(self, folder: Path) -> bool:
        """Hold a folder, if nobody else does."""
        for _ in range(3):  # it may be removed by its owner just now
            self._make_folder(folder)
            lock = _locked(folder)
            if lock is None:
                return False
            if os.fstat(lock.fileno()).st_nlink:
                self._folder, self._lock = folder, lock
                return True
            lock.close()
        return False

    def _tell_of_others(self, fit: AskedFit) -> None:
        """Say why the newest interrupted fit of the place is not gone on with."""
        for folder in _newest_first(self._place, "*-*"):
            lock = None if folder == self._folder else _locked(folder)
            if lock is None:  # our own, or at work
                continue
            with lock:
                other = _read_or_none(folder)
            if other is None:
                continue
            why = "; ".join(_why_other(other, fit))
            _notice(
                f"the interrupted fit in {folder} is another one, so that this fit starts with its "
                f"first layer: {why}. Delete that folder if it is no longer wanted"
            )
            return


def _why_other(other: FitFile, fit: AskedFit) -> Iterator[str]:
    """Yield in words what of an interrupted fit is not that of the one asked for."""
    if other.entry.model != fit.model:
        yield f"model was {other.entry.model} and is {fit.model}"
        return
    now = fit.basis if not fit.any_seed else replace(fit.basis, seed=other.entry.seed)
    found = list(differences(other.asked, now, fit.node_ids))
    if other.entry.train_workers != fit.train_workers:
        found.append(f"train_workers was {other.entry.train_workers} and is {fit.train_workers}")
    changed = [
        f"{name} was {was} and is {now}"
        for name, now in _versions().items()
        if (was := other.entry.versions.get(name)) != now
    ]
    yield from [*found, *changed] or ["its labeled nodes are in another order"]


# What a command keeps until it is done


@dataclass
class KeptFits:
    """Checkpoints of fits that have ended, and whether any layer is on disk at all."""

    ended: list[Checkpoints] = field(default_factory=list)
    any_layer: bool = False


_kept: ContextVar[KeptFits | None] = ContextVar("checkpoints", default=None)


@contextmanager
def kept_until_done(kept: KeptFits) -> Iterator[None]:
    """Keep checkpoints of fits that end in this block until the block does.

    If it is left by an error, they stay: what comes after a fit may take long, too.
    """
    before = _kept.set(kept)
    try:
        yield
        for each in kept.ended:
            each.remove()
    finally:
        _kept.reset(before)
        for each in kept.ended:
            each.release()


# Folders


def _newest_first(place: Path, pattern: str) -> list[Path]:
    found = [path for path in place.glob(pattern) if (path / FIT_FILE).is_file()]
    return sorted(found, key=lambda path: path.stat().st_mtime, reverse=True)


def _read_or_none(folder: Path) -> FitFile | None:
    try:
        return read_fit(folder)
    except ValueError as error:
        if (folder / FIT_FILE).exists():
            logger.info("a checkpoint is not used: %s", error)
        return None


def _locked(folder: Path) -> IO[bytes] | None:
    """Return an open file that this process alone holds; None if another one does."""
    try:
        handle = (folder / "lock").open("ab")
    except OSError:
        return None
    if is_held(handle):
        return handle
    handle.close()
    return None


def _empty(folder: Path) -> None:
    for path in folder.glob("*.checkpoint"):
        path.unlink(missing_ok=True)


def _versions() -> dict[str, str]:
    return {name: version(name) for name in _PACKAGES}


def _problem(error: OSError) -> str:
    return error.problem if isinstance(error, AdaGCNError) else str(error)


def _log_start(n_layers: int) -> None:
    logger.info("%(layers)d layers are there", {"event": "start", "layers": n_layers})


def _notice(text: str) -> None:
    warnings.warn(text, CheckpointNotice, stacklevel=2)
