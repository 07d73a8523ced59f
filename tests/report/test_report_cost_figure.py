from __future__ import annotations

import numpy as np
import pytest

from adagcn.errors import InputError
from adagcn.experiments.frontier import CostPanel, CostPoint
from adagcn.report.cost_figure import cost_figure
from adagcn.report.drawing import COLORS, GRAY
from adagcn.report.label_places import place_labels


def points(n=30, seed=0):
    rng = np.random.default_rng(seed)
    made = [
        CostPoint(
            f"system {i}" if i else "costs $5 or $6", "Cora-ML", i < 3, mean, (mean - 0.01, 1.0),
            float(10 ** rng.uniform(-1, 2)), 20 - (i == 7), 20,
        )
        for i, mean in enumerate(rng.uniform(0.78, 0.86, n))
    ]  # fmt: skip
    low = CostPoint("guess", "Cora-ML", False, 0.3, (0.29, 0.31), 0.01, 20, 20)
    return (*made, low)


PANELS = [
    CostPanel("Cora-ML", points(), ("a",), ("b", "c")),
    CostPanel("PubMed", points(12, 1), (), ()),
]


def names(axes):
    return [text for text in axes.texts if text.get_text()]


def test_every_system_has_a_dot_and_a_name_and_none_covers_another():
    figure = cost_figure(PANELS, title="t")
    figure.draw_without_rendering()
    for axes, panel in zip(figure.axes, PANELS, strict=True):
        assert {text.get_text() for text in names(axes)} == {each.label for each in panel.points}
        boxes = [text.get_window_extent() for text in names(axes)]
        assert not any(
            one.overlaps(other) for i, one in enumerate(boxes) for other in boxes[i + 1 :]
        )
        inside = axes.get_window_extent().padded(1)
        assert all(inside.contains(box.x0, box.y0) for box in boxes)


def test_a_dot_is_where_its_cost_and_accuracy_are_and_ours_are_blue():
    axes = cost_figure(PANELS[:1], title="t").axes[0]
    dots = [line for line in axes.get_lines() if line.get_marker() in ("o", "v")]
    for dot, point in zip(dots, PANELS[0].points, strict=True):
        assert dot.get_xdata() == [point.seconds]
        assert dot.get_markeredgecolor() == (COLORS[0] if point.is_ours else GRAY)
        assert (dot.get_color() == "white") == (point.n < point.planned)
        if point.label == "guess":
            assert dot.get_marker() == "v"  # so far down that the others would be squeezed
            assert dot.get_ydata()[0] > 70
        else:
            assert dot.get_ydata() == [pytest.approx(100 * point.mean)]


def test_the_frontier_is_drawn_and_what_is_missing_is_told():
    axes = cost_figure(PANELS, title="t").axes[0]
    line = axes.get_lines()[0]
    assert line.get_drawstyle() == "steps-post"
    best = [each.seconds for each in PANELS[0].frontier]
    assert list(line.get_xdata()[1:-1]) == best
    told = axes.get_title(loc="right")
    assert told == "not shown: 1 system without runs, 2 systems without a recorded fit"


def test_without_a_point_there_is_nothing_to_draw():
    with pytest.raises(InputError, match=r"nothing to draw.*AGC-I2204"):
        cost_figure([CostPanel("Cora-ML", (), ("a",), ())], title="t")


def test_names_keep_off_each_other_and_off_the_dots():
    dots = [(50.0, 50.0), (52.0, 50.0), (50.0, 53.0)]
    placed = place_labels(dots, [(30.0, 8.0)] * 3, (0.0, 0.0, 200.0, 100.0))
    assert placed[0][0] > 50.0  # to the right, as long as there is room
    for i, one in enumerate(placed):
        assert not any(one[0] < x < one[2] and one[1] < y < one[3] for x, y in dots)
        for other in placed[i + 1 :]:
            apart = one[2] <= other[0] or other[2] <= one[0]
            assert apart or one[3] <= other[1] or other[3] <= one[1]


def test_where_no_place_is_free_the_least_is_covered():
    (box,) = place_labels([(5.0, 5.0)], [(100.0, 8.0)], (0.0, 0.0, 10.0, 10.0))
    assert box[2] - box[0] == pytest.approx(100.0)
