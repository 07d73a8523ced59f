"""``adagcn fit --predict-to``, and predictions of a graph in a store."""

from __future__ import annotations

import subprocess
import sys

import pytest
from pyarrow import parquet

from adagcn import ResourceError
from adagcn.models.support.classifier import NodeClassifier
from adagcn.propagation import hop_workplace, stored_hops

FIT = ["--preset", "instant", "--split", "stratified:0"]


@pytest.fixture(scope="module")
def store(tables, tmp_path_factory):
    from adagcn.cli import main

    folder = tmp_path_factory.mktemp("stores") / "fruit"
    assert main(["store", "build", *tables.with_labels, "--out", str(folder)]) == 0
    return folder


def test_one_command_fits_and_predicts(run_cli, tables, store, tmp_path):
    plain, stored, later = (tmp_path / f"{name}.csv" for name in ("plain", "stored", "later"))
    facts = run_cli("fit", *tables.with_labels, *FIT, "--predict-to", plain, "--json").facts
    assert facts["predictions"] == {"path": str(plain), "nodes": 160}
    model = tmp_path / "m.adagcn"
    outcome = run_cli("fit", store, *FIT, "--out", model, "--predict-to", stored)
    said = " ".join(outcome.stdout.split())
    assert "predicted 160 nodes as" in said
    assert f"written to {stored}" in said
    assert "Next:" not in said
    assert run_cli("predict", model, store, "--out", later).code == 0
    assert plain.read_bytes() == stored.read_bytes() == later.read_bytes()
    assert [line.split(",")[0] for line in plain.read_text().splitlines()[1:]] == [
        f'"{name}"' for name in tables.truth
    ]


@pytest.fixture
def made(monkeypatch):
    """Note every block of a hop that is computed, by hop and block."""
    found, make = [], stored_hops.make_block

    def noted(step, plan):
        found.append((step.hop, step.block))
        return make(step, plan)

    monkeypatch.setattr(stored_hops, "make_block", noted)
    monkeypatch.setattr(stored_hops, "BLOCK_BYTES", 5000)
    return found


def fit_to(run_cli, store, folder):
    """Fit, score and predict; return the bytes of model and predictions."""
    folder.mkdir()
    files = [folder / "m.adagcn", folder / "p.csv"]
    words = ["fit", store, *FIT, "--set", "n_layers=4", "--out", files[0]]
    assert run_cli(*words, "--predict-to", files[1]).code == 0
    return [file.read_bytes() for file in files]


def test_a_command_computes_each_block_of_each_hop_once(run_cli, store, tmp_path, made):
    fit_to(run_cli, store, tmp_path / "a")
    assert {hop for hop, _ in made} == {1, 2, 3}
    assert len({block for _, block in made}) > 1
    assert len(made) == len(set(made))
    assert not any((store / "hops").iterdir())


def test_a_disk_without_room_keeps_no_hops(run_cli, store, tmp_path, made, monkeypatch):
    roomy = fit_to(run_cli, store, tmp_path / "a")
    n_roomy, most = len(made), []
    usage = hop_workplace.shutil.disk_usage

    def asked(folder):
        if folder.parent.name != "hops":  # asked before the fit, which would be refused
            return usage(folder)
        most.append(len(list(folder.glob("hop-*"))))
        return usage(folder)._replace(free=100)

    monkeypatch.setattr(hop_workplace.shutil, "disk_usage", asked)
    assert fit_to(run_cli, store, tmp_path / "b") == roomy
    assert len(made) > 2 * n_roomy
    assert max(most) == 2
    assert not any((store / "hops").iterdir())


def test_a_disk_limit_keeps_no_hops_beyond_those_of_the_estimate(
    run_cli, store, tmp_path, made, monkeypatch
):
    roomy = fit_to(run_cli, store, tmp_path / "a")
    n_roomy = len(made)
    monkeypatch.setenv("ADAGCN_DISK_LIMIT", "none")
    assert fit_to(run_cli, store, tmp_path / "b") == roomy
    assert len(made) == 2 * n_roomy
    monkeypatch.setenv("ADAGCN_DISK_LIMIT", "50GB")
    assert fit_to(run_cli, store, tmp_path / "c") == roomy
    assert len(made) > 3 * n_roomy
    assert not any((store / "hops").iterdir())


