"""What TensorBoard and MLflow hold after a fit is what the model says of itself."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from adagcn import AdaGCNClassifier, MLflowCallback, TensorBoardCallback
from adagcn.data import planted_partition
from adagcn.errors import AdaGCNWarning, ResourceError
from adagcn.models.appnp import APPNPClassifier
from adagcn.training.events import Callback

QUICK = {"preset": "tuned", "n_layers": 2, "hidden_units": 8, "max_epochs": 4, "random_state": 0}


class Recorder(Callback):
    def __init__(self):
        self.epochs, self.stops = [], []

    def on_epoch(self, event):
        self.epochs.append(event)

    def on_stop(self, event):
        self.stops.append(event)


@pytest.fixture(scope="module")
def graph():
    return planted_partition(90, 3, 10, seed=1, feature_signal=1.5)


def fit(model, *callbacks):
    graph = model.graph
    ids, labels = graph.ids_and_labels(graph.labeled_nodes)
    return model.fit(
        ids[::3], labels[::3], X_val=ids[1::3], y_val=labels[1::3], callbacks=callbacks
    )


def test_the_end_is_told_with_parameters_and_accuracy(graph):
    for model in (AdaGCNClassifier(graph, **QUICK), APPNPClassifier(graph, max_epochs=3)):
        recorder = Recorder()
        fit(model, recorder)
        (stop,) = recorder.stops
        assert stop.params == model.params_
        assert stop.stop_accuracy == model.stop_accuracy_


# TensorBoard


def events_in(folder):
    module = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    found = module.EventAccumulator(str(folder))
    found.Reload()
    return found


def curve(folder, tag):
    return [(each.step, each.value) for each in events_in(folder).Scalars(tag)]


def test_tensorboard_holds_the_curves_of_every_layer(graph, tmp_path):
    pytest.importorskip("tensorboard")
    recorder = Recorder()
    model = fit(AdaGCNClassifier(graph, **QUICK), recorder, TensorBoardCallback(tmp_path))
    for layer in (0, 1):
        told = [event for event in recorder.epochs if event.layer == layer]
        folder = tmp_path / f"layer_{layer:02d}"
        for name, field in (
            ("training_loss", "loss"),
            ("stop_loss", "stop_loss"),
            ("stop_accuracy", "stop_accuracy"),
        ):
            steps, values = zip(*curve(folder, f"epoch/{name}"), strict=True)
            assert list(steps) == [event.epoch for event in told]
            np.testing.assert_allclose(values, [getattr(e, field) for e in told], rtol=1e-6)
    errors = [value for _, value in curve(tmp_path, "layer/training_error")]
    np.testing.assert_allclose(errors, model.layer_errors_, rtol=1e-6)
    assert curve(tmp_path, "layer/epochs") == list(enumerate(model.n_epochs_))
    ((_, accuracy),) = curve(tmp_path, "final_stop_accuracy")
    assert accuracy == pytest.approx(model.stop_accuracy_)
    content = events_in(tmp_path).SummaryMetadata("_hparams_/session_start_info")
    assert b"hidden_units" in content.plugin_data.content


def test_each_fit_has_a_folder_and_models_without_layers_one_curve(graph, tmp_path):
    pytest.importorskip("tensorboard")
    callback = TensorBoardCallback(tmp_path)
    fit(APPNPClassifier(graph, max_epochs=3, random_state=0), callback)
    fit(AdaGCNClassifier(graph, preset="instant", n_layers=2), callback)
    assert len(curve(tmp_path / "layer_00", "epoch/training_loss")) == 3
    assert len(curve(tmp_path / "fit_2", "layer/training_error")) == 2
    assert "layer/training_error" not in events_in(tmp_path).Tags()["scalars"]


def test_networks_that_are_averaged_have_curves_of_their_own(graph, tmp_path):
    pytest.importorskip("tensorboard")
    model = AdaGCNClassifier(graph, variant={"n_members": 2}, **QUICK)
    fit(model, TensorBoardCallback(tmp_path))
    runs = {path.name for path in tmp_path.iterdir() if path.is_dir()}
    assert {"layer_00", "layer_00_member_1", "layer_01", "layer_01_member_1"} <= runs


def test_a_folder_that_cannot_be_written_is_refused(graph, tmp_path):
    pytest.importorskip("tensorboard")
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(ResourceError, match="TensorBoard's files cannot be written"):
        fit(AdaGCNClassifier(graph, **QUICK), TensorBoardCallback(tmp_path / "file"))


# MLflow


@pytest.fixture
def store(tmp_path, monkeypatch):
    mlflow = pytest.importorskip("mlflow")
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    monkeypatch.setenv("MLFLOW_DISABLE_TELEMETRY", "true")
    uri = (tmp_path / "runs").as_uri()
    before = mlflow.get_tracking_uri()
    mlflow.set_tracking_uri(uri)
    yield uri
    mlflow.set_tracking_uri(before)


@pytest.mark.filterwarnings("ignore:The filesystem tracking backend:FutureWarning")
def test_mlflow_holds_curves_layers_and_parameters(graph, store):
    from mlflow import MlflowClient

    recorder = Recorder()
    callback = MLflowCallback("nodes", run_name="two layers", tracking_uri=store)
    model = fit(AdaGCNClassifier(graph, **QUICK), recorder, callback)
    client = MlflowClient(tracking_uri=store)
    experiment = client.get_experiment_by_name("nodes").experiment_id
    (run,) = client.search_runs([experiment])
    assert (run.info.status, run.info.run_name) == ("FINISHED", "two layers")
    assert run.data.tags["adagcn.ended"] == "finished"
    assert run.data.params == {name: str(value)[:500] for name, value in model.params_.items()}
    assert run.data.metrics["final_stop_accuracy"] == model.stop_accuracy_

    def history(key):
        return [(m.step, m.value) for m in client.get_metric_history(run.info.run_id, key)]

    assert history("training_error") == list(enumerate(model.layer_errors_))
    losses = [(e.epoch, e.loss) for e in recorder.epochs if e.layer == 1]
    assert history("layer_01/training_loss") == losses
    fit(AdaGCNClassifier(graph, **QUICK), callback)
    assert len(client.search_runs([experiment])) == 2


@pytest.mark.filterwarnings("ignore:The filesystem tracking backend:FutureWarning")
def test_a_fit_joins_the_active_run_and_the_next_one_goes_below_it(graph, store):
    import mlflow

    callback = MLflowCallback()
    with mlflow.start_run() as active:
        fit(AdaGCNClassifier(graph, **QUICK), callback)
        assert mlflow.active_run() is not None
        fit(AdaGCNClassifier(graph, **{**QUICK, "n_layers": 1}), callback)
    client = mlflow.MlflowClient()
    parent, *_ = [client.get_run(active.info.run_id)]
    assert parent.data.params["n_layers"] == "2"
    runs = client.search_runs([active.info.experiment_id])
    below = [run for run in runs if run.data.tags.get("mlflow.parentRunId")]
    assert [run.data.params["n_layers"] for run in below] == ["1"]
    assert below[0].info.status == "FINISHED"


@pytest.mark.filterwarnings("ignore:The filesystem tracking backend:FutureWarning")
def test_a_fit_that_fails_leaves_a_failed_run(graph, store):
    from mlflow import MlflowClient

    class Broken(Callback):
        def on_layer(self, event):
            raise RuntimeError("broken")

    callback = MLflowCallback("failing", tracking_uri=store)
    with pytest.raises(RuntimeError, match="broken"):
        fit(AdaGCNClassifier(graph, **QUICK), callback, Broken())
    client = MlflowClient(tracking_uri=store)
    (run,) = client.search_runs([client.get_experiment_by_name("failing").experiment_id])
    assert run.info.status == "FAILED"


@pytest.mark.filterwarnings("ignore:The filesystem tracking backend:FutureWarning")
def test_a_fit_survives_mlflow_failing_in_its_middle(graph, store, monkeypatch):
    import mlflow

    def fail(*_, **__):
        raise OSError("the server left")

    monkeypatch.setattr(mlflow.MlflowClient, "log_batch", fail)
    with pytest.warns(AdaGCNWarning, match="MLflow failed.*the server left") as told:
        model = fit(AdaGCNClassifier(graph, **QUICK), MLflowCallback("x", tracking_uri=store))
    assert len(told) == 1
    assert len(model.layers_) == 2


def test_a_store_that_cannot_be_used_is_refused_before_the_first_epoch(graph, monkeypatch):
    pytest.importorskip("mlflow")
    recorder = Recorder()
    callback = MLflowCallback("x", tracking_uri="nosuch://store")
    with pytest.raises(ResourceError, match=r"no run can be begun in MLflow.*nosuch://store"):
        fit(AdaGCNClassifier(graph, **QUICK), callback, recorder)


@pytest.mark.parametrize(
    ("package", "make"),
    [("tensorboard", lambda: TensorBoardCallback("x")), ("mlflow", MLflowCallback)],
)
def test_a_missing_package_is_named_with_the_extra(monkeypatch, package, make):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(
        ResourceError, match=rf'needs the package {package}.*pip install "adagcn\[track\]"'
    ):
        make()
