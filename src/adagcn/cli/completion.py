"""``adagcn completion``: a script that lets a shell complete commands, options and their words.

The script holds all words itself. A press of the Tab key therefore starts no Python and is instant;
after an upgrade the script is written again.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import typer

from adagcn.cli.options import Common, choices_of, with_option_groups
from adagcn.cli.output import print_json

Shell = Literal["bash", "zsh", "fish"]


@dataclass(frozen=True)
class Option:
    """An option of a command.

    Parameters
    ----------
    names : tuple of str
        Such as ``--json``.
    meaning : str
        What its help says, in short.
    takes_value : bool
        Whether a word follows.
    words : tuple of str
        What that can be; empty for files and whatever else.
    """

    names: tuple[str, ...]
    meaning: str
    takes_value: bool
    words: tuple[str, ...]


@dataclass(frozen=True)
class Page:
    """A command or a group of commands.

    Parameters
    ----------
    path : str
        Its words after ``adagcn``; empty for the program itself.
    commands : mapping of str to str
        The commands in a group and what they do.
    options : tuple of Option
        Its options.
    words : tuple of str
        What its arguments can be besides files.
    """

    path: str
    commands: Mapping[str, str]
    options: tuple[Option, ...]
    words: tuple[str, ...]


@with_option_groups
def completion(
    shell: Annotated[
        Shell, typer.Argument(metavar="SHELL", help="Your shell.", show_default=False)
    ],
    common: Common,
) -> None:
    """Print a script that completes commands, options, data sets and models.

    Write it to a file, and again after an upgrade. In ~/.bashrc or ~/.zshrc add a line such as
    source ~/.adagcn.bash; fish finds the file by itself.

    adagcn completion bash > ~/.adagcn.bash

    adagcn completion zsh > ~/.adagcn.zsh

    adagcn completion fish > ~/.config/fish/completions/adagcn.fish
    """
    script = _WRITERS[shell](tuple(_pages()))
    if common.as_json:
        print_json({"shell": shell, "script": script})
    else:
        typer.echo(script, nl=False)


def _pages() -> Iterator[Page]:
    """Yield the program, then all groups and commands."""
    from adagcn.cli.app import app

    return _walk(typer.main.get_command(app), "", _known_words())


def _walk(command: Any, path: str, known: Mapping[str, tuple[str, ...]]) -> Iterator[Page]:
    inside: dict[str, Any] = getattr(command, "commands", {})
    options = [each for each in command.params if each.param_type_name == "option"]
    arguments = [each for each in command.params if each.param_type_name == "argument"]
    help_option = Option(("--help",), "Show this page", False, ())
    yield Page(
        path,
        {name: _in_short(each.help) for name, each in inside.items()},
        (*(_option(each, known) for each in options), help_option),
        tuple(word for each in arguments for word in _words(each, known)),
    )
    for name, each in inside.items():
        yield from _walk(each, f"{path} {name}".strip(), known)


def _option(each: Any, known: Mapping[str, tuple[str, ...]]) -> Option:
    return Option(tuple(each.opts), _in_short(each.help), not each.is_flag, _words(each, known))


def _known_words() -> dict[str, tuple[str, ...]]:
    """Return the names that options and arguments take, by what the help calls these."""
    from adagcn.data.catalog import CATALOG, TABLE_SETS
    from adagcn.experiments.spec_files import shipped_specs
    from adagcn.models.support.registry import CLASSES, presets_of

    datasets, models = tuple(CATALOG), tuple(CLASSES)
    presets = tuple(dict.fromkeys(preset for model in models for preset in presets_of(model)))
    return {
        "DATA": datasets,
        "NAME": datasets,
        "NAME|all": (*datasets, "all"),
        "NAME|FILE": (*datasets, *TABLE_SETS),
        "NAME|twitch": (*datasets, *TABLE_SETS),
        "NAME|SPEC.toml": tuple(shipped_specs()),
        "--model": models,
        "--models": models,
        "--preset": presets,
        "--presets": presets,
        "--datasets": datasets,
    }


def _words(each: Any, known: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    """Return what can stand at an argument or after an option."""
    if each.param_type_name == "option":
        named = known.get(each.opts[0], ())
    else:
        named = known.get(each.metavar or "", ())
    return named or choices_of(each.type_descriptor.annotation)


def _in_short(text: str | None) -> str:
    """Return the first sentence of a help text, without what a shell might take for its own."""
    first = (text or "").split("\n\n")[0].split(". ")[0].rstrip(".")
    return re.sub(r"[^\w ,.;:()/<>=%+-]", "", first)


# bash, and zsh, which can run bash's scripts


def _bash(pages: Sequence[Page]) -> str:
    """Return the script for bash: which command the words so far name, then what can follow."""
    return _BASH.format(
        steps="\n".join(
            f'      "{page.path}/{name}") path="{f"{page.path} {name}".strip()}" ;;'
            for page in pages
            for name in page.commands
        ),
        values="\n".join(_bash_values(pages)),
        pages="\n".join(
            f'    "{page.path}") words="{" ".join((*page.commands, *page.words))}"'
            f'; options="{" ".join(name for each in page.options for name in each.names)}" ;;'
            for page in pages
        ),
    )


def _bash_values(pages: Sequence[Page]) -> Iterator[str]:
    """Yield a line for every option that takes a value: its words, or none and so files."""
    for page in pages:
        for each in page.options:
            if each.takes_value:
                pattern = "|".join(f'"{page.path}/{name}"' for name in each.names)
                yield f'    {pattern}) words="{" ".join(each.words)}" ;;'


_BASH = """\
# Completion of adagcn for bash; written by: adagcn completion bash
_adagcn() {{
  local current="${{COMP_WORDS[COMP_CWORD]}}" previous="${{COMP_WORDS[COMP_CWORD-1]}}"
  local path="" words="" options="" i
  # bash splits --preset=tuned into three words.
  if [[ "$previous" == "=" && $COMP_CWORD -ge 2 ]]; then
    previous="${{COMP_WORDS[COMP_CWORD-2]}}"
  elif [[ "$current" == "=" ]]; then
    current=""
  fi
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "$path/${{COMP_WORDS[i]}}" in
{steps}
    esac
  done
  COMPREPLY=()
  case "$path/$previous" in
{values}
    *) previous="" ;;
  esac
  if [[ -n "$previous" ]]; then
    # The last name of a list such as gcn,appnp.
    local before=""
    if [[ "$current" == *,* ]]; then before="${{current%,*}},"; fi
    COMPREPLY=($(compgen -P "$before" -W "$words" -- "${{current##*,}}"))
    return
  fi
  case "$path" in
{pages}
  esac
  if [[ "$current" == -* ]]; then words="$options"; fi
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}}
# Where nothing fits, files are completed.
complete -o default -F _adagcn adagcn
"""


def _zsh(pages: Sequence[Page]) -> str:
    """Return the script for zsh, which loads its interpreter of bash's completions first."""
    return (
        "# Completion of adagcn for zsh; written by: adagcn completion zsh\n"
        "(( $+functions[compdef] )) || { autoload -Uz compinit && compinit }\n"
        "autoload -Uz bashcompinit && bashcompinit\n" + _bash(pages).split("\n", 1)[1]
    )


