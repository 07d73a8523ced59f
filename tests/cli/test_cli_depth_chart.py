from __future__ import annotations

import pytest

from adagcn.cli.depth_chart import depth_chart

ACCURACY = [0.58, 0.73, 0.79, 0.81, 0.80, 0.81, 0.82, 0.82, 0.82, 0.82, 0.82]


@pytest.mark.parametrize("width", [40, 60, 100])
def test_the_chart_fits_its_columns(width):
    lines = depth_chart(ACCURACY, mark=("logistic regression", 0.57), width=width)
    assert max(map(len, lines)) <= width
    assert len(lines) == len(ACCURACY) + 2


def test_dots_stand_in_the_order_of_the_numbers():
    lines = depth_chart(ACCURACY, mark=("x", 0.57), width=60)[1:-1]
    columns = [line.index("●") for line in lines]
    for accuracy, column in zip(ACCURACY, columns, strict=True):
        for other, other_column in zip(ACCURACY, columns, strict=True):
            assert (accuracy <= other) <= (column <= other_column)


def test_plain_terminals_get_plain_characters():
    lines = depth_chart(ACCURACY, mark=("x", 0.57), width=60, unicode=False)
    assert "".join(lines).isascii()


def test_a_flat_curve_and_a_single_layer_are_drawn():
    assert "●" in depth_chart([0.5], mark=("x", 0.5), width=40)[1]
