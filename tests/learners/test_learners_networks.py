from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy import sparse

from adagcn.learners.inputs import SparseRows, as_input, drop, times, transposed_times
from adagcn.learners.linear import LinearLearner
from adagcn.learners.perceptron import TwoLayerPerceptron


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


@pytest.fixture
def rows():
    return sparse.random_array((30, 40), density=0.2, rng=np.random.default_rng(0), format="csr")


def make(**options):
    return TwoLayerPerceptron(
        40, 5, hidden_units=16, generator=generator(), dtype=torch.float64, **options
    )


def test_sparse_rows_give_the_same_logits_and_gradients_as_dense_ones(rows):
    learner = make()
    results = []
    for form in (rows, rows.toarray()):
        learner.zero_grad()
        logits = learner(learner.as_input(form))
        logits.square().sum().backward()
        results.append((logits.detach(), learner.hidden.grad.clone(), learner.output.grad.clone()))
    for from_sparse, from_dense in zip(*results, strict=True):
        torch.testing.assert_close(from_sparse, from_dense, rtol=0, atol=1e-13)


def test_dropout_on_sparse_rows_touches_stored_values_only_and_keeps_the_mean(rows):
    inputs = as_input(rows, torch.empty(0, dtype=torch.float64))
    g = generator()
    draws = [drop(inputs, 0.3, g) for _ in range(400)]
    assert all(isinstance(d, SparseRows) for d in draws)
    mean = np.mean([d.matrix.toarray() for d in draws], axis=0)
    np.testing.assert_allclose(mean, rows.toarray(), rtol=0.2, atol=1e-3)
    share_dropped = 1.0 - np.mean([d.matrix.nnz for d in draws]) / rows.nnz
    assert share_dropped == pytest.approx(0.3, abs=0.02)
    assert inputs.matrix.data.tobytes() == rows.data.tobytes()


def test_stored_zeros_go_and_products_keep_their_bits(rows):
    dropped = SparseRows(rows).dropped(0.5, generator())
    thin = dropped.without_zeros()
    assert thin.matrix.nnz < dropped.matrix.nnz == rows.nnz
    assert np.all(thin.matrix.data != 0.0)
    weight = torch.rand(rows.shape[1], 3, dtype=torch.float64, generator=generator())
    gradient = torch.rand(rows.shape[0], 3, dtype=torch.float64, generator=generator())
    assert torch.equal(times(thin, weight), times(dropped, weight))
    assert torch.equal(transposed_times(thin, gradient), transposed_times(dropped, gradient))


def test_no_generator_means_no_dropout(rows):
    learner = make(input_dropout=0.5, hidden_dropout=0.5)
    inputs = learner.as_input(rows)
    torch.testing.assert_close(learner(inputs), learner(inputs), rtol=0, atol=0)
    assert not torch.equal(learner(inputs), learner(inputs, generator()))


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize(
    "learner",
    [
        make(),
        make(relu_logits=True),
        make(input_dropout=0.3),
        make(hidden_dropout=0.4, input_dropout=0.3, relu_logits=True),
        LinearLearner(40, 5, generator=generator(), dtype=torch.float64, input_dropout=0.3),
    ],
    ids=["plain", "relu logits", "input dropout", "all", "linear"],
)
def test_gradients_written_out_have_the_bits_of_autograd(rows, learner, form):
    target = torch.rand(30, 5, dtype=torch.float64, generator=generator(1))
    inputs = learner.as_input(form(rows.toarray()))
    loss = -(torch.log_softmax(learner(inputs, generator(2)), dim=-1) * target).sum()
    expected = torch.autograd.grad(loss, list(learner.parameters()))
    found, gradients = learner.loss_gradients(inputs, target, generator(2))
    assert torch.equal(found, loss)
    for gradient, wanted in zip(gradients, expected, strict=True):
        torch.testing.assert_close(gradient, wanted, rtol=0, atol=0)


