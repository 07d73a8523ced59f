from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import torch
from threadpoolctl import threadpool_info

from adagcn.engines.threads import (
    asked_threads,
    checked_threads,
    default_threads,
    pool_threads,
    spread,
    threads,
    threads_of_a_model,
    torch_callers,
)
from adagcn.errors import InputError


def limits() -> list[int]:
    """Return the threads of PyTorch, and those of every BLAS and OpenMP library."""
    return [torch.get_num_threads(), *(each["num_threads"] for each in threadpool_info())]


def test_threads_are_put_back():
    before = limits()
    with threads(1):
        assert set(limits()) == {1}
    assert limits() == before


def test_threads_are_put_back_after_an_error():
    before = limits()
    with pytest.raises(RuntimeError, match="on the way"), threads(2):
        raise RuntimeError("on the way")
    assert limits() == before
    assert asked_threads() is None


def test_the_innermost_block_holds():
    with threads(2):
        with threads(1):
            assert (asked_threads(), pool_threads(), torch.get_num_threads()) == (1, 1, 1)
        assert (asked_threads(), pool_threads(), torch.get_num_threads()) == (2, 2, 2)


def test_a_model_has_a_pool_and_leaves_torch_and_blas_one_thread():
    before = limits()
    with threads_of_a_model(4):
        assert set(limits()) == {1}
        assert (asked_threads(), pool_threads(), torch_callers()) == (None, 4, 4)
    assert limits() == before


def test_a_model_keeps_to_the_block_around_it():
    with threads(2), threads_of_a_model(4):
        assert set(limits()) == {2}
        assert (pool_threads(), torch_callers()) == (2, 1)  # torch shares its products by itself


def test_blocks_that_overlap_in_time_end_with_what_the_first_one_found():
    torch_before = torch.get_num_threads()
    first_is_in, second_is_in, first_is_out = (threading.Event() for _ in range(3))

    def first() -> None:
        with threads(1):
            first_is_in.set()
            assert second_is_in.wait(10)
        first_is_out.set()

    def second() -> int:
        assert first_is_in.wait(10)
        with threads(3):
            second_is_in.set()
            assert first_is_out.wait(10)
            return torch.get_num_threads()

    with ThreadPoolExecutor(2) as pool:
        one, two = pool.submit(first), pool.submit(second)
        one.result(20)
        assert two.result(20) == 3
    with ThreadPoolExecutor(1) as pool:  # a new thread has what the process has
        assert pool.submit(torch.get_num_threads).result(20) == torch_before


@pytest.mark.parametrize("n_threads", [1, 2, 5])
def test_spread_keeps_the_order_with_any_number_of_threads(n_threads):
    with threads_of_a_model(n_threads):
        assert spread(lambda x: x * x, range(10)) == [x * x for x in range(10)]


def test_spread_uses_the_threads_of_the_block_and_no_more():
    meeting = threading.Barrier(3, timeout=10)
    names = set()

    def met(_: int) -> None:
        meeting.wait()  # all three at once, or never
        names.add(threading.current_thread().name)

    with threads_of_a_model(3):
        spread(met, range(3))
        spread(met, range(3))
    assert len(names) == 3
    assert threading.current_thread().name in names


def test_spread_raises_what_an_item_raises():
    def fails(item: int) -> None:
        if item == 2:
            raise ValueError("item 2")

    with pytest.raises(ValueError, match="item 2"), threads_of_a_model(2):
        spread(fails, range(4))


def test_the_default_follows_from_sizes_alone(monkeypatch):
    monkeypatch.setattr("os.cpu_count", lambda: 64)
    sizes = [1, 2**20 - 1, 2**20, 2**24 - 1, 2**24, 2**40]
    assert [default_threads(n) for n in sizes] == [1, 1, 2, 2, 4, 4]


@pytest.mark.parametrize("wrong", [0, -1, 1.5, True, "2", 10**6, [1]])
def test_a_wrong_number_of_threads_is_refused(wrong):
    with pytest.raises(InputError, match="n_threads must be a whole number from 1 to 1024, or Non"):
        checked_threads(wrong)


def test_numbers_of_numpy_are_numbers():
    assert checked_threads(np.int64(2)) == 2
    assert checked_threads(None) is None
