"""The data sets of the paper, and one of tables: where they come from, how to verify them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from types import MappingProxyType
from typing import Any

from adagcn.errors import InputError

_PPNP = "https://raw.githubusercontent.com/gasteigerjo/ppnp/master/ppnp/data"
_PPNP_ORIGIN = "GitHub repository gasteigerjo/ppnp, folder ppnp/data"


@dataclass(frozen=True)
class Counts:
    """The size of a graph.

    Parameters
    ----------
    n_nodes, n_edges, n_features, n_classes : int
        An edge between two nodes counts once.
    """

    n_nodes: int
    n_edges: int
    n_features: int
    n_classes: int


@dataclass(frozen=True)
class DataFile:
    """A file whose bytes are known.

    Parameters
    ----------
    name : str
        Its name in a folder of data sets.
    digests : tuple of str
        The file must have one of these; empty if none is known.
    url : str or None
        Where to download it; None if it is never downloaded.
    """

    name: str
    digests: tuple[str, ...] = ()
    url: str | None = None


@dataclass(frozen=True)
class DataSet:
    """What is known about a data set before it is read.

    Parameters
    ----------
    key : str
        The name for the library and the command line.
    title : str
        The name in the paper's tables.
    origin, license : str
        Who published the file, and on what terms.
    file : DataFile
        The file.
    raw_nodes : int
        Nodes in the file.
    cleaned : Counts
        The graph after the paper's cleaning: what models are trained on.
    paper : Counts
        The counts in the paper's Table 1.
    n_known : int
        Nodes that the paper's split protocol draws from.
    fewer_labels : tuple of int
        Training nodes per class in the paper's Table 3, other than 20.
    note : str
        Why the counts differ, and what else a user should know.
    packaged : bool
        Whether the file is part of this package.
    """

    key: str
    title: str
    origin: str
    license: str
    file: DataFile
    raw_nodes: int
    cleaned: Counts
    paper: Counts
    n_known: int = 1500
    fewer_labels: tuple[int, ...] = ()
    note: str = ""
    packaged: bool = False


def _from_ppnp(key: str, title: str, *digests: str, **known: Any) -> DataSet:
    """Return a data set whose file PPNP's repository publishes."""
    file = DataFile(f"{key}.npz", digests, f"{_PPNP}/{key}.npz")
    return DataSet(key, title, license="MIT", file=file, **{"origin": _PPNP_ORIGIN, **known})


_CORA = DataSet(
    key="cora",
    title="Cora",
    origin="PyPI package graphdatascience 2.2, resources/cora, re-written as .npz",
    license="Apache-2.0",
    file=DataFile(
        "cora.npz",
        digests=("sha256:a65095e6cfc3a9eeb4e402dff1260af5c2533557c186549b575c417880221e32",),
    ),
    raw_nodes=2708,
    cleaned=Counts(2485, 5069, 1433, 7),
    paper=Counts(2708, 5429, 1433, 7),
    note="The graph of the paper's Table 1, before the largest component is taken; its 5,429 "
    "citations join 5,278 pairs. The node order is not Planetoid's.",
    packaged=True,
)
_CORA_ML = _from_ppnp(
    "cora_ml",
    "Cora-ML",
    "sha256:e3439bfd32c4a962d5c56a4f313793baee39181c208c90a3915b61183d3e1cda",
    raw_nodes=2995,
    cleaned=Counts(2810, 7981, 2879, 7),
    paper=Counts(2708, 5429, 1433, 7),
    fewer_labels=(8, 16),
    note="The file that the paper's numbers rest on; its Table 1 prints the counts of Cora.",
)
_CITESEER = _from_ppnp(
    "citeseer",
    "CiteSeer",
    "sha256:9c72e32115590d1e6b2701f7af490519c8b2948ade22ec513e262aac3e47f722",
    raw_nodes=3312,
    cleaned=Counts(2110, 3668, 3703, 6),
    paper=Counts(3327, 4732, 3703, 6),
    fewer_labels=(6, 11),
    note="The file that the paper's numbers rest on; its Table 1 prints the counts of Planetoid's "
    "CiteSeer.",
)
_PUBMED = _from_ppnp(
    "pubmed",
    "PubMed",
    "git-blob:e7dbba82dd4aaeff5a0e59b23d58158ced3ec42c",
    "sha256:2c81a6c0d6343522ebf9cc46e61d9cfa7bcd6c4496863d42c5c81af6cf8e5cfe",
    origin=f"{_PPNP_ORIGIN}, or Planetoid's files re-written as .npz",
    raw_nodes=19717,
    cleaned=Counts(19717, 44324, 500, 3),
    paper=Counts(19717, 44338, 500, 3),
    fewer_labels=(7, 14),
    note="The re-written file has Planetoid's node order, so its seeded splits need not be the "
    "paper's node for node.",
)
_MS_ACADEMIC = _from_ppnp(
    "ms_academic",
    "MS Academic",
    "git-blob:9bdd7da943d86b74297e8d32e99eb64245b52835",
    "sha256:dcbc989dcad4e6e5d0e4e08a4b3705a36fc17a09f733e1ce105b65061682c313",
    origin=f"{_PPNP_ORIGIN}, or EdisonLeeeee/GraphData's Coauthor CS re-written as .npz",
    raw_nodes=18333,
    cleaned=Counts(18333, 81894, 6805, 15),
    paper=Counts(18333, 81894, 6805, 15),
    n_known=5000,
    fewer_labels=(8, 15),
    note="The node order of the re-written file has not been confirmed against the original.",
)
_REDDIT = DataSet(
    key="reddit",
    title="Reddit",
    origin="the raw files of PyTorch Geometric's Reddit2 (from GraphSAINT): adj_full.npz, "
    "feats.npy, class_map.json, role.json",
    license="not stated by its publishers",
    file=DataFile("reddit.npz"),
    raw_nodes=232965,
    cleaned=Counts(232965, 11606919, 602, 41),
    paper=Counts(232965, 11606919, 602, 41),
    note="No digest is known, so it is not downloaded: convert your own copy. The counts are the "
    "paper's, not yet confirmed on the file.",
)

