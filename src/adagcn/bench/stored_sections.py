"""What whole commands on stores gave, as sections of a table."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from adagcn.bench.measures import Row, Section, measure

_TITLES = {
    "limit": "features of {feature_bytes:,} bytes, {limit:,} bytes of memory for everything; nodes "
    "by community, {homophily:.1%} of the edges within",
    "tables": "{n_nodes:,} nodes, {n_edges:,} edges as drawn, {n_features} features: "
    "from {table_bytes:,} bytes of CSV to {n_predicted:,} predictions",
    "kills": "{kills} kills of fits and {worker_kills} of workers at random instants; {same} of "
    "{finished} finished fits have the bytes of the undisturbed one; layers and blocks: found + "
    "new; lost: blocks in flight with a worker; again: done although they were finished, {again}",
    "hosts": "{n_nodes:,} nodes, {n_edges:,} edges as drawn, rows of {row_bytes:,} bytes",
}


def stored_section(part: str, known: dict[str, Any]) -> Section:
    """Return the section of a part from what was recorded of it."""
    facts = known["facts"]
    more = {"peak_bytes": facts["peak_bytes"]} if "peak_bytes" in facts else {}
    rows = [_row(run["name"], run["seconds"], more) for run in known["runs"]]
    key, title = f"stored_{part}", _TITLES[part].format(**facts)
    if part == "kills":
        rows = list(_attempts(facts["attempts"]))
    if part == "hosts" and "note" not in facts:
        title = f"{title}; {_agreement(facts)}"
        rows += [
            _row(f"{number}. {stage['name']}", stage["seconds"], stage)
            for number, stage in enumerate(facts["stages"], 1)
        ]
    if "note" in facts:
        rows.append(Row("fit", "adagcn", None, None, {"note": facts["note"]}))
    return Section(key, f"stores, {part}", title, "", tuple(rows), facts)


def _row(name: str, seconds: float, facts: dict[str, Any]) -> Row:
    return Row(name, "adagcn", measure([seconds]), None, facts)


def _attempts(attempts: dict[str, list[dict[str, Any]]]) -> Iterator[Row]:
    """Yield a row per attempt; those up to a finished one belong together."""
    for who, tries in attempts.items():
        for number, each in enumerate(tries, 1):
            end = f"killed in {each['during']}" if each["killed"] else "finished"
            if each["worker_killed"]:
                end = "a worker killed, finished"
            name = who if who == "undisturbed" else f"{who} {number}: {end}"
            yield _row(name, each["seconds"], each)


def _agreement(facts: dict[str, Any]) -> str:
    words = {True: "the same", False: "ANOTHER"}
    model, out = words[facts["same_model"]], words[facts["same_predictions"]]
    return f"{model} model and {out} file of predictions; {facts['moved']:,} bytes over the cable"
