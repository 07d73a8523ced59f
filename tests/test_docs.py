"""What the documentation says is what the commands print."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from adagcn.cli import main

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def tool():
    """Return the tool that fills the pages; its neighbor is imported by a plain name."""
    sys.path.insert(0, str(ROOT / "tools"))
    try:
        import fill_tables

        yield fill_tables
    finally:
        sys.path.remove(str(ROOT / "tools"))


@pytest.fixture(scope="module")
def ledger(tool, dataset_dir, tmp_path_factory):
    """Return a ledger of all published runs; a run is known by the digest of its data."""
    if not (Path(dataset_dir) / "development").is_dir():
        pytest.skip("the development graphs of one table are not in the data folder")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ADAGCN_DATA", str(dataset_dir))
        yield tool.fresh_ledger(tmp_path_factory.mktemp("ledger"))


@pytest.mark.dataset
@pytest.mark.full
def test_tables_of_the_documentation_are_what_the_ledger_prints(tool, ledger):
    n_tables = 0
    for page in tool.PAGES:
        text = page.read_text(encoding="utf-8")
        n_tables += text.count("<!-- adagcn reproduce ")
        assert tool.filled(text, ledger) == text, f"run tools/fill_tables.py: {page.name}"
    assert n_tables > 5


def test_tables_of_calibration_are_what_its_record_prints(tool, tmp_path):
    text = (ROOT / "docs" / "how-sure.md").read_text(encoding="utf-8")
    assert text.count("<!-- adagcn bench calibration --part ") == 2
    assert tool.filled(text, tmp_path / "no ledger") == text, "run tools/fill_tables.py"


def test_recorded_measurements_of_all_pages_are_what_bench_show_prints(tool):
    n_blocks = {}
    for page in tool.PAGES:
        text = page.read_text(encoding="utf-8")
        n_blocks[page.name] = text.count("<!-- adagcn bench show ")
        assert tool.recorded(text) == text, f"run tools/fill_tables.py: {page.name}"
        shown = re.findall(r"<!-- adagcn bench show .+? -->\n\n```text\n", text)
        assert len(shown) == n_blocks[page.name], page.name  # no marker that the tool overlooks
    assert n_blocks["large-graphs.md"] > 3
    assert n_blocks["cluster.md"] > 0


def test_sentences_of_the_frontier_and_tables_of_fits_are_filled(tool, monkeypatch, tmp_path):
    def printed(words, ledger):
        return f"|{'/'.join(words[:-2])}\n\n- note\n\n- {'/'.join(words[:-2])}\n"

    monkeypatch.setattr(tool, "_printed", printed)
    page = (
        "<!-- frontier: adagcn reproduce pareto -->\n\n- old\n- older\n\nText\n\n"
        "<!-- adagcn bench fits --datasets 'a b' -->\n\n| old |\n"
    )
    once = tool.filled(page, tmp_path)
    assert once == (
        "<!-- frontier: adagcn reproduce pareto -->\n\n- reproduce/pareto\n\nText\n\n"
        "<!-- adagcn bench fits --datasets 'a b' -->\n\n|bench/fits/--datasets/a b\n"
    )
    assert tool.filled(once, tmp_path) == once


@pytest.mark.dataset
@pytest.mark.full
def test_numbers_in_sentences_are_what_the_ledger_has(tool, ledger):
    n_numbers = 0
    for page in tool.PAGES:
        text = page.read_text(encoding="utf-8")
        n_numbers += text.count("<!-- n: ")
        assert tool.numbered(text, ledger) == text, f"run tools/fill_tables.py: {page.name}"
    assert n_numbers > 50


FACTS = {
    "metric": "accuracy",
    "rows": [
        {
            "label": label,
            "column": "Cora",
            "n": 4,
            "mean": 0.5 + shift,
            "interval": [0.4 + shift, 0.6 + shift],
            "paper": [0.51, 0.01],
            "difference": shift - 0.01,
            "runs": [
                {
                    "split": f"test:{split}",
                    "init": init,
                    "accuracy": 0.5 + shift + 0.01 * split * init,
                    "accuracy_by_depth": [0.25, 0.5 + shift + 0.01 * split * init],
                    "balanced_accuracy": 0.5 + 2 * shift,
                }
                for split in (0, 10, 9)
                for init in (0, 1)
            ],
        }
        for label, shift in (("A, new", 0.25), ("B", 0.0))
    ],
    "timing": [{"label": "B", "column": "Cora", "mean_fit_cpu_seconds": 0.206}],
}


@pytest.mark.parametrize(
    ("source", "shown"),
    [
        ("t --inits 1 / A, new / Cora / mean", "75.00"),
        ("t / A, new / Cora / mean and interval", "75.00 [65.00, 85.00]"),
        ("t / B / Cora / n", "4"),
        ("t / B / Cora / splits", "3"),
        ("t / B / Cora / paper", "51.00"),
        ("t / B / Cora / over the paper", "−1.00"),
        ("t / B / Cora / CPU seconds", "0.21"),
        ("t / A, new / Cora / minus B", "+25.00 [25.00, 25.00]"),
        ("t / B / Cora / minus A, new", "−25.00 [−25.00, −25.00]"),
        ("t / A, new / Cora / ahead of B", "25.00 [25.00, 25.00]"),
        ("t / B / Cora / minus A, new, odd splits", "−25.00 [–]"),  # one of three splits
        ("t / B / Cora / mean of the first 1 layers", "25.00"),
        ("t --inits 1 / B / Cora / change after 2 layers", "+0.00 [0.00, 0.00]"),
        ("performance / cora_ml: whole fit / APPNP / time", "23.8 s"),
        ("performance / cora_ml: whole fit / APPNP / time with interval", "23.8 s (15.3–32.2)"),
        ("performance / cora_ml: one training step / GCN / a layer more", "+2.783 ms"),
        ("performance / 232,965 nodes: ÂX / copy / GB/s", "27.7"),
        ("performance / pubmed: one epoch / GCN / time over AdaGCN, all columns", "11.5×"),
    ],
)
def test_a_number_is_the_one_that_its_source_names(tool, source, shown):
    page = f"It is <!-- n: {source} -->1<!-- /n --> %."
    asked = []
    filled = tool.with_numbers(page, lambda words: asked.append(words) or FACTS)
    assert filled == f"It is <!-- n: {source} -->{shown}<!-- /n --> %."
    assert asked == ([] if source.startswith("performance") else [source.split(" / ")[0]])


def test_a_large_ratio_is_a_plain_number(tool):
    times = sys.modules[tool.with_numbers.__module__]._times
    assert [times(ratio) for ratio in (1.018, 99.9, 1234.4)] == ["1.02×", "99.9×", "1,234×"]


def test_an_interval_with_nodes_is_that_of_a_comparison_with_the_other_row(tool):
    against = {"A, new": [0.01, 0.02], "B": None}
    rows = [
        {**row, "against_first": {"node_interval": against[row["label"]]}} for row in FACTS["rows"]
    ]
    page, asked = "It is <!-- n: t / A, new / Cora / minus B c, with nodes -->1<!-- /n -->.", []
    filled = tool.with_numbers(page, lambda words: asked.append(words) or {**FACTS, "rows": rows})
    assert "-->[1.00, 2.00]<!--" in filled
    assert asked == ["t --against 'B c'"]


def test_a_difference_is_one_of_the_metric_that_was_asked_for(tool):
    page = "It is <!-- n: t / A, new / Cora / minus B -->1<!-- /n -->."
    filled = tool.with_numbers(page, lambda _: {**FACTS, "metric": "balanced_accuracy"})
    assert "+50.00 [50.00, 50.00]" in filled


@pytest.mark.parametrize(
    "source",
    [
        "t / C / Cora / mean",
        "t / B / Cora / median",
        "t / B",
        "t / B / Cora / change after 3 layers",
        "performance / x / y / time",
        "performance / pubmed: one epoch / GCN / time over nobody",
        "performance / pubmed: one epoch / GCN / AdaGCN is faster by over APPNP",
    ],
)
def test_a_number_without_a_record_is_told(tool, source):
    with pytest.raises(ValueError, match=f"there is no number '{source}'"):
        tool.with_numbers(f"It is <!-- n: {source} --><!-- /n -->.", lambda _: FACTS)


def test_a_number_at_the_start_of_a_line_would_end_its_paragraph(tool):
    with pytest.raises(ValueError, match="begins a line: <!-- n: t / B / Cora / mean"):
        tool.with_numbers("It is\n  <!-- n: t / B / Cora / mean --><!-- /n -->.", lambda _: FACTS)


def test_numbers_of_the_cost_page_stand_in_the_printed_tables(tool):
    page = (ROOT / "docs" / "cost.md").read_text(encoding="utf-8")
    printed = re.sub(r"<!-- n: table2.*?<!-- /n -->", "", page)
    assert printed.count("<!-- n: performance") > 20
    assert tool.with_numbers(printed, lambda _: {}) == printed


@pytest.mark.dataset
@pytest.mark.slow
@pytest.mark.parametrize(("name", "n_numbers"), [("citeseer", 5), ("cora_ml", 5), ("pubmed", 3)])
def test_numbers_without_features_are_what_the_ledger_prints(
    dataset_dir, tmp_path, monkeypatch, capsys, name, n_numbers
):
    monkeypatch.setenv("ADAGCN_DATA", str(dataset_dir))
    ledger = ["--ledger", str(tmp_path / "ledger.sqlite")]
    assert main(["ledger", "import", str(ROOT / "results" / "ledger.jsonl.gz"), *ledger]) == 0
    page = (ROOT / "docs" / "your-tables.md").read_text(encoding="utf-8")
    words = ["compare", name, "--no-features", "--no-training", "--splits", "5", *ledger]
    found = []
    for more in (
        ["--models", "adagcn", "--presets", "tuned"],
        ["--models", "gcn,appnp,label_propagation"],
        ["--models", "adagcn", "--presets", "tuned", "--set", "max_features=all"],
    ):
        capsys.readouterr()
        assert main([*words, *more]) == 0
        shown = capsys.readouterr().out.split("Mean accuracy")[0]
        found += re.findall(r" 5  (\d+\.\d+ \[\d+\.\d+, \d+\.\d+\])", shown)
    assert len(found) == n_numbers
    for number in found:
        assert f"| {number} |" in page


@pytest.mark.parametrize("page", ["README.md", "docs/results.md", "docs/cost.md"])
def test_every_accuracy_and_time_in_short_is_marked(page):
    """What is marked is filled and checked; a number that is not would grow old unseen."""
    text = (ROOT / page).read_text(encoding="utf-8")
    (_, *parts) = text.split("## What it reaches\n") if page == "README.md" else ("", text)
    rest = re.sub(r"<!-- n: .+?<!-- /n -->", "", "".join(parts).split("\n## ")[0])
    assert parts
    assert "<!-- n: " in text
    assert not re.findall(r"\d+\.\d+(?! million)", rest)


def test_the_algorithm_page_points_at_what_exists():
    """Every function that docs/algorithm.md names is in the file that it names."""
    page = (ROOT / "docs" / "algorithm.md").read_text(encoding="utf-8")
    rows = [line for line in page.splitlines() if re.match(r"\| \d+ \|", line)]
    assert [int(row.split("|")[1]) for row in rows] == list(range(1, 12))
    files = {name: ROOT / "src" / "adagcn" / name for name in re.findall(r"(\w+/\w+\.py)\]", page)}
    assert len([name for name in files if name != "support/presets.py"]) == 6
    for row in rows:
        for names, file in re.findall(r"((?:`[\w.]+`[^`|]*?)+) in \[?([\w/]+\.py)", row):
            text = files[file].read_text(encoding="utf-8")
            for name in re.findall(r"`([\w.]+)`", names):
                for part in name.split("."):
                    assert re.search(rf"^\s*(def|class) {part}\b", text, re.M), (name, file)


def test_links_of_the_documentation_lead_somewhere():
    for page in [*(ROOT / "docs").rglob("*.md"), *ROOT.glob("*.md")]:
        text = page.read_text(encoding="utf-8")
        for target in re.findall(r"\]\((?!https?:|#)([^)#\s]+)", text):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"
