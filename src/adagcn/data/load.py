"""Data sets by name, wherever their files are, and a user's own files."""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeAlias

from adagcn.data.catalog import CATALOG, Counts, DataSet, find_dataset
from adagcn.data.cleaning import clean_as_paper
from adagcn.data.digests import check_digest, file_digest, is_genuine
from adagcn.data.download import cache_folder, fetch, is_offline
from adagcn.errors import InputError, IntegrityError, ResourceError
from adagcn.graph import Graph

Folder: TypeAlias = "str | os.PathLike[str] | None"


def load_dataset(
    name: str, *, data_dir: Folder = None, offline: bool | None = None, raw: bool = False
) -> Graph:
    """Load a data set of the paper.

    Parameters
    ----------
    name : str
        A key of the catalog: ``cora`` (part of this package), ``cora_ml``, ``citeseer``,
        ``pubmed``, ``ms_academic``; ``reddit`` after you have converted its published files.
    data_dir : str or path-like, optional
        The folder to search first. Then come the folder in the environment variable
        ``ADAGCN_DATA`` and the user's cache, into which a missing file is downloaded.
    offline : bool, optional
        Never download; by default as the environment variable ``ADAGCN_OFFLINE`` says.
    raw : bool
        Skip the paper's cleaning: unweighted and undirected edges, no self-loops, the largest
        component only, feature rows divided by their L1 norm.

    Returns
    -------
    Graph
        The graph, named after its key.

    Raises
    ------
    InputError
        If the catalog has no such name.
    IntegrityError
        If the file found is not the published one.
    ResourceError
        If the file is not found and cannot be downloaded.

    Examples
    --------
    >>> load_dataset("cora")
    Graph('cora', 2,485 nodes, 5,069 edges, 1,433 features, 7 classes)
    """
    path = locate_dataset(name, data_dir=data_dir, offline=offline)
    graph = Graph.from_npz(path, name=name)
    if not find_dataset(name).file.digests:
        _check_counts(find_dataset(name), graph, path)
    return graph if raw else clean_as_paper(graph)


def load_graph(
    text: str | os.PathLike[str],
    *,
    data_dir: Folder = None,
    offline: bool | None = None,
    max_bytes: int | None = None,
) -> Graph:
    """Load a data set by its name, or a user's own graph from an ``.npz`` file or a store.

    Parameters
    ----------
    text : str or path-like
        A key of the catalog, the path of an ``.npz`` file, which is not cleaned, or the folder
        of a store.
    data_dir, offline : optional
        As for :func:`load_dataset`.
    max_bytes : int, optional
        As for :meth:`adagcn.Graph.from_npz`.

    Returns
    -------
    Graph
        The graph, named after its key or its file.
    """
    if isinstance(text, str) and text in CATALOG:
        return load_dataset(text, data_dir=data_dir, offline=offline)
    path = Path(text)
    if path.is_dir():
        return Graph.from_store(path)
    if path.suffix != ".npz" and not path.exists():
        find_dataset(str(text))  # raises with the closest names
    return Graph.from_npz(path, name=path.name, max_bytes=max_bytes)


def locate_dataset(name: str, *, data_dir: Folder = None, offline: bool | None = None) -> Path:
    """Return the verified file of a data set, downloading it if it is not found.

    Arguments and errors are those of :func:`load_dataset`.

    Returns
    -------
    Path
        A file with a digest from the catalog, or the user's own conversion if there is no digest.
    """
    dataset = find_dataset(name)
    found = _find(dataset, data_dir)
    if not dataset.file.digests:
        return _converted(dataset, found)
    if found is None:
        return fetch(dataset.file, cache_folder(), offline=offline)
    if found.parent == cache_folder() and not is_offline(offline):
        return _renew_if_damaged(dataset, found)
    check_digest(
        found,
        dataset.file.digests,
        fix=f"move the file away so that {name} can be downloaded, or pass its path to use it as "
        "your own graph",
    )
    return found


def locate_file(text: str, *, data_dir: Folder = None) -> Path:
    """Return a file of the data folder that is no data set of the catalog.

    Parameters
    ----------
    text : str
        Its path, relative to the data folder, or a whole path.
    data_dir : str or path-like, optional
        The folder to search first; then comes the one in ``ADAGCN_DATA``.

    Returns
    -------
    Path
        The file, as it is: nothing is known to verify it by.

    Raises
    ------
    InputError
        If there is no such file.
    """
    if Path(text).is_absolute() and Path(text).is_file():
        return Path(text)
    folders = own_folders(data_dir)
    found = next((folder / text for folder in folders if (folder / text).is_file()), None)
    if found is None:
        where = " and ".join(map(str, folders)) or "no folder, since ADAGCN_DATA is not set"
        raise InputError(
            "AGC-I303",
            f"the data folder has no file {text}",
            got=f"searched {where}",
            fix="set the environment variable ADAGCN_DATA to the folder that has it",
        )
    return found


