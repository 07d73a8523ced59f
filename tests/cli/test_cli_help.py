"""The pages that ``--help`` shows."""

from __future__ import annotations

import re

import pytest
import typer

from adagcn.cli.app import app

GROUP = typer.main.get_command(app)
PAGES = [
    [],
    *([name] for name in GROUP.commands),
    *(
        [name, sub]
        for name, each in GROUP.commands.items()
        for sub in getattr(each, "commands", {})
    ),
]


@pytest.mark.parametrize("columns", [60, 80, 120])
@pytest.mark.parametrize("words", PAGES, ids=lambda words: " ".join(words) or "adagcn")
def test_every_page_fits_its_terminal_and_shows_no_python_types(run_cli, columns, words):
    page = run_cli_at(run_cli, columns, words)
    lines = page.splitlines()
    assert lines[0].startswith(f"Usage: {' '.join(['adagcn', *words])}")
    assert max(map(len, lines if columns > 60 else without_examples(lines, words))) <= columns
    assert not re.search(r"<\w+>|\[default|\[x[<>]|[╭│]", page)


@pytest.mark.parametrize("words", PAGES, ids=lambda words: " ".join(words) or "adagcn")
def test_meanings_start_at_one_column(run_cli, words):
    lines = without_examples(run_cli_at(run_cli, 80, words).splitlines(), words)
    starts = {
        found.end() for line in lines if (found := re.match(r"  --?[\w-]+(?: [A-Z]\S*)?  +", line))
    }
    assert len(starts) == 1
    deeper = {len(line) - len(line.lstrip()) for line in lines if line.startswith("     ")}
    assert deeper <= starts | {len("Usage: ")}


def run_cli_at(run_cli, columns, words):
    # The fixture of the commands sets a width of its own.
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COLUMNS", str(columns))
        outcome = run_cli(*words, "--help")
    assert outcome.code == 0
    return outcome.stdout


def without_examples(lines, words):
    """Return a page without what is laid out by hand: commands to copy, and pieces of files."""
    command = GROUP
    for word in words:
        command = command.commands[word]
    if command.epilog:
        lines = lines[: lines.index(command.epilog.splitlines()[0])]
    return [line for line in lines if not line.startswith("  adagcn ")]


def test_choices_are_named_with_their_default(run_cli):
    page = " ".join(run_cli("fit", "--help").stdout.split())
    assert "(ignore, keep, reverse or error; default: ignore)" in page
    for command in ("fit", "compare"):
        page = " ".join(run_cli(command, "--help").stdout.split())
        assert (
            "--class-weight WORD Weigh classes by the inverse of how many labels they have "
            "(balanced or none; default: none)"
        ) in page


def test_no_default_is_a_word_of_python(run_cli):
    for command in ("fit", "predict", "compare", "reproduce"):
        page = " ".join(run_cli(command, "--help").stdout.split())
        assert "default: processes for more than one worker, else serial)" in page
        assert not re.search(r"default: (True|False|None)\b", page)


def test_what_belongs_to_a_command_alone_comes_first(run_cli):
    page = run_cli("compare", "--help").stdout
    assert page.index("--models") < page.index("--workers") < page.index("--edges")


def test_what_every_command_has_comes_last(run_cli):
    page = run_cli("fit", "--help").stdout
    places = [
        page.index(each) for each in ("Arguments", "\nOptions\n", "--edges", "--quiet", "--help")
    ]
    assert places == sorted(places)


def test_the_order_of_the_commands_is_that_of_a_first_day(run_cli):
    page = run_cli("--help").stdout
    places = [
        page.index(f"\n  {name} ") for name in ("demo", "fit", "predict", "evaluate", "compare")
    ]
    assert places == sorted(places)