def test_start_is_uniform_within_one_over_root_fan_in():
    learner = TwoLayerPerceptron(400, 5, hidden_units=100, generator=generator())
    for weight, fan_in in ((learner.hidden, 400), (learner.output, 100)):
        bound = fan_in**-0.5
        assert weight.abs().max() <= bound
        assert weight.abs().max() > 0.95 * bound
        assert weight.std().item() == pytest.approx(bound / 3**0.5, rel=0.1)


def test_relu_on_the_logits_is_what_the_released_code_adds(rows):
    plain, released = make(), make(relu_logits=True)
    torch.testing.assert_close(released(rows_of(rows)), plain(rows_of(rows)).relu())


def rows_of(rows):
    return torch.from_numpy(rows.toarray())


def test_linear_learner_is_one_product(rows):
    learner = LinearLearner(40, 5, generator=generator(), dtype=torch.float64)
    expected = rows.toarray() @ learner.output.detach().numpy()
    np.testing.assert_allclose(learner(learner.as_input(rows)).detach(), expected, atol=1e-14)


def test_proposition_2_holds_for_relu_and_positive_weights_only():
    """Σ α_l ReLU(B_l W0_l) W1_l = Σ b_l ReLU(B_l) with W0 = (|b|/α) I, W1 = sign(b) I."""
    rng = np.random.default_rng(0)
    hops = [rng.normal(size=(10, 6)) for _ in range(4)]
    b = np.array([1.5, -0.7, 0.0, 2.0])  # sign(0) := 1 avoids 0/0 at b = 0
    alpha = np.array([0.5, 2.0, 1.0, 3.0])

    def ensemble(activation, alpha):
        total = 0.0
        for hop, b_l, alpha_l in zip(hops, b, alpha, strict=True):
            learner = TwoLayerPerceptron(
                6, 6, hidden_units=6, generator=generator(), dtype=torch.float64
            )
            sign = 1.0 if b_l >= 0 else -1.0
            with torch.no_grad():
                learner.hidden.copy_(abs(b_l) / alpha_l * torch.eye(6, dtype=torch.float64))
                learner.output.copy_(sign * torch.eye(6, dtype=torch.float64))
            if activation is np.tanh:
                hidden = np.tanh(hop @ learner.hidden.detach().numpy())
                total = total + alpha_l * hidden @ learner.output.detach().numpy()
            else:
                total = total + alpha_l * learner(torch.from_numpy(hop)).detach().numpy()
        return total

    def relu(x):
        return np.maximum(x, 0.0)

    def target(activation):
        return sum(b_l * activation(hop) for b_l, hop in zip(b, hops, strict=True))

    np.testing.assert_allclose(ensemble(relu, alpha), target(relu), atol=1e-14)
    assert np.abs(ensemble(np.tanh, alpha) - target(np.tanh)).max() > 0.1
    assert np.abs(ensemble(relu, -alpha) - target(relu)).max() > 0.1


def test_product_with_sparse_rows_is_checked_by_finite_differences(rows):
    inputs = as_input(rows[:4], torch.empty(0, dtype=torch.float64))
    weight = torch.randn(40, 3, dtype=torch.float64, generator=generator(), requires_grad=True)
    assert torch.autograd.gradcheck(lambda w: times(inputs, w), (weight,))


def test_a_network_of_two_members_is_their_mean(rows):
    pair = make(n_members=2)
    inputs = pair.as_input(rows)
    first, second = pair.members()
    torch.testing.assert_close(pair(inputs), (first(inputs) + second(inputs)) / 2)
    assert not torch.equal(first.hidden, second.hidden)
    torch.testing.assert_close(first.hidden, make().hidden)  # starts as a lone network does
    with torch.no_grad():
        first.hidden.mul_(2.0)
        second.output.mul_(3.0)
    before = pair(inputs)
    pair.take([first, second])
    assert not torch.equal(pair(inputs), before)
    torch.testing.assert_close(pair(inputs), (first(inputs) + second(inputs)) / 2)
