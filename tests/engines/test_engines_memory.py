"""What would not fit into memory is refused before any of it is taken."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from adagcn.engines import memory
from adagcn.engines.memory import (
    ParameterCount,
    check_memory,
    physical_memory,
    typed_memory_errors,
)
from adagcn.errors import InputError, ResourceError


def test_the_machine_tells_its_memory_or_nothing(monkeypatch):
    assert physical_memory() is None or physical_memory() > 2**24
    monkeypatch.delattr("os.sysconf", raising=False)
    assert physical_memory() is None
    monkeypatch.setattr(memory, "_group_limits", lambda own: [])
    check_memory(1e30, "a thing", got=1, fix="nothing is known, so nothing is refused")


def test_the_error_has_the_numbers(monkeypatch):
    monkeypatch.setattr(memory, "physical_memory", lambda: 8 * 2**30)
    check_memory(8 * 2**30, "a thing", got=8, fix="lower it")
    with pytest.raises(
        ResourceError,
        match=r"a thing would take 12\.0 GiB, and this machine has 8\.0 GiB of memory; got 12",
    ):
        check_memory(12 * 2**30, "a thing", got=12, fix="lower it")


def test_parameters_count_four_times(monkeypatch):
    monkeypatch.setattr(memory, "physical_memory", lambda: 1600)
    count = ParameterCount(4, {"hidden_units": 7})
    count.add(60)
    count.add(40)
    with pytest.raises(ResourceError, match=r"101 parameters.*got \{'hidden_units': 7\}\. Lower h"):
        count.add(1)


@pytest.mark.parametrize(
    "fails",
    [
        lambda: torch.empty(2**60, dtype=torch.uint8),
        lambda: np.empty(2**60, dtype=np.uint8),
        lambda: bytearray(2**62),
    ],
)
def test_what_libraries_say_of_memory_is_our_error(fails):
    expected = pytest.raises(ResourceError, match="not enough memory for this computation; got")
    with expected, typed_memory_errors():
        fails()


def test_other_errors_pass():
    with pytest.raises(RuntimeError, match="another thing"), typed_memory_errors():
        raise RuntimeError("another thing")


@pytest.fixture
def groups(tmp_path, monkeypatch):
    """Return the folders of control groups of both versions, with this process in one inside."""
    folders = {"v2": tmp_path / "v2", "v1": tmp_path / "v1"}
    for folder in folders.values():
        (folder / "job" / "step").mkdir(parents=True)
    own = tmp_path / "own"
    own.write_text("9:name=systemd:/\n4:cpu,memory:/job/step\n0::/job\n")
    monkeypatch.setattr(memory, "_GROUPS_V2", folders["v2"])
    monkeypatch.setattr(memory, "_GROUPS_V1", folders["v1"])
    monkeypatch.setattr(memory, "_OWN_GROUPS", own)
    monkeypatch.setattr(memory, "physical_memory", lambda: 2**40)
    return folders


def test_a_control_group_limits_what_may_be_used(groups):
    assert memory.usable_memory() == 2**40
    limit = groups["v1"] / "job" / "step" / "memory.limit_in_bytes"
    limit.write_text("123456789\n")
    assert memory.usable_memory() == 123456789
    limit.write_text(str(2**63 - 4096))  # no limit, as version 1 says it
    assert memory.usable_memory() == 2**40
    (groups["v2"] / "job" / "memory.max").write_text("max\n")
    assert memory.usable_memory() == 2**40


def test_the_groups_around_a_group_count_too(groups):
    (groups["v2"] / "job" / "memory.max").write_text("9000000000\n")
    (groups["v2"] / "memory.max").write_text("8000000000\n")
    assert memory.usable_memory() == 8_000_000_000
    assert "control group" in str(memory.tightest_limit())


def test_what_other_processes_of_the_group_hold_leaves_less_room(groups):
    (groups["v2"] / "job" / "memory.max").write_text(str(2**39))
    (groups["v2"] / "job" / "memory.stat").write_text(f"anon {2**38}\nfile 12345\n")
    assert memory.tightest_limit().room == 2**39 - 2**38


def test_the_environment_stands_in_for_all_limits(monkeypatch):
    monkeypatch.setenv("ADAGCN_MEMORY_LIMIT", "3GB")
    assert memory.usable_memory() == 3 * 2**30
    monkeypatch.setenv("ADAGCN_MEMORY_LIMIT", "none")
    assert memory.usable_memory() is None
    monkeypatch.setenv("ADAGCN_MEMORY_LIMIT", "plenty")
    with pytest.raises(InputError, match="ADAGCN_MEMORY_LIMIT is not a size; got 'plenty'"):
        memory.usable_memory()


def test_ulimit_counts(monkeypatch):
    resource = pytest.importorskip("resource")
    limits = {resource.RLIMIT_AS: (2**34, -1), resource.RLIMIT_DATA: (-1, -1)}
    monkeypatch.setattr(resource, "getrlimit", limits.__getitem__)
    monkeypatch.setattr(memory, "physical_memory", lambda: 2**50)
    found = memory.tightest_limit()
    assert found.n_bytes == 2**34
    assert "address space of this process is limited to 16.0 GiB" in str(found)
    assert found.held == memory.own_memory()["VmSize"]
