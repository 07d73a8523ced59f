from __future__ import annotations

from itertools import pairwise

import pytest

from adagcn.report.depth_figure import depth_figure

ACCURACY = [0.58, 0.73, 0.79, 0.81]
CONTROLS = {"perceptron": 0.58, "logistic regression": 0.575}


def test_the_curve_and_the_controls_are_the_numbers_given():
    axes = depth_figure(ACCURACY, CONTROLS, title="t").axes[0]
    curve, *lines = axes.get_lines()
    assert curve.get_xdata().tolist() == [0, 1, 2, 3]
    assert curve.get_ydata().tolist() == pytest.approx([58, 73, 79, 81])
    assert [line.get_ydata()[0] for line in lines] == pytest.approx([58, 57.5])


def test_every_line_is_named_beside_itself_and_no_names_overlap():
    axes = depth_figure(ACCURACY, CONTROLS, title="t").axes[0]
    assert [text.get_text() for text in axes.texts] == [
        "AdaGCN  81.0 %",
        "perceptron  58.0 %",
        "logistic regression  57.5 %",
    ]
    heights = sorted(text.xy[1] for text in axes.texts)
    assert min(b - a for a, b in pairwise(heights)) > 1
