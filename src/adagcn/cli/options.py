"""The options that several commands share, so that they look and mean the same everywhere."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from copy import copy
from dataclasses import MISSING, dataclass, fields, is_dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

import typer

from adagcn.cli.command_state import current_state
from adagcn.engines.threads import MOST_THREADS

EVERYWHERE = "Options of every command"
_NAMED_DATA = "Where named data sets come from"


def _turn_on_debug(value: bool) -> bool:
    current_state().debug |= value
    return value


def _turn_on_quiet(value: bool) -> bool:
    current_state().quiet |= value
    return value


Debug = Annotated[
    bool,
    typer.Option(
        "--debug",
        callback=_turn_on_debug,
        help="Show the traceback of an error (or set ADAGCN_DEBUG=1).",
        rich_help_panel=EVERYWHERE,
    ),
]
Quiet = Annotated[
    bool,
    typer.Option(
        "--quiet",
        callback=_turn_on_quiet,
        help="No notes and no progress bar; errors are shown.",
        rich_help_panel=EVERYWHERE,
    ),
]
Force = Annotated[bool, typer.Option("--force", help="Replace existing files.")]
ModelFile = Annotated[
    Path, typer.Argument(metavar="MODEL", help="A model saved by adagcn fit --out.")
]
Verbatim = Annotated[
    bool,
    typer.Option(
        "--verbatim",
        help="Leave text in CSV unchanged, even if a spreadsheet would run it as a formula.",
    ),
]
# None where it is not given, so that "none" beside --set class_weight=… is a contradiction.
ClassWeight = Annotated[
    Literal["balanced", "none"] | None,
    typer.Option(
        "--class-weight",
        help="Weigh classes by the inverse of how many labels they have.",
        show_default="none",
    ),
]
# None where it is not given, as above.
Calibrate = Annotated[
    Literal["temperature", "none"] | None,
    typer.Option(
        "--calibrate",
        help="Fit probabilities to the stopping nodes after training; labels stay the same.",
        show_default="none",
    ),
]
DataDir = Annotated[
    Path | None,
    typer.Option(
        "--data-dir",
        metavar="DIR",
        help="Folder of data sets, tried before $ADAGCN_DATA, the user cache and a download.",
        rich_help_panel=_NAMED_DATA,
    ),
]
Offline = Annotated[
    bool,
    typer.Option(
        "--offline",
        help="Never download; fail if a data set is missing.",
        rich_help_panel=_NAMED_DATA,
    ),
]


@dataclass(frozen=True)
class Common:
    """The options of every command."""

    as_json: Annotated[
        bool,
        typer.Option(
            "--json",
            help="Print one JSON object and nothing else on standard output.",
            rich_help_panel=EVERYWHERE,
        ),
    ] = False
    seed: Annotated[
        int,
        typer.Option(
            "--seed",
            metavar="N",
            min=0,
            help="Random seed, where a command uses one.",
            rich_help_panel=EVERYWHERE,
        ),
    ] = 0
    threads: Annotated[
        int,
        typer.Option(
            "--threads",
            metavar="N",
            min=1,
            max=MOST_THREADS,
            help="Threads to compute with; their number may change the last digits.",
            rich_help_panel=EVERYWHERE,
        ),
    ] = 1
    quiet: Quiet = False
    debug: Debug = False


def with_option_groups(command: Callable[..., None]) -> Callable[..., None]:
    """Let a command take dataclasses of options: Typer sees one option per field.

    Parameters
    ----------
    command : callable
        A function whose parameters are options, arguments, or dataclasses of them.

    Returns
    -------
    callable
        The same command with every dataclass spread out in its signature.
    """
    hints = get_type_hints(command, include_extras=True)
    groups: dict[str, Any] = {name: hint for name, hint in hints.items() if is_dataclass(hint)}
    parameters = inspect.signature(command).parameters.values()
    # What belongs to this command alone comes first in its help.
    spread = [_keyword(each, hints) for each in parameters if each.name not in groups]
    spread += [option for group in groups.values() for option in _options_of(group)]

    def run(**values: Any) -> None:
        current_state().out = values.get("out")
        for name, group in groups.items():
            values[name] = group(**{field.name: values.pop(field.name) for field in fields(group)})
        command(**values)

    run.__name__ = command.__name__
    run.__doc__ = _unwrapped(inspect.getdoc(command) or "")
    run.__signature__ = inspect.Signature(spread)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in spread}
    return run


def _unwrapped(text: str) -> str:
    """Return text with one line per paragraph: Typer would keep the line breaks of the source."""
    return "\n\n".join(" ".join(part.split()) for part in text.split("\n\n"))


def _keyword(parameter: inspect.Parameter, hints: dict[str, Any]) -> inspect.Parameter:
    hint = _with_choices(hints[parameter.name], parameter.default)
    return parameter.replace(kind=parameter.KEYWORD_ONLY, annotation=hint)


def _with_choices(hint: Any, default: Any) -> Any:
    """Return the hint of an option with its help naming the words to choose from."""
    choices = choices_of(get_args(hint)[0]) if get_origin(hint) is Annotated else ()
    if not choices:
        return hint
    kind, option = get_args(hint)
    option = copy(option)
    *most, last = choices
    words = f"{', '.join(most)} or {last}"
    shown = default if isinstance(default, str) else option.show_default
    if isinstance(shown, str):
        words += f"; default: {shown}"
    option.help, option.show_default = f"{option.help.rstrip('.')} ({words}).", False
    option.metavar = option.metavar or "WORD"
    return Annotated[kind, option]


def choices_of(kind: Any) -> tuple[str, ...]:
    """Return the words of a ``Literal``, also of one that may be left out; else nothing."""
    kinds = [kind, *get_args(kind)] if type(None) in get_args(kind) else [kind]
    return next((get_args(each) for each in kinds if get_origin(each) is Literal), ())


def _options_of(group: Any) -> list[inspect.Parameter]:
    hints = get_type_hints(group, include_extras=True)
    empty = inspect.Parameter.empty
    return [
        inspect.Parameter(
            field.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=empty if field.default is MISSING else field.default,
            annotation=_with_choices(hints[field.name], field.default),
        )
        for field in fields(group)
    ]
