"""Rewrite the Cora that ships in the PyPI package graphdatascience as the packaged cora.npz.

Run from the project's root after ``pip install graphdatascience==2.2 --no-deps``::

    python tools/package_cora.py

The same package gives the same bytes; their SHA-256 is in ``src/adagcn/data/catalog.py``.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import importlib.util
import sys
from pathlib import Path

import numpy as np
import pyarrow.parquet as parquet
from scipy import sparse

from adagcn.formats.npz import write_npz

VERSION = "2.2"
TARGET = Path(__file__).parents[1] / "src" / "adagcn" / "data" / "packaged" / "cora.npz"
# The numbers that the package gives to Cora's subjects, in its order.
CLASS_NAMES = (
    "Neural_Networks",
    "Rule_Learning",
    "Reinforcement_Learning",
    "Probabilistic_Methods",
    "Theory",
    "Genetic_Algorithms",
    "Case_Based",
)


def source_folder() -> Path:
    """Return the folder of Cora's tables without importing the package."""
    spec = importlib.util.find_spec("graphdatascience")
    if spec is None or spec.origin is None:
        sys.exit(f"install the source first: pip install graphdatascience=={VERSION} --no-deps")
    found = importlib.metadata.version("graphdatascience")
    if found != VERSION:
        sys.exit(f"graphdatascience {VERSION} is the source, but {found} is installed")
    return Path(spec.origin).parent / "resources" / "cora"


def read_cora(folder: Path) -> dict[str, np.ndarray]:
    """Return Cora's arrays in the keys of our .npz files, nodes in the package's order."""
    nodes = parquet.read_table(folder / "cora_nodes.parquet.gzip")
    citations = parquet.read_table(folder / "cora_rels.parquet.gzip")
    node_ids = nodes["nodeId"].to_numpy()
    features = sparse.csr_array(np.array(nodes["features"].to_pylist(), dtype=np.uint8))
    sorter = np.argsort(node_ids)
    citing, cited = (
        sorter[np.searchsorted(node_ids, citations[end].to_numpy(), sorter=sorter)]
        for end in ("sourceNodeId", "targetNodeId")
    )
    ones = np.ones(len(citing), dtype=np.uint8)
    adjacency = sparse.csr_array((ones, (citing, cited)), shape=(len(node_ids), len(node_ids)))
    return {
        **matrix_arrays("adj_matrix", adjacency),
        **matrix_arrays("attr_matrix", features),
        "labels": nodes["subject"].to_numpy().astype(np.int8),
        "class_names": np.array(CLASS_NAMES),
        "node_ids": node_ids.astype(np.int32),
    }


def matrix_arrays(prefix: str, matrix: sparse.csr_array) -> dict[str, np.ndarray]:
    """Return a CSR matrix as arrays with sorted columns."""
    matrix.sort_indices()
    return {
        f"{prefix}.data": matrix.data,
        f"{prefix}.indices": matrix.indices.astype(np.int32),
        f"{prefix}.indptr": matrix.indptr.astype(np.int32),
        f"{prefix}.shape": np.array(matrix.shape, dtype=np.int64),
    }


def main() -> None:
    """Write the file and say its digest."""
    write_npz(TARGET, read_cora(source_folder()))
    digest = hashlib.sha256(TARGET.read_bytes()).hexdigest()
    sys.stdout.write(f"{TARGET.name}: {TARGET.stat().st_size:,} bytes, sha256:{digest}\n")


if __name__ == "__main__":
    main()
