"""Callbacks that write a fit where others look for it: TensorBoard and MLflow.

Both need a package that adagcn itself does not: ``pip install "adagcn[track]"``. The curves have
the same names in both: ``training_loss``, ``stop_loss`` and ``stop_accuracy`` by epoch for each
layer, and ``training_error``, ``stop_accuracy`` and ``epochs`` by layer. At the end come the
accuracy on the stopping nodes and the parameters in force.
"""

from __future__ import annotations

import os
import time
import warnings
from importlib import import_module
from pathlib import Path
from typing import Any

from adagcn.errors import AdaGCNWarning, ResourceError
from adagcn.training.events import Callback, EpochEvent, LayerEvent, StopEvent

# What one request to MLflow may hold.
_METRICS_AT_ONCE = 1000
_PARAMS_AT_ONCE = 100
_LONGEST_PARAM = 500


class TensorBoardCallback(Callback):
    """Writes a fit for TensorBoard: ``tensorboard --logdir FOLDER`` shows it.

    Each layer is a run of its own in the folder (``layer_00``, ``layer_01``, …), so that the curves
    of all layers lie over each other. What is known of whole layers, and the parameters with the
    final accuracy (the page *HParams*), are in the folder itself.

    Parameters
    ----------
    log_dir : str or path-like
        The folder. Further fits with the same callback go to ``fit_2``, ``fit_3``, … inside it.

    Raises
    ------
    ResourceError
        If tensorboard is not installed.
    """

    def __init__(self, log_dir: str | os.PathLike[str]) -> None:
        _need("tensorboard")
        self.log_dir = Path(log_dir)
        self._n_fits = 0
        self._writers: dict[str, Any] = {}

    def on_epoch(self, event: EpochEvent) -> None:
        """Write the losses and the accuracy of an epoch."""
        writer = self._writer(_layer_name(event.layer, event.member))
        for name, value in _epoch_numbers(event).items():
            writer.add_scalar(f"epoch/{name}", value, event.epoch)

    def on_layer(self, event: LayerEvent) -> None:
        """Write what is known of a layer; its curves are complete."""
        for name in [name for name in self._writers if name]:
            self._writers.pop(name).close()
        writer = self._writer("")
        for name, value in _layer_numbers(event).items():
            writer.add_scalar(f"layer/{name}", value, event.layer)
        writer.flush()

    def on_stop(self, event: StopEvent) -> None:
        """Write the parameters and the final accuracy, and close the files."""
        if event.reason == "error" and not self._writers:
            return  # there is nothing to close, or no file could be opened
        writer = self._writer("")
        writer.add_text("ended", f"{event.reason}, {event.n_layers} layers")
        if event.params is not None:
            params = {name: _plain(value) for name, value in event.params.items()}
            final = _known(final_stop_accuracy=event.stop_accuracy)
            writer.add_hparams(params, final, run_name=".")
        for name in list(self._writers):
            self._writers.pop(name).close()
        self._n_fits += 1

    def _writer(self, run: str) -> Any:
        """Return what writes the files of a layer, or those of the whole fit ("")."""
        if run not in self._writers:
            from torch.utils.tensorboard import SummaryWriter

            fit = self.log_dir / f"fit_{self._n_fits + 1}" if self._n_fits else self.log_dir
            try:
                self._writers[run] = SummaryWriter(str(fit / run))
            except OSError as error:
                raise ResourceError(
                    "AGC-R514",
                    f"TensorBoard's files cannot be written: {error.strerror or error}",
                    got=str(fit / run),
                    fix="choose another log_dir",
                ) from error
        return self._writers[run]


