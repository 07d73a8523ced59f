"""What a changed graph costs, measured."""

from __future__ import annotations

from adagcn.bench.updates import UpdatesPlan, measure_updates


def test_hops_from_kept_ones_are_measured_and_compared():
    plan = UpdatesPlan(3000, 2, n_features=5, n_communities=8, n_hops=3)
    sections = [*measure_updates(plan, seed=0, tick=lambda: None)]
    assert [section.title.split(", ", 1)[1] for section in sections] == [
        "one community, in memory",
        "one community, in a store",
        "scattered, in memory",
        "scattered, in a store",
    ]
    memory, store = sections[:2]
    shares = [[row.facts["share"] for row in each.rows] for each in (memory, store)]
    assert shares[0] == shares[1]
    assert memory.row("comparing the graphs").facts["share"] == 0  # features are the same
