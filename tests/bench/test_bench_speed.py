from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from bench_fixtures import no_tick, tiny_task

from adagcn.bench import epochs, layers, our_models, peers
from adagcn.bench.depth import depth_rows
from adagcn.bench.measures import Section
from adagcn.bench.our_models import adagcn_task, baseline
from adagcn.bench.peers import PEERS, find_peers
from adagcn.bench.speed import PARTS, measure_speed
from adagcn.bench.speed_plan import SpeedPlan
from adagcn.bench.task import make_task
from adagcn.bench.wide import bare_products, n_operations
from adagcn.data import planted_partition
from adagcn.errors import InputError
from adagcn.models.support.registry import MODELS
from adagcn.training import hop_fitter

TINY = SpeedPlan(repetitions=2, sample_seconds=0.0, fits=1, depths=(1, 2), wide_units=32, peers=())


@pytest.fixture(scope="module")
def task():
    return tiny_task()


def test_an_epoch_of_everything_that_there_is(task):
    (section,) = measure_speed([task], TINY, parts=["epoch"], tick=no_tick)
    names = [name for key, (name, _) in epochs.SYSTEMS.items() if key in MODELS]
    ours = ["AdaGCN", "AdaGCN, pseudo-labels too", "AdaGCN, its own columns"]
    published = ["AdaGCN, every node each epoch", "GCN, Â anew each epoch"]
    assert [row.name for row in section.rows] == [*ours, *names, *published]
    assert section.row("AdaGCN").ratio.median == 1.0
    for row in section.rows:
        assert row.seconds.median > 0.0
        assert row.seconds.low <= row.seconds.median <= row.seconds.high


def test_a_system_that_is_not_there_is_left_out(task, monkeypatch):
    monkeypatch.setattr(epochs, "SYSTEMS", {"no_such_model": ("None", {})})
    (section,) = measure_speed([task], TINY, parts=["epoch"], tick=no_tick)
    assert [row.group for row in section.rows] == ["adagcn"] * 3 + ["as published"]


def test_adagcn_is_timed_on_all_columns_as_everybody_is(monkeypatch):
    task = make_task(planted_partition(120, 3, 1200, seed=0, mean_degree=5))
    widths, contestant = {}, our_models.AdaGCNTask.contestant

    def watched(self, rows, name, **given):
        widths[name] = rows.rows.shape[1], rows.pseudo_labels is not None
        return contestant(self, rows, name, **given)

    monkeypatch.setattr(our_models.AdaGCNTask, "contestant", watched)
    epochs._ours(task)
    assert widths["AdaGCN"] == widths["AdaGCN, every node each epoch"] == (1200, False)
    assert widths["AdaGCN, pseudo-labels too"] == (1200, True)
    assert widths["AdaGCN, its own columns"] == (1000, False)


def test_real_fits_are_counted_layer_by_layer(task):
    (section,) = measure_speed([task], TINY, parts=["layers"], tick=no_tick)
    names = ["layers 1–8", "layers from 9, pseudo-labels too", "whole fit"]
    assert [row.name for row in section.rows] == [
        *(f"AdaGCN, {name}" for name in names), "GCN, whole fit", "APPNP, whole fit",
    ]  # fmt: skip
    early, late, whole, *_ = section.rows
    assert whole.ratio.median == 1.0
    assert whole.facts["epochs"] == early.facts["epochs"] + late.facts["epochs"]
    assert len(section.facts["by_layer"]) == 24
    assert min(section.facts["by_layer"]) > 0.0
    assert all(row.facts["epochs"] >= 1 for row in section.rows)


def test_seconds_per_epoch_are_sums_over_sums():
    fits = [layers.TimedFit(np.array([2.0, 1.0, 9.0]), np.array([4, 1, 3]), 16.0)]
    others = [layers.TimedFit(np.array([5.0]), np.array([10]), 6.0)]
    rows = layers.layer_rows({"AdaGCN": fits, "GCN": others}, 2)
    found = {row.name: (row.seconds.median, row.facts["epochs"]) for row in rows}
    assert found == {
        "AdaGCN, layers 1–2": (0.6, 5.0),
        "AdaGCN, layers from 3, pseudo-labels too": (3.0, 3.0),
        "AdaGCN, whole fit": (2.0, 8.0),
        "GCN, whole fit": (0.6, 10.0),
    }
    assert rows[3].ratio.median == pytest.approx(0.3)
    shorter = layers.TimedFit(np.array([4.0, 3.0]), np.array([4, 1]), 8.0)
    assert layers.by_layer([*fits, shorter]) == [0.75, 2.0]


@pytest.mark.parametrize("key", ["gcn_es", "appnp", "sgc"])
def test_a_baseline_trains_by_its_own_loop_for_exactly_so_many_epochs(task, monkeypatch, key):
    if key not in MODELS:
        pytest.skip(f"no {key}")
    records, views = [], []
    train = our_models.train_network

    def watched(network, *rest):
        views.append(network.training_view(rest[0].inputs, rest[0].nodes.train_nodes))
        record = train(network, *rest)
        records.append(record.epochs)
        return record

    monkeypatch.setattr(our_models, "train_network", watched)
    contestant = baseline(task, key, name=key)
    contestant.train(3)
    contestant.train(150)  # past any patience
    assert records == [3, 150]
    assert views[0] is views[1]  # made once


