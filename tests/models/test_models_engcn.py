"""EnGCN: its hops by torch's own layers and by hop boosting, and whose labels it sees."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from pyg_oracle import dense
from torch import nn

from adagcn.boosting.fit_state import FitState
from adagcn.boosting.hop_boosting import HopBoosting
from adagcn.boosting.samme import BoostingRule, Combination
from adagcn.errors import FormatError, PresetNotice
from adagcn.models import engcn
from adagcn.models.support.known_nodes import KnownNodes
from adagcn.models.support.label_spreading import normalized_adjacency
from adagcn.models.support.network import Start
from adagcn.models.support.system import FitContext, resolve
from adagcn.propagation.hops import hop_stream
from adagcn.training.events import Callback, Events
from adagcn.training.random_streams import torch_stream

SYSTEM = engcn.EnGCNClassifier.system
ALL = np.arange(23)
NONE = 1.5  # a threshold that no probability reaches
EPOCHS = 4


def settings_of(**given):
    small = {"hidden_units": 5, "dropout": 0.0, "max_epochs": EPOCHS, "n_hops": 3, "patience": 20}
    return resolve(SYSTEM, "small", None, {**small, **given})


def unstopped(problem):
    """Return the problem without stopping nodes: every epoch counts."""
    return replace(problem, nodes=replace(problem.nodes, stop_nodes=None, stop_labels=None))


def torch_perceptron(ours):
    """Return a perceptron of torch's own layers with a copy of our weights."""
    layers = []
    for number, (weight, bias) in enumerate(zip(ours.weights, ours.biases, strict=True)):
        linear = nn.Linear(*weight.shape, dtype=torch.float64)
        with torch.no_grad():
            linear.weight.copy_(weight.T)
            linear.bias.copy_(bias)
        layers.append(linear)
        if number < len(ours.norms):
            layers += [nn.BatchNorm1d(weight.shape[1], dtype=torch.float64), nn.ReLU()]
    return nn.Sequential(*layers)


class Oracle(nn.Module):
    """f and g of torch's own layers, from the start of a fit with seed 0."""

    def __init__(self, settings):
        super().__init__()
        start = Start(9, 3, torch_stream(0, "start"), torch.float64)
        ours = engcn.HopNetwork(settings, start)
        self.features = torch_perceptron(ours.features)
        self.heads = nn.ModuleList(torch_perceptron(head) for head in ours.heads)
        self.optimizer = torch.optim.Adam(
            self.parameters(), lr=settings.learning_rate, weight_decay=settings.weight_decay
        )

    def forward(self, rows, labels):
        logits = self.features(rows)
        if labels is None:
            return logits
        return logits + sum(head(labels) for head in self.heads) / len(self.heads)

    def fit(self, rows, labels, classes):
        self.train()
        for _ in range(EPOCHS):
            self.optimizer.zero_grad()
            nn.functional.cross_entropy(self(rows, labels), classes).backward()
            self.optimizer.step()
        self.eval()


def class_scores(log_proba):
    return 2 * (log_proba - log_proba.mean(dim=1, keepdim=True))


def mean_votes(total, n_hops):
    return torch.log_softmax(total / (2 * n_hops), dim=1)


def test_one_hop_without_pseudo_labels_is_the_perceptron(problem):
    settings = settings_of(n_hops=1, threshold=NONE)
    fit = SYSTEM.fit(unstopped(problem), settings, FitContext())
    oracle = Oracle(settings)
    rows, nodes = dense(problem.inputs), problem.nodes
    oracle.fit(rows[nodes.train_nodes], None, torch.from_numpy(nodes.labels))
    expected = torch.log_softmax(oracle(rows, None), dim=1).detach()
    np.testing.assert_allclose(fit.log_proba(problem.inputs, ALL), expected, atol=1e-10, rtol=0)


@pytest.mark.parametrize("n_heads", [1, 2])
@pytest.mark.parametrize("threshold", [NONE, 0.37])
def test_all_hops_by_hand(problem, n_heads, threshold):
    """Dense matrices, a mean over nodes, and labels without their way back."""
    settings = settings_of(n_heads=n_heads, threshold=threshold)
    problem = unstopped(problem)
    fit = SYSTEM.fit(problem, settings, FitContext())
    nodes, oracle = problem.nodes, Oracle(settings)
    matrix = torch.from_numpy(normalized_adjacency(problem.inputs.adjacency).toarray())
    classes = torch.full((23,), -1)
    classes[nodes.train_nodes] = torch.from_numpy(nodes.labels)
    one_hot = torch.zeros(23, 3, dtype=torch.float64)
    one_hot[nodes.train_nodes, nodes.labels] = 1.0
    power, total = torch.eye(23, dtype=torch.float64), 0.0
    for hop in range(3):
        rows = power @ dense(problem.inputs)
        labels = (power - power.diag().diag()) @ one_hot if hop else None
        known = classes >= 0
        oracle.fit(rows[known], None if labels is None else labels[known], classes[known])
        log_proba = torch.log_softmax(oracle(rows, labels), dim=1).detach()
        total = total + class_scores(log_proba)
        sure = log_proba.exp().max(dim=1).values >= threshold
        classes[sure] = log_proba.argmax(dim=1)[sure]
        classes[nodes.train_nodes] = torch.from_numpy(nodes.labels)
        power = matrix @ power
    assert (threshold == NONE) == ((classes >= 0).sum() == 6)
    expected = mean_votes(total, 3)
    np.testing.assert_allclose(fit.log_proba(problem.inputs, ALL), expected, atol=1e-10, rtol=0)


