"""Every model of the registry through every command, without a word about which it is."""

from __future__ import annotations

import pytest

from adagcn.models import MODELS, default_preset


@pytest.mark.parametrize("key", MODELS)
def test_every_model_is_fitted_kept_evaluated_and_predicts(run_cli, tables, tmp_path, key):
    path = tmp_path / "m.adagcn"
    short = ["--set", "max_epochs=30"] if "max_epochs" in MODELS[key]().get_params() else []
    words = ["fit", *tables.with_labels, "--model", key, *short, "--out", path, "--force"]
    outcome = run_cli(*words, "--json")
    assert outcome.code == 0, outcome.stderr
    facts = outcome.facts
    assert (facts["model"], facts["preset"]) == (key, default_preset(key))
    assert facts["accuracy"] == facts["accuracy_by_depth"][-1]
    assert len(facts["epochs_by_layer"]) == facts["n_layers"]
    seen = run_cli(*words)
    assert (seen.code, f"{key}, preset {facts['preset']}" in seen.stdout) == (0, True)
    evaluated = run_cli("evaluate", path, *tables.with_labels, "--json").facts
    assert evaluated["accuracy"] == pytest.approx(facts["accuracy"])
    assert evaluated["model_digest"] == facts["model_digest"]
    predicted = run_cli("predict", path, *tables.options, "--json").facts
    assert len(predicted["predictions"]) == 160
    alone = run_cli("fit", *tables.with_labels, "--model", key, *short, "--split", "none")
    assert alone.code == 0, alone.stderr


def test_models_are_compared_each_with_its_own_preset(run_cli, tables, tmp_path):
    words = ["compare", *tables.with_labels, "--models", "mlp,appnp", "--splits", 1]
    words += ["--set", "max_epochs=5", "--ledger", tmp_path / "l.sqlite"]
    rows = run_cli(*words, "--json").facts["rows"]
    assert [(row["label"], row["preset"]) for row in rows] == [("mlp", "tuned"), ("appnp", "paper")]
    rows = run_cli(*words, "--presets", "tuned,paper,adagcn_paper", "--json").facts["rows"]
    assert [row["label"] for row in rows] == [
        "mlp (tuned)", "mlp (paper)", "appnp (paper)", "appnp (adagcn_paper)",
    ]  # fmt: skip
    refused = run_cli(*words, "--presets", "adagcn_paper")
    assert "--presets has none for mlp; got 'adagcn_paper'" in refused.stderr
    refused = run_cli("fit", *tables.with_labels, "--model", "appnp", "--preset", "tuned")
    assert "--preset must be one of paper, authors, adagcn_paper; got 'tuned'" in refused.stderr


def test_a_spec_may_leave_the_preset_to_the_model(run_cli, tmp_path):
    spec = tmp_path / "mine.toml"
    spec.write_text(
        'title = "Mine"\nsplits = "val"\nn_splits = 1\n'
        'columns = [{ label = "Cora", dataset = "cora" }]\n'
        'rows = [{ label = "a", model = "gcn", settings = { max_epochs = 3 } }]\n',
        "utf-8",
    )
    ledger = ["--ledger", tmp_path / "l.sqlite"]
    outcome = run_cli("reproduce", spec, *ledger, "--json")
    assert outcome.code == 0, outcome.stderr
    assert [(row["model"], row["preset"]) for row in outcome.facts["rows"]] == [("gcn", "paper")]
