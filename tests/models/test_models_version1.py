"""Model files and names of version 1: read as what they were, or refused with the new place."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import test_models_golden as golden

from adagcn import AdaGCNClassifier, load_model
from adagcn.data import planted_partition
from adagcn.errors import InputError
from adagcn.models import MODELS, Variant
from adagcn.models.support.model_file import FORMAT_VERSION, read_model
from adagcn.models.support.renamed import BOOSTED, NEW_NAMES, renamed

FOLDER = Path(__file__).parent / "version1"
EXPECTED = json.loads((FOLDER / "expected.json").read_text())


@pytest.fixture(scope="module")
def graph():
    """The graph that the files were fitted on."""
    return planted_partition(n_nodes=120, n_classes=3, n_features=16, seed=4)


@pytest.mark.parametrize("name", EXPECTED)
def test_an_old_file_predicts_as_it_did(name, graph, tmp_path):
    path = FOLDER / f"{name}.adagcn"
    assert read_model(path).version == 1
    model = load_model(path, graph=graph)
    assert model.model_key == EXPECTED[name]["model"]
    proba = model.predict_proba(graph.node_ids[60:65])
    # Recorded on the processor of the golden bits; another one rounds float32 in its own way.
    recorded = json.loads(golden.RECORD.read_text())["arithmetic"]
    nearly = 2e-9 if golden.arithmetic() == recorded else 1e-6
    np.testing.assert_allclose(proba, EXPECTED[name]["proba"], atol=nearly)
    model.save(tmp_path / "new.adagcn")
    again = read_model(tmp_path / "new.adagcn")
    assert again.version == FORMAT_VERSION
    assert load_model(tmp_path / "new.adagcn", graph=graph).params_ == model.params_


def test_an_old_files_settings_have_their_new_names(graph):
    model = load_model(FOLDER / "adagcn.adagcn", graph=graph)
    assert model.pseudo_labels == 20
    assert model.variant == Variant(pseudo_label_from=2, voting_share=0.75, stop_on="loss")
    assert model.params_["variant.pseudo_label_from"] == 2
    assert model.params_["pseudo_labels"] == 20
    assert not any("adopted" in name for name in model.params_)


def test_an_old_file_is_not_continued(graph):
    model = load_model(FOLDER / "adagcn.adagcn", graph=graph)
    model.set_params(warm_start=True, n_layers=6)
    with pytest.raises(InputError, match="AGC-I625"):
        model.fit(graph.node_ids[:40], graph.labels[:40])


@pytest.mark.parametrize("old", NEW_NAMES)
def test_a_removed_constructor_name_is_refused_with_its_new_place(old):
    new = NEW_NAMES[old]
    place = new.replace("variant.", "variant__") if new.startswith("variant.") else f"Use {new}"
    having = [MODELS[key] for key in BOOSTED if new in MODELS[key].settable()]
    assert AdaGCNClassifier in having
    for model in having:
        for use in (partial(model, None), model(None).set_params):
            with pytest.raises(InputError, match=place) as caught:
                use(**{old: 1})
            assert caught.value.code == "AGC-I603"


def test_a_model_that_never_had_a_setting_does_not_send_people_anywhere():
    with pytest.raises(TypeError, match="unexpected keyword argument 'n_members'"):
        MODELS["mlp"](None, n_members=3)
    with pytest.raises(InputError, match=r"logistic has no switch variant\.stop_on"):
        MODELS["logistic"](None).set_params(variant__stop_on="loss")


def test_every_old_name_has_a_place_that_exists():
    names = AdaGCNClassifier.settable()
    assert set(NEW_NAMES.values()) <= names


def test_the_other_systems_keep_their_names(graph):
    assert renamed("gcn", {"stop_on": "window"}) == {"stop_on": "window"}
    assert MODELS["gcn"](graph, stop_on="window").stop_on == "window"


@pytest.mark.parametrize("key", MODELS)
def test_a_misspelled_argument_is_a_type_error_with_the_nearest_name(key):
    with pytest.raises(TypeError, match=r"unexpected keyword argument 'pressset'.*'preset'\?"):
        MODELS[key](None, pressset="paper")
