"""What people see of a model: its parameters, their documentation, and the values in force."""

from __future__ import annotations

import copy
import inspect
import pickle
import re
import warnings
from dataclasses import replace

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline

from adagcn import AdaGCNClassifier
from adagcn.errors import InputError
from adagcn.models import MODELS, PRESETS, Variant
from adagcn.models.adasgc import AdaSGCClassifier
from adagcn.models.support.boosted_settings import BoostedSettings
from adagcn.models.support.settings import NOT_SETTINGS

QUICK = {"preset": "tuned", "n_layers": 2, "hidden_units": 4, "max_epochs": 3, "random_state": 0}
every_model = pytest.mark.parametrize("model", MODELS.values(), ids=MODELS.keys())


def documented(model) -> dict[str, str]:
    """Return what the class documentation says of each parameter."""
    section = model.__doc__.split("Parameters\n----------\n")[1].split("\nExamples\n")[0]
    entries = re.findall(r"^(\w+) : .*\n((?:    .*\n?)+)", section, re.MULTILINE)
    return {name: " ".join(text.split()) for name, text in entries}


@every_model
def test_constructor_settings_and_documentation_name_the_same(model):
    signature = [name for name in inspect.signature(model).parameters]
    expected = ["graph", "preset", *model.setting_fields(), *model.beside]
    assert sorted(signature) == sorted(expected)
    assert list(documented(model)) == expected
    assert set(signature) - set(NOT_SETTINGS) == set(model.setting_fields())
    defaults = {n: p.default for n, p in inspect.signature(model).parameters.items()}
    assert all(defaults[name] is None for name in model.setting_fields())
    assert {name: defaults[name] for name in model.beside} == {
        name: NOT_SETTINGS[name] for name in model.beside
    }


@pytest.mark.filterwarnings("ignore::adagcn.errors.PresetNotice")
@every_model
@pytest.mark.filterwarnings("ignore:the paper has no settings")
def test_the_documented_values_are_those_that_a_fit_uses(model, task):
    texts = documented(model)
    for preset in model.presets():
        used = model.completed(model(task.graph, preset=preset).resolved_params())
        for name in model.setting_fields():
            if name == "variant":
                continue
            text = texts[name].rpartition("Value: ")[2]
            value = repr(used[name])
            in_all = f"{value} in every preset."
            among = re.search(rf"(?:^|; ){re.escape(value)} in ([^;]*)", text)
            assert text == in_all or (among and f"``{preset}``" in among[1]), (name, preset, text)


def test_the_documented_variant_is_that_of_the_preset(task):
    for preset in PRESETS:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            used = AdaGCNClassifier(task.graph, preset=preset).resolved_settings().variant
        shown = AdaGCNClassifier.preset_value(preset, "variant")
        assert Variant(**{**Variant().model_dump(), **shown.given()}).model_dump() == (
            used.model_dump()
        )


def test_there_are_about_twenty_everyday_parameters():
    everyday = set(inspect.signature(AdaGCNClassifier).parameters) - {"graph", "preset", "variant"}
    assert len(everyday) <= 25  # the last ones: calibrate, batch_size, row_memory
    assert len(BoostedSettings.model_fields) + len(Variant.model_fields) >= 33  # nothing was lost


def test_a_variant_is_a_value():
    a, b = Variant(stop_on="loss", n_members=2), Variant(n_members=2, stop_on="loss")
    assert a == b
    assert Variant() != Variant(stop_on="ranked")  # Algorithm 1's value, set or left to the preset
    assert len({a, b, Variant()}) == 2
    assert repr(a) == "Variant(n_members=2, stop_on='loss')"
    for twin in (copy.deepcopy(a), pickle.loads(pickle.dumps(a)), eval(repr(a))):
        assert twin == a
        assert twin.given() == a.given()
    with pytest.raises(Exception, match="frozen"):
        a.stop_on = "ranked"
    with pytest.raises(InputError, match=r"variant\.stop_on: should be 'ranked'.*got 'x'"):
        Variant(stop_on="x")
    with pytest.raises(
        InputError, match=r"variant\.stop_onn: is not a known setting.*Did you mean stop_on"
    ):
        Variant(stop_onn="loss")
    assert Variant(n_members=np.int64(3)).n_members == 3


