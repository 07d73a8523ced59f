from __future__ import annotations

import subprocess
import sys
from itertools import pairwise

import numpy as np
import pytest

from adagcn.errors import InputError, ResourceError
from adagcn.experiments.statistics import spread_by_depth
from adagcn.report import drawing
from adagcn.report.depth_figure import depth_figure
from adagcn.report.drawing import save_figure, spread_apart
from adagcn.report.experiment_figures import ComparedModel, comparison_figure, depth_panels

ROWS = [ComparedModel("a", 0.5, (0.4, 0.6), [0.5])]
CURVE = spread_by_depth(np.linspace(0.6, 0.8, 12).reshape(3, 4))
FIGURES = {
    "comparison": lambda: comparison_figure(ROWS, title="t"),
    "depth of an experiment": lambda: depth_panels({"Cora-ML": {"GCN": CURVE}}, title="t"),
    "depth of a run": lambda: depth_figure([0.6, 0.7], {"perceptron": 0.5}, title="t"),
}
every_figure = pytest.mark.parametrize("draw", FIGURES.values(), ids=FIGURES)


@every_figure
@pytest.mark.parametrize(("suffix", "magic"), [(".png", b"\x89PNG"), (".svg", b"<?xml")])
def test_the_file_is_of_its_suffix_and_has_the_same_bytes_each_time(tmp_path, draw, suffix, magic):
    one, other = tmp_path / f"one{suffix}", tmp_path / f"other{suffix}"
    for path in (one, other):
        save_figure(path, draw())
    assert one.read_bytes().startswith(magic)
    assert one.read_bytes() == other.read_bytes()
    assert b"<dc:date>" not in one.read_bytes()
    assert sorted(p.name for p in tmp_path.iterdir()) == [one.name, other.name]


def test_the_ids_in_an_svg_are_the_same_in_another_process(tmp_path):
    path = tmp_path / "there.svg"
    code = (
        "from pathlib import Path; import sys; from adagcn.report.drawing import save_figure;"
        "from adagcn.report.experiment_figures import *;"
        "rows = [ComparedModel('a', .5, (.4, .6), [.5])];"
        "save_figure(Path(sys.argv[1]), comparison_figure(rows, title='t'))"
    )
    subprocess.run([sys.executable, "-c", code, str(path)], check=True)
    here = tmp_path / "here.svg"
    save_figure(here, comparison_figure(ROWS, title="t"))
    assert here.read_bytes() == path.read_bytes()


def test_another_suffix_is_refused_and_nothing_is_written(tmp_path):
    with pytest.raises(InputError, match=r"must end in \.png or \.svg; got .*figure\.pdf"):
        save_figure(tmp_path / "figure.pdf", comparison_figure(ROWS, title="t"))
    assert not list(tmp_path.iterdir())


@every_figure
def test_without_matplotlib_the_remedy_is_named(monkeypatch, draw):
    monkeypatch.setattr(drawing, "find_spec", lambda name: None)
    remedy = r"needs matplotlib\. Install it with: pip install 'adagcn\[report\]'"
    with pytest.raises(ResourceError, match=remedy):
        draw()


@pytest.mark.parametrize("module", ["bench_figure", "depth_figure", "experiment_figures"])
def test_importing_the_report_loads_no_matplotlib(module):
    code = f"import sys, adagcn.report.{module}; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_spread_heights_keep_order_and_distance_and_move_little():
    assert spread_apart([5.0, 1.0], 1.0) == [5.0, 1.0]
    placed = spread_apart([2.0, 2.0, 2.1, 9.0], 1.0)
    assert all(b - a >= 1 - 1e-9 for a, b in pairwise(sorted(placed)))
    assert np.mean(placed[:3]) == pytest.approx(np.mean([2.0, 2.0, 2.1]))
    assert placed[3] == 9
