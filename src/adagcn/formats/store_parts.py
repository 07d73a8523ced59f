"""The end of the building of a store: small arrays, digests and the manifest."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from adagcn.formats.array_files import ArrayFile
from adagcn.formats.changes import Changes
from adagcn.formats.frozen import content_digest
from adagcn.formats.graph_store import ArrayParts, StoredFile, finish_store, write_array
from adagcn.formats.labels import Encoded
from adagcn.formats.sorted_edges import EdgeCounts
from adagcn.formats.stored_adjacency import matrix_files


@dataclass(frozen=True)
class StoreParts:
    """A store whose large arrays are written: what is left is small.

    Parameters
    ----------
    folder : Path
        The folder.
    n_nodes : int
        Number of nodes.
    features : pair of int or None
        The shape of the dense features; None for the identity matrix.
    """

    folder: Path
    n_nodes: int
    features: tuple[int, int] | None

    def finish(
        self,
        files: dict[str, StoredFile],
        counts: EdgeCounts,
        described: tuple[Encoded, list[str] | None],
        changes: Changes,
    ) -> None:
        """Write labels, classes, names of features and, last, the manifest.

        Parameters
        ----------
        files : dict
            The files so far.
        counts : EdgeCounts
            What was found among the edges.
        described : pair
            Labels with their classes, and the names of the feature columns.
        changes : Changes
            What was read, changed and left out.
        """
        (labels, classes), names = described
        arrays = {"labels": labels, "classes": classes}
        if names is not None:
            arrays["feature_names"] = np.array(names, dtype=str)
        small = {
            name: write_array(self.folder / f"{name}.npy", ArrayParts.of(array))
            for name, array in arrays.items()
        }
        square = (self.n_nodes, self.n_nodes)
        features: Any = (
            matrix_files(self.folder, "features", square)
            if self.features is None
            else (ArrayFile.of(self.folder / "features.npy"))
        )
        adjacency = matrix_files(self.folder, "adjacency", square)
        ids = ArrayFile.of(self.folder / "node_ids.npy")
        input_digest = content_digest([adjacency, features, ids])
        facts = {
            "n_nodes": self.n_nodes,
            "n_stored": counts.stored,
            "n_features": self.n_nodes if self.features is None else self.features[1],
            "sparse_features": self.features is None,
            "directed": counts.is_directed,
            "input_digest": input_digest,
            "digest": content_digest([input_digest, labels, classes]),
            "name": None,
            "feature_norm": None,
            "changes": changes.phrases,
        }
        order = ("adjacency", "features", "node_ids", "labels", "classes", "feature_names")
        found = {**files, **small}
        ordered = {
            name: found[name] for each in order for name in found if name.split(".")[0] == each
        }
        finish_store(self.folder, ordered, facts)
