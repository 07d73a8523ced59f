"""The figure of a benchmark: which panels it has, and where."""

from __future__ import annotations

import numpy as np
import pytest

from adagcn.bench import layers
from adagcn.bench.measures import Measure, Row, Section

pytest.importorskip("matplotlib")


def section(key, dataset="toy"):
    rows = (Row("AdaGCN", "adagcn", Measure(0.001), Measure(1.0), {}),)
    return Section(key, dataset, f"title of {key}", "faster by", rows, {})


def real_fits(dataset="toy"):
    ada = [layers.TimedFit(np.array([0.02, 0.03, 0.3]), np.array([10, 10, 10]), 0.4)]
    gcn = [layers.TimedFit(np.array([0.27]), np.array([20]), 0.28)]
    rows = tuple(layers.layer_rows({"AdaGCN": ada, "GCN": gcn}, 2))
    facts = {"by_layer": layers.by_layer(ada), "first_pseudo_layer": 2}
    return Section("layers", dataset, "title of layers", "faster by", rows, facts)


def panels(*sections):
    from adagcn.report.bench_figure import bench_figure

    figure = bench_figure(sections)
    figure.canvas.draw()
    return figure, {axes.get_title(loc="left"): axes for axes in figure.axes}


def test_real_fits_stand_beside_the_epochs_of_the_same_graph():
    figure, found = panels(section("epoch", "a"), real_fits("a"), section("epoch", "b"))
    left, right = (
        found["a: one epoch, all columns"],
        found["a: real fits, with all around the epochs"],
    )
    below = found["b: title of epoch"]
    places = [axes.get_position() for axes in (left, right)]
    assert places[0].x1 < places[1].x0
    box = [axes.get_window_extent() for axes in (left, right, below)]
    assert box[0].y0 == pytest.approx(box[1].y0, abs=1)
    assert box[2].y1 < box[0].y0
    narrow, _ = panels(section("epoch", "a"))
    assert figure.get_figwidth() > narrow.get_figwidth()


def test_layers_are_a_curve_and_whole_fits_are_level():
    _, found = panels(section("epoch"), real_fits())
    axes = found["toy: real fits, with all around the epochs"]
    curve, pseudo, ada, gcn = axes.get_lines()
    np.testing.assert_allclose(curve.get_ydata(), [2.0, 3.0, 30.0])
    assert set(pseudo.get_xdata()) == {2.5}
    np.testing.assert_allclose(ada.get_ydata(), 1e3 * 0.4 / 30)
    np.testing.assert_allclose(gcn.get_ydata(), 14.0)
    texts = {text.get_text() for text in axes.texts}
    assert texts == {"AdaGCN, whole fit  13.3 ms", "GCN, whole fit  14 ms"}