def test_a_switch_that_is_left_out_has_the_presets_value(task):
    settings = AdaGCNClassifier(task.graph, variant=Variant(n_members=2)).resolved_settings()
    assert settings.variant.n_members == 2
    assert settings.variant.stop_on == "loss"  # of tuned; Algorithm 1 has "ranked"
    assert settings.variant.voting_share == 0.5
    as_dict = AdaGCNClassifier(task.graph, variant={"n_members": 2}).resolved_settings()
    assert as_dict == settings


def test_a_switch_survives_clone_search_pipeline_and_file(task, tmp_path):
    ids = np.r_[task.train, task.stop]
    y = task.labels(ids)
    model = AdaGCNClassifier(task.graph, variant=Variant(stop_on="accuracy"), **QUICK)
    assert clone(model).variant == model.variant
    model.set_params(variant__n_members=2)
    assert model.variant == Variant(stop_on="accuracy", n_members=2)
    assert clone(model).set_params(variant__n_members=None).variant == Variant(stop_on="accuracy")
    search = GridSearchCV(model, {"variant__hop_scale": ["none", "row_l2"]}, cv=2).fit(ids, y)
    best = search.best_estimator_
    assert best.params_["variant.hop_scale"] == search.best_params_["variant__hop_scale"]
    assert best.params_["variant.stop_on"] == "accuracy"
    pipeline = Pipeline([("nodes", "passthrough"), ("model", clone(model))])
    pipeline.set_params(model__variant__stop_on="ranked").fit(ids, y)
    assert pipeline[-1].params_["variant.stop_on"] == "ranked"
    best.save(tmp_path / "m.adagcn")
    back = AdaGCNClassifier.load(tmp_path / "m.adagcn", graph=task.graph)
    assert back.variant == best.variant
    assert back.params_ == best.params_


def test_a_model_refuses_switches_that_it_does_not_have(task):
    model = AdaSGCClassifier(task.graph, variant=Variant(n_members=2))
    with pytest.raises(InputError, match=r"adasgc has no switch variant\.n_members; got 2"):
        model.fit(task.train, task.labels(task.train))


def test_values_in_force_are_printed_one_on_a_line(task):
    model = AdaGCNClassifier(task.graph, **QUICK)
    before = str(model.values_in_force()).splitlines()
    model.fit(task.train, task.labels(task.train))
    lines = str(model.params_).splitlines()
    assert re.fullmatch(r"preset +tuned", lines[0])
    assert any(re.fullmatch(r"hidden_units +4", line) for line in lines)
    assert any(re.fullmatch(r"variant\.stop_on +loss", line) for line in lines)
    assert len(lines) == len(before) == len(model.params_)
    assert isinstance(model.params_, dict)


def test_a_notebook_shows_the_values_in_force_and_escapes_them(task):
    graph = replace(task.graph, name="<script>alert(1)</script>")
    model = AdaGCNClassifier(graph, variant=Variant(stop_on="loss"), **QUICK)
    page = model._repr_html_()
    assert "<script>" not in page
    assert "not fitted" in page
    assert re.search(r">hidden_units</td><td[^>]*><b>4</b></td>", page)  # yours
    assert re.search(r">variant\.stop_on</td><td[^>]*><b>loss</b></td>", page)
    assert re.search(r">teleport</td><td[^>]*>0\.2</td>", page)  # the preset's
    assert model._repr_mimebundle_()["text/html"] == page
    wrong = AdaGCNClassifier(graph, hidden_units="<b>wide</b>")
    assert "cannot be fitted" in wrong._repr_html_()
    assert "<b>wide" not in wrong._repr_html_()
    fitted = model.fit(task.train, task.labels(task.train))._repr_html_()
    assert "not fitted" not in fitted
    model.variant = "bad"
    assert "hidden_units" in model._repr_html_()


def card(model) -> str:
    """Return the words of a model's card, without tags."""
    return re.sub(r"<[^>]*>", "|", model._repr_html_())