def test_without_labels_it_is_unweighted_hop_boosting(problem):
    """The same learner in both: S for Â, equal weights, parameters and optimizer carried on."""
    settings = settings_of(threshold=NONE, use_labels=False)
    problem = unstopped(problem)
    fit = SYSTEM.fit(problem, settings, FitContext())
    oracle = Oracle(settings)

    class Copy:
        """The learner as it was after one hop."""

        left_out = None

        def __init__(self):
            self.network = Oracle(settings)
            self.network.load_state_dict(oracle.state_dict())
            self.network.eval()
            self.parts = (self,)

        def log_proba(self, rows):
            with torch.no_grad():
                return torch.log_softmax(self.network(as_tensor(rows), None), dim=1).numpy()

    def as_tensor(rows):
        return torch.from_numpy(rows if isinstance(rows, np.ndarray) else rows.toarray())

    def fit_hop(task):
        np.testing.assert_allclose(task.sample_weight, 1 / 6)
        oracle.fit(as_tensor(task.rows), None, torch.from_numpy(task.labels))
        return Copy()

    matrix = normalized_adjacency(problem.inputs.adjacency)
    boosting = HopBoosting(fit_hop, problem.nodes, BoostingRule(Combination(), reweight_rate=0.0))
    hops = hop_stream(matrix, problem.inputs.features)
    states = boosting.states(FitState(None, ()), hops)
    layers = [next(states) for _ in range(3)][-1].layers
    again = hop_stream(matrix, problem.inputs.features)
    pairs = [
        (layer.coefficient, layer.learner.log_proba(hop.rows(ALL)))
        for layer, hop in zip(layers, again, strict=False)
    ]
    expected = Combination().combined(pairs).log_proba()
    np.testing.assert_allclose(fit.log_proba(problem.inputs, ALL), expected, atol=1e-10, rtol=0)


def test_returned_shares_are_the_diagonals_of_powers(inputs):
    matrix = normalized_adjacency(inputs.adjacency)
    nodes = np.array([4, 22, 0, 15])
    whole = np.eye(23)
    for _, found in zip(range(6), engcn.returned_shares(matrix, nodes), strict=False):
        np.testing.assert_allclose(found, whole.diagonal()[nodes], atol=1e-10, rtol=0)
        whole = matrix @ whole


def test_a_node_never_sees_its_own_label(problem):
    """Whatever the label of a training node is, its own input stays the same; others' changes."""
    known = KnownNodes.of(problem)
    other = replace(known, labels=np.r_[(known.labels[0] + 1) % 3, known.labels[1:]])
    node = problem.nodes.train_nodes[0]
    moved = []
    for here, there in zip(
        engcn.hop_inputs(problem.inputs, known, 5),
        engcn.hop_inputs(problem.inputs, other, 5),
        strict=True,
    ):
        if here.labels is None:
            continue
        np.testing.assert_allclose(here.labels[node], there.labels[node], atol=1e-12)
        moved.append(not np.allclose(here.labels, there.labels))
    assert moved == [True] * 4


def test_stopping_nodes_never_become_training_nodes(problem):
    """However sure a prediction is, and whatever the labels of stopping nodes are."""
    sure = engcn.PseudoLabels(problem, 0.1)
    log_proba = np.log(np.full((23, 3), 1 / 3))
    sure.add(log_proba)
    found = sure.labels()
    assert not np.isin(problem.nodes.stop_nodes, found.nodes).any()
    assert len(found.nodes) == 23 - len(problem.nodes.stop_nodes)
    np.testing.assert_array_equal(found.nodes[:6], problem.nodes.train_nodes)
    np.testing.assert_array_equal(found.classes[:6], problem.nodes.labels)  # true labels win
    np.testing.assert_allclose(found.target(3, torch.zeros(1)).sum(), 1.0)


