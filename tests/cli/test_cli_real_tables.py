"""Tables that nobody here made go through every command as they are."""

from __future__ import annotations

import csv

import pytest

QUICK = ["--set", "n_layers=2", "--set", "max_epochs=5"]
TABLES = {
    "twitch": (["--edges", "edges.csv", "--features", "features.csv"], []),
    "lastfm": (["--edges", "edges.csv"], []),
    "musae_ptbr": (
        ["--edges", "edges.csv", "--features", "features.json"],
        ["--id", "new_id", "--label", "mature"],
    ),
}
READ = {
    "twitch": [
        "edges: 35,324 rows of comma-separated text, columns 'id_1' and 'id_2'",
        "features: 148,218 rows of a long table (node 'node_id', feature 'feature_id', value "
        "'value'): 7,126 nodes with 2,545 features",
        "535 repeated rows of features merged (same node, same value)",
        "labels: 7,126 rows of comma-separated text, id 'id', label 'target'",
    ],
    "lastfm": [
        "edges: 27,806 rows of comma-separated text, columns 'id_1' and 'id_2'",
        "labels: 7,624 rows of comma-separated text, id 'id', label 'target'",
        "no features given: each node stands for itself (identity matrix)",
    ],
    "musae_ptbr": [
        "edges: 31,299 rows of comma-separated text, columns 'from' and 'to'",
        "features: 1,912 rows of JSON, lists of the numbers of a node's features, 3,169 columns",
        "labels: 1,912 rows of comma-separated text, id 'new_id', label 'mature'; not used: 'id', "
        "'days', 'views', 'partner'",
    ],
}


@pytest.mark.dataset
@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["lastfm", *(pytest.param(n, marks=pytest.mark.full) for n in ("twitch", "musae_ptbr"))]
)
def test_fit_predict_evaluate_and_compare(name, dataset_dir, tmp_path, run_cli):
    folder = dataset_dir / "development" / name
    if not folder.is_dir():
        pytest.skip(f"the tables of {name} are not in {dataset_dir / 'development'}")
    tables, named = TABLES[name]
    tables = [str(folder / word) if "." in word else word for word in tables]
    labels = ["--labels", str(folder / "target.csv"), *named]
    model, out = tmp_path / "m.adagcn", tmp_path / "predictions.csv"

    fitted = run_cli("fit", *tables, *labels, *QUICK, "--out", model, "--json").facts
    assert fitted["graph"]["changes"] == READ[name]
    counts = fitted["labels"]
    assert counts["train"] + counts["stop"] + counts["score"] == counts["known"]
    assert fitted["graph"]["labeled"] == counts["known"] == fitted["graph"]["nodes"]

    shown = run_cli("predict", model, *tables, "--out", out).stdout
    assert f"{fitted['graph']['nodes']:,} nodes" in shown
    with out.open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == fitted["graph"]["nodes"]
    assert list(rows[0]) == ["id", "label", "probability", "margin"]

    scored = run_cli("evaluate", model, *tables, *labels, "--json").facts
    assert scored["accuracy"] == pytest.approx(fitted["accuracy"])

    ledger = ["--ledger", tmp_path / "ledger.sqlite", "--splits", 1, "--models", "adagcn"]
    compared = run_cli("compare", *tables, *labels, *QUICK, *ledger, "--json").facts
    assert compared["rows"][0]["mean"] == pytest.approx(fitted["accuracy"])
    for words in (
        ["compare", *tables, *labels, *QUICK, *ledger],
        ["evaluate", model, *tables, *labels],
    ):
        said = " ".join(run_cli(*words).stdout.split())
        for phrase in READ[name]:
            assert phrase in said
