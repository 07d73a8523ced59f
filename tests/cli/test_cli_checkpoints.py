"""``adagcn fit`` goes on after it was interrupted."""

from __future__ import annotations

import signal

import pytest

from adagcn.training.events import EpochEvent, Events

QUICK = ["--preset", "tuned", "--set", "n_layers=4", "--set", "max_epochs=5"]
QUICK += ["--set", "hidden_units=8", "--split", "stratified:0", "--json"]


@pytest.fixture
def store(run_cli, tmp_path):
    assert run_cli("store", "build", "cora", "--out", tmp_path / "cora").code == 0
    return tmp_path / "cora"


@pytest.fixture
def interrupt(monkeypatch):
    """Send a signal to this process at an epoch of the fit."""
    told = Events.epoch

    def at(layer, number):
        def epoch(self, event: EpochEvent):
            if (event.layer, event.epoch) == (layer, 2):
                monkeypatch.setattr(Events, "epoch", told)
                signal.raise_signal(number)
            told(self, event)

        monkeypatch.setattr(Events, "epoch", epoch)
        monkeypatch.setattr(Events, "has_epoch_callbacks", True)

    return at


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_fit_on_a_store_goes_on(run_cli, store, interrupt, number, tmp_path):
    whole = run_cli("fit", "cora", *QUICK).facts
    words = ["fit", store, *QUICK, "--out", tmp_path / "m.adagcn"]
    interrupt(2, number)
    done = run_cli(*words)
    assert done.code == 128 + number
    assert done.stdout == ""
    assert "interrupted; finished layers are kept: run the same command again" in done.stderr
    done = run_cli(*words)
    assert "going on after layer 2 of 4" in done.stderr
    assert "--no-resume starts over" in done.stderr
    assert done.facts["model_digest"] == whole["model_digest"]
    assert not (store / "fits").exists()
    assert not any((store / "hops").iterdir())


def test_a_model_that_could_not_be_saved_is_not_trained_again(run_cli, tmp_path, monkeypatch):
    words = ["fit", "cora", *QUICK, "--checkpoint", tmp_path / "kept"]
    words += ["--out", tmp_path / "m.adagcn"]
    with monkeypatch.context() as full:
        full.setattr("adagcn.cli.fit._save", lambda model, out: OSError(28, "disk full"))
        failed = run_cli(*words)
    assert failed.code == 5
    done = run_cli(*words)
    assert "4 layers of 4 are there already" in done.stderr
    assert done.facts["model_digest"] == failed.facts["model_digest"]
    assert not any((tmp_path / "kept").iterdir())


def test_starting_over_and_options_that_do_nothing(run_cli, store, interrupt, tmp_path):
    interrupt(2, signal.SIGINT)
    assert run_cli("fit", store, *QUICK).code == 130
    assert run_cli("store", "info", store, "--json").facts["bytes_of_fits"] > 1000
    assert "interrupted fits" in run_cli("store", "info", store).stdout
    done = run_cli("fit", store, *QUICK, "--no-resume")
    assert "going on" not in done.stderr
    done = run_cli("fit", "cora", *QUICK, "--no-resume")
    assert "--no-resume would do nothing" in done.stderr
    done = run_cli("fit", "cora", "--model", "sgc", "--checkpoint", tmp_path)
    assert "has no layers to keep" in done.stderr
    assert "leave --checkpoint" in done.stderr.lower()
