"""Sentences that code puts together, with placeholders where values will stand.

``f"{path!r} has {counted(n, 'row')}"`` becomes ``⟨path⟩ has ⟨n⟩ rows``. Names are followed to
where they were assigned; what consists of a module's constants is evaluated.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from itertools import islice, product
from typing import Any

LEFT, RIGHT = "⟨", "⟩"
_MOST = 4  # alternatives of one sentence

# What a name that is short in code is called in a sentence.
_WORDS = {"e": "error", "strerror": "reason", "raw_nodes": "number of nodes", "n": "number"}
# Attributes that say no more than what they belong to.
_OF_THE_WHOLE = {"name", "__name__", "key", "title", "filename", "argument", "label"}
# Calls that show their first argument.
_SHOWN_AS_IS = {"str", "repr", "shown", "int", "type", "sorted", "list", "escape", "_quoted"}


@dataclass(frozen=True)
class Place:
    """Where an expression stands: what its names mean is looked up from here."""

    module: str
    tree: ast.Module
    parents: Mapping[ast.AST, ast.AST]
    bound: Mapping[str, tuple[ast.expr, Place]] = field(default_factory=dict)

    @classmethod
    def of_module(cls, name: str, text: str) -> Place:
        """Return the top of a module."""
        tree = ast.parse(text)
        parents = {child: each for each in ast.walk(tree) for child in ast.iter_child_nodes(each)}
        return cls(name, tree, parents)


def alternatives(expression: ast.expr | None, place: Place) -> list[str]:
    """Return every sentence that an expression can be; none if it can only be ``None``."""
    match expression:
        case None | ast.Constant(value=None):
            return []
        case ast.IfExp(body=body, orelse=orelse):
            found = [*alternatives(body, place), *alternatives(orelse, place)]
        case ast.Name(id=name) if name in place.bound:
            found = alternatives(*place.bound[name])
        case ast.Name():
            found = [each for v in assigned(expression, place) for each in alternatives(v, place)]
            found = found or [_of_a_value(expression, place)]
        case ast.JoinedStr(values=values):
            found = _joined([_pieces(each, place) for each in values])
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            found = _joined([_pieces(left, place), _pieces(right, place)])
        case _:
            found = _pieces(expression, place)
    return list(dict.fromkeys(found))


def _joined(pieces: list[list[str]]) -> list[str]:
    """Return the sentences of pieces of which some can be this or that."""
    together = list(islice(product(*pieces), _MOST + 1))
    if len(together) > _MOST:
        together = [tuple(each[0] for each in pieces)]
    return ["".join(each) for each in together]


def _pieces(expression: ast.expr, place: Place) -> list[str]:
    """Return what a piece of a sentence can be; one that may be missing is taken to be there."""
    match expression:
        case ast.Constant(value=value):
            return [str(value)]
        case ast.FormattedValue(value=value):
            return _pieces(value, place)
        case ast.Call():
            return [_of_a_call(expression, place)]
        case ast.IfExp(body=ast.Constant(value="is" | "has" | "was"), orelse=plural):
            return _pieces(plural, place)
        case ast.Name() | ast.IfExp() | ast.JoinedStr() | ast.BinOp() if _is_text(
            expression, place
        ):
            found = alternatives(expression, place)
            return [each for each in found if each] or [""]
    return [_of_a_value(expression, place)]


def _of_a_value(expression: ast.expr, place: Place) -> str:
    known = _evaluated(expression, place)
    return f"{LEFT}{_word(expression)}{RIGHT}" if known is None else known


def _is_text(expression: ast.expr, place: Place) -> bool:
    """Return whether an expression is put together from pieces of text that can be shown."""
    match expression:
        case ast.Constant(value=value):
            return isinstance(value, str)
        case ast.JoinedStr():
            return True
        case ast.IfExp(body=one, orelse=other) | ast.BinOp(left=one, op=ast.Add(), right=other):
            return _is_text(one, place) and _is_text(other, place)
        case ast.Name(id=name):
            values = [] if name in place.bound else assigned(expression, place)
            return name in place.bound or (bool(values) and all(_is_text(v, place) for v in values))
        case ast.Call(func=ast.Attribute(attr="join")):
            return True
    return False


def _of_a_call(call: ast.Call, place: Place) -> str:
    name = _called(call)
    if name == "counted":
        return f"{LEFT}number{RIGHT} {_pieces(call.args[1], place)[0]}s"
    if name in {"rstrip", "removeprefix"} and isinstance(call.func, ast.Attribute):
        return _pieces(call.func.value, place)[0]
    if name in _SHOWN_AS_IS and call.args:
        return _pieces(call.args[0], place)[0]
    if name == "did_you_mean":
        return f"did you mean {LEFT}name{RIGHT}?"
    return _returned(call, place) or _of_a_value(call, place)


def _returned(call: ast.Call, place: Place) -> str | None:
    """Return the text that a function of the same module returns, if that is all it does."""
    function = next(
        (each for each in place.tree.body if getattr(each, "name", None) == _called(call)), None
    )
    if not isinstance(function, ast.FunctionDef) or not isinstance(function.body[-1], ast.Return):
        return None
    value = function.body[-1].value
    inside = Place(place.module, place.tree, place.parents, bindings(function, call, place))
    return alternatives(value, inside)[0] if isinstance(value, ast.JoinedStr) else None


def bindings(
    function: ast.FunctionDef, call: ast.Call, place: Place
) -> dict[str, tuple[ast.expr, Place]]:
    """Return what a call hands to the parameters of a function."""
    names = [each.arg for each in function.args.args]
    given = dict(zip(names, call.args, strict=False))
    given |= {each.arg: each.value for each in call.keywords if each.arg}
    return {name: (value, place) for name, value in given.items()}


def _called(call: ast.Call) -> str:
    return str(getattr(call.func, "id", None) or getattr(call.func, "attr", ""))


# Names


def assigned(name: ast.Name, place: Place) -> list[ast.expr]:
    """Return what was assigned to a name before it is used, from every branch that may have run."""
    found: list[ast.expr] = []
    inner: ast.AST = name
    while (outer := place.parents.get(inner)) is not None:
        for block in _blocks(outer):
            if inner in block:
                for statement in reversed(block[: block.index(inner)]):
                    values, surely = _assigned_by(statement, name.id)
                    found += values
                    if surely:
                        return found
        if isinstance(outer, ast.FunctionDef) and name.id in _parameters(outer):
            return found or _handed_over(name, outer, place)
        inner = outer
    return found


def _handed_over(name: ast.Name, function: ast.FunctionDef, place: Place) -> list[ast.expr]:
    """Return the texts that calls in the module give for a parameter; none if one is no text."""
    default = _defaults(function).get(name.id)
    values = [] if default is None else [default]
    if not function.name.startswith("_"):  # other modules may call it too
        return [each for each in values if getattr(each, "value", None) == ""]
    for call in ast.walk(place.tree):
        if isinstance(call, ast.Call) and _called(call) == function.name:
            values += [v for n, (v, _) in bindings(function, call, place).items() if n == name.id]
    texts = all(isinstance(v, ast.JoinedStr) or _is_plain_text(v) for v in values)
    return values if texts and len(values) <= _MOST else []


def _is_plain_text(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and isinstance(value.value, str | type(None))


def _defaults(function: ast.FunctionDef) -> dict[str, ast.expr]:
    arguments = function.args
    late = zip(reversed(arguments.args), reversed(arguments.defaults), strict=False)
    named = zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    return {each.arg: value for each, value in [*late, *named] if value is not None}


def _blocks(node: ast.AST) -> Iterator[list[ast.AST]]:
    for part in ("body", "orelse", "finalbody"):
        block = getattr(node, part, None)
        if isinstance(block, list):
            yield block


def _parameters(function: ast.FunctionDef) -> set[str]:
    return {each.arg for each in [*function.args.args, *function.args.kwonlyargs]}


def _assigned_by(statement: ast.AST, name: str) -> tuple[list[ast.expr], bool]:
    """Return what a statement assigns to a name, and whether it does so in any case."""
    if isinstance(statement, ast.Assign | ast.AnnAssign):
        values = list(_values(statement, name))
        return values, bool(values)
    if isinstance(statement, ast.If | ast.For | ast.With | ast.Try):
        found = [
            value
            for block in _blocks(statement)
            if block and not isinstance(block[-1], ast.Raise | ast.Return)
            for inner in block
            for each in ast.walk(inner)
            if isinstance(each, ast.Assign)
            for value in _values(each, name)
        ]
        return found, isinstance(statement, ast.If) and bool(found) and bool(statement.orelse)
    return [], False


def _values(statement: ast.Assign | ast.AnnAssign, name: str) -> Iterator[ast.expr]:
    targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
    for target in targets:
        if getattr(target, "id", None) == name and statement.value is not None:
            yield statement.value
        elif isinstance(target, ast.Tuple) and isinstance(statement.value, ast.Tuple):
            pairs = zip(target.elts, statement.value.elts, strict=False)
            yield from (value for each, value in pairs if getattr(each, "id", None) == name)


def _evaluated(expression: ast.expr, place: Place) -> str | None:
    """Return the value of an expression that is made of a module's constants alone."""
    names = [each for each in ast.walk(expression) if isinstance(each, ast.Name)]
    known = vars(import_module(place.module)) if names else {}
    if not names or any(_is_local(each, place) for each in names):
        return None
    if not all(each.id in known or hasattr(builtins, each.id) for each in names):
        return None
    value: Any = eval(compile(ast.Expression(expression), place.module, "eval"), dict(known))
    return f"{value:,}" if isinstance(value, int) else value if isinstance(value, str) else None


