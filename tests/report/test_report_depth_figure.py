from __future__ import annotations

import subprocess
import sys
from itertools import pairwise

import pytest

from adagcn.errors import ResourceError
from adagcn.experiments import figures
from adagcn.report.depth_figure import depth_figure, save_depth_figure

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


def test_the_file_is_a_png_and_the_same_bytes_each_time(tmp_path):
    one, other = tmp_path / "one.png", tmp_path / "other.png"
    for path in (one, other):
        save_depth_figure(path, ACCURACY, CONTROLS, title="t")
    assert one.read_bytes().startswith(b"\x89PNG")
    assert one.read_bytes() == other.read_bytes()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["one.png", "other.png"]


def test_without_matplotlib_the_remedy_is_named(monkeypatch):
    monkeypatch.setattr(figures, "find_spec", lambda name: None)
    with pytest.raises(
        ResourceError, match=r"needs matplotlib\. Install it with: pip install 'adagcn\[report\]'"
    ):
        depth_figure(ACCURACY, CONTROLS, title="t")


def test_importing_the_report_loads_no_matplotlib():
    code = "import sys, adagcn.report.depth_figure; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
