"""Large dense products have the same bits with any number of threads in the pool."""

from __future__ import annotations

import pytest
import torch

from adagcn.engines.threads import threads, threads_of_a_model
from adagcn.learners import dense_products
from adagcn.learners.dense_products import _cut, dense_product, n_blocks
from adagcn.learners.inputs import times


@pytest.fixture(autouse=True)
def cut_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dense_products, "TWO_BLOCKS_FROM", 2**16)
    monkeypatch.setattr(dense_products, "FOUR_BLOCKS_FROM", 2**20)


def matrices(n_rows: int, n_inner: int, n_columns: int, dtype: torch.dtype):
    draws = torch.Generator().manual_seed(0)
    left = torch.randn(n_rows, n_inner, generator=draws, dtype=dtype)
    return left, torch.randn(n_inner, n_columns, generator=draws, dtype=dtype)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("shape", [(70, 9, 300), (300, 9, 70), (300, 90, 300), (5, 999, 600)])
def test_the_bits_do_not_depend_on_the_number_of_threads(shape, dtype):
    left, right = matrices(*shape, dtype)
    assert n_blocks(left, right) > 1
    for form in (left, left.t().contiguous().t()):
        with threads(1):
            expected = dense_product(form, right)
        torch.testing.assert_close(expected, left @ right)
        for n_threads in (1, 2, 4):
            with threads_of_a_model(n_threads):
                assert torch.equal(dense_product(form, right), expected)


def test_blocks_cover_everything_once_and_are_not_too_small():
    for size in range(1, 700):
        for parts in (1, 2, 4):
            blocks = _cut(size, parts, 16, 64)
            assert [i for block in blocks for i in range(size)[block]] == list(range(size))
            assert len(blocks) == 1 or min(len(range(size)[block]) for block in blocks) >= 48
            assert all(block.start % 16 == 0 for block in blocks)


def test_a_cut_product_has_the_gradient_of_autograd():
    left, start = matrices(70, 40, 300, torch.float64)
    weight = start.clone().requires_grad_()
    times(left, weight).square().sum().backward()
    expected = start.clone().requires_grad_()
    (left @ expected).square().sum().backward()
    torch.testing.assert_close(weight.grad, expected.grad)
    with_gradient = left.clone().requires_grad_()  # rows that are no constants
    times(with_gradient, start).sum().backward()
    torch.testing.assert_close(with_gradient.grad, start.sum(dim=1).expand_as(left))
