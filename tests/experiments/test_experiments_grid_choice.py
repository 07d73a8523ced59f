from __future__ import annotations

import experiment_fixtures as toy
import pytest

from adagcn.errors import InputError
from adagcn.experiments.campaign import plan
from adagcn.experiments.grid_choice import check_choosable, grid_choices, grid_table, json_grid
from adagcn.experiments.spec_files import load_spec

ROWS = [
    {"label": "AdaGCN", "model": "adagcn", "settings": toy.QUICK},
    {"label": "chosen", "model": "logistic", "grid": {"C": [1.0, 10.0, 100.0]}},
]
# By C: accuracy on the scored nodes of splits 0 and 1; on the stopping nodes C = 1 is always best.
SCORED = {1.0: (0.9, 0.5), 10.0: (0.8, 0.7), 100.0: (0.75, 0.75)}


def choice(*, unfinished=()):
    cells = plan(toy.toy_spec(rows=ROWS, n_inits=1), toy.GRAPHS)
    results = {}
    for run in cells[1].runs:
        c, split = run.params["C"], int(run.split[-1])
        if (c, split) not in unfinished:
            results[run.key] = toy.some_result(SCORED[c][split], stop_accuracy=1.0 / c)
    (found,) = grid_choices(cells, results)
    return found


def test_one_combination_is_chosen_for_all_splits_by_its_mean_on_scored_nodes():
    found = choice()
    assert [each.mean for each in found.candidates] == pytest.approx([0.7, 0.75, 0.75])
    assert found.chosen.settings == {"C": 10.0}  # the first of two equal ones
    table = grid_table("t", [found])
    assert table.body == [[["chosen"], ["Toy"], ["C = 10.0"], ["75.00"], ["75.00"]]]
    (facts,) = json_grid([found])
    assert facts["chosen"] == {"C": 10.0}
    assert [each["settings"]["C"] for each in facts["candidates"]] == [1.0, 10.0, 100.0]


def test_as_long_as_a_run_is_missing_the_choice_is_open():
    found = choice(unfinished=[(1.0, 1)])
    assert found.chosen is None
    assert found.missing == 1
    assert grid_table("t", [found]).body[0][2] == ["open: 1 run missing"]
    assert json_grid([found])[0]["chosen"] is None


def test_nothing_is_chosen_on_final_splits_or_without_a_grid():
    check_choosable(load_spec("search_rivals"), "search_rivals")
    check_choosable(load_spec("search_adasgc"), "search_adasgc")
    with pytest.raises(InputError, match=r"no row with a grid.*AGC-I2209"):
        check_choosable(load_spec("table2"), "table2")
    with pytest.raises(InputError, match=r"not chosen on splits that final tables.*AGC-I2210"):
        check_choosable(load_spec("fresh_chosen"), "fresh_chosen")
