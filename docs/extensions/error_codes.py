"""Every error code with its cause and its remedy, read from the code that raises it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from message_templates import LEFT, RIGHT, Place, alternatives, bindings

from adagcn import errors
from adagcn.cli.option_words import REMEDIES

CODE = re.compile(r"AGC-(?P<family>[A-Z])(?P<number>\d+)")

_ONLY_A_VALUE = re.compile(f"{LEFT}[^{LEFT}]*{RIGHT}")
_PACKAGE = Path(errors.__file__).parent
_FAMILIES: dict[str, type[errors.AdaGCNError]] = {
    "I": errors.InputError,
    "F": errors.FormatError,
    "G": errors.IntegrityError,
    "U": errors.UnsafeFileError,
    "R": errors.ResourceError,
    "N": errors.NumericalError,
}


@dataclass(frozen=True)
class Entry:
    """What one place in the code says: of an error, or of a warning (which has no code)."""

    code: str
    family: str
    problems: tuple[str, ...]
    remedies: tuple[str, ...]
    module: str


def modules(package: Path = _PACKAGE) -> Iterator[Place]:
    """Yield every module of the library."""
    for path in sorted(package.rglob("*.py")):
        parts = path.relative_to(package.parent).with_suffix("").parts
        name = ".".join(parts).removesuffix(".__init__")
        yield Place.of_module(name, path.read_text(encoding="utf-8"))


def error_entries(places: list[Place]) -> list[Entry]:
    """Return an entry for every place that raises an error with a code."""
    everywhere = {name: each for place in places for name, each in _functions(place).items()}
    found = []
    for place in places:
        functions = {**everywhere, **_functions(place)}
        for call in _calls(place.tree):
            code = next((c for each in call.args if (c := _code(each))), None)
            if code is None:
                continue
            if _name(call) in vars(errors):
                found.append(_entry(code, call, place))
                assert found[-1].family == _FAMILIES[code[4]].__name__, f"the letter of {code}"
            elif _name(call) in functions:
                found.append(_entry_of_a_helper(code, call, place, functions[_name(call)]))
    return sorted(found, key=lambda each: (*_order(each.code), each.module))


def _functions(place: Place) -> dict[str, tuple[ast.FunctionDef, Place]]:
    nodes = ast.walk(place.tree)
    return {each.name: (each, place) for each in nodes if isinstance(each, ast.FunctionDef)}


def _entry(code: str, call: ast.Call, place: Place) -> Entry:
    words = {each.arg: each.value for each in call.keywords}
    problem = words.get("problem", call.args[1] if len(call.args) > 1 else None)
    return Entry(
        code,
        _name(call),
        tuple(alternatives(problem, place)),
        tuple(alternatives(words.get("fix"), place)),
        place.module,
    )


def _entry_of_a_helper(
    code: str, call: ast.Call, place: Place, helper: tuple[ast.FunctionDef, Place]
) -> Entry:
    """Return what a function says that is handed the code to raise."""
    function, home = helper
    given = bindings(function, call, place)
    parameter = next(name for name, (value, _) in given.items() if _code(value) == code)
    raised = next(
        each
        for each in _calls(function)
        if each.args and getattr(each.args[0], "id", None) == parameter
    )
    return _entry(code, raised, Place(home.module, home.tree, home.parents, given))


def warning_entries(places: list[Place]) -> list[Entry]:
    """Return an entry for every place that warns."""
    found = []
    for place in places:
        for call in _calls(place.tree):
            if _name(call) == "warn" and len(call.args) > 1:
                kind = getattr(call.args[1], "id", "")
                said = alternatives(call.args[0], place)
                found.append(Entry("", kind, tuple(said), (), place.module))
    return sorted(found, key=lambda each: (each.family, each.problems))


def _calls(tree: ast.AST) -> Iterator[ast.Call]:
    return (each for each in ast.walk(tree) if isinstance(each, ast.Call))


def _name(call: ast.Call) -> str:
    return str(getattr(call.func, "id", None) or getattr(call.func, "attr", ""))


def _code(expression: ast.expr) -> str | None:
    value = getattr(expression, "value", None)
    return value if isinstance(value, str) and CODE.fullmatch(value) else None


def _order(code: str) -> tuple[int, int]:
    match = CODE.fullmatch(code)
    assert match is not None, code
    return list(_FAMILIES).index(match["family"]), int(match["number"])


# The page


def page_of_errors() -> str:
    """Return Markdown: a section for each family, and in it a heading for each code."""
    places = list(modules())
    entries = error_entries(places)
    lines = []
    for letter, family in _FAMILIES.items():
        mine = [each for each in entries if each.code.startswith(f"AGC-{letter}")]
        lines += [f"## {family.__name__}: AGC-{letter}…", "", _about(family), ""]
        for code in dict.fromkeys(each.code for each in mine):
            lines += [*_section(code, [each for each in mine if each.code == code]), ""]
    return "\n".join([*lines, *_warnings(warning_entries(places))])


def _about(family: type[errors.AdaGCNError]) -> str:
    parent = family.__bases__[1].__name__
    return f"{family.__doc__} Exit code {family.exit_code}; `except {parent}` catches it too."


def _section(code: str, entries: list[Entry]) -> Iterator[str]:
    yield f"### {code}"
    yield ""
    for each in dict.fromkeys((e.problems, e.remedies) for e in entries):
        problems, remedies = each
        yield from _listed("", problems)
        known = [each for each in remedies if not _ONLY_A_VALUE.fullmatch(each)]
        otherwise = "the one that the message names" if remedies else "what the message asks for"
        yield from _listed("**Remedy:** ", known or [otherwise])
    if code in REMEDIES:
        yield from _listed("**At the command line:** ", [REMEDIES[code]])


def _listed(head: str, sentences: Sequence[str]) -> Iterator[str]:
    if sentences:
        yield f"{head}{'; *or:* '.join(shown(each) for each in sentences)}"
        yield ""


def _warnings(entries: list[Entry]) -> Iterator[str]:
    yield from ("## Warnings", "", "The result stands, but you should know.", "")
    kinds: dict[str, Any] = {
        name: kind
        for name, kind in vars(errors).items()
        if isinstance(kind, type) and issubclass(kind, errors.AdaGCNWarning)
    }
    for name, kind in kinds.items():
        said = dict.fromkeys(p for each in entries if each.family == name for p in each.problems)
        yield from (f"### {name}", "", kind.__doc__ or "", "")
        yield from (f"- {shown(each)}" for each in said if not _ONLY_A_VALUE.fullmatch(each))
        yield ""


def shown(template: str) -> str:
    """Return a template as Markdown: every letter as itself, placeholders set apart."""
    text = " ".join(template.split())
    pieces = re.split(r"(`[^`]+`)", text)  # what is code in the message is code on the page
    pieces[::2] = [re.sub(r"([\\`*_{}\[\]<>#|~$^&])", r"\\\1", each) for each in pieces[::2]]
    return "".join(pieces).replace(LEFT, "<var>").replace(RIGHT, "</var>")
