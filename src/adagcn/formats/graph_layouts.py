"""Which arrays of an ``.npz`` file hold which part of a graph: our own layout, and others in use.

- Ours, which is that of the PPNP authors: ``adj_matrix.data``, …, ``attr_matrix``, ``labels``.
- Shchur's and GraphData's: ``adj_data``, ``adj_indices``, ``adj_indptr``, ``adj_shape``,
  ``attr_data``, … or ``attr_matrix``, ``labels``, ``node_names``, ``attr_names``, ``class_names``.
- The heterophilous benchmarks': ``edges`` of shape (n_edges, 2), ``node_features``,
  ``node_labels``, and masks.
- PyTorch Geometric's: ``edge_index`` of shape (2, n_edges), ``x`` and ``y``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from adagcn.errors import FormatError
from adagcn.formats.npz import ArrayHeader

CSR = ("data", "indices", "indptr", "shape")
# Names that other layouts have for a part, in the order in which they are looked for.
_MATRICES = {
    "adj_matrix": ("adj_matrix", "adj", "adjacency"),
    "attr_matrix": ("attr_matrix", "attr", "node_attr", "features", "x"),
}
_ARRAYS = {
    "edges": ("edges", "edge_list"),
    "edge_index": ("edge_index",),
    "edge_weight": ("edge_weight", "edge_weights"),
    "adj_matrix": ("adj_matrix", "adj", "adjacency"),
    "attr_matrix": ("attr_matrix", "attr", "node_features", "node_attr", "features", "x"),
    "labels": ("labels", "node_labels", "label", "node_label", "y"),
    "node_ids": ("node_ids", "node_names"),
    "feature_names": ("feature_names", "attr_names"),
}
_OURS = ("class_names", "node_ids.decimal", "feature_norm", "feature_dtype")
# Parts that may be left out if they would have to be unpickled: names that stand beside numbers.
_DISPENSABLE = ("class_names", "node_names", "attr_names")
_SPLIT_ENDINGS = ("_mask", "_masks", "_idx")
_EXPECTED = (
    "write adj_data, adj_indices, adj_indptr and adj_shape, or edges of shape (n_edges, 2), with "
    "node_features and node_labels; or build the graph in Python and call to_npz"
)


@dataclass(frozen=True)
class Layout:
    """Where in a file the parts of a graph are.

    Parameters
    ----------
    names : dict of str to str
        The array of each part, under the part's name in our own layout.
    is_ours : bool
        Whether it is our own layout.
    unread : tuple of str
        Arrays that hold no part of a graph and no split.
    """

    names: dict[str, str]
    is_ours: bool
    unread: tuple[str, ...] = ()

    @property
    def dispensable(self) -> list[str]:
        """Arrays that may be left out if they would have to be unpickled."""
        return [name for name in self.names.values() if name in _DISPENSABLE]

    def in_words(self) -> str:
        """Return which part is read from which array."""
        parts = {
            "edges": ("adj_matrix.data", "edges", "edge_index", "adj_matrix"),
            "weights": ("edge_weight",),
            "features": ("attr_matrix.data", "attr_matrix"),
            "labels": ("labels",),
            "ids": ("node_ids",),
        }
        found = {
            part: next((self.names[key] for key in keys if key in self.names), None)
            for part, keys in parts.items()
        }
        said = [f"{part} from {name}" for part, name in found.items() if name is not None]
        return f"read {', '.join(said)}"


def find_layout(there: Mapping[str, ArrayHeader], path: str) -> Layout:
    """Return where in a file the parts of a graph are.

    Parameters
    ----------
    there : mapping of str to ArrayHeader
        The arrays of the file.
    path : str
        The file, for messages.

    Raises
    ------
    FormatError
        If no array holds edges; those that are there are listed.
    """
    names = {key: key for key in _OURS if key in there}
    for matrix, prefixes in _MATRICES.items():
        names |= _csr_names(there, matrix, prefixes)
    for key, candidates in _ARRAYS.items():
        found = next((name for name in candidates if name in there), None)
        if found is not None and f"{key}.data" not in names:
            names[key] = found
    names = _one_form_of_edges(names)
    if not {"adj_matrix.data", "adj_matrix.indptr", "edges", "edge_index", "adj_matrix"} & set(
        names
    ):
        raise FormatError(
            "AGC-F213",
            f"the file {path!r} holds no graph in a known layout",
            got=listed(there),
            fix=_EXPECTED,
        )
    # Names of nodes and features are beside the point in our own layout: published files have them.
    beside = ("node_ids", "feature_names")
    parts = {key: name for key, name in names.items() if key not in beside}
    is_ours = "adj_matrix" not in names and parts == {key: key for key in parts}
    if is_ours and not {"edges", "edge_index"} & set(names):
        names = {key: name for key, name in names.items() if key == name}
        return Layout(names, is_ours=True)
    used = set(names.values())
    unread = [name for name in there if name not in used and not name.endswith(_SPLIT_ENDINGS)]
    return Layout(names, is_ours=False, unread=tuple(unread))


def listed(there: Mapping[str, ArrayHeader]) -> str:
    """Return the arrays of a file with their types and shapes, for messages."""
    return ", ".join(f"{name}: {header}" for name, header in there.items())


def _csr_names(
    there: Mapping[str, ArrayHeader], matrix: str, prefixes: tuple[str, ...]
) -> dict[str, str]:
    """Return the names of the four arrays of a sparse matrix, as far as they are there."""
    for start in (f"{prefix}{mark}" for prefix in prefixes for mark in "._"):
        found = {f"{matrix}.{part}": f"{start}{part}" for part in CSR if f"{start}{part}" in there}
        if found:
            return found
    return {}


def _one_form_of_edges(names: dict[str, str]) -> dict[str, str]:
    """Return the names without further forms of the edges: the first form is read."""
    forms = [("adj_matrix.data", "adj_matrix.indptr"), ("edges",), ("edge_index",), ("adj_matrix",)]
    there = [form for form in forms if set(form) & set(names)]
    others = {key for form in there[1:] for key in form}
    if not there or there[0] not in (("edges",), ("edge_index",)):
        others.add("edge_weight")
    return {key: name for key, name in names.items() if key not in others}
