from __future__ import annotations

import subprocess
import sys
from itertools import pairwise

import numpy as np
import pytest

from adagcn.errors import InputError, ResourceError
from adagcn.experiments import figures
from adagcn.experiments.figures import (
    COLORS,
    ComparedModel,
    compare_figure,
    depth_figure,
    draw_comparison,
    draw_depth,
    spread_apart,
)
from adagcn.experiments.statistics import spread_by_depth

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


def write(path, kind):
    if kind == "compare":
        compare_figure(path, ROWS, title="t")
    else:
        depth_figure(path, CURVES, title="t")


def texts(axes):
    return [text.get_text() for text in axes.texts]


@pytest.mark.parametrize("kind", ["compare", "depth"])
@pytest.mark.parametrize(("suffix", "magic"), [(".png", b"\x89PNG"), (".svg", b"<?xml")])
def test_the_file_is_of_its_suffix_and_has_the_same_bytes_each_time(tmp_path, kind, suffix, magic):
    one, other = tmp_path / f"one{suffix}", tmp_path / f"other{suffix}"
    write(one, kind)
    write(other, kind)
    assert one.read_bytes().startswith(magic)
    assert one.read_bytes() == other.read_bytes()
    assert b"<dc:date>" not in one.read_bytes()
    assert sorted(p.name for p in tmp_path.iterdir()) == [one.name, other.name]


def test_the_ids_in_an_svg_are_the_same_in_another_process(tmp_path):
    path = tmp_path / "there.svg"
    code = (
        "from pathlib import Path; import sys; from adagcn.experiments.figures import *;"
        "compare_figure(Path(sys.argv[1]), [ComparedModel('a', .5, (.4, .6), [.5])], title='t')"
    )
    subprocess.run([sys.executable, "-c", code, str(path)], check=True)
    here = tmp_path / "here.svg"
    compare_figure(here, [ComparedModel("a", 0.5, (0.4, 0.6), [0.5])], title="t")
    assert here.read_bytes() == path.read_bytes()


def test_models_are_sorted_and_named_and_their_numbers_written_beside():
    axes = draw_comparison(ROWS, title="t").axes[0]
    labels = [label.get_text() for label in axes.get_yticklabels()]
    assert labels == ["AdaGCN (tuned)", "costs $5 or $6", "perceptron"]
    assert texts(axes) == ["86.00  [85.50, 86.60]", "80.00", "74.00  [73.00, 75.00]"]
    bottom, top = axes.get_ylim()
    assert bottom > top  # the first row is on top


def test_every_split_the_interval_and_the_mean_are_where_they_should_be():
    axes = draw_comparison(ROWS[1:2], title="t").axes[0]
    dots, bar, mean = axes.get_lines()
    assert list(dots.get_xdata()) == pytest.approx([85, 86, 87])
    assert list(bar.get_xdata()) == pytest.approx([85.5, 86.6])
    assert bar.get_solid_capstyle() == "butt"  # another cap would lengthen the interval
    assert list(mean.get_xdata()) == pytest.approx([86])


def test_a_panel_per_data_set_a_line_per_model_and_one_color_for_a_model():
    figure = draw_depth(CURVES, title="t", x_label="layers")
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
    axes = draw_depth({"a": {"AdaGCN": curve}}, title="t", x_label="x").axes[0]
    heights = axes.collections[0].get_paths()[0].vertices[:, 1]
    assert heights.min() == pytest.approx(100 * min(curve.lo))
    assert heights.max() == pytest.approx(100 * max(curve.hi))


def test_names_of_lines_that_end_together_do_not_overlap():
    figure = draw_depth(CURVES, title="t", x_label="x")
    figure.draw_without_rendering()
    boxes = [text.get_window_extent() for text in figure.axes[0].texts]
    assert not boxes[0].overlaps(boxes[1])


def test_nothing_is_drawn_outside_the_figure_and_the_title_is_free():
    for figure in (
        draw_comparison(ROWS, title="title " * 30),
        draw_depth(CURVES, title="title " * 30, x_label="x"),
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


def test_spread_heights_keep_order_and_distance_and_move_little():
    assert spread_apart([5.0, 1.0], 1.0) == [5.0, 1.0]
    placed = spread_apart([2.0, 2.0, 2.1, 9.0], 1.0)
    assert all(b - a >= 1 - 1e-9 for a, b in pairwise(sorted(placed)))
    assert np.mean(placed[:3]) == pytest.approx(np.mean([2.0, 2.0, 2.1]))
    assert placed[3] == 9


@pytest.mark.parametrize("kind", ["compare", "depth"])
def test_another_suffix_is_refused_before_anything_is_drawn(tmp_path, kind):
    with pytest.raises(InputError, match=r"neither in \.png nor in \.svg; got .*figure\.pdf"):
        write(tmp_path / "figure.pdf", kind)
    assert not list(tmp_path.iterdir())


def test_nothing_to_draw_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"rows is empty.*AGC-I970"):
        compare_figure(tmp_path / "a.png", [], title="t")
    with pytest.raises(InputError, match=r"curves is empty.*AGC-I971"):
        depth_figure(tmp_path / "a.png", {"panel": {}}, title="t")


@pytest.mark.parametrize("kind", ["compare", "depth"])
def test_without_matplotlib_the_remedy_is_named(tmp_path, monkeypatch, kind):
    monkeypatch.setattr(figures, "find_spec", lambda name: None)
    with pytest.raises(ResourceError, match=r"needs matplotlib\. Install it with: pip install"):
        write(tmp_path / "figure.png", kind)


def test_importing_the_figures_loads_no_matplotlib():
    code = "import sys, adagcn.experiments.figures; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
