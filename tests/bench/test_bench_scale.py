from __future__ import annotations

import sys
from dataclasses import fields

import numpy as np
import pytest
from bench_fixtures import no_tick

from adagcn.bench.memory import data_bytes, peak_growth
from adagcn.bench.scale import (
    AXES,
    ScalePlan,
    Sizes,
    exponents,
    make_job,
    measure_scale,
    scale_rows,
)

SMALL = Sizes(nodes=400, edges=800, features=8, labeled=20, hidden=4, depth=2)


def test_one_size_grows_and_the_others_stay():
    plan = ScalePlan(start=SMALL, factors=(1, 2), repetitions=2, memory=False)
    axes = ["edges", "depth"]
    sections = measure_scale(plan, axes=axes, tick=no_tick)
    assert [section.dataset for section in sections] == axes
    for section in sections:
        start = section.facts["start"][section.dataset]
        assert [row.facts["size"] for row in section.rows] == [start, 2 * start]
        assert section.rows[0].ratio.median == 1.0
        assert list(section.facts["exponents"]) == ["time"]


def test_every_size_can_grow():
    assert set(AXES) == {field.name for field in fields(Sizes)}


def test_a_job_has_the_sizes_asked_for():
    job = make_job(SMALL, 0)
    assert (job.graph.n_nodes, job.graph.n_features) == (400, 8)
    assert job.graph.n_edges == pytest.approx(800, rel=0.05)
    assert data_bytes(job.graph) > 4 * 400 * 8


def test_rows_and_exponents_come_from_the_samples():
    seconds = np.array([[1.0, 2.0, 4.0], [2.0, 4.0, 8.0]])
    rows = scale_rows([10, 20, 40], seconds, [100, 100, None], [50, 50, 50])
    assert [row.ratio.median for row in rows] == [1.0, 2.0, 4.0]
    assert [row.facts["peak_over_data"] for row in rows] == [2.0, 2.0, None]
    found = exponents([10, 20, 40], seconds, [100, 400, 1600])
    assert found["time"]["slope"] == pytest.approx(1.0)
    assert found["memory"]["slope"] == pytest.approx(2.0)
    assert "memory" not in exponents([10, 20, 40], seconds, [100, None, 1600])


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="what is asked of /proc")
def test_peak_memory_is_what_was_held_and_used():
    n_bytes = 200 * 2**20
    found = peak_growth(np.ones, np.sum, (n_bytes // 8,), warm_up=(8,))
    assert found == pytest.approx(n_bytes, rel=0.1)
    # Used: a copy as large as the array itself.
    assert peak_growth(np.ones, np.negative, (n_bytes // 8,), warm_up=(8,)) == pytest.approx(
        2 * n_bytes, rel=0.1
    )