def _is_local(name: ast.Name, place: Place) -> bool:
    """Return whether a function around a name gives it a value."""
    inner: ast.AST | None = name
    while inner is not None:
        if isinstance(inner, ast.FunctionDef):
            stored = (n for n in ast.walk(inner) if isinstance(n, ast.Name))
            own = {each.id for each in stored if isinstance(each.ctx, ast.Store)}
            if name.id in own | _parameters(inner):
                return True
        inner = place.parents.get(inner)
    return False


def _word(expression: ast.expr) -> str:
    """Return what to call a value that is known only later."""
    match expression:
        case ast.Name(id=name) | ast.Attribute(value=ast.Name(id="self"), attr=name):
            return _in_words(name)
        case ast.Attribute(value=value, attr=name):
            return _word(value) if name in _OF_THE_WHOLE else _in_words(name)
        case ast.Call(func=ast.Name(id="len" | "sum"), args=[value, *_]):
            return f"number of {_word(value)}"
        case ast.BinOp(left=value, op=ast.Sub(), right=ast.Constant(value=less)):
            return f"{_word(value)} − {less}"
    inner = _within(expression)
    return "value" if inner is None else _word(inner)


def _within(expression: ast.expr) -> ast.expr | None:
    """Return the part of an expression that says most of what it is about."""
    match expression:
        case (
            ast.Call(func=ast.Attribute(value=value), args=[ast.Constant(), *_])
            | ast.Call(func=ast.Name(id="map"), args=[_, value, *_])
            | ast.Call(args=[value, *_])
            | ast.Call(func=ast.Attribute(value=value))
            | ast.GeneratorExp(generators=[ast.comprehension(iter=value), *_])
            | ast.Subscript(value=value)
            | ast.BinOp(left=value)
            | ast.BoolOp(values=[value, *_])
            | ast.IfExp(body=value)
        ):
            return value
    return None


def _in_words(name: str) -> str:
    name = name.strip("_")
    name = _WORDS.get(name, name)
    if name.startswith("n_"):
        name = f"number of {name[2:]}"
    return name.replace("_", " ").lower()
