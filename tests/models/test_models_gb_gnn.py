"""GB-GNN: SAMME over propagated features, written out with torch's own layers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from pyg_oracle import dense
from torch import nn

from adagcn.errors import FormatError, ResourceError
from adagcn.models import gb_gnn
from adagcn.models.support.network import Start
from adagcn.models.support.system import FitContext, resolve
from adagcn.training.events import Callback, Events
from adagcn.training.random_streams import torch_stream

SYSTEM = gb_gnn.GBGNNClassifier.system
ALL = np.arange(23)
KINDS = ("adjacency", "initial", "alignment")


def settings_of(preset="adjacency", **given):
    small = {"hidden_units": 5, "dropout": 0.0, "max_epochs": 6, "n_learners": 4}
    return resolve(SYSTEM, preset, None, {**small, **given})


def unstopped(problem):
    """Return the problem without stopping nodes: all learners are kept."""
    return replace(problem, nodes=replace(problem.nodes, stop_nodes=None, stop_labels=None))


def torch_learner(settings, number):
    """Return a learner of torch's own layers, from the start of one of a fit with seed 0."""
    start = Start(9, 3, torch_stream(0, "start", number), torch.float64)
    ours = gb_gnn.WeakLearner(settings, start)
    layers = []
    for weight, bias in zip(ours.weights, ours.biases, strict=True):
        linear = nn.Linear(*weight.shape, dtype=torch.float64)
        with torch.no_grad():
            linear.weight.copy_(weight.T)
            linear.bias.copy_(bias)
        layers += [linear, nn.ReLU()]
    return nn.Sequential(*layers[:-1])


def alignment(rows, labels, shares):
    """Return the cosine of the kernel of mixed rows and that of the labels."""
    mixed = torch.einsum("j,jif->if", shares, rows)
    kernel = (mixed @ mixed.T).flatten()
    same = (labels[:, None] == labels[None, :]).double().flatten()
    return nn.functional.cosine_similarity(kernel, same, dim=0)


def next_features(settings, problem, features):
    """Return X^(t+1), with a dense Â."""
    matrix = torch.from_numpy(problem.inputs.propagator.toarray())
    if settings.aggregation == "adjacency":
        return matrix @ features
    if settings.aggregation == "initial":
        share = settings.propagated_share
        return (1 - share) * dense(problem.inputs) + share * matrix @ features
    powers = torch.stack([torch.linalg.matrix_power(matrix, p) @ features for p in (0, 1, 2, 4, 8)])
    rows, labels = powers[:, problem.nodes.train_nodes], torch.from_numpy(problem.nodes.labels)
    shares = torch.ones(5, dtype=torch.float64, requires_grad=True)
    optimizer = torch.optim.Adam([shares], lr=settings.alignment_rate)
    for _ in range(settings.alignment_steps):
        optimizer.zero_grad()
        (-alignment(rows, labels, shares)).backward()
        optimizer.step()
    mixed = torch.einsum("j,jif->if", shares.detach(), powers)
    kept = mixed[problem.nodes.train_nodes]
    return mixed * (rows[0].norm() / kept.norm())


def samme_by_hand(settings, problem):
    """Return all α, and the votes of all nodes."""
    nodes = problem.nodes
    labels = torch.from_numpy(nodes.labels)
    weights = torch.from_numpy(nodes.sample_weight)
    features, votes, coefficients = dense(problem.inputs), torch.zeros(23, 3).double(), []
    for number in range(settings.n_learners):
        learner = torch_learner(settings, number)
        optimizer = torch.optim.Adam(
            learner.parameters(), lr=settings.learning_rate, weight_decay=settings.weight_decay
        )
        for _ in range(settings.max_epochs):
            optimizer.zero_grad()
            losses = nn.functional.cross_entropy(
                learner(features[nodes.train_nodes]), labels, reduction="none"
            )
            (weights * losses).sum().backward()
            optimizer.step()
        predicted = learner(features).argmax(dim=1).detach()
        wrong = predicted[nodes.train_nodes] != labels
        error = weights[wrong].sum().clamp(1 / 24, 1 - 1 / 24)
        alpha = ((1 - error) / error).log() + np.log(2)
        if alpha <= 1e-12:
            break
        weights = weights * torch.where(wrong, alpha.exp(), 1.0)
        weights = weights / weights.sum()
        votes[ALL, predicted] += alpha
        coefficients.append(alpha.item())
        features = next_features(settings, problem, features)
    return np.array(coefficients), votes


