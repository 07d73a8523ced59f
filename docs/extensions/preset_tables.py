"""Tables of the presets: every value that a fit has if nobody gives another."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from adagcn.data.catalog import CATALOG
from adagcn.models.support.boosted_settings import DEFAULTS, PREFIX, BoostedSettings, Variant
from adagcn.models.support.presets import preset_values
from adagcn.models.support.registry import MODELS
from adagcn.models.support.settings import meaning

RULE = f"{PREFIX}look"


def table_of_adagcn() -> str:
    """Return a table with a row for each setting and switch of AdaGCN, a column for each preset."""
    presets = MODELS["adagcn"].presets()
    rows = [
        [f"`{name}`", *(_value(name, values_of(preset)[name]) for preset in presets)]
        for name in DEFAULTS
    ]
    return _table(["setting", *(f"`{each}`" for each in presets)], rows)


def values_of(preset: str, graph_name: str | None = None, *, on_graph: bool = True) -> Any:
    """Return every value of a preset of AdaGCN by flat name."""
    return {**DEFAULTS, **preset_values(preset, graph_name, on_graph=on_graph)}


def rule_of_adaptive() -> str:
    """Return the rule of the look as a list."""
    return "\n".join(f"- {part}" for part in values_of("adaptive")[RULE].split("; "))


def meanings() -> str:
    """Return a list of what each setting means."""
    fields = {n: f for n, f in BoostedSettings.model_fields.items() if n != "variant"}
    fields |= {f"{PREFIX}{name}": field for name, field in Variant.model_fields.items()}
    return "\n".join(f"`{name}`\n: {_markdown(meaning(field))}\n" for name, field in fields.items())


def table_of_papers_rows() -> str:
    """Return what ``paper`` has on the data sets of the paper where they differ."""
    plain = values_of("paper")
    rows = {name: values_of("paper", name) for name in CATALOG}
    differing = [s for s in DEFAULTS if any(row[s] != plain[s] for row in rows.values())]
    body = [
        [f"`{name}`", *(_value(s, row[s], strong=row[s] != plain[s]) for s in differing)]
        for name, row in rows.items()
        if row != plain
    ]
    others = ["any other graph", *(_value(s, plain[s]) for s in differing)]
    return _table(["graph", *(f"`{each}`" for each in differing)], [*body, others])


def table_without_graph() -> str:
    """Return what changes in each preset where there is no graph."""
    rows = []
    for preset in MODELS["adagcn"].presets():
        there, without = values_of(preset), values_of(preset, on_graph=False)
        changed = [f"`{s}={without[s]!r}`" for s in DEFAULTS if without[s] != there[s]]
        rows.append([f"`{preset}`", ", ".join(changed) or "nothing"])
    return _table(["preset", "other values with `graph=None`"], rows, numbers=False)


def tables_of_other_models() -> str:
    """Return for each other model a row with the values that its presets share and differ in."""
    return "\n".join(_model(key) for key in MODELS if key != "adagcn")


def _model(key: str) -> str:
    model = MODELS[key]
    values = {preset: _flat(key, preset) for preset in model.presets()}
    first = values[model.presets()[0]]
    shared = [name for name in first if len({repr(each[name]) for each in values.values()}) == 1]
    lines = [f"### {key}", "", f"In every preset: {_listed(shared, first)}.", ""]
    own = [name for name in first if name not in shared]
    if own:
        rows = [
            [f"`{name}`", *(_value(name, each[name]) for each in values.values())] for name in own
        ]
        lines += [_table(["setting", *(f"`{each}`" for each in values)], rows)]
    else:
        names = ", ".join(f"`{each}`" for each in values)
        lines += [f"{'Its preset is' if len(values) == 1 else 'Its presets are'} {names}.", ""]
    return "\n".join(lines)


def _flat(key: str, preset: str) -> dict[str, Any]:
    """Return the values of a preset; of the switches those that some preset turns."""
    model = MODELS[key]
    flat = {name: model.preset_value(preset, name) for name in model.setting_fields()}
    if "variant" not in flat:
        return flat
    turned = {s for each in model.presets() for s in model.preset_value(each, "variant").given()}
    given = flat.pop("variant").given()
    switches = {f"{PREFIX}{s}": given.get(s, DEFAULTS[f"{PREFIX}{s}"]) for s in sorted(turned)}
    return {**flat, **switches}


def _listed(names: Iterable[str], values: Mapping[str, Any]) -> str:
    return ", ".join(f"`{name}={values[name]!r}`" for name in names)


def _value(name: str, value: Any, *, strong: bool = False) -> str:
    if name == RULE and value:
        return "[the rule](#what-adaptive-decides)"
    text = f"{value:,}" if type(value) is int else "–" if value == "" else f"{value}"
    return f"**{text}**" if strong else text


def _markdown(text: str) -> str:
    """Return reStructuredText of a docstring as Markdown."""
    return re.sub(r":(func|class|mod):`", "`", text.replace("``", "`"))


def _table(head: list[str], rows: list[list[str]], *, numbers: bool = True) -> str:
    right = "--:" if numbers else "---"
    lines = [head, ["---", *[right] * (len(head) - 1)], *rows]
    return "".join(f"| {' | '.join(each)} |\n" for each in lines)