def test_an_interrupted_command_leaves_its_hops_to_the_next(run_cli, store, tmp_path, made):
    def interrupted(*args):
        raise KeyboardInterrupt

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(NodeClassifier, "predict_to", interrupted)
        words = ["fit", store, *FIT, "--set", "n_layers=4", "--predict-to", tmp_path / "p.csv"]
        assert run_cli(*words).code == 130
    made.clear()
    fit_to(run_cli, store, tmp_path / "a")
    assert not made
    assert not any((store / "hops").iterdir())


def test_after_a_refit_its_model_predicts(run_cli, tables, tmp_path):
    model, first, later = tmp_path / "m.adagcn", tmp_path / "a.parquet", tmp_path / "b.parquet"
    words = ["fit", *tables.with_labels, *FIT, "--refit", "--out", model, "--predict-to", first]
    assert run_cli(*words).code == 0
    assert run_cli("predict", model, *tables.options, "--out", later).code == 0
    assert parquet.read_table(first).equals(parquet.read_table(later))


@pytest.mark.parametrize(
    ("file", "said"),
    [
        ("p.xlsx", "--predict-to must end in .csv"),
        ("there.csv", "--predict-to exists"),
        ("nowhere/p.csv", "the folder of --predict-to does not exist"),
        ("m.csv", "--out and --predict-to name the same file"),
    ],
)
def test_files_that_cannot_be_written_are_refused_at_once(run_cli, tables, tmp_path, file, said):
    (tmp_path / "there.csv").write_text("mine")
    words = [*FIT, "--out", tmp_path / "m.csv", "--predict-to", tmp_path / file]
    outcome = run_cli("fit", *tables.with_labels, *words)
    assert outcome.code == 3
    assert said in outcome.stderr
    assert [each.name for each in tmp_path.iterdir()] == ["there.csv"]


def test_a_fit_is_shown_and_saved_even_if_its_predictions_fail(
    run_cli, tables, tmp_path, monkeypatch
):
    def full(self, path):
        raise ResourceError("AGC-R200", "No space left on device")

    monkeypatch.setattr(NodeClassifier, "predict_to", full)
    words = ["--out", tmp_path / "m.adagcn", "--predict-to", tmp_path / "p.csv"]
    outcome = run_cli("fit", *tables.with_labels, *FIT, *words)
    assert outcome.code == 5
    assert "No space left" in outcome.stderr
    assert "accuracy" in outcome.stdout
    assert (tmp_path / "m.adagcn").exists()


LIMITED = """
import resource, sys
from adagcn.cli import main
code = main(["predict", *sys.argv[1:3], "--out", sys.argv[3], "--proba"])  # loads everything
assert code == 0
resource.setrlimit(resource.RLIMIT_FSIZE, (4000, 4000))  # as a full disk: a file cannot grow
sys.exit(main(["predict", *sys.argv[1:3], "--out", sys.argv[4], "--proba"]))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="limits of POSIX")
def test_a_file_that_cannot_grow_leaves_nothing_behind(run_cli, store, tmp_path):
    model, good, bad = tmp_path / "m.adagcn", tmp_path / "good.csv", tmp_path / "bad.csv"
    assert run_cli("fit", store, *FIT, "--out", model).code == 0
    words = [sys.executable, "-c", LIMITED, model, store, good, bad]
    done = subprocess.run(list(map(str, words)), capture_output=True, text=True, check=False)
    assert done.returncode == 5, done.stderr
    assert "could not be written" in done.stderr
    assert sorted(each.name for each in tmp_path.iterdir()) == ["good.csv", "m.adagcn"]
    assert run_cli("predict", model, store, "--out", bad, "--proba").code == 0
    assert bad.read_bytes() == good.read_bytes()


def test_a_store_is_predicted_in_every_way(run_cli, tables, store, tmp_path):
    model, asked = tmp_path / "m.adagcn", tmp_path / "asked.csv"
    assert run_cli("fit", store, *FIT, "--out", model).code == 0
    asked.write_text("who\nperson 7\nperson 3\n")
    for more in ([], ["--top", 2], ["--proba"], ["--nodes", asked]):
        one = run_cli("predict", model, store, *more)
        other = run_cli("predict", model, *tables.options, *more)
        assert (one.code, one.stdout) == (0, other.stdout)
        one = run_cli("predict", model, store, *more, "--json").facts
        other = run_cli("predict", model, *tables.options, *more, "--json").facts
        assert one["predictions"] == other["predictions"]
    assert not any((store / "scores").iterdir())
    unknown = tmp_path / "unknown.csv"
    unknown.write_text("who\nnobody\n")
    outcome = run_cli("predict", model, store, "--nodes", unknown)
    assert outcome.code == 3
    assert "--nodes holds 1 id that the graph does not have" in outcome.stderr
