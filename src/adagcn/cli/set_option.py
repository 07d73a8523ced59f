"""``--set key=value``: hyper-parameters of a model from the command line."""

from __future__ import annotations

import tomllib
from collections.abc import Collection, Iterable, Mapping
from difflib import get_close_matches
from typing import Any

from adagcn.errors import InputError


def parse_settings(
    pairs: Iterable[str], allowed: Collection[str], model: str = "adagcn"
) -> dict[str, Any]:
    """Read ``key=value`` pairs; a value is TOML (``64``, ``0.5``, ``true``) or else plain text.

    Parameters
    ----------
    pairs : iterable of str
        The values of ``--set``.
    allowed : collection of str
        The names that may be set.
    model : str
        Key of the model, for messages.

    Returns
    -------
    dict
        Value by name.

    Raises
    ------
    InputError
        Not of the form ``key=value``, an unknown name, or a name set twice.

    Examples
    --------
    >>> parse_settings(["n_layers=12", "combine=ema"], allowed=["n_layers", "combine"])
    {'n_layers': 12, 'combine': 'ema'}
    """
    settings: dict[str, Any] = {}
    for pair in pairs:
        name, equals, text = pair.partition("=")
        name = name.strip()
        if not equals or not name:
            raise InputError(
                "AGC-I805",
                "--set takes key=value",
                got=pair,
                fix="write --set n_layers=12",
            )
        _check_name(name, allowed, model)
        if name in settings:
            raise InputError("AGC-I806", f"--set names {name!r} twice", got=pair, fix="keep one")
        settings[name] = _value(text.strip())
    return settings


def class_weight_setting(
    word: str | None, given: Iterable[str], settable: Mapping[str, Collection[str]]
) -> dict[str, Any]:
    """Return what ``--class-weight`` sets: nothing, or the class weight of every model.

    Parameters
    ----------
    word : {"balanced", "none"} or None
        The value of ``--class-weight``; None where it is not given.
    given : iterable of str
        The names that ``--set`` gives a value.
    settable : mapping
        What each model of the command can be set to have, by its key.

    Returns
    -------
    dict
        A setting, or nothing.

    Raises
    ------
    InputError
        ``--set`` says it too, or a model weighs no classes.

    Examples
    --------
    >>> class_weight_setting("balanced", ["n_layers"], {"gcn": ["class_weight", "dropout"]})
    {'class_weight': 'balanced'}
    """
    twice = [name for name in given if name.rpartition(".")[2] == "class_weight"]
    if word is not None and twice:
        problem = f"--class-weight and --set {twice[0]} exclude each other"
        raise InputError("AGC-I850", problem, got=word, fix="leave one of them out")
    without = [model for model, names in settable.items() if "class_weight" not in names]
    if word == "balanced" and without:
        problem = f"--class-weight has no meaning for {', '.join(without)}: no class is weighed"
        what = "it" if len(without) == len(settable) else ", ".join(without)
        raise InputError("AGC-I851", problem, got=word, fix=f"leave {what} out")
    return {"class_weight": word} if word == "balanced" else {}


def calibrate_setting(word: str | None, given: Collection[str]) -> dict[str, Any]:
    """Return what ``--calibrate`` sets, which ``--set`` must not say too.

    >>> calibrate_setting("temperature", ["n_layers"])
    {'calibrate': 'temperature'}
    """
    if word is not None and "calibrate" in given:
        problem = "--calibrate and --set calibrate exclude each other"
        raise InputError("AGC-I1362", problem, got=word, fix="leave one of them out")
    return {"calibrate": word} if word == "temperature" else {}


def _check_name(name: str, allowed: Collection[str], model: str) -> None:
    if name in allowed:
        return
    from adagcn.models.support.renamed import NEW_NAMES, moved

    error = moved(model, name, allowed)
    if error is not None:
        fix = f"write --set {NEW_NAMES[name]}=VALUE"
        raise InputError(error.code, error.problem, got=name, fix=fix)
    near = get_close_matches(name, allowed, n=1)
    raise InputError(
        "AGC-I807",
        "--set names a hyper-parameter that this model does not have",
        got=name,
        fix=f"did you mean {near[0]!r}?" if near else f"it can be {', '.join(sorted(allowed))}",
    )


def _value(text: str) -> Any:
    try:
        parsed = tomllib.loads(f"value = {text}")
    except tomllib.TOMLDecodeError:
        return text
    value = parsed.pop("value", text)
    # A date or a second line is TOML too, but never a hyper-parameter: those stay text.
    return value if not parsed and isinstance(value, bool | int | float | str | list) else text
