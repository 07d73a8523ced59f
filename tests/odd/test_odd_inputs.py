"""Named odd inputs: each is refused by an error of ours or accepted as documented, none silently.

The tables are in ``cases_*.py`` beside this file.
"""

from __future__ import annotations

import re
import warnings
from collections import Counter

import pytest

from adagcn.errors import AdaGCNError
from adagcn.graph import Graph

from .cases_models import MODEL_CASES
from .cases_tables import TABLE_CASES
from .odd_case import UNSET, Case

CASES = [*TABLE_CASES, *MODEL_CASES]
AT_LEAST = 500


def test_there_are_enough_and_no_two_have_the_same_name():
    counts = Counter(case.name for case in CASES)
    assert [name for name, n in counts.items() if n > 1] == []
    assert len(CASES) >= AT_LEAST


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_odd_input(case: Case, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        if case.raises is not None:
            with pytest.raises(AdaGCNError) as error:
                case.call(tmp_path)
            assert error.value.code == case.raises
            assert re.search(case.says, str(error.value)), str(error.value)
            assert "\n" not in str(error.value)
            assert "np." not in str(error.value)
            return
        found = case.call(tmp_path)
    said = [str(each.message) for each in caught]
    if isinstance(found, tuple) and len(found) == 2 and isinstance(found[0], Graph):
        graph, found = found
        said += graph.changes
    assert case.gives is not UNSET
    assert found == case.gives
    if case.says is not None:
        assert any(re.search(case.says, each) for each in said), said