# fish


def _fish(pages: Sequence[Page]) -> str:
    """Return the script for fish: a line for every word, with what it means."""
    lines = ["# Completion of adagcn for fish; written by: adagcn completion fish"]
    for page in pages:
        lines += _fish_lines(page)
    return "\n".join(lines) + "\n"


def _fish_lines(page: Page) -> Iterator[str]:
    where = _fish_condition(page)
    for name, meaning in page.commands.items():
        yield f"complete -c adagcn {where} -f -a {name} -d '{meaning}'"
    if page.words:
        yield f"complete -c adagcn {where} -a '{' '.join(page.words)}'"
    for each in page.options:
        names = " ".join(f"-l {name.removeprefix('--')}" for name in each.names)
        value = f" -x -a '{' '.join(each.words)}'" if each.words else " -r" * each.takes_value
        yield f"complete -c adagcn {where} {names}{value} -d '{each.meaning}'"


def _fish_condition(page: Page) -> str:
    """Return the condition under which the words so far name a command, or lead into a group."""
    tests = [f"__fish_seen_subcommand_from {word}" for word in page.path.split()]
    if not page.path:
        tests = ["__fish_use_subcommand"]
    elif page.commands:
        tests.append(f"not __fish_seen_subcommand_from {' '.join(page.commands)}")
    return f"-n '{'; and '.join(tests)}'"


_WRITERS: Mapping[Shell, Callable[[Sequence[Page]], str]] = {
    "bash": _bash,
    "zsh": _zsh,
    "fish": _fish,
}