def test_stopping_labels_do_not_teach(problem):
    others = replace(problem.nodes, stop_labels=(problem.nodes.stop_labels + 1) % 3)
    settings = settings_of(check_every=50, threshold=0.4)  # no look: nothing is chosen by them
    fits = [
        SYSTEM.fit(each, settings, FitContext()).tensors()
        for each in (problem, replace(problem, nodes=others))
    ]
    for name, tensor in fits[0].items():
        np.testing.assert_array_equal(tensor, fits[1][name])


def test_a_label_once_given_stays_until_a_hop_is_sure_of_another(problem):
    sure = engcn.PseudoLabels(unstopped(problem), 0.6)
    free = np.setdiff1d(ALL, problem.nodes.train_nodes)[:3]
    first = np.full((23, 3), 1 / 3)
    first[free[:2]] = [0.8, 0.1, 0.1]
    sure.add(np.log(first))
    second = np.full((23, 3), 1 / 3)
    second[free[1:]] = [0.1, 0.8, 0.1]
    sure.add(np.log(second))
    found = dict(zip(sure.labels().nodes.tolist(), sure.labels().classes.tolist(), strict=True))
    assert [found[node] for node in free.tolist()] == [0, 1, 1]


def test_small_batches_see_every_node_once_an_epoch(problem):
    settings = settings_of(batch_size=4, n_hops=1, max_epochs=1)
    fit = engcn.EnGCNFit(unstopped(problem), settings, FitContext())
    (here,) = engcn.hop_inputs(problem.inputs, KnownNodes.of(problem), 1)
    labels = engcn.PseudoLabels(problem, NONE).labels()
    training = engcn.HopTrainee(fit, here, labels, torch.Generator().manual_seed(0))
    assert len(list(training.steps())) == 2
    SYSTEM.fit(problem, settings_of(batch_size=5), FitContext())  # a last batch of one row


def test_the_stopping_rule_looks_every_few_epochs_and_wants_a_strict_gain():
    stopper, learner = engcn.CheckedStopper(2, every=2), nn.Linear(1, 1, bias=False)
    looks = [(0.5, 1.0), (0.6, 1.0), (0.6, 0.1), (0.5, 1.0), (0.7, 1.0)]
    trace = [each for look in looks for each in ((0.9, 1.0), look)]
    for epoch, seen in enumerate(trace, start=1):
        nn.init.constant_(learner.weight, epoch)
        if stopper.should_stop(*seen, learner):
            break
    stopper.restore(learner)
    # at epochs 2, 4, 6 and 8: a gain, a gain, none, none
    assert (epoch, learner.weight.item()) == (8, 4.0)


def test_a_callback_ends_the_fit_with_a_usable_model(problem):
    class After(Callback):
        def on_epoch(self, event):
            return event.layer == 1

    fit = SYSTEM.fit(problem, settings_of(), FitContext(events=Events([After()])))
    assert len(fit.networks) == 2
    assert np.isfinite(fit.log_proba(problem.inputs, ALL)).all()


def test_damaged_tensors_are_refused(problem):
    settings = settings_of()
    tensors = SYSTEM.fit(problem, settings, FitContext()).tensors()
    again = SYSTEM.restore(tensors, settings, 9, 3)
    assert len(again.networks) == 3
    for lost in ("hop.000.features.weights.0", "hop.002.heads.0.biases.1"):
        broken = {name: each for name, each in tensors.items() if name != lost}
        with pytest.raises(FormatError, match="tensors do not fit the model"):
            SYSTEM.restore(broken, settings, 9, 3)
    with pytest.raises(FormatError, match="tensors do not fit the model"):
        SYSTEM.restore({**tensors, "hop.003.x": np.zeros(1)}, settings, 9, 3)


def test_presets_say_whose_they_are():
    names = ("learning_rate", "weight_decay", "hidden_units", "n_hops", "n_heads", "threshold")
    names += ("batch_size", "max_epochs", "check_every", "patience")
    graphs = ("flickr", "reddit", "ogbn-arxiv", "ogbn-products")
    found = {
        graph: tuple(getattr(resolve(SYSTEM, "authors", graph, {}), name) for name in names)
        for graph in graphs
    }
    assert found == {
        "flickr": (1e-4, 1e-4, 256, 4, 1, 0.9, 1000, 70, 5, 2),
        "reddit": (1e-3, 0.0, 512, 4, 1, 0.95, 5000, 70, 5, 2),
        "ogbn-arxiv": (2e-3, 1e-4, 1024, 4, 7, 0.5, 10_000, 50, 5, 2),
        "ogbn-products": (1e-3, 0.0, 1024, 8, 3, 0.7, 10_000, 50, 5, 2),
    }
    with pytest.warns(PresetNotice, match="no settings for cora: those of flickr are used"):
        resolve(SYSTEM, "authors", "cora", {})
    assert engcn.EnGCNClassifier.default_preset == "small"
