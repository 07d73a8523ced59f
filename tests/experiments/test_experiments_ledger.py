from __future__ import annotations

import gzip
import itertools
import json
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import experiment_fixtures as toy
import pytest

from adagcn.errors import (
    FormatError,
    InputError,
    IntegrityError,
    ResourceError,
    UnsafeFileError,
)
from adagcn.experiments import exchange
from adagcn.experiments.campaign import plan
from adagcn.experiments.exchange import export_ledger, import_ledger
from adagcn.experiments.ledger import BROUGHT, Ledger

RUNS = [run for cell in plan(toy.toy_spec(), toy.GRAPHS) for run in cell.runs]


@pytest.fixture
def ledger(tmp_path):
    with Ledger(tmp_path / "runs.sqlite") as opened:
        yield opened


NEW = {
    "scores": {"roc_auc": 0.5},
    "right": "oA==",
    "scored_digest": "cd" * 32,
    "fit_cpu_seconds": 1.25,
    "predict_cpu_seconds": 0.0,
    "choices": {"scale": True, "n_columns": 7, "rate": 0.5, "kind": "dense"},
}


def fill(ledger, runs=RUNS):
    for number, run in enumerate(runs):
        ledger.add(run, toy.some_result(number / 10))


def test_what_goes_in_comes_out(ledger):
    fill(ledger)
    with Ledger(ledger.path) as again:
        assert again.results(RUNS) == ledger.results(RUNS)
        rows = list(again.rows())
    assert {row.key: row.run for row in rows} == {run.key: run for run in RUNS}
    assert [row.key for row in rows] == sorted(run.key for run in RUNS)
    assert ledger.results([RUNS[3]]) == {RUNS[3].key: toy.some_result(0.3)}
    assert ledger.results([]) == {}


def test_more_keys_than_one_question_holds(ledger, monkeypatch):
    monkeypatch.setattr("adagcn.experiments.ledger._AT_ONCE", 4)
    fill(ledger)
    assert len(ledger.results(RUNS)) == len(RUNS) == 6


def test_the_first_result_of_a_run_stays(ledger):
    fill(ledger, RUNS[:1])
    ledger.add(RUNS[0], toy.some_result(0.9))
    assert ledger.results(RUNS[:1])[RUNS[0].key].accuracy == 0.0


def test_a_row_is_on_the_disk_at_once(ledger):
    fill(ledger, RUNS[:2])
    with Ledger(ledger.path, create=False) as other:
        assert len(other.results(RUNS)) == 2


def test_measures_are_added_to_a_run_without_them(ledger):
    fill(ledger, RUNS[:2])
    scores = {"accuracy": 0.1, "roc_auc": 0.75}
    ledger.add_scores(RUNS[1], toy.some_result(0.1, scores=scores))
    found = ledger.results(RUNS[:2])
    assert found[RUNS[1].key] == toy.some_result(0.1, scores=scores)
    assert found[RUNS[0].key].scores == {}
    with pytest.raises(IntegrityError, match=r"has accuracy 0\.1 in .*; got 0\.2\. Use a new"):
        ledger.add_scores(RUNS[1], toy.some_result(0.2, scores=scores))


