"""What an error says, whatever it is about."""

from __future__ import annotations

import inspect
import pickle
import subprocess
import sys

import numpy as np
import pytest

import adagcn
from adagcn import errors
from adagcn.errors import InputError, shown


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (np.str_("0"), "'0'"),
        (np.int64(3), "3"),
        (np.float64(0.5), "0.5"),
        (np.float32(0.1), "0.1"),
        (np.bool_(True), "True"),
        (np.longdouble(0.5), "0.5"),
        (np.datetime64("2020-01-02"), "2020-01-02"),
        (np.array(7), "7"),
        ([np.str_("a"), np.int64(1)], "['a', 1]"),
        ((np.int8(2),), "(2,)"),
        ((), "()"),
        ({np.str_("x"): [np.float32(1.5)]}, "{'x': [1.5]}"),
        (np.array([np.int64(3), "b"], dtype=object), "[3, 'b']"),
        ([("a", np.int64(1)), None], "[('a', 1), None]"),
        ("plain", "'plain'"),
    ],
)
def test_values_are_shown_without_numpys_wrapping(value, text):
    assert shown(value) == text
    assert str(InputError("AGC-I000", "wrong", got=value)) == f"wrong; got {text} [AGC-I000]"


def test_a_long_value_is_cut_and_never_read_to_its_end():
    endless = list(range(3_000_000))
    assert len(shown(endless)) == len(shown(dict.fromkeys(endless))) == 200
    assert shown(endless).endswith("…")


@pytest.mark.parametrize(
    ("fix", "sentence"),
    [
        ("mend it", "Mend it"),
        ("for one-hot labels pass y.argmax(axis=1)", "For one-hot labels pass y.argmax(axis=1)"),
        ("don't do it", "Don't do it"),
        ("random_state=0 makes a fit repeatable", "random_state=0 makes a fit repeatable"),
        ("n_layers must be lower", "n_layers must be lower"),
        ("sklearn.preprocessing has one", "sklearn.preprocessing has one"),
        ("appnp(graph).fit(ids, labels)", "appnp(graph).fit(ids, labels)"),
        ("--labels gives them", "--labels gives them"),
        ("0 is usual", "0 is usual"),
    ],
)
def test_a_fix_starts_with_a_capital_unless_it_starts_with_code(fix, sentence):
    assert str(InputError("AGC-I000", "wrong", fix=fix)) == f"wrong. {sentence} [AGC-I000]"


def test_an_error_survives_the_way_back_from_a_worker():
    error = InputError("AGC-I000", "wrong", got=3, fix="mend it")
    assert str(pickle.loads(pickle.dumps(error))) == str(error)


def test_the_whole_family_can_be_imported_from_the_package():
    family = {
        name
        for name, value in vars(errors).items()
        if inspect.isclass(value) and issubclass(value, errors.AdaGCNError | errors.AdaGCNWarning)
    }
    assert family <= set(adagcn.__all__)
    for name in adagcn.__all__:
        assert getattr(adagcn, name) is not None
    for name in family:
        assert getattr(adagcn, name) is getattr(errors, name)


def test_importing_the_errors_loads_nothing_heavy():
    code = (
        "import sys; from adagcn import AdaGCNError, InputError, ResourceError; "
        "sys.exit(' '.join({'torch', 'sklearn', 'scipy', 'numpy'} & {*sys.modules}) or None)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
