"""All commands; each imports what it computes with only when it runs."""

from __future__ import annotations

from typing import Annotated

import typer

from adagcn import __version__
from adagcn.cli.bench import bench_app
from adagcn.cli.compare import compare
from adagcn.cli.completion import completion
from adagcn.cli.data import data_app
from adagcn.cli.demo import demo
from adagcn.cli.doctor import doctor
from adagcn.cli.estimate import estimate
from adagcn.cli.evaluate import evaluate
from adagcn.cli.explain import explain
from adagcn.cli.fit import fit
from adagcn.cli.help_page import HelpfulCommand, HelpfulGroup
from adagcn.cli.ledger import ledger_app
from adagcn.cli.options import Debug, Quiet
from adagcn.cli.predict import predict
from adagcn.cli.report import report
from adagcn.cli.reproduce import reproduce
from adagcn.cli.store import store_app
from adagcn.formats.layouts import layouts_help

app = typer.Typer(name="adagcn", cls=HelpfulGroup, add_completion=False)


def _print_version(asked: bool) -> None:
    if asked:
        typer.echo(f"adagcn {__version__}")
        raise typer.Exit


@app.callback(epilog="Start with: adagcn demo")
def _root(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version."),
    ] = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Classify the nodes of a graph from few labels, by boosting over its hops."""


for command in (
    demo,
    doctor,
    estimate,
    fit,
    predict,
    explain,
    evaluate,
    report,
    compare,
    reproduce,
    completion,
):
    app.command(cls=HelpfulCommand, epilog=layouts_help() if command is fit else None)(command)
for name, group in (
    ("data", data_app),
    ("store", store_app),
    ("bench", bench_app),
    ("ledger", ledger_app),
):
    app.add_typer(group, name=name, cls=HelpfulGroup)
    for registered in group.registered_commands:
        registered.cls = HelpfulCommand
