from __future__ import annotations

import pytest

from adagcn.cli.set_option import parse_settings
from adagcn.errors import InputError

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