def dataset_info(name: str, *, data_dir: Folder = None) -> dict[str, Any]:
    """Return what the catalog says about a data set, and where its file is.

    Parameters
    ----------
    name : str
        A key of the catalog.
    data_dir : str or path-like, optional
        As for :func:`load_dataset`.

    Returns
    -------
    dict
        Plain values for printing: the fields of :class:`~adagcn.data.catalog.DataSet`, and
        ``path``, None if there is no file on this machine. The file is not read.
    """
    dataset = find_dataset(name)
    found = _find(dataset, data_dir)
    return {**asdict(dataset), "path": None if found is None else str(found)}


@dataclass(frozen=True)
class Verification:
    """What a data set's file holds, and what was expected.

    Parameters
    ----------
    name, path, digest : str
        The data set, its file and the file's SHA-256.
    raw_nodes : int
        Nodes in the file.
    held : Counts
        The graph after cleaning.
    expected : Counts
        The catalog's counts.
    paper : Counts
        The counts in the paper's Table 1.
    """

    name: str
    path: str
    digest: str
    raw_nodes: int
    held: Counts
    expected: Counts
    paper: Counts

    @property
    def agrees(self) -> bool:
        """Whether the file holds what the catalog says."""
        return self.held == self.expected


def verify_dataset(
    name: str, *, data_dir: Folder = None, offline: bool | None = None
) -> Verification:
    """Read a data set and compare its counts with the catalog's and the paper's.

    Parameters
    ----------
    name : str
        A key of the catalog.
    data_dir, offline : optional
        As for :func:`load_dataset`.

    Returns
    -------
    Verification
        The counts.

    Raises
    ------
    IntegrityError
        If the file is not the published one.
    """
    dataset = find_dataset(name)
    path = locate_dataset(name, data_dir=data_dir, offline=offline)
    graph = Graph.from_npz(path, name=name)
    cleaned = clean_as_paper(graph)
    return Verification(
        name=name,
        path=str(path),
        digest=file_digest(path),
        raw_nodes=graph.n_nodes,
        held=Counts(cleaned.n_nodes, cleaned.n_edges, cleaned.n_features, cleaned.n_classes),
        expected=dataset.cleaned,
        paper=dataset.paper,
    )


def _converted(dataset: DataSet, found: Path | None) -> Path:
    """Return the file that the user converted; without a digest nothing is downloaded."""
    if found is None:
        raise ResourceError(
            "AGC-R300",
            f"the data set {dataset.key} cannot be downloaded: no digest is known to verify it",
            fix=f"get {dataset.origin}; convert them with `adagcn data convert FOLDER "
            f"{dataset.file.name}`, and put the file into data_dir or ADAGCN_DATA",
        )
    return found


def _check_counts(dataset: DataSet, graph: Graph, path: Path) -> None:
    """Refuse a converted file whose graph is not the one that its name promises."""
    if (graph.n_nodes, graph.n_features) != (dataset.raw_nodes, dataset.cleaned.n_features):
        raise IntegrityError(
            "AGC-G302",
            f"{path} is not {dataset.title}, which has {dataset.raw_nodes:,} nodes and "
            f"{dataset.cleaned.n_features:,} features",
            got=graph,
            fix="convert the published files again, or pass the path to use your own graph",
        )


def _find(dataset: DataSet, data_dir: Folder) -> Path | None:
    """Return the path of the data set's file without reading it, or None."""
    if dataset.packaged:
        return Path(__file__).parent / "packaged" / dataset.file.name
    folders = [*own_folders(data_dir), cache_folder()]
    paths = (folder / dataset.file.name for folder in folders)
    return next((path for path in paths if path.is_file()), None)


def own_folders(data_dir: Folder) -> list[Path]:
    """Return the folders that the user has named, those to search first in front."""
    if data_dir is not None and not Path(data_dir).is_dir():
        raise InputError(
            "AGC-I301", "data_dir is not a folder", got=str(data_dir), fix="check the path"
        )
    return [Path(each) for each in (data_dir, os.environ.get("ADAGCN_DATA")) if each]


def _renew_if_damaged(dataset: DataSet, cached: Path) -> Path:
    """Return the cached file; if it is damaged, set it aside as ``*.bad`` and download it again."""
    if is_genuine(cached, dataset.file.digests):
        return cached
    cached.replace(cached.with_name(f"{cached.name}.bad"))
    return fetch(dataset.file, cached.parent, offline=False)