def as_version(version, path):
    """Write a ledger as an earlier release had it: without the columns that came later."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for brought, names in BROUGHT.items():
            for name in names if brought > version else ():
                connection.execute(f'ALTER TABLE runs DROP COLUMN "{name}"')
        connection.execute(f"PRAGMA user_version = {version}")


@pytest.mark.parametrize("version", [2, 3])
def test_an_older_ledger_is_read_as_it_is_and_changed_when_something_is_added(tmp_path, version):
    path = tmp_path / "old.sqlite"
    with Ledger(path) as ledger:
        fill(ledger, RUNS[:3])
    as_version(version, path)
    before = path.read_bytes()
    with Ledger(path) as ledger:
        assert ledger.results(RUNS) == {
            run.key: toy.some_result(number / 10) for number, run in enumerate(RUNS[:3])
        }
        assert len(list(ledger.rows())) == 3
    assert path.read_bytes() == before
    with Ledger(path) as ledger:
        ledger.add(RUNS[3], toy.some_result(0.3, **NEW))
    with Ledger(path) as ledger:
        assert ledger.results(RUNS)[RUNS[3].key] == toy.some_result(0.3, **NEW)
        assert ledger.results(RUNS)[RUNS[2].key] == toy.some_result(0.2)
        assert ledger._pragma("user_version") == 4


def test_an_export_keeps_measures_bits_times_and_choices(ledger, tmp_path):
    ledger.add(RUNS[0], toy.some_result(0.3, **NEW))
    export_ledger(ledger, tmp_path / "a.jsonl.gz")
    with Ledger(tmp_path / "new.sqlite") as new:
        import_ledger(new, tmp_path / "a.jsonl.gz")
        assert list(new.rows()) == list(ledger.rows())
        assert new.results(RUNS[:1])[RUNS[0].key] == toy.some_result(0.3, **NEW)


def test_an_export_writes_the_rows_of_version_3_as_they_were(tmp_path):
    source = Path(__file__).parents[2] / "results" / "ledger.jsonl.gz"
    with gzip.open(source) as unpacked:
        old = (line for line in unpacked if b'"result"' in line and b'"right"' not in line)
        first = [b'{"format":"adagcn-ledger","version":3}\n', *itertools.islice(old, 3)]
    (tmp_path / "old").write_bytes(gzip.compress(b"".join(first)))
    with Ledger(tmp_path / "new.sqlite") as new:
        assert import_ledger(new, tmp_path / "old") == 3
        export_ledger(new, tmp_path / "again")
    header, *rows = lines_of(tmp_path / "again")
    assert json.loads(header)["version"] == 4
    assert rows == [line.rstrip() for line in first[1:]]


def test_an_export_without_measures_is_read(lines, tmp_path):
    rows = [json.loads(line) for line in lines]
    rows[0]["version"] = 2
    for row in rows[1:]:
        del row["result"]["scores"]
    content = b"\n".join(json.dumps(row).encode() for row in rows)
    (tmp_path / "old").write_bytes(gzip.compress(content))
    with Ledger(tmp_path / "new.sqlite") as new:
        assert import_ledger(new, tmp_path / "old") == len(rows) - 1
        assert all(row.result.scores == {} for row in new.rows())


def _fill_from(path, numbers):
    with Ledger(path) as ledger:
        for number in numbers:
            run = RUNS[0].model_copy(update={"seed": number})
            ledger.add(run, toy.some_result())


def test_two_commands_on_one_ledger_lose_nothing(tmp_path):
    path = tmp_path / "shared.sqlite"
    with ThreadPoolExecutor(2) as pool:  # to SQLite, two connections are two commands
        for part in [pool.submit(_fill_from, path, range(k, 60, 2)) for k in (0, 1)]:
            part.result()
    with Ledger(path) as ledger:
        assert {row.run.seed for row in ledger.rows()} == set(range(60))


@pytest.mark.parametrize("content", [b"not a database " * 99, b"SQLite format 3\x00" + b"x" * 9999])
def test_another_file_is_refused(tmp_path, content):
    path = tmp_path / "notes.txt"
    path.write_bytes(content)
    with pytest.raises(FormatError, match="is not a ledger, or is damaged"):
        Ledger(path)
    assert path.read_bytes() == content


def test_another_database_is_refused_and_left_alone(tmp_path):
    path = tmp_path / "other.sqlite"
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE runs (key)")
    connection.close()
    before = path.read_bytes()
    with pytest.raises(FormatError, match=r"is not a ledger; got 'application 0"):
        Ledger(path)
    assert path.read_bytes() == before


def test_a_newer_ledger_is_refused(ledger):
    ledger._connection.execute("PRAGMA user_version = 5")
    with pytest.raises(FormatError, match="a ledger of a newer release"):
        Ledger(ledger.path)


def test_no_file_and_no_folder(tmp_path):
    with pytest.raises(InputError, match="there is no ledger"):
        Ledger(tmp_path / "none.sqlite", create=False)
    with pytest.raises(ResourceError, match="cannot be used: unable to open"):
        Ledger(tmp_path / "none" / "none.sqlite")


def test_a_full_disk_is_said(ledger):
    ledger._connection.execute("PRAGMA max_page_count = 1")
    with pytest.raises(ResourceError, match="cannot be used: database or disk is full"):
        fill(ledger, [RUNS[0].model_copy(update={"seed": k}) for k in range(99)])


@pytest.mark.parametrize(
    "change", ["accuracy = 2.0", "params = '{'", "split = NULL", "versions = '[]'"]
)
def test_a_row_that_is_no_run_is_refused(ledger, change):
    fill(ledger)
    ledger._connection.execute(f"UPDATE runs SET {change}")
    with pytest.raises(FormatError, match="has a row that is not a run"):
        list(ledger.rows())


def test_an_export_seeds_the_same_ledger(ledger, tmp_path):
    fill(ledger)
    assert export_ledger(ledger, tmp_path / "a.jsonl.gz") == 6
    with Ledger(tmp_path / "new.sqlite") as new:
        assert import_ledger(new, tmp_path / "a.jsonl.gz") == 6
        assert import_ledger(new, tmp_path / "a.jsonl.gz") == 0
        assert list(new.rows()) == list(ledger.rows())
        export_ledger(new, tmp_path / "b.jsonl.gz")
    exported = (tmp_path / "a.jsonl.gz").read_bytes()
    assert exported == (tmp_path / "b.jsonl.gz").read_bytes()
    assert exported[3:8] == bytes(5), "no name and no time in the header"


def test_an_export_does_not_depend_on_the_order_of_runs(ledger, tmp_path):
    fill(ledger)
    export_ledger(ledger, tmp_path / "a")
    with Ledger(tmp_path / "new.sqlite") as new:
        for number, run in reversed(list(enumerate(RUNS))):
            new.add(run, toy.some_result(number / 10))
        export_ledger(new, tmp_path / "b")
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_a_contradiction_is_named_and_nothing_is_taken(ledger, tmp_path):
    fill(ledger)
    export_ledger(ledger, tmp_path / "a")
    with Ledger(tmp_path / "new.sqlite") as new:
        new.add(RUNS[2], toy.some_result(0.99))
        with pytest.raises(IntegrityError, match=r"stratified:1, init 0.*accuracy 0\.99.*got 0\.2"):
            import_ledger(new, tmp_path / "a")
        assert len(list(new.rows())) == 1


def lines_of(path):
    return gzip.decompress(path.read_bytes()).splitlines()


@pytest.fixture
def lines(ledger, tmp_path):
    fill(ledger)
    export_ledger(ledger, tmp_path / "good")
    return lines_of(tmp_path / "good")


def changed(line, **changes):
    row = json.loads(line)
    for name, value in changes.items():
        part = "run" if name in row["run"] else "result" if name in row["result"] else None
        (row if part is None else row[part])[name] = value
    return json.dumps(row).encode()


def with_result(line, **fields):
    row = json.loads(line)
    row["result"] |= fields
    return json.dumps(row).encode()


@pytest.mark.parametrize(
    ("change", "error", "match"),
    [
        (lambda rows: [], FormatError, "is empty"),
        (lambda rows: rows[1:], FormatError, "is not an export"),
        (lambda rows: [b"{", *rows[1:]], FormatError, "does not begin like"),
        (lambda rows: [b"[" * 100_000, *rows[1:]], FormatError, "does not begin like"),
        (lambda rows: [rows[0], b"[" * 100_000], FormatError, "no run in line 2"),
        (lambda rows: [rows[0], rows[1][:-9]], FormatError, "no run in line 2"),
        (lambda rows: [*rows[:2], changed(rows[2], extra=1)], FormatError, "line 3: extra"),
        (lambda rows: [*rows[:2], changed(rows[2], accuracy="1")], FormatError, "result.accuracy"),
        (lambda rows: [*rows[:2], with_result(rows[2], right="oA==")], FormatError, "together"),
        (lambda rows: [*rows[:2], with_result(rows[2], right="é")], FormatError, "result.right"),
        (
            lambda rows: [*rows[:2], changed(rows[2], seed=7)],
            IntegrityError,
            "does not match its content",
        ),
        (lambda rows: [rows[0], b" " * (1 << 21)], UnsafeFileError, "more than a ledger holds"),
    ],
)
def test_a_damaged_export_is_refused_whole(lines, tmp_path, change, error, match):
    path = tmp_path / "bad"
    path.write_bytes(gzip.compress(b"\n".join(change(lines))))
    with Ledger(tmp_path / "new.sqlite") as new:
        with pytest.raises(error, match=match):
            import_ledger(new, path)
        assert list(new.rows()) == []


def test_damaged_bytes_are_refused(lines, tmp_path):
    good = (tmp_path / "good").read_bytes()
    with Ledger(tmp_path / "new.sqlite") as new:
        for bad in (b"plain text", good[:-20], good[:40] + b"\xff\x00" + good[42:], b""):
            (tmp_path / "bad").write_bytes(bad)
            with pytest.raises((FormatError, IntegrityError), match="bad"):
                import_ledger(new, tmp_path / "bad")
        assert list(new.rows()) == []
        with pytest.raises(InputError, match="there is no exported ledger"):
            import_ledger(new, tmp_path / "none")


def test_a_bomb_is_refused(lines, tmp_path, monkeypatch):
    monkeypatch.setattr(exchange, "_LARGEST_TEXT", 3000)
    with Ledger(tmp_path / "new.sqlite") as new:
        with pytest.raises(UnsafeFileError, match="more than a ledger holds"):
            import_ledger(new, tmp_path / "good")
        assert list(new.rows()) == []
