"""What a fit tells while it runs, and how it is ended from outside."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from adagcn import AdaGCNClassifier, Callback
from adagcn.errors import InputError, LayerWarning
from adagcn.models import MODELS, Variant

QUICK = {"preset": "tuned", "n_layers": 4, "hidden_units": 8, "max_epochs": 6, "random_state": 0}


class Recorder(Callback):
    """Keeps what it is told, and asks to stop where it is told to."""

    def __init__(self, stop_after=None):
        self.epochs, self.layers, self.stops = [], [], []
        self.stop_after = stop_after

    def on_epoch(self, event):
        self.epochs.append(event)
        return self.stop_after == ("epoch", event.layer, event.epoch)

    def on_layer(self, event):
        self.layers.append(event)
        return self.stop_after == ("layer", event.layer)

    def on_stop(self, event):
        self.stops.append(event)


def fit(task, recorder, **changes):
    model = AdaGCNClassifier(task.graph, **{**QUICK, **changes})
    y = task.labels(task.train)
    return model.fit(task.train, y, **task.stopping(), callbacks=[recorder])


def test_every_epoch_and_layer_is_told_and_nothing_changes_by_it(task):
    recorder = Recorder()
    model = fit(task, recorder)
    silent = AdaGCNClassifier(task.graph, **QUICK)
    silent.fit(task.train, task.labels(task.train), **task.stopping())
    assert model.model_digest_ == silent.model_digest_
    assert [event.layer for event in recorder.layers] == [0, 1, 2, 3]
    assert [event.epochs for event in recorder.layers] == model.n_epochs_
    assert {event.n_layers for event in recorder.layers} == {4}
    np.testing.assert_array_equal(
        [event.weighted_error for event in recorder.layers], model.layer_errors_
    )
    by_layer = [[e for e in recorder.epochs if e.layer == layer] for layer in range(4)]
    assert [[e.epoch for e in each] for each in by_layer] == [
        list(range(1, n + 1)) for n in model.n_epochs_
    ]
    kept = [layer.learner.record.stop_loss for layer in model.layers_]
    assert kept == [min(event.stop_loss for event in each) for each in by_layer]
    assert all(event.max_epochs == 6 and event.loss > 0.0 for event in recorder.epochs)
    assert [(event.reason, event.n_layers) for event in recorder.stops] == [("finished", 4)]


def test_every_layer_has_a_line_in_the_log(task, caplog):
    with caplog.at_level("INFO", logger="adagcn"):
        model = AdaGCNClassifier(task.graph, **QUICK).fit(task.train, task.labels(task.train))
        MODELS["gcn"](task.graph, max_epochs=2).fit(task.train, task.labels(task.train))
    lines = [record.getMessage() for record in caplog.records]
    assert lines[0] == f"layer 0: 6 epochs, training error {model.layer_errors_[0]:.4f}"
    assert lines[-1] == "layer 0: 2 epochs"
    assert len(lines) == 5
    assert not any(hasattr(record, "layer") for record in caplog.records)


def test_members_are_told_apart(task):
    recorder = Recorder()
    fit(task, recorder, n_layers=1, variant=Variant(n_members=3))
    assert sorted({event.member for event in recorder.epochs}) == [0, 1, 2]


def test_a_callback_ends_the_fit_after_a_layer(task):
    recorder = Recorder(stop_after=("layer", 1))
    model = fit(task, recorder)
    shorter = fit(task, Recorder(), n_layers=2)
    assert len(model.layers_) == 2
    np.testing.assert_array_equal(model.predict_proba(task.rest), shorter.predict_proba(task.rest))
    assert [event.reason for event in recorder.stops] == ["callback"]


def test_a_callback_ends_the_fit_within_a_layer_which_is_kept_as_it_is(task):
    recorder = Recorder(stop_after=("epoch", 1, 2))
    model = fit(task, recorder)
    assert model.n_epochs_ == [fit(task, Recorder()).n_epochs_[0], 2]
    assert model.predict(task.rest).shape == task.rest.shape
    first = fit(task, Recorder(stop_after=("epoch", 0, 1)))
    assert first.n_epochs_ == [1]


def test_a_search_for_the_depth_that_is_ended_keeps_the_best_so_far(task):
    recorder = Recorder(stop_after=("layer", 2))
    model = fit(task, recorder, n_layers="auto")
    assert 1 <= len(model.layers_) <= 3
    assert len(recorder.layers) == 3
    assert {event.n_layers for event in recorder.layers} == {None}


def test_a_callback_that_raises_ends_the_fit_and_the_layers_before_stay(task):
    class Broken:
        def on_layer(self, event):
            if event.layer == 2:
                raise RuntimeError("the disk is full")

    recorder = Recorder()
    model = AdaGCNClassifier(task.graph, **QUICK)
    y = task.labels(task.train)
    with pytest.raises(RuntimeError, match="the disk is full"):
        model.fit(task.train, y, **task.stopping(), callbacks=[Broken(), recorder])
    assert len(model.layers_) == 2
    expected = fit(task, Recorder(), n_layers=2)
    np.testing.assert_array_equal(model.predict_proba(task.rest), expected.predict_proba(task.rest))
    assert [event.reason for event in recorder.stops] == ["error"]


def test_an_error_before_the_first_layer_leaves_nothing(task):
    class Broken:
        def on_epoch(self, event):
            raise KeyboardInterrupt

    model = AdaGCNClassifier(task.graph, **QUICK)
    with pytest.raises(KeyboardInterrupt):
        model.fit(task.train, task.labels(task.train), callbacks=[Broken()])
    with pytest.raises(NotFittedError):
        model.predict(task.rest)


def test_a_perfect_layer_is_a_reason_to_stop(task):
    recorder = Recorder()
    model = AdaGCNClassifier(task.graph, combine="samme", **{**QUICK, "max_epochs": 300})
    with pytest.warns(LayerWarning, match="makes no training error"):
        model.fit(task.train, task.labels(task.train), callbacks=[recorder])
    assert [event.reason for event in recorder.stops] == ["perfect layer"]


@pytest.mark.parametrize("key", ["gcn", "appnp", "label_propagation", "correct_and_smooth", "sign"])
def test_the_other_systems_tell_the_same_events(task, key):
    kind = MODELS[key]
    given = {"max_epochs": 5} if "max_epochs" in kind.setting_fields() else {}
    recorder = Recorder()
    model = kind(task.graph, random_state=0, **given)
    model.fit(task.train, task.labels(task.train), **task.stopping(), callbacks=[recorder])
    assert [event.epoch for event in recorder.epochs] == list(range(1, model.n_epochs_[0] + 1))
    assert [(event.layer, event.n_layers) for event in recorder.layers] == [(0, 1)]
    assert [event.reason for event in recorder.stops] == ["finished"]


def test_a_system_can_be_ended_early_too(task):
    recorder = Recorder(stop_after=("epoch", 0, 3))
    model = MODELS["gcn"](task.graph, random_state=0)
    model.fit(task.train, task.labels(task.train), **task.stopping(), callbacks=[recorder])
    assert model.n_epochs_ == [3]
    assert [event.reason for event in recorder.stops] == ["callback"]


@pytest.mark.parametrize("key", ["gcn", "sign", "pta"])
def test_the_end_is_told_when_a_system_fails_too(task, key):
    class Broken(Recorder):
        def on_epoch(self, event):
            raise KeyboardInterrupt

    recorder = Broken()
    with pytest.raises(KeyboardInterrupt):
        MODELS[key](task.graph).fit(task.train, task.labels(task.train), callbacks=[recorder])
    assert [(event.reason, event.n_layers) for event in recorder.stops] == [("error", 0)]


def test_a_layer_that_was_cut_short_is_fitted_again_when_the_fit_goes_on(task, tmp_path):
    whole = fit(task, Recorder())
    cut = fit(task, Recorder(stop_after=("epoch", 1, 2)), warm_start=True)
    assert len(cut.layers_) == 2
    cut.save(tmp_path / "m.adagcn", continuable=True)
    back = AdaGCNClassifier.load(tmp_path / "m.adagcn", graph=task.graph)
    for model in (cut, back):
        model.fit(task.train, task.labels(task.train), **task.stopping())
        assert model.model_digest_ == whole.model_digest_


def test_a_warm_start_to_the_complete_layers_drops_the_one_that_was_cut(task):
    cut = fit(task, Recorder(stop_after=("epoch", 2, 3)), warm_start=True)
    assert len(cut.layers_) == 3
    cut.set_params(n_layers=2).fit(task.train, task.labels(task.train), **task.stopping())
    assert cut.model_digest_ == fit(task, Recorder(), n_layers=2).model_digest_


def test_the_end_is_told_when_on_layer_of_a_system_raises(task):
    class Broken:
        def on_layer(self, event):
            raise RuntimeError("no")

    recorder = Recorder()
    with pytest.raises(RuntimeError, match="no"):
        MODELS["gcn"](task.graph, max_epochs=1).fit(
            task.train, task.labels(task.train), callbacks=[Broken(), recorder]
        )
    assert [event.reason for event in recorder.stops] == ["error"]


def test_numpys_truth_stops_and_other_answers_are_refused(task):
    class Answers:
        def __init__(self, answer):
            self.answer = answer

        def on_layer(self, event):
            return self.answer

    y = task.labels(task.train)
    for answer, n_layers in ((np.True_, 1), (np.False_, 4), (None, 4)):
        model = AdaGCNClassifier(task.graph, **QUICK)
        assert len(model.fit(task.train, y, callbacks=[Answers(answer)]).layers_) == n_layers
    with pytest.raises(InputError, match="must return True"):
        AdaGCNClassifier(task.graph, **QUICK).fit(task.train, y, callbacks=[Answers("yes")])


class NotCallable:
    on_layer = 3


@pytest.mark.parametrize("callbacks", [None, Recorder(), 3])
def test_callbacks_come_as_a_list(task, callbacks):
    with pytest.raises(InputError, match="callbacks must be a list"):
        AdaGCNClassifier(task.graph).fit(task.train, task.labels(task.train), callbacks=callbacks)


@pytest.mark.parametrize("callback", [3, "later", print, Recorder, NotCallable()])
def test_what_is_no_callback_is_refused_before_anything_is_fitted(task, callback):
    model = AdaGCNClassifier(task.graph, **QUICK)
    with pytest.raises(InputError, match="a callback needs at least one of the methods"):
        model.fit(task.train, task.labels(task.train), callbacks=[callback])
    assert not hasattr(model, "classes_")
