"""Training nodes that a model remembers by their ids, to find them again in any graph."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from adagcn.errors import FormatError, InputError
from adagcn.formats.node_ids import as_ids
from adagcn.formats.node_index import NodeIndex
from adagcn.models.support.model_file import Tensors
from adagcn.models.support.system import GraphInput, NodeProblem

# What model files call them.
NAMES = ("seed_ids", "seed_labels", "seed_weights")


@dataclass(frozen=True)
class KnownNodes:
    """Nodes with known classes.

    Parameters
    ----------
    ids : ndarray of shape (n_known,)
        The user's ids.
    labels : ndarray of shape (n_known,)
        Classes as indices.
    weights : ndarray of shape (n_known,)
        How much each counts; they sum to one.
    n_classes : int
        K.
    """

    ids: NDArray[Any]
    labels: NDArray[np.int64]
    weights: NDArray[np.float64]
    n_classes: int

    @classmethod
    def of(cls, problem: NodeProblem) -> Self:
        """Return the training nodes of a problem."""
        nodes = problem.nodes
        ids = problem.inputs.node_ids[nodes.train_nodes]
        return cls(ids, nodes.labels, nodes.sample_weight, problem.n_classes)

    def found_in(self, inputs: GraphInput) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Return which of the nodes a graph has, and at which positions."""
        if (self.ids.dtype.kind == "U") != (inputs.node_ids.dtype.kind == "U"):
            return np.empty(0, dtype=np.intp), np.empty(0, dtype=np.intp)
        positions = NodeIndex(inputs.node_ids).find(self.ids)
        which = np.flatnonzero(positions >= 0)
        return which, positions[which]

    @property
    def one_hot(self) -> NDArray[np.float64]:
        """Classes as rows of the identity, of shape (n_known, n_classes)."""
        return np.eye(self.n_classes)[self.labels]

    @property
    def class_shares(self) -> NDArray[np.float64]:
        """The part of each class in the weights."""
        shares = np.bincount(self.labels, self.weights, minlength=self.n_classes)
        return np.asarray(shares / shares.sum())

    def tensors(self) -> dict[str, NDArray[Any]]:
        """Return them as arrays of numbers; ids of any kind are the bytes of a JSON list."""
        ids = np.frombuffer(json.dumps(self.ids.tolist()).encode(), dtype=np.uint8)
        return dict(zip(NAMES, (ids, self.labels, self.weights), strict=True))

    @classmethod
    def from_tensors(cls, tensors: Tensors, n_classes: int) -> Self:
        """Return what :meth:`tensors` came from."""
        try:
            ids = as_ids(json.loads(tensors["seed_ids"].tobytes()), "seed_ids")
            labels, weights = tensors["seed_labels"], tensors["seed_weights"]
            if not (len(ids) == len(labels) == len(weights) and labels.dtype == np.int64):
                raise ValueError(f"{len(ids)} ids, {len(labels)} labels, {len(weights)} weights")
            if len(labels) == 0 or labels.min() < 0 or labels.max() >= n_classes:
                raise ValueError(f"labels are not below {n_classes}")
        except (KeyError, TypeError, ValueError, InputError) as error:
            raise FormatError(
                "AGC-F1080",
                "the model file does not hold the training nodes that it should",
                got=str(error),
                fix="save the model again",
            ) from None
        return cls(ids, labels, weights, n_classes)
