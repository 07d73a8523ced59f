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
from adagcn.errors import ResourceError


def test_the_machine_tells_its_memory_or_nothing(monkeypatch):
    assert physical_memory() is None or physical_memory() > 2**24
    monkeypatch.delattr("os.sysconf", raising=False)
    assert physical_memory() is None
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


def test_a_control_group_limits_what_may_be_used(tmp_path, monkeypatch):
    paths = [tmp_path / name for name in ("max", "limit", "none")]
    paths[0].write_text("max\n")
    paths[1].write_text("123456789\n")
    monkeypatch.setattr(memory, "_GROUP_LIMITS", paths)
    monkeypatch.setattr(memory, "physical_memory", lambda: 2**40)
    assert memory.usable_memory() == 123456789
    paths[1].write_text(str(2**63 - 4096))  # no limit, as version 1 says it
    assert memory.usable_memory() == 2**40
