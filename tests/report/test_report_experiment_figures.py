from __future__ import annotations

import numpy as np
import pytest

from adagcn.errors import InputError
from adagcn.experiments.statistics import spread_by_depth
from adagcn.report.drawing import COLORS
from adagcn.report.experiment_figures import ComparedModel, comparison_figure, depth_panels

ROWS = [
    ComparedModel("perceptron", 0.74, (0.73, 0.75), [0.72, 0.74, 0.76]),
    ComparedModel("AdaGCN (tuned)", 0.86, (0.855, 0.866), [0.85, 0.86, 0.87]),
    ComparedModel("costs $5 or $6", 0.80, None, [0.80]),
]
RUNS = np.random.default_rng(0).normal(0.8, 0.01, (20, 5)) + np.linspace(-0.1, 0, 5)
CURVES = {
    "Cora-ML": {"AdaGCN": spread_by_depth(RUNS), "GCN": spread_by_depth(RUNS - 0.001)},
    "PubMed": {"GCN": spread_by_depth(RUNS[:, :4], depths=[2, 4, 6, 8])},
}


def texts(axes):
    return [text.get_text() for text in axes.texts]


def test_models_are_sorted_and_named_and_their_numbers_written_beside():
    axes = comparison_figure(ROWS, title="t").axes[0]
    labels = [label.get_text() for label in axes.get_yticklabels()]
    assert labels == ["AdaGCN (tuned)", "costs $5 or $6", "perceptron"]
    assert texts(axes) == ["86.00  [85.50, 86.60]", "80.00", "74.00  [73.00, 75.00]"]
    bottom, top = axes.get_ylim()
    assert bottom > top  # the first row is on top


def test_every_split_the_interval_and_the_mean_are_where_they_should_be():
    axes = comparison_figure(ROWS[1:2], title="t").axes[0]
    bar, mean, dots = axes.get_lines()
    assert list(dots.get_xdata()) == pytest.approx([85, 86, 87])
    assert list(bar.get_xdata()) == pytest.approx([85.5, 86.6])
    assert bar.get_solid_capstyle() == "butt"  # another cap would lengthen the interval
    assert list(mean.get_xdata()) == pytest.approx([86])


def test_splits_lie_on_top_of_an_interval_that_covers_them_all():
    wide = ComparedModel("three splits", 0.86, (0.83, 0.89), [0.855, 0.86, 0.865])
    bar, _, dots = comparison_figure([wide], title="t").axes[0].get_lines()
    assert bar.get_zorder() == dots.get_zorder()  # so the one that is drawn last is on top
    assert bar.get_alpha() < dots.get_alpha()
    assert dots.get_markeredgecolor() == "white"


def test_a_panel_per_data_set_a_line_per_model_and_one_color_for_a_model():
    figure = depth_panels(CURVES, title="t")
    first, second = figure.axes
    assert [axes.get_title(loc="left") for axes in figure.axes] == ["Cora-ML", "PubMed"]
    assert texts(first) == ["AdaGCN", "GCN"]
    assert texts(second) == ["GCN"]
    adagcn, gcn = first.get_lines()
    assert (adagcn.get_color(), gcn.get_color()) == COLORS[:2]
    assert second.get_lines()[0].get_color() == COLORS[1]
    assert second.get_lines()[0].get_xdata().tolist() == [2, 4, 6, 8]
    assert adagcn.get_ydata().tolist() == pytest.approx(100 * RUNS.mean(axis=0))


def test_the_band_reaches_from_lo_to_hi():
    curve = CURVES["Cora-ML"]["AdaGCN"]
    axes = depth_panels({"a": {"AdaGCN": curve}}, title="t").axes[0]
    heights = axes.collections[0].get_paths()[0].vertices[:, 1]
    assert heights.min() == pytest.approx(100 * min(curve.lo))
    assert heights.max() == pytest.approx(100 * max(curve.hi))


def test_names_of_lines_that_end_together_do_not_overlap():
    figure = depth_panels(CURVES, title="t")
    figure.draw_without_rendering()
    boxes = [text.get_window_extent() for text in figure.axes[0].texts]
    assert not boxes[0].overlaps(boxes[1])


def test_nothing_is_drawn_outside_the_figure_and_the_title_is_free():
    for figure in (
        comparison_figure(ROWS, title="title " * 30),
        depth_panels(CURVES, title="title " * 30),
    ):
        figure.draw_without_rendering()
        inside = figure.bbox.padded(1)
        boxes = [axes.get_tightbbox() for axes in figure.axes]
        heads = [text.get_window_extent() for text in figure.texts[-2:]]
        for box in (*boxes, *heads):
            assert inside.containsx(box.x0)
            assert inside.containsx(box.x1)
            assert inside.containsy(box.y0)
            assert inside.containsy(box.y1)
        assert all(box.y1 < head.y0 for box in boxes for head in heads)
        assert not heads[0].overlaps(heads[1])


def test_lines_that_lack_runs_are_marked_and_those_without_any_are_named():
    lacking = {"Cora-ML": {"GCN": (3, 20), "SGC": (0, 45)}}
    figure = depth_panels(CURVES, title="t", unfinished=lacking)
    first, second = figure.axes
    assert texts(first) == ["AdaGCN", "GCN†"]
    assert first.get_title(loc="right") == "† GCN: 3 of 20 runs\n† SGC: 0 of 45 runs"
    assert texts(second) == ["GCN"]
    assert second.get_title(loc="right") == ""


def test_nothing_to_draw_is_refused():
    with pytest.raises(InputError, match=r"rows is empty.*AGC-I970"):
        comparison_figure([], title="t")
    with pytest.raises(InputError, match=r"curves is empty.*AGC-I971"):
        depth_panels({"panel": {}}, title="t")