def test_the_card_of_a_boosted_model_shows_accuracy_layers_and_digest(task, tmp_path):
    model = AdaGCNClassifier(task.graph, **QUICK)
    model.fit(task.train, task.labels(task.train), **task.stopping())
    shown = card(model)
    assert f"{100 * model.stop_accuracy_:.1f} % on the stopping nodes" in shown
    assert model.model_digest_ in shown
    assert "Layers (2)" in shown
    for hop, error in enumerate(model.layer_errors_):
        accuracy = model.layers_[hop].learner.record.stop_accuracy
        cells = [str(hop), "3", f"{error:.4f}", "1", "100 %", f"{100 * accuracy:.1f} %"]
        assert "||".join(cells) in shown
    model.save(tmp_path / "m.adagcn")
    loaded = AdaGCNClassifier.load(tmp_path / "m.adagcn", graph=task.graph)
    assert card(loaded).split("Settings")[0] == shown.split("Settings")[0]


def test_the_card_says_what_was_chosen(task):
    model = AdaGCNClassifier(task.graph, preset="adaptive", max_epochs=2, random_state=0)
    model.fit(task.train, task.labels(task.train), **task.stopping())
    assert model.params_["look"] in card(model).replace("&#x27;", "'")


def test_the_card_says_how_a_model_was_calibrated(task):
    plain = AdaGCNClassifier(task.graph, preset="instant", n_layers=2)
    plain.fit(task.train, task.labels(task.train), **task.stopping())
    assert "calibrated" not in card(plain)
    sure = AdaGCNClassifier(task.graph, preset="instant", n_layers=2, calibrate="temperature")
    kept = task.rest[:20]
    sure.fit(
        task.train, task.labels(task.train), **task.stopping(), X_cal=kept, y_cal=task.labels(kept)
    )
    assert f"by temperature {sure.temperature_:.3g}" in card(sure)
    assert "prediction sets rest on 20 calibration nodes" in card(sure)


def test_the_card_of_models_without_epochs_layers_or_digest(task):
    labels = task.labels(task.train)
    ridge = AdaGCNClassifier(task.graph, preset="instant", n_layers=2).fit(task.train, labels)
    assert "in closed form, no epochs" in card(ridge)
    assert "not measured: there were no stopping nodes" in card(ridge)
    spread = MODELS["label_propagation"](task.graph).fit(task.train, labels)
    assert "Layers" not in card(spread)
    own = AdaGCNClassifier(task.graph, learner=LogisticRegression(), **QUICK)
    assert "digest" not in card(own.fit(task.train, labels))


def test_the_switches_are_documented():
    for name in Variant.model_fields:
        assert f"\n{name} : " in Variant.__doc__


@pytest.mark.parametrize("graph", ["cora", 3, [(0, 1)]])
def test_what_is_no_graph_is_refused_by_name(task, graph):
    with pytest.raises(InputError, match="graph must be a Graph; got"):
        AdaGCNClassifier(graph).fit(task.train, task.labels(task.train))
    model = AdaGCNClassifier(task.graph, **QUICK).fit(task.train, task.labels(task.train))
    with pytest.raises(InputError, match="graph must be a Graph; got"):
        model.predict(task.rest, graph=graph)
    assert "cannot be fitted" in AdaGCNClassifier(graph)._repr_html_()
    assert "cannot be fitted" in AdaGCNClassifier(task.graph, variant=3)._repr_html_()


def test_a_wrong_switch_changes_nothing(task):
    model = AdaGCNClassifier(task.graph, **QUICK)
    with pytest.raises(InputError, match=r"no switch variant\.foo"):
        model.set_params(n_layers=7, variant__foo=1)
    assert model.n_layers == 2


def test_class_weights_and_switches_given_as_dicts_come_back_from_a_file(task, tmp_path):
    weights = {np.int64(0): 5.0, 1: 1.0, 2: 2}
    model = AdaGCNClassifier(
        task.graph, class_weight=weights, variant={"stop_on": "ranked"}, **QUICK
    )
    model.fit(task.train, task.labels(task.train)).save(tmp_path / "m.adagcn", continuable=True)
    back = AdaGCNClassifier.load(tmp_path / "m.adagcn", graph=task.graph)
    assert back.class_weight == weights
    assert back.variant == Variant(stop_on="ranked")
    back.set_params(warm_start=True, n_layers=3).fit(task.train, task.labels(task.train))
    model.set_params(warm_start=True, n_layers=3).fit(task.train, task.labels(task.train))
    assert back.model_digest_ == model.model_digest_