@pytest.mark.parametrize("preset", KINDS)
@pytest.mark.parametrize("n_hidden_layers", [0, 1, 2])
def test_samme_by_hand(problem, preset, n_hidden_layers):
    # Node weights that differ, so that a first learner already weighs its errors unequally.
    weights = np.array([0.3, 0.1, 0.2, 0.15, 0.05, 0.2])
    problem = unstopped(problem)
    problem = replace(problem, nodes=replace(problem.nodes, sample_weight=weights))
    settings = settings_of(preset, n_hidden_layers=n_hidden_layers, learning_rate=0.1)
    fit = SYSTEM.fit(problem, settings, FitContext())
    coefficients, votes = samme_by_hand(settings, problem)
    assert len(fit.learners) == len(coefficients) >= 2
    np.testing.assert_allclose(fit.coefficients, coefficients, atol=1e-10, rtol=0)
    # Probabilities are those of the mean votes, up to what softmax does not see.
    expected = torch.log_softmax(votes / coefficients.sum(), dim=1)
    np.testing.assert_allclose(fit.log_proba(problem.inputs, ALL), expected, atol=1e-10, rtol=0)


def test_the_shares_raise_the_alignment_and_keep_the_size(problem):
    nodes, matrix = problem.nodes, problem.inputs.propagator
    rows = gb_gnn.rows_of_powers(matrix, problem.inputs.features, nodes.train_nodes)
    expected = problem.inputs.features.toarray()
    for number, power in enumerate(gb_gnn.POWERS):
        spread = np.linalg.matrix_power(matrix.toarray(), power) @ expected
        np.testing.assert_allclose(rows[number], spread[nodes.train_nodes], atol=1e-10, rtol=0)
    shares = gb_gnn.aligned_shares(rows, nodes.labels, settings_of("alignment"))
    given = torch.from_numpy(rows), torch.from_numpy(nodes.labels)
    ones = torch.ones(5, dtype=torch.float64)
    assert alignment(*given, torch.from_numpy(shares)) > alignment(*given, ones) + 0.01
    np.testing.assert_allclose(
        np.linalg.norm(np.tensordot(shares, rows, 1)), np.linalg.norm(rows[0]), rtol=1e-12
    )
    nothing = gb_gnn.aligned_shares(np.zeros_like(rows), nodes.labels, settings_of("alignment"))
    assert np.isfinite(nothing).all()


@pytest.mark.parametrize("preset", KINDS)
def test_the_learners_up_to_the_best_on_stopping_nodes_are_kept(problem, preset):
    settings = settings_of(preset, n_learners=6, learning_rate=0.05)
    fit = SYSTEM.fit(problem, settings, FitContext())
    right = [
        SYSTEM.fit(unstopped(problem), replaced(settings, n_learners=n), FitContext())
        .log_proba(problem.inputs, problem.nodes.stop_nodes)
        .argmax(axis=1)
        == problem.nodes.stop_labels
        for n in range(1, 7)
    ]
    accuracies = [each.mean() for each in right]
    assert len(fit.learners) == int(np.argmax(accuracies)) + 1
    assert fit.record.stop_accuracy == max(accuracies)
    assert len(fit.shares) == (len(fit.learners) - 1 if preset == "alignment" else 0)


def replaced(settings, **changes):
    return settings.model_copy(update=changes)


def test_stopping_labels_do_not_teach(problem):
    others = replace(problem.nodes, stop_labels=(problem.nodes.stop_labels + 1) % 3)
    fits = [
        SYSTEM.fit(each, settings_of("alignment"), FitContext()).tensors()
        for each in (problem, replace(problem, nodes=others))
    ]
    shared = [name for name in fits[0].keys() & fits[1].keys() if name.startswith("learner")]
    assert len(shared) >= 4
    for name in shared:
        np.testing.assert_array_equal(fits[0][name], fits[1][name])


