"""The loss of a learner and its gradient by the logits."""

from __future__ import annotations

import torch
from torch import Tensor


def cross_entropy_gradient(logits: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
    """Return ℓ = −Σ_ik T_ik log p_ik with p = softmax(F), and ∂F = p ∘ (Σ_k T_ik) − T.

    Parameters
    ----------
    logits, target : Tensor of shape (n_rows, n_classes)
        F, and T: the weight of each row, spread over its classes.
    """
    log_proba = torch.log_softmax(logits, dim=-1)
    loss = -(log_proba * target).sum()
    gradient = torch.ops.aten._log_softmax_backward_data(-target, log_proba, -1, logits.dtype)
    return loss, gradient