CATALOG: Mapping[str, DataSet] = MappingProxyType(
    {each.key: each for each in (_CORA, _CORA_ML, _CITESEER, _PUBMED, _MS_ACADEMIC, _REDDIT)}
)


@dataclass(frozen=True)
class TableSet:
    """A data set that was published as tables.

    Parameters
    ----------
    key, title : str
        Its name for the command line, and in full.
    origin, license, note : str
        Who published the files, on what terms, and what else a user should know.
    folder : str
        Where the files lie in a folder of data sets.
    edges, features, labels : DataFile
        The files, with their digests.
    """

    key: str
    title: str
    origin: str
    license: str
    note: str
    folder: str
    edges: DataFile
    features: DataFile
    labels: DataFile


_TWITCH = TableSet(
    key="twitch",
    title="Twitch streamers who speak English: who follows whom, what they play, and whether their "
    "content is for adults",
    origin="GitHub repository benedekrozemberczki/karateclub, folder dataset/node_level/twitch: "
    "edges.csv, features.csv and target.csv (called new_target.csv in earlier versions)",
    license="not stated for the data",
    note="7,126 nodes, 35,324 edges, 2,545 features, 2 classes. It is not downloaded, since the "
    "address of the files has not been confirmed: get them yourself. Any copy with the same bytes "
    "is accepted.",
    folder="development/twitch",
    edges=DataFile(
        "edges.csv",
        ("sha256:90ab33e0426913171302dee0bdac35322596f07bee7431aeabaca648bdda7245",),
    ),
    features=DataFile(
        "features.csv",
        ("sha256:904426f583b2636b2a4343606dea35e44bd06cf1baa3c4aa46b7c8cec86f2820",),
    ),
    labels=DataFile(
        "target.csv",
        ("sha256:635c3aedd9865b48baa27aae4f5bc54b913100aee026589ec3a7bb4dcfcc8b44",),
    ),
)

TABLE_SETS: Mapping[str, TableSet] = MappingProxyType({_TWITCH.key: _TWITCH})


def find_dataset(name: str) -> DataSet:
    """Return the catalog entry of a data set.

    Parameters
    ----------
    name : str
        A key of ``CATALOG``.

    Returns
    -------
    DataSet
        The entry.

    Raises
    ------
    InputError
        If the name is unknown, with the closest names.
    """
    if name in TABLE_SETS:
        raise InputError(
            "AGC-I259",
            "this data set was published as tables, and is read as such",
            got=name,
            fix=f"write them with `adagcn data tables {name} DIR`, and read edges.csv, "
            "features.csv and labels.csv",
        )
    if name not in CATALOG:
        near = get_close_matches(name.lower().replace("-", "_"), CATALOG, n=2, cutoff=0.4)
        raise InputError(
            "AGC-I250",
            "no data set has this name",
            got=name,
            fix=f"use {' or '.join(near or CATALOG)}, or the path of an .npz file",
        )
    return CATALOG[name]