def test_predictions_have_no_dropout(problem):
    fit = SYSTEM.fit(problem, settings_of(dropout=0.5), FitContext())
    first, again = (fit.log_proba(problem.inputs, ALL) for _ in range(2))
    np.testing.assert_array_equal(first, again)


def with_errors(monkeypatch, errors):
    """Let learners have these weighted errors."""
    from adagcn.boosting import samme

    left = list(errors)
    monkeypatch.setattr(samme, "weighted_error", lambda *_: left.pop(0))


def test_boosting_ends_before_a_learner_that_is_no_better_than_guessing(problem, monkeypatch):
    with_errors(monkeypatch, [0.2, 0.3, 0.7, 0.1])
    fit = SYSTEM.fit(unstopped(problem), settings_of(), FitContext())
    assert len(fit.learners) == 2
    assert (fit.coefficients > 0).all()


@pytest.mark.parametrize("preset", KINDS)
def test_a_first_learner_that_guesses_predicts_alone(problem, monkeypatch, preset):
    expected = SYSTEM.fit(problem, settings_of(preset, n_learners=1), FitContext())
    with_errors(monkeypatch, [0.7])
    fit = SYSTEM.fit(problem, settings_of(preset), FitContext())
    np.testing.assert_array_equal(
        fit.log_proba(problem.inputs, ALL), expected.log_proba(problem.inputs, ALL)
    )


def test_a_callback_ends_the_fit_with_a_usable_model(problem):
    class After(Callback):
        def on_epoch(self, event):
            return event.layer == 1 and event.epoch == 5

    context = FitContext(events=Events([After()]))
    fit = SYSTEM.fit(unstopped(problem), settings_of("alignment", learning_rate=0.1), context)
    assert len(fit.learners) == 2
    assert np.isfinite(fit.log_proba(problem.inputs, ALL)).all()


@pytest.mark.parametrize("preset", KINDS)
def test_damaged_tensors_are_refused(problem, preset):
    settings = settings_of(preset, learning_rate=0.1)
    fit = SYSTEM.fit(unstopped(problem), settings, FitContext())
    tensors = fit.tensors()
    again = SYSTEM.restore(tensors, settings, 9, 3)
    np.testing.assert_array_equal(
        again.log_proba(problem.inputs, ALL), fit.log_proba(problem.inputs, ALL)
    )
    for lost in ("learner.002.weights.0", "coefficients", "shares"):
        broken = {name: each for name, each in tensors.items() if name != lost}
        with pytest.raises(FormatError, match="learners do not fit the model"):
            SYSTEM.restore(broken, settings, 9, 3)
    with pytest.raises(FormatError, match="learners do not fit the model"):
        SYSTEM.restore({**tensors, "learner.004.weights.0": np.zeros(1)}, settings, 9, 3)


def test_an_alignment_that_cannot_fit_is_refused_before_it_is_taken(problem, monkeypatch):
    nodes, matrix, features = problem.nodes, problem.inputs.propagator, problem.inputs.features
    n_train, shares = len(nodes.train_nodes), np.ones(5)
    rows = gb_gnn.rows_of_powers(matrix, features, nodes.train_nodes)
    settings = settings_of("alignment")
    calls = [
        (
            8 * 5 * n_train * 9,
            f"training nodes' rows of every power.*got '5 × {n_train} × 9 values'",
            lambda: gb_gnn.rows_of_powers(matrix, features, nodes.train_nodes),
        ),
        (
            8 * 23 * 9,
            "mixed features of all nodes would take.*got '23 × 9 values'",
            lambda: gb_gnn.mixed(matrix, features, shares),
        ),
        (
            8 * 25 * n_train**2,
            f"kernels of all pairs of training nodes would take.*got '{n_train} training nodes'",
            lambda: gb_gnn.aligned_shares(rows, nodes.labels, settings),
        ),
    ]
    for n_bytes, words, call in calls:
        monkeypatch.setenv("ADAGCN_MEMORY_LIMIT", str(n_bytes - 1))
        with monkeypatch.context() as patched:
            for name in ("empty", "einsum"):
                patched.setattr(np, name, None)
            with pytest.raises(ResourceError, match=f"{words}.*Use aggregation='adjacency'"):
                call()
        monkeypatch.setenv("ADAGCN_MEMORY_LIMIT", str(n_bytes))
        call()
