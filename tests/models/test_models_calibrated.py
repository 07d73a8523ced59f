"""How sure models are: which nodes are used for it, what is refused, what a file holds."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone

from adagcn import AdaGCNClassifier, CalibrationNotice, Graph, load_model
from adagcn.data import planted_partition
from adagcn.errors import FormatError, InputError
from adagcn.explain.calibration import fit_temperature
from adagcn.explain.prediction_sets import conformity_scores
from adagcn.models import MODELS
from adagcn.models.support.model_file import read_model, tensor_entry, to_bytes

QUICK = {"preset": "instant", "n_layers": 3, "random_state": 0}


@pytest.fixture(scope="module")
def graph() -> Graph:
    return planted_partition(600, 3, 20, seed=3, homophily=0.5, feature_signal=0.7)


@pytest.fixture(scope="module")
def nodes(graph):
    """Ids that are trained on, stopped on, calibrated on and left."""
    order = np.random.default_rng(0).permutation(graph.node_ids)
    return np.split(order, [60, 160, 300])


def labels_of(graph, ids):
    return graph.classes[graph.labels[graph.positions(ids)]]


def fitted(graph, nodes, *, calibration=True, **settings):
    train, stop, calibrated, _ = nodes
    more = {"X_cal": calibrated, "y_cal": labels_of(graph, calibrated)} if calibration else {}
    return AdaGCNClassifier(graph, **{**QUICK, **settings}).fit(
        train, labels_of(graph, train), X_val=stop, y_val=labels_of(graph, stop), **more
    )


@pytest.fixture(scope="module")
def sure(graph, nodes):
    return fitted(graph, nodes, calibrate="temperature")


def test_the_temperature_is_that_of_the_stopping_nodes(graph, nodes, sure):
    plain = fitted(graph, nodes, calibration=False)
    _, stop, _, rest = nodes
    labels = np.searchsorted(plain.classes_, labels_of(graph, stop))
    expected = fit_temperature(plain.predict_log_proba(stop), labels)
    assert sure.temperature_ == pytest.approx(expected, rel=1e-6)
    assert sure.params_["temperature"] == sure.temperature_
    assert sure.params_["calibrate"] == "temperature"
    assert plain.temperature_ is None
    assert "calibrate" not in plain.params_
    np.testing.assert_array_equal(sure.predict(rest), plain.predict(rest))
    np.testing.assert_array_equal(sure.decision_function(rest), plain.decision_function(rest))
    *_, last = sure.staged_predict_proba(rest)
    np.testing.assert_array_equal(last, sure.predict_proba(rest))


def test_calibration_nodes_are_used_for_nothing_but_sets(graph, nodes, sure):
    without = fitted(graph, nodes, calibration=False, calibrate="temperature")
    *_, calibrated, rest = nodes
    assert without.temperature_ == sure.temperature_
    np.testing.assert_array_equal(without.predict_proba(rest), sure.predict_proba(rest))
    assert without.conformity_scores_ is None
    labels = np.searchsorted(sure.classes_, labels_of(graph, calibrated))
    expected = conformity_scores(sure.predict_log_proba(calibrated), labels)
    np.testing.assert_array_equal(sure.conformity_scores_, expected)


def test_sets_cover_about_what_is_asked(graph, nodes, sure):
    rest = nodes[-1]
    for coverage in (0.6, 0.9):  # three standard errors of two shares
        most = 3 * np.sqrt(coverage * (1 - coverage) * (1 / 140 + 1 / 300))
        sets = sure.predict_set(rest, coverage)
        assert sets.members.shape == (len(rest), 3)
        assert sets.covers(labels_of(graph, rest)).mean() == pytest.approx(coverage, abs=most)
    assert len(sure.predict_set([])) == 0


def test_a_frame_has_the_sets(nodes, sure):
    rest = nodes[-1]
    frame = sure.predict_frame(rest, coverage=0.9)
    sets = sure.predict_set(rest, 0.9)
    assert [list(each) for each in frame["set"]] == [each.tolist() for each in sets]
    assert frame["set_size"].tolist() == sets.sizes.tolist()
    assert "set" not in sure.predict_frame(rest)
    with pytest.raises(InputError, match="AGC-I1352"):
        sure.predict_frame(rest, coverage=1.2)


def test_a_model_without_calibration_nodes_has_no_sets(graph, nodes):
    plain = fitted(graph, nodes, calibration=False)
    with pytest.raises(InputError, match=r"no calibration nodes.*X_cal and y_cal.*AGC-I1354"):
        plain.predict_set(nodes[-1])


@pytest.mark.parametrize("coverage", [1.2, float("nan"), 0, "most"])
def test_a_wrong_coverage_is_refused_before_any_work(sure, nodes, coverage):
    with pytest.raises(InputError, match="AGC-I1352"):
        sure.predict_set(nodes[-1], coverage)
    with pytest.raises(InputError, match=r"1,000 calibration nodes|999 calibration nodes"):
        sure.predict_set(nodes[-1], 0.999)


def test_wrong_calibration_is_refused_before_training(graph, nodes):
    train, stop, calibrated, _ = nodes
    y = {name: labels_of(graph, ids) for name, ids in zip("tsc", nodes, strict=False)}
    clf = AdaGCNClassifier(graph, **QUICK)
    stops = {"X_val": stop, "y_val": y["s"]}
    for ids, match in (
        ([*calibrated[:-1], train[0]], r"X and X_cal share 1 node.*AGC-I1357"),
        ([*calibrated[:-1], stop[0]], r"X_val and X_cal share 1 node.*AGC-I1357"),
        ([*calibrated[:-1], calibrated[0]], r"X_cal holds 1 node more than once"),
        ([*calibrated[:-1], 10**6], r"X_cal"),
        ([], r"X_cal holds no nodes"),
    ):
        with pytest.raises(InputError, match=match):
            clf.fit(train, y["t"], **stops, X_cal=ids, y_cal=y["c"])
    with pytest.raises(InputError, match=r"X_cal alone.*AGC-I1358"):
        clf.fit(train, y["t"], **stops, X_cal=calibrated)
    with pytest.raises(InputError, match=r"y_cal has labels that no training node has"):
        clf.fit(train, y["t"], **stops, X_cal=calibrated[:1], y_cal=["other"])
    with pytest.raises(InputError, match=r"y_cal must have one label for each of the 140 nodes"):
        clf.fit(train, y["t"], **stops, X_cal=calibrated, y_cal=y["c"][1:])
    assert not hasattr(clf, "classes_")


def test_a_temperature_needs_held_out_nodes(graph, nodes):
    train = nodes[0]
    clf = AdaGCNClassifier(graph, **QUICK, calibrate="temperature")
    with pytest.raises(InputError, match=r"calibrate='temperature'.*validation_fraction.*I1356"):
        clf.fit(train, labels_of(graph, train))
    with pytest.raises(InputError, match=r"calibrate must be 'temperature' or None.*'platt'"):
        clone(clf).set_params(calibrate="platt").fit(train, labels_of(graph, train))
    clf.set_params(validation_fraction=0.4).fit(train, labels_of(graph, train))
    assert clf.temperature_ > 0.0


def test_nodes_that_are_all_right_are_told_of():
    easy = planted_partition(200, 2, 10, seed=0, homophily=1.0, feature_signal=9)
    train, stop = easy.node_ids[:60], easy.node_ids[60:70]
    clf = AdaGCNClassifier(easy, **QUICK, calibrate="temperature")
    with pytest.warns(CalibrationNotice, match="0.05, the lowest that is tried: the 10 held-out"):
        clf.fit(train, labels_of(easy, train), X_val=stop, y_val=labels_of(easy, stop))
    assert clf.temperature_ == 0.05


def test_a_second_fit_forgets_the_first(graph, nodes):
    clf = fitted(graph, nodes, calibrate="temperature")
    train, stop, _, rest = nodes
    clf.set_params(calibrate=None).fit(
        train, labels_of(graph, train), X_val=stop, y_val=labels_of(graph, stop)
    )
    assert (clf.temperature_, clf.conformity_scores_, clf.calibration_digest_) == (None,) * 3
    np.testing.assert_array_equal(
        clf.predict_proba(rest), fitted(graph, nodes, calibration=False).predict_proba(rest)
    )


def test_a_feature_matrix_has_temperatures_and_sets(graph, nodes):
    matrix = np.asarray(graph.features)
    train, stop, calibrated, rest = (graph.positions(ids) for ids in nodes)
    y = graph.classes[graph.labels]
    clf = MODELS["logistic"](calibrate="temperature", random_state=0)
    clf.fit(
        matrix[train], y[train],
        X_val=matrix[stop], y_val=y[stop], X_cal=matrix[calibrated], y_cal=y[calibrated],
    )  # fmt: skip
    covered = clf.predict_set(matrix[rest], 0.9).covers(y[rest]).mean()
    assert covered == pytest.approx(0.9, abs=0.06)
    assert clf.calibration_digest_ is None


# In a file


def test_a_file_holds_the_calibration_and_a_digest_of_it(graph, nodes, sure, tmp_path):
    path, rest = tmp_path / "m.adagcn", nodes[-1]
    sure.save(path)
    again = load_model(path, graph=graph)
    assert again.temperature_ == sure.temperature_
    assert again.params_ == sure.params_
    assert again.calibrate == "temperature"
    assert again.model_digest_ == sure.model_digest_
    assert again.calibration_digest_ == sure.calibration_digest_
    np.testing.assert_array_equal(again.predict_proba(rest), sure.predict_proba(rest))
    np.testing.assert_array_equal(again.predict_set(rest), sure.predict_set(rest))
    ids = set(map(str, nodes[2].tolist()))
    assert not any(
        each in read_model(path).manifest.model_dump_json() for each in ids if len(each) > 4
    )
    plain = fitted(graph, nodes, calibration=False)
    only_sets = fitted(graph, nodes)
    assert len({each.model_digest_ for each in (plain, only_sets, sure)}) == 3


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("temperature", np.array([0.0])),
        ("temperature", np.array([1.0, 2.0])),
        ("temperature", np.array([2], dtype=np.int64)),
        ("conformity_scores", np.array([0.3, 0.2])),
        ("conformity_scores", np.array([0.3, 1.2])),
        ("conformity_scores", np.empty(0)),
        ("conformity_scores", np.zeros((2, 2))),
        ("calibration_digest", np.zeros(31, dtype=np.uint8)),
    ],
)
def test_a_file_with_a_wrong_calibration_is_refused(sure, graph, tmp_path, name, wrong):
    path = tmp_path / "m.adagcn"
    sure.save(path)
    file = read_model(path)
    file.tensors[name] = wrong
    file.manifest.tensors[name] = tensor_entry(wrong)
    path.write_bytes(to_bytes(file))
    with pytest.raises(FormatError, match=r"does not hold the .* that it should.*AGC-F719"):
        load_model(path, graph=graph)
