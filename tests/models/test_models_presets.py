from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pytest

from adagcn import AdaGCNClassifier, AdaSGCClassifier, Graph
from adagcn.errors import LayerWarning, PresetNotice, WeightCollapseWarning
from adagcn.models import PRESETS, Variant
from adagcn.models.support.presets import DEVIATIONS

QUICK = {"n_layers": 3, "max_epochs": 40, "hidden_units": 16, "random_state": 0}


def resolved(preset: str, graph: Graph | None = None, **given):
    clf = AdaGCNClassifier(graph, preset=preset, **given)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PresetNotice)
        return clf.resolved_params()


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("citeseer", (15, 5000, 0.0, 1e-3)),
        ("cora_ml", (12, 5000, 0.0, 1e-4)),
        ("pubmed", (20, 5000, 0.2, 1e-4)),
        ("ms_academic", (5, 3000, 0.2, 1e-4)),
    ],
)
def test_paper_has_the_row_of_each_data_set(task, name, expected):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        got = resolved("paper", replace(task.graph, name=name))
    row = tuple(got[k] for k in ("n_layers", "hidden_units", "dropout", "weight_decay"))
    assert row == expected
    assert (got["first_layer_l2"], got["learning_rate"]) == (5e-3, 0.01)
    assert (got["patience"], got["max_epochs"], got["variant.stop_on"]) == (300, 500, "ranked")
    assert (got["variant.weight_update"], got["reweight_rate"]) == ("onehot", 1.0)
    assert got["combine"] == "samme_r"
    assert got["teleport"] == 0.0


def test_paper_has_what_its_paragraph_on_reddit_says(task):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        got = resolved("paper", replace(task.graph, name="reddit"))
    expected = {
        "n_layers": 4,
        "hidden_units": 100,
        "weight_decay": 1e-4,
        "max_epochs": 20_000,
        "patience": 20_000,  # no early stopping
        # The paragraph names none; its setup may mean 0.2, 0.2 and 5e-3.
        "dropout": 0.0,
        "hidden_dropout": 0.0,
        "first_layer_l2": 0.0,
    }
    assert {name: got[name] for name in expected} == expected


def test_paper_on_another_graph_uses_cora_ml_and_says_so(task):
    clf = AdaGCNClassifier(task.graph, preset="paper", **QUICK)
    with pytest.warns(PresetNotice, match="no settings for planted_partition.*those of cora_ml"):
        clf.fit(task.train, task.labels(task.train))


def test_released_and_paper_differ_in_exactly_what_the_code_does_otherwise(task):
    paper = resolved("paper", replace(task.graph, name="pubmed"))
    released = resolved("released", replace(task.graph, name="pubmed"))
    assert {k for k in paper if paper[k] != released[k]} == {
        "variant.weight_update",
        "variant.align_weights",
        "variant.relu_logits",
        "variant.share_stopping",
        "variant.carry_optimizer",
        "variant.stop_penalty",
        "hidden_dropout",
    }


@pytest.mark.filterwarnings("ignore::adagcn.errors.PresetNotice")
@pytest.mark.filterwarnings("ignore::adagcn.errors.WeightCollapseWarning")
def test_released_and_paper_differ_on_the_same_seed_and_where(task):
    y = task.labels(task.train)
    paper, released = (
        AdaGCNClassifier(task.graph, preset=preset, **QUICK).fit(task.train, y, **task.stopping())
        for preset in ("paper", "released")
    )
    assert paper.model_digest_ != released.model_digest_

    # Both start from equal weights; after the first layer the paper gives hard nodes more weight
    # and the released code takes it from them.
    np.testing.assert_allclose(paper.sample_weights_[0], 1 / 45)
    np.testing.assert_allclose(released.sample_weights_[0], 1 / 45)
    for clf, sign in ((paper, 1), (released, -1)):
        proba = next(clf.staged_predict_proba(task.train))
        loss = -np.log(proba[np.arange(45), np.searchsorted(clf.classes_, y)])
        order = np.argsort(loss)
        weights = sign * clf.sample_weights_[1][order]
        assert (np.diff(weights) >= -1e-12).all()
        assert weights[-1] > weights[0]

    # The released network's logits pass a ReLU, so that no class score lies below the smallest.
    logits = released.layers_[0].learner.learner(
        released.layers_[0].learner.learner.as_input(task.graph.features)
    )
    assert (logits >= 0).all()


def test_unweighted_is_tuned_without_weights_and_boosted_has_them(task):
    tuned, boosted, unweighted = (
        resolved(p, task.graph) for p in ("tuned", "boosted", "unweighted")
    )
    assert unweighted["reweight_rate"] == 0.0
    assert boosted["reweight_rate"] > 0.0
    for other in (boosted, unweighted):
        assert {k for k in tuned if tuned[k] != other[k]} <= {"reweight_rate"}


def test_every_deviation_of_tuned_is_listed(task):
    paper, tuned = resolved("paper", task.graph), resolved("tuned", task.graph)
    shortened = {"max_epochs", "patience"}  # part of the stopping rule, told under stop_on
    different = {k for k in paper if paper[k] != tuned[k]} - shortened
    assert different == set(DEVIATIONS)


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.filterwarnings("ignore::adagcn.errors.PresetNotice")
@pytest.mark.filterwarnings("ignore::adagcn.errors.WeightCollapseWarning")
def test_every_preset_fits_and_explicit_values_win(task, preset):
    clf = AdaGCNClassifier(task.graph, preset=preset, **QUICK)
    clf.fit(task.train, task.labels(task.train), **task.stopping())
    assert clf.params_["preset"] == preset
    assert clf.params_["hidden_units"] == 16
    assert clf.score(task.rest, task.labels(task.rest)) > 0.6


def test_collapsing_weights_are_reported_with_the_layer(task):
    clf = AdaGCNClassifier(
        task.graph,
        preset="tuned",
        n_layers=6,
        max_epochs=200,
        variant=Variant(weight_update="hastie"),
        reweight_rate=4.0,
        random_state=0,
    )
    with pytest.warns(WeightCollapseWarning, match="from layer .* on the node weights rest on few"):
        clf.fit(task.train, task.labels(task.train))
    assert clf.effective_sample_sizes_[0] == pytest.approx(1.0)
    assert clf.effective_sample_sizes_.min() < 0.1


def test_the_released_update_is_idle_for_two_classes_and_says_so(task):
    released = Variant(weight_update="released")
    clf = AdaGCNClassifier(
        task.graph,
        preset="tuned",
        n_layers=2,
        max_epochs=5,
        variant=released,
        reweight_rate=1.0,
    )
    with pytest.warns(LayerWarning, match="never moves the node weights of two classes"):
        clf.fit(task.train, task.labels(task.train) == 0)
    assert np.ptp(clf.sample_weights_) == 0.0


@pytest.mark.filterwarnings("ignore:the paper has no settings")
def test_adasgc_has_its_own_steps_in_the_searched_presets_alone(task):
    def steps(preset):
        settings = AdaSGCClassifier(task.graph, preset=preset).resolved_settings()
        return settings.learning_rate, settings.first_layer_l2

    assert {steps(preset) for preset in ("tuned", "boosted", "unweighted")} == {(0.2, 1e-5)}
    assert steps("paper") == (0.01, 5e-3)
    own = AdaSGCClassifier(task.graph, learning_rate=0.5).resolved_settings()
    assert own.learning_rate == 0.5
