"""What is measured of stores: sizes small enough to take a second."""

from __future__ import annotations

import sys

import pytest

from adagcn.bench import stored_runs
from adagcn.bench.kept_fits import KeptFits
from adagcn.bench.memory_group import MemoryGroup, memory_group
from adagcn.bench.stored_hop import STORED, SUM, HopPlan, measure_stored_hops
from adagcn.errors import ResourceError


def no_tick():
    pass


def test_a_stored_hop_is_compared_with_its_parts_and_kept(tmp_path):
    plan = HopPlan(n_stored=(2_000, 8_000), n_features=4, repetitions=2)
    record = tmp_path / "record.jsonl"
    sections = list(
        measure_stored_hops(plan, kept=KeptFits(record), seed=0, folder=tmp_path, tick=no_tick)
    )
    assert [each.key for each in sections] == ["stored_hop", "stored_hop", "stored_growth"]
    for section in sections[:2]:
        assert section.facts["same_bits"]
        parts = [section.row(name).seconds.median for name in ("its bytes written", "synced")]
        assert section.row(SUM).seconds.median > sum(parts)
        assert section.row(STORED).ratio.median > 0
    assert [path.name for path in tmp_path.iterdir()] == ["record.jsonl"]  # stores are gone
    again = list(
        measure_stored_hops(plan, kept=KeptFits(record), seed=0, folder=tmp_path, tick=no_tick)
    )
    assert again == sections


def test_a_command_that_fails_is_told_with_its_last_line():
    with pytest.raises(ResourceError, match=r"store info of this benchmark failed.*no store"):
        stored_runs._run("info", ["store", "info", "/nowhere"])


def test_a_group_limits_what_is_started_in_it(tmp_path):
    with memory_group(256 * 2**20) as group:
        if group is None:
            pytest.skip("no control group with a memory limit can be made here")
        assert isinstance(group, MemoryGroup)
        import subprocess

        hungry = "b = bytearray(600 * 2**20); b[::4096] = b'x' * len(b[::4096])"
        done = subprocess.run(group.command([sys.executable, "-c", hungry]), check=False)
        assert done.returncode != 0
        modest = subprocess.run(group.command([sys.executable, "-c", "pass"]), check=False)
        assert modest.returncode == 0
    assert not group.folder.exists()
