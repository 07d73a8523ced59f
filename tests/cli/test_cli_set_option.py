from __future__ import annotations

import pytest

from adagcn.cli.set_option import class_weight_setting, parse_settings
from adagcn.errors import InputError
from adagcn.models.support.registry import MODELS

NAMES = ("n_layers", "hidden_units", "combine", "dropout", "learner")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("12", 12),
        ("0.5", 0.5),
        ("5e-3", 0.005),
        ("true", True),
        ('"ema"', "ema"),
        ("ema", "ema"),
        (" auto ", "auto"),
        ("", ""),
        ("a=b", "a=b"),
        ("1\nother = 2", "1\nother = 2"),
        ("2020-01-01", "2020-01-01"),
        ("[64, 32]", [64, 32]),
    ],
)
def test_values_are_toml_or_plain_text(text, value):
    parsed = parse_settings([f"combine={text}"], NAMES)
    assert parsed == {"combine": value}
    assert type(parsed["combine"]) is type(value)


def test_an_unknown_name_gets_the_nearest():
    with pytest.raises(InputError, match=r"'hiden_units'.*mean 'hidden_units'"):
        parse_settings(["hiden_units=64"], NAMES)


def test_a_name_like_no_other_gets_the_list():
    with pytest.raises(InputError, match="It can be combine, dropout"):
        parse_settings(["zzz=64"], NAMES)


@pytest.mark.parametrize("pair", ["n_layers", "=3", ""])
def test_pairs_have_a_name_and_an_equals_sign(pair):
    with pytest.raises(InputError, match="takes key=value"):
        parse_settings([pair], NAMES)


def test_a_name_is_set_once():
    with pytest.raises(InputError, match="names 'dropout' twice"):
        parse_settings(["dropout=0", "dropout=0.5"], NAMES)


def test_a_class_weight_is_a_setting_like_any_other():
    models = {"gcn": {"class_weight", "dropout"}, "mlp": {"class_weight"}}
    assert class_weight_setting("balanced", ["dropout"], models) == {"class_weight": "balanced"}
    assert class_weight_setting("none", ["dropout"], models) == {}
    assert class_weight_setting(None, ["class_weight"], models) == {}


@pytest.mark.parametrize("word", ["balanced", "none"])
@pytest.mark.parametrize("name", ["class_weight", "gcn.class_weight"])
def test_a_class_weight_is_said_once(word, name):
    with pytest.raises(InputError, match=f"--class-weight and --set {name} exclude each other"):
        class_weight_setting(word, [name], {"gcn": {"class_weight"}})


def test_a_model_that_weighs_no_classes_is_named():
    models = {"gcn": {"class_weight"}, "votes": {"dropout"}}
    with pytest.raises(InputError, match=r"no meaning for votes: .*Leave votes out"):
        class_weight_setting("balanced", [], models)
    with pytest.raises(InputError, match=r"no meaning for votes: .*Leave it out"):
        class_weight_setting("balanced", [], {"votes": {"dropout"}})
    assert class_weight_setting("none", [], models) == {}


def test_every_model_weighs_classes():
    """Whether the weights do anything, the contract suite tests."""
    assert all("class_weight" in MODELS[key].settable() for key in MODELS)