class MLflowCallback(Callback):
    """Writes a fit to MLflow.

    If a run is active (``with mlflow.start_run():``), the fit becomes part of it, and its further
    fits become runs inside it. Otherwise each fit is a run that begins and ends with it. Curves of
    epochs are sent when their layer is complete.

    Parameters
    ----------
    experiment : str, optional
        Name of the experiment for new runs, made if need be; MLflow's own choice by default.
    run_name : str, optional
        Name for new runs.
    tracking_uri : str, optional
        Where to write; MLflow's own setting by default. A path of files (``file:mlruns``) needs
        MLFLOW_ALLOW_FILE_STORE=true in the environment; a database needs the package mlflow
        instead of mlflow-skinny.

    Raises
    ------
    ResourceError
        If MLflow is not installed.

    Warns
    -----
    AdaGCNWarning
        If MLflow fails in the middle of a fit. The fit goes on without it.
    """

    def __init__(
        self,
        experiment: str | None = None,
        *,
        run_name: str | None = None,
        tracking_uri: str | None = None,
    ) -> None:
        _need("mlflow")
        self.experiment = experiment
        self.run_name = run_name
        self.tracking_uri = tracking_uri
        self._run: _MLflowRun | None = None
        self._used: set[str] = set()
        self._waiting: list[tuple[str, float, int, int]] = []

    def on_epoch(self, event: EpochEvent) -> None:
        """Keep the losses and the accuracy of an epoch, to be sent with the layer."""
        self._begun()
        layer = _layer_name(event.layer, event.member)
        for name, value in _epoch_numbers(event).items():
            self._keep(f"{layer}/{name}", value, event.epoch)

    def on_layer(self, event: LayerEvent) -> None:
        """Send what is known of a layer, and its curves."""
        run = self._begun()
        for name, value in _layer_numbers(event).items():
            self._keep(name, value, event.layer)
        waiting, self._waiting = self._waiting, []
        run.send(waiting, {})

    def on_stop(self, event: StopEvent) -> None:
        """Send the parameters and the final accuracy, and end the run if it was begun here."""
        if event.reason == "error" and self._run is None:
            return  # there is nothing to end, or no run could be begun
        run = self._begun()
        if event.stop_accuracy is not None:
            self._keep("final_stop_accuracy", event.stop_accuracy, event.n_layers)
        params = {} if event.params is None else {k: str(v) for k, v in event.params.items()}
        run.send(self._waiting, params)
        run.end(event)
        self._run, self._waiting = None, []

    def _keep(self, name: str, value: float, step: int) -> None:
        self._waiting.append((name, value, int(1000 * time.time()), step))

    def _begun(self) -> _MLflowRun:
        """Return the run of this fit, begun where there is none."""
        if self._run is None:
            self._run = self._begin()
            self._used.add(self._run.run_id)
        return self._run

    def _begin(self) -> _MLflowRun:
        import mlflow

        uri = self.tracking_uri or mlflow.get_tracking_uri()
        active = mlflow.active_run()
        try:
            client = mlflow.MlflowClient(tracking_uri=uri)
            if active is not None and active.info.run_id not in self._used:
                return _MLflowRun(client, active.info.run_id, is_ours=False)
            tags = {} if active is None else {"mlflow.parentRunId": active.info.run_id}
            where = self._experiment_id(client) if active is None else active.info.experiment_id
            made = client.create_run(where, run_name=self.run_name, tags=tags)
        except Exception as error:  # whatever a store, a server or the network says
            raise ResourceError(
                "AGC-R515",
                f"no run can be begun in MLflow: {str(error).strip().partition('. ')[0]}",
                got=uri,
                fix="name a server or folder with tracking_uri=",
            ) from error
        return _MLflowRun(client, made.info.run_id, is_ours=True)

    def _experiment_id(self, client: Any) -> str:
        """Return the id of the experiment for new runs."""
        if self.experiment is None:
            from mlflow.tracking import fluent

            # What mlflow.set_experiment or the environment says; MLflow has no public name for it.
            chosen = getattr(fluent, "_get_experiment_id", lambda: "0")
            return str(chosen())
        found = client.get_experiment_by_name(self.experiment)
        made = client.create_experiment(self.experiment) if found is None else found.experiment_id
        return str(made)


class _MLflowRun:
    """A run that a fit is written to; from its first failure on it is silent.

    Parameters
    ----------
    client : MlflowClient
        Who writes.
    run_id : str
        The run.
    is_ours : bool
        Whether it ends with the fit.
    """

    def __init__(self, client: Any, run_id: str, *, is_ours: bool) -> None:
        self.client = client
        self.run_id = run_id
        self.is_ours = is_ours
        self.has_failed = False

    def send(self, numbers: list[tuple[str, float, int, int]], params: dict[str, str]) -> None:
        """Send numbers (name, value, time, step) and parameters, in parts that MLflow takes."""
        from mlflow.entities import Metric, Param

        metrics = [Metric(*each) for each in numbers]
        texts = [Param(name, value[:_LONGEST_PARAM]) for name, value in params.items()]
        for start in range(0, len(metrics), _METRICS_AT_ONCE):
            part = metrics[start : start + _METRICS_AT_ONCE]
            self._ask("log_batch", metrics=part)
        for start in range(0, len(texts), _PARAMS_AT_ONCE):
            self._ask("log_batch", params=texts[start : start + _PARAMS_AT_ONCE])

    def end(self, event: StopEvent) -> None:
        """Note why the fit ended, and end the run if it is ours."""
        self._ask("set_tag", key="adagcn.ended", value=event.reason)
        if self.is_ours:
            status = "FAILED" if event.reason == "error" else "FINISHED"
            self._ask("set_terminated", status=status)

    def _ask(self, method: str, **what: Any) -> None:
        """Call the client; what fails is told once, since the fit is worth more than its record."""
        if self.has_failed:
            return
        try:
            getattr(self.client, method)(self.run_id, **what)
        except Exception as error:
            self.has_failed = True
            reason = str(error).strip().partition("\n")[0]
            warnings.warn(
                f"MLflow failed, and the rest of the fit is not logged: {reason}",
                AdaGCNWarning,
                stacklevel=5,
            )


def _need(package: str) -> None:
    """Refuse a callback whose package is missing, before a fit has begun."""
    try:
        import_module(package)
    except ImportError as error:
        raise ResourceError(
            "AGC-R513",
            f"this callback needs the package {package}",
            got=str(error),
            fix='install it with pip install "adagcn[track]"',
        ) from error


def _layer_name(layer: int, member: int) -> str:
    """Return the name of a layer's curves; networks that are averaged have curves of their own."""
    return f"layer_{layer:02d}" + (f"_member_{member}" if member else "")


def _epoch_numbers(event: EpochEvent) -> dict[str, float]:
    return _known(
        training_loss=event.loss, stop_loss=event.stop_loss, stop_accuracy=event.stop_accuracy
    )


def _layer_numbers(event: LayerEvent) -> dict[str, float]:
    return _known(
        training_error=event.weighted_error,
        stop_accuracy=event.stop_accuracy,
        epochs=event.epochs,
    )


def _known(**numbers: float | None) -> dict[str, float]:
    return {name: float(value) for name, value in numbers.items() if value is not None}


def _plain(value: Any) -> bool | int | float | str:
    """Return a parameter as TensorBoard takes it."""
    return value if isinstance(value, bool | int | float | str) else str(value)