def test_a_baseline_starts_afresh_every_time(task):
    contestant = baseline(task, "gcn_es", name="GCN")
    parameters = contestant.train.__closure__
    network = next(cell.cell_contents for cell in parameters if hasattr(cell.cell_contents, "l2"))
    contestant.train(2)
    first = [parameter.detach().clone() for parameter in network.parameters()]
    contestant.train(2)
    assert all((a == b).all() for a, b in zip(first, network.parameters(), strict=True))


@pytest.mark.parametrize("stopping", [True, False])
def test_adagcn_trains_one_layer_for_exactly_so_many_epochs(task, monkeypatch, stopping):
    seen = []
    train = hop_fitter.train

    def watched(*words, **more):
        record = train(*words, **more)
        seen.append((record.epochs, more["stopper"] is not None))
        return record

    monkeypatch.setattr(hop_fitter, "train", watched)
    ada = adagcn_task(task, hidden_units=4)
    (rows,) = ada.hop_tasks([2])
    ada.contestant(rows, "AdaGCN", stopping=stopping).train(140)
    assert seen == [(140, stopping)]


def test_the_bare_products_are_those_of_an_epoch(task):
    (rows,) = adagcn_task(task, hidden_units=4).hop_tasks([1])
    bare_products(rows, 8)(2)
    n_train, n_stop = len(task.split.train_nodes), len(task.split.stop_nodes)
    assert n_operations(rows, 8) == 2 * (2 * n_train + n_stop) * 16 * 8


@pytest.mark.parametrize(("epoch", "plausible"), [(2.0, True), (0.5, False)])
def test_an_epoch_faster_than_its_own_products_is_marked(task, monkeypatch, epoch, plausible):
    samples = {"AdaGCN": np.full(3, epoch), "bare products": np.ones(3)}
    monkeypatch.setattr(SpeedPlan, "epochs", lambda *_: samples)
    (section,) = measure_speed([task], TINY, parts=["wide"], tick=no_tick)
    assert section.row("AdaGCN").ratio.median == 1.0 / epoch
    assert section.facts["plausible"] is plausible


def test_depth_rows_compare_slopes():
    depths = [1, 2, 4]
    flat = np.array([[1.0, 1.1, 1.3], [2.0, 2.1, 2.3]])
    steep = np.array([[1.0, 3.0, 7.0], [2.0, 4.0, 8.0]])
    adagcn, other = depth_rows(depths, {"AdaGCN": flat, "SGC": steep})
    assert adagcn.ratio.median == pytest.approx(1.0)
    assert other.ratio.median == pytest.approx(0.05)
    assert other.facts["slope"]["slope"] == pytest.approx(2.0)
    assert [point["median"] for point in other.facts["by_depth"]] == [1.5, 3.5, 7.5]


@pytest.mark.parametrize("part", ["wide", "depth"])
def test_every_part_gives_a_section(task, part):
    (section,) = measure_speed([task], TINY, parts=[part], tick=no_tick)
    assert isinstance(section, Section)
    assert section.key == part
    assert section.rows[0].name == "AdaGCN"


def test_whole_fits_come_with_their_accuracy(task, monkeypatch):
    from adagcn.bench import fits

    monkeypatch.setattr(
        fits,
        "_fits",
        lambda *_: {
            "AdaGCN": lambda s: (1.0, 0.8, True),
            "GCN": lambda s: (3.0 + s, 0.7, True),
            "PyG APPNP": lambda s: (60.0, 0.6, s < 2),
        },
    )
    (section,) = measure_speed([task], replace(TINY, fits=3), parts=["fit"], tick=no_tick)
    assert section.row("GCN").ratio.median == 4.0
    assert section.row("GCN").facts == {"accuracy": pytest.approx(0.7)}
    assert "cut off after 60 s" in section.row("PyG APPNP").facts["note"]


def test_parts_are_those_that_the_help_names():
    assert list(PARTS) == ["epoch", "layers", "fit", "wide", "depth"]


def test_a_peer_that_is_not_installed_is_named_with_what_brings_it(task, monkeypatch):
    absent = replace(PEERS["pyg_gcn"], module="no_such_module")
    (section,) = measure_speed(
        [task], replace(TINY, peers=(absent,)), parts=["epoch"], tick=no_tick
    )
    row = section.row("PyG GCN")
    assert row.seconds is None
    assert row.facts["note"] == "not installed: pip install 'adagcn[bench]' (or torch_geometric)"


def test_an_unknown_peer_is_refused_with_the_nearest_name():
    with pytest.raises(InputError, match=r"[Dd]id you mean 'pyg_gcn'.*AGC-I1201"):
        find_peers(["pyg_gnc"])


@pytest.mark.parametrize("key", list(PEERS))
def test_a_peer_trains(task, key):
    peer = PEERS[key]
    pytest.importorskip(peer.module)
    (rows,) = adagcn_task(task, hidden_units=16).hop_tasks([1])
    contestant = peer.contestant(task, rows, 16)
    assert contestant.group == "peer"
    contestant.train(1)
    contestant.train(2)


def test_a_pyg_model_learns_the_same_from_the_same_seed(task):
    pytest.importorskip("torch_geometric")
    from adagcn.bench.pyg_models import fit_appnp, make_data

    data = make_data(task)
    accuracy, finished = fit_appnp(data, 0, max_epochs=60)
    assert finished
    assert accuracy > 0.5
    assert (accuracy, True) == fit_appnp(data, 0, max_epochs=60)
    assert not fit_appnp(data, 0, max_seconds=0.0)[1]


def test_peers_have_the_libraries_that_the_extra_brings():
    assert peers.EXTRA == "bench"
    assert {peer.package for peer in PEERS.values()} == {
        "torch_geometric", "scikit-network", "scikit-learn",
    }  # fmt: skip
