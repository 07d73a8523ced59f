"""Experiments as TOML files: those of the package, and a user's own."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from difflib import get_close_matches
from importlib.resources import files
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from adagcn.data.catalog import CATALOG
from adagcn.errors import InputError
from adagcn.experiments.spec import Column, Planted, Row, Spec, Tables, check_known, check_spec

_SHIPPED = "specs"
_LARGEST = 1 << 20  # bytes; a spec is a page


def shipped_specs() -> dict[str, str]:
    """Return the text of every experiment that comes with the package, by name."""
    folder = files("adagcn.experiments") / _SHIPPED
    found = sorted(each.name for each in folder.iterdir() if each.name.endswith(".toml"))
    return {name.removesuffix(".toml"): (folder / name).read_text("utf-8") for name in found}


def load_spec(text: str) -> Spec:
    """Return an experiment by its name or from a TOML file, checked.

    Parameters
    ----------
    text : str
        A name of :func:`shipped_specs`, or a path that ends in ``.toml``.

    Returns
    -------
    Spec
        Every model, preset, setting and data set in it exists; graphs are not checked.

    Raises
    ------
    InputError
        There is no such experiment, or something in it is unknown; the key is named.
    """
    if not text.endswith(".toml"):
        shipped = shipped_specs()
        check_known("the experiment", text, shipped, fix="or the path of a .toml file")
        return parse_spec(shipped[text], text)
    path = Path(text)
    if not path.is_file() or path.stat().st_size > _LARGEST:
        problem = "there is no spec, or it is larger than 1 MiB"
        raise InputError("AGC-I940", problem, got=text, fix="give the path of a .toml file")
    try:
        return parse_spec(path.read_text("utf-8"), text)
    except UnicodeDecodeError as error:
        problem = f"{text} is not UTF-8 text: {error}"
        raise InputError("AGC-I941", problem, fix="save it as UTF-8") from error


def parse_spec(toml: str, name: str) -> Spec:
    """Return the experiment described in TOML, checked; ``name`` is for messages."""
    try:
        fields = tomllib.loads(toml)
    except tomllib.TOMLDecodeError as error:
        raise InputError(
            "AGC-I942", f"{name} is not TOML: {error}", fix="correct that line"
        ) from None
    spec = make_spec(fields, name)
    for number, column in enumerate(spec.columns):
        if not column.source:
            check_known(
                f"{name}: columns[{number}].dataset",
                column.dataset,
                CATALOG,
                fix="or name a file, tables, generated or planted",
            )
    return spec


def make_spec(fields: Mapping[str, Any], name: str) -> Spec:
    """Return the experiment with these fields, checked; its data sets may be a user's own."""
    try:
        spec = Spec(**fields)
    except ValidationError as error:
        raise _explained(error, name) from None
    check_spec(spec, name)
    return spec


def _explained(error: ValidationError, name: str) -> InputError:
    """Return an error for the first fault; for an unknown key, suggest the nearest one."""
    faults = error.errors(include_url=False)
    first = next((each for each in faults if each["type"] == "extra_forbidden"), faults[0])
    place = first["loc"]
    key = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in place)[1:]
    if first["type"] == "extra_forbidden":
        parts: dict[Any, type[BaseModel]] = {"columns": Column, "rows": Row}
        inner: dict[Any, type[BaseModel]] = {"tables": Tables, "planted": Planted}
        part = parts.get(place[0] if place[1:] else None, Spec)
        keys = next((inner[each] for each in place[:-1] if each in inner), part).model_fields
        near = get_close_matches(str(place[-1]), keys, n=1, cutoff=0.5)
        hint = f"did you mean {near[0]!r}? " if near else ""
        return InputError(
            "AGC-I946",
            f"{name}: unknown key {key}",
            got=first["input"],
            fix=f"{hint}Choose from {', '.join(keys)}",
        )
    message, got = first["msg"], ... if first["type"] == "missing" else first["input"]
    if "settings" in place[:-1]:  # one fault for each type that a setting may have; say it once
        key, message = key.rpartition(".")[0], "should be a number, text, true or false"
    return InputError("AGC-I947", f"{name}: {key}: {message}", got=got)
