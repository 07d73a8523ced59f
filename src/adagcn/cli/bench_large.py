"""``adagcn bench large``: epochs and fits on a graph as large as Reddit."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from adagcn.cli.bench_run import BenchOptions, measuring, promising, show
from adagcn.cli.campaign_options import chosen_names
from adagcn.cli.options import Common, with_option_groups
from adagcn.cli.set_option import parse_settings


@with_option_groups
def bench_large(
    options: BenchOptions,
    common: Common,
    epochs: Annotated[
        str,
        typer.Option(
            "--epochs",
            metavar="A,B|all|none",
            help="Time an epoch of these: adagcn, gcn, appnp, ppnp.",
        ),
    ] = "all",
    fits: Annotated[
        str,
        typer.Option(
            "--fits",
            metavar="A,B|all|none",
            help="Time whole fits of these, or of adagcn_auto (finds its own depth), "
            "adagcn_adaptive, adagcn_instant, gcn_es (PPNP's stopping rule), sgc and mlp.",
        ),
    ] = "all",
    runs: Annotated[
        int,
        typer.Option(
            "--runs", metavar="N", min=1, help="Whole fits of each, with different seeds."
        ),
    ] = 1,
    max_epochs: Annotated[
        int | None,
        typer.Option(
            "--max-epochs",
            metavar="N",
            min=1,
            help="Maximum epochs of a whole fit.",
            show_default="depends on --full",
        ),
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="SYSTEM.KEY=VALUE",
            help="A setting of one system in its whole fits, as in gcn_es.hidden_units=64; may "
            "repeat.",
        ),
    ] = None,
    homophily: Annotated[
        float | None,
        typer.Option(
            "--homophily",
            metavar="X",
            min=0.0,
            max=1.0,
            help="Share of the edges that are drawn within a class.",
            show_default="0.2",
        ),
    ] = None,
    memory: Annotated[
        bool, typer.Option("--memory/--no-memory", help="Measure peak memory too.")
    ] = True,
    hops: Annotated[
        bool, typer.Option("--hops", help="Also time ways to propagate a hop.")
    ] = False,
    keep: Annotated[
        Path | None,
        typer.Option(
            "--keep",
            metavar="FILE",
            help="Record whole fits here; recorded fits are not repeated.",
        ),
    ] = None,
) -> None:
    """Time epochs and fits on a generated graph; with --full it is as large as Reddit.

    At that size a whole fit of APPNP or PPNP takes twenty minutes: leave them out with --fits
    adagcn,adagcn_auto,gcn, or use --keep to stop and continue later.
    """
    options.check()
    from adagcn.bench.kept_fits import KeptFits
    from adagcn.bench.large import FITTED, FULL, QUICK, SYSTEMS, measure_large

    timed = [] if epochs == "none" else chosen_names("--epochs", epochs, SYSTEMS)
    fitted = [] if fits == "none" else chosen_names("--fits", fits, FITTED)
    asked: dict[str, Any] = {} if max_epochs is None else {"max_epochs": max_epochs}
    if homophily is not None:
        asked["homophily"] = homophily
    asked["settings"] = _by_system(settings or [], fitted)
    plan = options.changed(
        FULL if options.full else QUICK, memory=memory, hops=hops, fits=runs, **asked
    )
    kept = KeptFits(keep)
    with promising(keep), measuring(common) as run:
        run.keep(
            measure_large(
                plan, timed=timed, fitted=fitted, kept=kept, seed=common.seed, tick=run.tick
            )
        )
    show("large", run, options, common, {"epochs": timed, "fits": fitted})


def _by_system(pairs: list[str], fitted: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Return the settings of each system that is fitted, of pairs such as sgc.n_layers=2."""
    from adagcn.bench.large import model_of
    from adagcn.models.support.registry import model_class

    allowed = {f"{key}.{name}" for key in fitted for name in model_class(model_of(key)).settable()}
    found: dict[str, dict[str, Any]] = {}
    for words, value in parse_settings(pairs, allowed, "bench large").items():
        key, _, name = words.partition(".")
        found.setdefault(key, {})[name] = value
    return found
