"""How ``adagcn store build`` reads: in memory, or out of core with temporary files."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from adagcn.cli.graph_options import GraphOptions, n_bytes, reading_bar
from adagcn.cli.option_words import in_options
from adagcn.cli.output import note
from adagcn.engines.memory import bytes_of
from adagcn.errors import InputError, ResourceError

if TYPE_CHECKING:
    from adagcn.formats.changes import Changes
    from adagcn.formats.scratch_database import Limits

_LARGE_BYTES = 256 * 2**20
_DEFAULT_MEMORY = "1GB"
_IN_MEMORY = "in memory"
_OF_OGB = ("--directed", "--self-loops", "--duplicates")


@dataclass(frozen=True)
class BuildOptions:
    """Whether tables are held in memory while a store is built."""

    ogb: Annotated[
        Path | None,
        typer.Option(
            "--ogb",
            metavar="DIR",
            help="A node-property folder of the Open Graph Benchmark, such as ogbn_arxiv.",
        ),
    ] = None
    out_of_core: Annotated[
        bool | None,
        typer.Option(
            "--out-of-core/--in-memory",
            help="Sort edges in temporary files; --in-memory holds all tables in memory.",
            show_default="out of core if edges and features have more than 256MB",
        ),
    ] = None
    memory: Annotated[
        str | None,
        typer.Option(
            "--memory",
            metavar="SIZE",
            help="Memory for sorting out of core; up to 0.6GB come on top.",
            show_default=_DEFAULT_MEMORY,
        ),
    ] = None

    def limits(self, threads: int) -> Limits:
        """Return what DuckDB may use."""
        from adagcn.formats.scratch_database import Limits

        memory = bytes_of(self.memory or _DEFAULT_MEMORY, "--memory")
        assert memory is not None
        return Limits(memory, threads)

    def words(self, limits: Limits) -> str:
        """Return how a store was built out of core."""
        threads = f", {limits.threads} threads" if limits.threads > 1 else ""
        return f"out of core, {limits.memory / 2**20:,.0f} MB for sorting{threads}"


def build_from(graph: GraphOptions, options: BuildOptions, out: Path, threads: int) -> str:
    """Build a store of a data set, a file or tables; return how, in words."""
    if options.ogb is not None:
        return _from_ogb(options.ogb, graph, options, out, threads)
    graph.check()
    if graph.edges is None:
        _refuse(options, graph.data)
    chosen = options.out_of_core
    if chosen is None:
        chosen = graph.edges is not None and n_bytes(graph.edges, graph.features) > _LARGE_BYTES
    if not chosen or graph.edges is None:
        if options.memory is not None:
            problem = "--memory would do nothing: the tables are read in memory"
            raise InputError("AGC-I1417", problem, got=options.memory, fix="add --out-of-core")
        graph.read().to_store(out)
        return _IN_MEMORY
    limits = options.limits(threads)
    try:
        with reading_bar(graph.edges) as progress:
            _out_of_core(graph, out, limits, progress).warn(None, stacklevel=2)
        return options.words(limits)
    except (InputError, ResourceError) as error:
        if options.out_of_core or error.code not in ("AGC-I1410", "AGC-R1416"):
            raise _in_words(error) from error
        note(f"{in_options(error.problem)}; the tables are read in memory instead")
    graph.read().to_store(out)
    return _IN_MEMORY


def _from_ogb(
    ogb: Path, graph: GraphOptions, options: BuildOptions, out: Path, threads: int
) -> str:
    from adagcn.formats.adjacency import EdgeRules
    from adagcn.formats.ogb_folder import OgbFolder, build_ogb_store

    given = {"DATA": graph.data, "--edges": graph.edges, **graph.given()}
    given["--no-features"], given["--max-size"] = graph.no_features or None, graph.max_size
    given["--in-memory"] = options.out_of_core is False or None
    others = [name for name, value in given.items() if value is not None and name not in _OF_OGB]
    if others:
        raise InputError(
            "AGC-I1419",
            f"{', '.join(others)} cannot be combined with --ogb",
            got=str(ogb),
            fix=f"leave it out; {', '.join(_OF_OGB)} can be",
        )
    limits = options.limits(threads)
    rules = EdgeRules(graph.directed, graph.self_loops, graph.duplicates)
    build_ogb_store(out, OgbFolder(ogb), rules, limits).warn(None, stacklevel=2)
    return options.words(limits)


def _refuse(options: BuildOptions, data: str | None) -> None:
    given = {"--out-of-core": options.out_of_core, "--memory": options.memory}
    for name, value in given.items():
        if value:
            problem, fix = f"{name} is for tables, and DATA is read whole", "leave it out"
            raise InputError("AGC-I1418", problem, got=data, fix=fix)


def _in_words(error: Any) -> Any:
    """Return an error with the remedy that an option is."""
    if error.code == "AGC-I1410":
        fix = "change the tables, or leave --out-of-core out"
        return type(error)(error.code, error.problem, got=error.got, fix=fix)
    return error


def _out_of_core(
    options: GraphOptions,
    out: Path,
    limits: Limits,
    progress: Callable[[int, int], None] | None,
) -> Changes:
    from adagcn.formats.store_build import build_store

    assert options.edges is not None
    edges, source, rules = options.files(options.edges, progress)
    return build_store(out, edges, source, rules, limits)
