from __future__ import annotations

import json

import numpy as np
import pytest

from adagcn.bench.machine import LIBRARIES, calibrate, machine, noise, versions


def test_the_machine_can_be_written_down():
    facts = machine()
    assert json.loads(json.dumps(facts)) == facts
    assert facts["usable_cores"] >= 1


def test_versions_name_what_is_not_installed_too(monkeypatch):
    monkeypatch.setattr("adagcn.bench.machine.LIBRARIES", ("numpy", "no-such-library"))
    found = versions()
    assert found["numpy"] == np.__version__
    assert found["no-such-library"] is None
    assert "torch_geometric" in LIBRARIES


def test_noise_says_drift_and_flicker():
    steady, slower = np.full(8, 2.0), np.array([2.0, 3.0, 3.0, 3.0, 3.0, 3.0, 3.0, 4.0])
    found = noise(steady, slower)
    assert found.drift == 1.5
    assert found.spread == 0.0
    assert not found.is_quiet
    assert noise(steady, steady).is_quiet
    assert noise(np.array([1.0, 2.0, 3.0]), steady).spread == pytest.approx(0.5)
    assert not noise(np.array([1.0, 2.0, 3.0]), steady).is_quiet


def test_a_calibration_has_samples():
    assert (calibrate() > 0.0).all()
