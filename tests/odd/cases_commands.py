"""Odd command lines, run in this process.

Each runs in a folder with a ring of twelve nodes (``g.npz``, and as tables ``edges.csv``,
``features.csv`` and ``labels.csv``), a model of it (``m.adagcn``) and ``notes.txt``, a text that is
none of these.
"""

from __future__ import annotations

import gzip
import io
import re
import sqlite3
import sys
import warnings
from collections.abc import Callable
from contextlib import closing, redirect_stderr, redirect_stdout
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

import numpy as np

from adagcn import AdaGCNClassifier, Graph
from adagcn.cli import main
from adagcn.cli.option_words import OPTIONS
from adagcn.errors import AdaGCNError

from .odd_case import Case

EXITS = {"I": 3, "F": 3, "G": 4, "U": 4, "R": 5, "N": 7}
ARGUMENT = re.compile(rf"(?<!--set )\b(?:{'|'.join(OPTIONS)}|graph|n_known|variant|X_val|y_val)=")
QUICK = ["n_layers=1", "max_epochs=1", "hidden_units=4", "pseudo_labels=0"]
SET = [word for setting in QUICK for word in ("--set", setting)]
TABLES = ["--edges", "edges.csv", "--features", "features.csv", "--labels", "labels.csv"]
SPEC = """
title = "t"
splits = "val"
n_splits = 1
columns = [{label = "c", dataset = "cora"}]
rows = [{label = "r", model = "adagcn"}]
"""
BOTH_SIDES = "id,split\n" + "".join(f"{i},{'train' if i % 2 else 'test'}\n" for i in range(12))


class CommandError(AdaGCNError):
    """What a command that failed wrote; its code is that of the error, else its exit code."""

    def __init__(self, line: str, exit_code: int) -> None:
        found = re.search(r"\[(AGC-([A-Z])\d+)\]$", line)
        super().__init__(found[1] if found else f"exit {exit_code}", line)
        assert found is None or exit_code == EXITS[found[2]], (exit_code, line)

    def __str__(self) -> str:
        return str(self.problem)


def runs(*words: str, stdin: str = "", **files: Any) -> Callable[[Path], int]:
    """Return a call that runs a command, with more files beside it (``spec_toml="…"``)."""

    def call(folder: Path) -> int:
        for name, content in {**usual_files(), **files}.items():
            path = folder / name.replace("_", ".")
            path.write_bytes(content.encode() if isinstance(content, str) else content)
        told, result = io.StringIO(), io.TextIOWrapper(io.BytesIO(), "utf-8")
        with (
            redirect_stdout(result),
            redirect_stderr(told),
            patch.object(sys, "stdin", io.StringIO(stdin)),
        ):
            code = main(list(words))
        notes = [line for line in told.getvalue().splitlines() if line.startswith("adagcn: note: ")]
        rest = [line for line in told.getvalue().splitlines() if line not in notes]
        if code == 0:
            assert not rest, rest
            for line in notes:
                warnings.warn(line, stacklevel=1)
            return code
        assert len(rest) == 1, rest
        assert rest[0].startswith("adagcn: error: "), rest
        assert not ARGUMENT.search(rest[0]), rest[0]
        raise CommandError(rest[0], code)

    return call


@cache
def usual_files() -> dict[str, Any]:
    """Return the files of every folder, by name with the dot as an underscore."""
    ids = np.arange(12)
    labels, rows = np.array(["a", "b"])[ids // 6], np.eye(12, 4, dtype=np.float32) + 1
    graph = Graph.from_edges((ids, (ids + 1) % 12), features=rows, labels=labels)
    model = AdaGCNClassifier(
        graph,
        preset="tuned",
        n_layers=1,
        max_epochs=1,
        hidden_units=4,
        pseudo_labels=0,
        random_state=0,
    )
    with TemporaryDirectory() as folder:
        graph.to_npz(f"{folder}/g.npz")
        model.fit(ids, labels).save(f"{folder}/m.adagcn")
        packed = {p.name.replace(".", "_"): p.read_bytes() for p in Path(folder).iterdir()}
    lines = {
        "edges_csv": ["from,to", *(f"{i},{(i + 1) % 12}" for i in ids)],
        "features_csv": ["id,w,x,y,z", *(f"{i},{','.join(map(str, rows[i]))}" for i in ids)],
        "labels_csv": ["id,label", *(f"{i},{labels[i]}" for i in ids)],
        "notes_txt": ["nothing of use here"],
    }
    return {**packed, **{name: "\n".join(text) + "\n" for name, text in lines.items()}}


def fit(*words: str, **more: Any) -> Callable[[Path], int]:
    """Return a call that fits the model on the file of the graph."""
    return runs("fit", "g.npz", *SET, *words, **more)


def fit_tables(*words: str, **more: Any) -> Callable[[Path], int]:
    """Return a call that fits the model on the tables."""
    return runs("fit", *TABLES, *SET, *words, **more)


def predict(*words: str, **more: Any) -> Callable[[Path], int]:
    """Return a call that predicts the nodes of the graph."""
    return runs("predict", "m.adagcn", "g.npz", *words, **more)


def explain(*words: str, **more: Any) -> Callable[[Path], int]:
    """Return a call that explains nodes of the graph."""
    return runs("explain", "m.adagcn", "g.npz", *words, **more)


def compare(*words: str, **more: Any) -> Callable[[Path], int]:
    """Return a call that compares two models."""
    return runs("compare", "g.npz", *words, **more)


def reproduce(change: Callable[[str], str], *words: str) -> Callable[[Path], int]:
    """Return a call that runs a spec of one's own with a change."""
    return runs("reproduce", "spec.toml", "--offline", *words, spec_toml=change(SPEC))


def other_database(folder: Path) -> int:
    """Show a ledger that is a database of another program."""
    with closing(sqlite3.connect(folder / "other.sqlite")) as database:
        database.execute("CREATE TABLE songs (title)")
    return runs("ledger", "show", "--ledger", "other.sqlite")(folder)


def masks(**arrays: Any) -> bytes:
    """Return an ``.npz`` file of masks."""
    packed = io.BytesIO()
    np.savez(packed, **arrays)
    return packed.getvalue()


# The command line itself
WORDS = [
    Case("no words at all", runs(), gives=0, silent_because="the help is what is wanted"),
    Case("an unknown command", runs("train"), "exit 2", "No such command 'train'"),
    Case("an unknown option", fit("--epochs", "3"), "exit 2", "No such option: --epochs"),
    Case("an option without its value", runs("fit", "--edges"), "exit 2", "--edges"),
    Case("a word too many", fit("h.npz"), "exit 2", "unexpected extra argument"),
    Case("no threads for a command", fit("--threads", "0"), "exit 2", "--threads"),
    Case("too many threads for a command", fit("--threads", "5000"), "exit 2", "--threads"),
    Case("threads in words", fit("--threads", "all"), "exit 2", "--threads"),
    Case("a negative seed of a command", fit("--seed", "-1"), "exit 2", "--seed"),
]

# The graph
GRAPH = [
    Case("a data set and tables", fit("--edges", "edges.csv"), "AGC-I811", "--edges cannot be"),
    Case("labels for a data set", fit("--labels", "labels.csv"), "AGC-I811", "--labels cannot be"),
    Case("a data set that is not there", runs("fit", "no.npz"), "AGC-I203", "no.npz"),
    Case("a misspelled data set", runs("fit", "coraa"), "AGC-I250", "cora or cora_ml"),
    Case("a folder as the data", runs("fit", "."), "AGC-F1403", "is no store"),
    Case("a text called .npz", runs("fit", "n.npz", n_npz="text"), "AGC-F201", "n.npz"),
    Case("edges that are not there", runs("fit", "--edges", "no.csv"), "AGC-I127", "no.csv"),
    Case("edges without labels", runs("fit", "--edges", "edges.csv"), "AGC-I809", "--labels"),
    Case(
        "features without edges", runs("fit", "--features", "features.csv"), "AGC-I810", "--edges"
    ),
    Case("--id of no column", fit_tables("--id", "key"), "AGC-I131", "'key'"),
    Case("a source that is not there", fit_tables("--source", "a"), "AGC-I131", "'a'.*'from'"),
    Case(
        "a weight that is not there",
        fit_tables("--weight", "w"),
        "AGC-I131",
        "edges has no column 'w'",
    ),
    Case("a label that is not there", fit_tables("--label", "kind"), "AGC-I131", "'kind'.*'label'"),
    Case("dropping what is not there", fit_tables("--drop", "q"), "AGC-I1133", "'q' to drop"),
    Case(
        "encoding what is not there",
        fit_tables("--one-hot", "q"),
        "AGC-I1133",
        "'q' to drop or to encode",
    ),
    Case(
        "encoding numbers",
        fit_tables("--one-hot", "w"),
        gives=0,
        silent_because="it is what was asked for",
    ),
    Case(
        "--separator of nothing", fit_tables("--separator", ""), "AGC-I1101", "--separator must be"
    ),
    Case("a separator of two lines", fit_tables("--separator", "\n"), "AGC-I1101", "no line end"),
    Case(
        "a separator that never occurs", fit_tables("--separator", "|"), "AGC-I129", "--separator"
    ),
    Case("a way of missing that is none", fit_tables("--missing", "zero"), "exit 2", "--missing"),
    Case("a direction that is none", fit_tables("--directed", "yes"), "exit 2", "--directed"),
    Case("loops refused", fit_tables("--self-loops", "error"), gives=0, silent_because="none here"),
    Case(
        "a graph listed one way only",
        fit_tables("--directed", "error"),
        "AGC-I166",
        "--directed",
    ),
    Case("an unlabeled value that is absent", fit_tables("--unlabeled", "?"), gives=0, says="'?'"),
    Case(
        "nothing but unlabeled values",
        fit_tables("--unlabeled", "a", "--unlabeled", "b"),
        "AGC-I809",
        "labels",
    ),
    Case("a size in words", fit("--max-size", "big"), "AGC-I821", "--max-size"),
    Case("a negative size", fit("--max-size", "-1GB"), "AGC-I821", "8GB"),
    Case("a size that is too small", fit("--max-size", "10"), "AGC-U207", "--max-size"),
    Case("a size for tables", fit_tables("--max-size", "8GB"), "AGC-I822", "--max-size"),
    Case("tables without features", fit_tables("--no-features"), "AGC-I822", "--no-features"),
    Case("a folder of data for a file", fit("--data-dir", "."), "AGC-I819", "--data-dir"),
    Case(
        "a folder of data that is not there",
        runs("fit", "cora_ml", "--data-dir", "no"),
        "AGC-I301",
        "--data-dir",
    ),
]

# Models and their settings
SETTINGS = [
    Case(
        "a model that there is not",
        fit("--model", "gnn"),
        "AGC-I643",
        "--model must be one of adagcn",
    ),
    Case(
        "a preset that there is not",
        fit("--preset", "best"),
        "AGC-I602",
        "--preset must be one of adaptive",
    ),
    Case("a setting without a value", fit("--set", "dropout"), "AGC-I805", "key=value"),
    Case("a value without a setting", fit("--set", "=3"), "AGC-I805", "'=3'"),
    Case("a setting that there is not", fit("--set", "depth=3"), "AGC-I807", "'depth'"),
    Case("a setting of two minds", fit("--set", "n_layers=2"), "AGC-I806", "'n_layers' twice"),
    Case(
        "a setting under its old name", fit("--set", "vote=hard"), "AGC-I603", "--set variant.vote"
    ),
    Case("a setting in words", fit("--set", "dropout=high"), "AGC-I601", "dropout.*'high'"),
    Case("a setting left empty", fit("--set", "patience="), "AGC-I601", "patience.*''"),
    Case("a date as a setting", fit("--set", "patience=2024-01-01"), "AGC-I601", "'2024-01-01'"),
    Case("a list as a setting", fit("--set", "patience=[1, 2]"), "AGC-I601", r"\[1, 2\]"),
    Case("a setting out of range", fit("--set", "teleport=1.5"), "AGC-I601", "less than 1"),
    Case("a setting that is NaN", fit("--set", "weight_decay=nan"), "AGC-I601", "finite"),
    Case("a seed among the settings", fit("--set", "random_state=1"), "AGC-I807", "random_state"),
    Case("threads among the settings", fit("--set", "n_threads=1"), "AGC-I807", "n_threads"),
    Case("a share to stop on", fit("--set", "validation_fraction=0.1"), "AGC-I845", "--stop"),
    Case("a switch out of place", fit("--set", "variant.vote=loud"), "AGC-I601", "variant.vote"),
    Case("a device elsewhere", fit("--set", "device=gpu"), "AGC-I642", "--set device=cpu"),
    Case(
        "a network beyond the machine",
        runs("fit", "g.npz", "--set", "hidden_units=1000000000000"),
        "AGC-R911",
        "GiB",
    ),
    Case(
        "automatic depth with nothing to stop on",
        runs("fit", "g.npz", "--set", "n_layers=auto", "--stop", "0"),
        "AGC-I621",
        "--stop",
    ),
]

# Splits
SPLITS = [
    Case("a split without a number", fit("--split", "val"), "AGC-I222", "val:0 to val:19"),
    Case("a split past the last", fit("--split", "val:20"), "AGC-I222", "'val:20'"),
    Case("a split of a word", fit("--split", "holdout:x"), "AGC-I222", "holdout:SEED"),
    Case("a split of no name", fit("--split", ""), "AGC-I222", "no such split"),
    Case("a split of 30 digits", fit("--split", "holdout:" + "9" * 30), "AGC-I222", "split"),
    Case("the paper's split of few nodes", fit("--split", "val:0"), "AGC-I224", "holdout"),
    Case(
        "the public split of a file without", fit("--split", "public"), "AGC-I228", "--split val:0"
    ),
    Case(
        "the public split of a data set",
        runs("fit", "cora", "--split", "public"),
        "AGC-I229",
        "--split val:0",
    ),
    Case(
        "a split file that was not given",
        fit_tables("--split", "file:0"),
        "AGC-I246",
        "--splits-file",
    ),
    Case("a split file without masks", fit("--split", "file:0"), "AGC-F249", "train_masks"),
    Case("a refit of all labels", fit("--split", "none", "--refit"), "AGC-I846", "--refit"),
    Case(
        "training labels of no split",
        fit("--split", "none", "--train-per-class", "2"),
        "AGC-I841",
        "--train-per-class",
    ),
    Case("no training labels", fit("--train-per-class", "0"), "exit 2", "--train-per-class"),
    Case(
        "training labels in words", fit("--train-per-class", "few"), "exit 2", "--train-per-class"
    ),
    Case(
        "more training labels than there are",
        fit("--train-per-class", "1000"),
        gives=0,
        silent_because="a holdout documents it as the most, and its numbers are shown",
    ),
    Case(
        "training labels and a share to score",
        fit("--train-per-class", "2", "--score", "0.2"),
        "AGC-I244",
        "--score exclude",
    ),
    Case(
        "more training labels than a class",
        fit("--split", "stratified:0", "--train-per-class", "9"),
        "AGC-I231",
        "--train-per-class",
    ),
    Case("a negative number to stop on", fit("--stop", "-1"), "exit 2", "--stop"),
    Case("half a node to stop on", fit("--stop", "1.5"), "AGC-I239", "--stop must be"),
    Case("more to stop on than there is", fit("--stop", "1000"), "AGC-I242", "--stop is more"),
    Case(
        "a share to stop on of a fixed split",
        fit("--split", "val:0", "--stop", "0.2"),
        "AGC-I245",
        "--stop must be a whole",
    ),
    Case(
        "a number for a share", fit("--split", "stratified:0", "--stop", "3"), "AGC-I226", "--stop"
    ),
    Case("everything scored", fit("--score", "1"), "AGC-I238", "--score must be"),
    Case("a share to score in percent", fit("--score", "20%"), "exit 2", "--score"),
    Case(
        "a share to score of a fixed split",
        fit("--split", "val:0", "--score", "0.1"),
        "AGC-I243",
        "--score has no meaning",
    ),
    Case("a measure that there is not", fit("--metric", "f2"), "exit 2", "--metric"),
    Case(
        "splits that are not there",
        fit("--splits-file", "no.csv"),
        "AGC-I127",
        "--splits-file cannot be opened",
    ),
    Case("splits in a text", fit("--splits-file", "notes.txt"), "AGC-I257", "no node to train on"),
    Case(
        "splits of unknown words",
        fit("--splits-file", "s.csv", s_csv=BOTH_SIDES.replace("test", "x")),
        "AGC-I256",
        r"--splits-file.*\['x'\]",
    ),
    Case(
        "splits of unknown nodes",
        fit("--splits-file", "s.csv", s_csv="id,split\n99,train\n"),
        "AGC-I104",
        "--splits-file holds 1 id",
    ),
    Case(
        "splits with a node twice",
        fit("--splits-file", "s.csv", s_csv=BOTH_SIDES + "1,test\n"),
        "AGC-I258",
        r"--splits-file has 1 node.*\[1\]",
    ),
    Case(
        "a split past the last of a file",
        fit("--splits-file", "s.csv", "--split", "file:1", s_csv=BOTH_SIDES),
        "AGC-I251",
        "file:0",
    ),
    Case(
        "--splits-file of another graph",
        fit(
            "--splits-file",
            "s.npz",
            s_npz=masks(train_mask=[True], val_mask=[True], test_mask=[False]),
        ),
        "AGC-I255",
        "12 nodes",
    ),
    Case(
        "masks in words",
        fit(
            "--splits-file", "s.npz", s_npz=masks(train_mask=["t"], val_mask=["t"], test_mask=["t"])
        ),
        "AGC-F254",
        "mask",
    ),
    Case(
        "a file of splits beside another split",
        fit("--splits-file", "s.csv", "--split", "val:0", s_csv=BOTH_SIDES),
        "AGC-I243",
        "--splits-file",
    ),
]

# Where results go
RESULTS = [
    Case("a model over another file", fit("--out", "notes.txt"), "AGC-I802", "--force"),
    Case("a model over a folder", fit("--out", "."), "AGC-I801", "--out is a folder"),
    Case(
        "a model in a folder that is not there", fit("--out", "no/m"), "AGC-I803", "folder of --out"
    ),
    Case("predictions as a spreadsheet", predict("--out", "p.xlsx"), "AGC-I808", ".parquet"),
    Case("predictions over another file", predict("--out", "labels.csv"), "AGC-I802", "--force"),
    Case("a figure as PDF", compare("--figure", "f.pdf"), "AGC-I902", ".svg"),
    Case(
        "a demo in a folder that is not there",
        runs("demo", "--out-dir", "no"),
        "AGC-I814",
        "--out-dir",
    ),
    Case(
        "a benchmark's figure as JPEG",
        runs("bench", "speed", "--figure", "f.jpg"),
        "AGC-I902",
        ".svg",
    ),
    Case(
        "a benchmark of no part", runs("bench", "speed", "--parts", "all,x"), "AGC-I948", "--parts"
    ),
]

# Predictions and evaluations
PREDICTIONS = [
    Case(
        "a model that no one saved",
        runs("predict", "no.adagcn", "g.npz"),
        "AGC-I701",
        "No such file",
    ),
    Case("a graph as the model", runs("predict", "g.npz", "g.npz"), "AGC-F705", "not a whole"),
    Case("a prediction without a graph", runs("predict", "m.adagcn"), "AGC-I810", "no graph"),
    Case(
        "a prediction without features",
        runs("predict", "m.adagcn", "--edges", "edges.csv"),
        "AGC-I702",
        "features",
    ),
    Case(
        "nodes that the graph lacks",
        predict("--nodes", "n.csv", n_csv="id\n99\n"),
        "AGC-I104",
        "--nodes holds 1 id",
    ),
    Case(
        "no nodes in the table",
        predict("--nodes", "n.csv", n_csv="id\n"),
        gives=0,
        says="0 nodes predicted",
    ),
    Case("an empty table of nodes", predict("--nodes", "n.csv", n_csv=""), "AGC-F1104", "--nodes"),
    Case("nodes that are not there", predict("--nodes", "no.csv"), "AGC-I127", "--nodes"),
    Case(
        "words on standard input",
        predict("--nodes", "-", stdin="ann\nbob\n"),
        "AGC-I112",
        "--nodes holds ids that are not integers",
    ),
    Case(
        "nodes with a gap",
        predict("--nodes", "n.csv", n_csv="id,x\n1,1\n,2\n"),
        "AGC-I106",
        "missing id",
    ),
    Case("the best no label", predict("--top", "0"), "exit 2", "--top"),
    Case("more labels than there are", predict("--top", "3"), "AGC-I823", "from 1 to 2"),
    Case(
        "all and the best probabilities",
        predict("--top", "1", "--proba"),
        gives=0,
        says="predicted",
    ),
    Case(
        "labels of another kind",
        runs(
            "evaluate",
            "m.adagcn",
            "--edges",
            "edges.csv",
            "--features",
            "features.csv",
            "--labels",
            "l.csv",
            l_csv="id,label\n" + "".join(f"{i},{i % 2}\n" for i in range(12)),
        ),
        "AGC-I813",
        "numbers",
    ),
    Case(
        "labels that the model never saw",
        runs(
            "evaluate",
            "m.adagcn",
            "--edges",
            "edges.csv",
            "--features",
            "features.csv",
            "--labels",
            "l.csv",
            l_csv="id,label\n" + "".join(f"{i},{'cd'[i % 2]}\n" for i in range(12)),
        ),
        gives=0,
        silent_because="the table says that the model does not know them",
    ),
    Case(
        "stopping nodes of an evaluation of all",
        runs("evaluate", "m.adagcn", "g.npz", "--split", "none", "--stop", "2"),
        "AGC-I847",
        "--stop",
    ),
    Case(
        "an evaluation of unlabeled nodes",
        runs("evaluate", "m.adagcn", "--edges", "edges.csv"),
        "AGC-I809",
        "no labels",
    ),
    Case(
        "an evaluation of every label",
        runs("evaluate", "m.adagcn", "g.npz", "--split", "none"),
        gives=0,
        says="trained on",
    ),
]

# Comparisons
COMPARISONS = [
    Case(
        "a comparison with no such model", compare("--models", "adagcn,gnn"), "AGC-I948", "--models"
    ),
    Case("a model against itself", compare("--models", "mlp,mlp"), "AGC-I949", "twice"),
    Case("a comparison of nothing", compare("--models", ""), "AGC-I948", "--models"),
    Case("a comparison of all and one", compare("--models", "all,mlp"), "AGC-I948", "'all'"),
    Case("a comparison on no splits", compare("--splits", "0"), "exit 2", "--splits"),
    Case(
        "a comparison on too many splits",
        runs("compare", "cora", "--splits", "21"),
        "AGC-I849",
        "at most 20",
    ),
    Case(
        "a comparison with nothing to score",
        compare("--split", "none"),
        "AGC-I842",
        "--split holdout:0",
    ),
    Case("a comparison with all scores left out", compare("--score", "0"), "AGC-I843", "--score"),
    Case("a comparison of no fits", compare("--inits", "0"), "exit 2", "--inits"),
    Case("a comparison by no workers", compare("--workers", "0"), "exit 2", "--workers"),
    Case("a preset of no model", compare("--presets", "best"), "AGC-I948", "--presets"),
    Case(
        "a preset of one model only",
        compare("--models", "adagcn,gcn", "--presets", "tuned"),
        "AGC-I1030",
        "--presets has none for gcn",
    ),
    Case(
        "a setting of one model for all",
        compare("--models", "adagcn,gcn", "--set", "teleport=0.1"),
        "AGC-I807",
        "teleport",
    ),
    Case(
        "a setting of a model not compared",
        compare("--models", "mlp,logistic", "--set", "gcn.n_layers=2"),
        "AGC-I807",
        "gcn.n_layers",
    ),
    Case(
        "a wrong setting in a comparison",
        compare("--models", "mlp", "--set", "mlp.dropout=2"),
        "AGC-I601",
        "dropout",
    ),
    Case(
        "a comparison kept in a text",
        compare("--ledger", "notes.txt", "--models", "mlp"),
        "AGC-F924",
        "not a ledger",
    ),
    Case(
        "a comparison kept nowhere",
        compare("--ledger", "no/l.sqlite", "--models", "mlp"),
        "AGC-R925",
        "folder",
    ),
]

# Ledgers
LEDGERS = [
    Case("a ledger that is not there", runs("ledger", "show"), "AGC-I920", "--ledger"),
    Case(
        "a ledger that is a text",
        runs("ledger", "show", "--ledger", "notes.txt"),
        "AGC-F924",
        "--ledger",
    ),
    Case(
        "a ledger that is a folder", runs("ledger", "show", "--ledger", "."), "AGC-I920", "--ledger"
    ),
    Case("a ledger of another program", other_database, "AGC-F923", "not a ledger"),
    Case(
        "an export over another file",
        runs("ledger", "export", "notes.txt"),
        "AGC-I802",
        "OUT exists",
    ),
    Case("an import of nothing", runs("ledger", "import", "no.gz"), "AGC-I930", "no.gz"),
    Case("an import of a text", runs("ledger", "import", "notes.txt"), "AGC-F933", "unpacked"),
    Case(
        "an import of an empty archive",
        runs("ledger", "import", "e.gz", e_gz=gzip.compress(b"")),
        "AGC-F933",
        "is empty",
    ),
    Case(
        "an import of other JSON",
        runs("ledger", "import", "e.gz", e_gz=gzip.compress(b"{}\n")),
        "AGC-F933",
        "not an export",
    ),
    Case(
        "an import of a broken archive",
        runs("ledger", "import", "e.gz", e_gz=gzip.compress(b"x" * 999)[:20]),
        "AGC-F933",
        "unpacked",
    ),
]

# Data sets
DATA = [
    Case("news of no data set", runs("data", "info", "coraa"), "AGC-I250", "cora"),
    Case("news of a text", runs("data", "info", "notes.txt"), "AGC-F201", "notes.txt"),
    Case("a check of no data set", runs("data", "verify", "coraa"), "AGC-I250", "cora"),
    Case("a check of nothing", runs("data", "verify"), "exit 2", "NAME"),
    Case("a download of no data set", runs("data", "get", "imagenet"), "AGC-I250", "imagenet"),
    Case(
        "a conversion to another ending",
        runs("data", "convert", "edges.csv", "g.csv"),
        "AGC-I815",
        ".npz",
    ),
    Case(
        "a conversion over another file",
        runs("data", "convert", "edges.csv", "g.npz"),
        "AGC-I802",
        "OUT exists",
    ),
    Case(
        "a conversion of nothing", runs("data", "convert", "no.csv", "h.npz"), "AGC-I127", "no.csv"
    ),
    Case(
        "a conversion of an unknown folder",
        runs("data", "convert", ".", "h.npz"),
        "AGC-I817",
        "ind",
    ),
    Case(
        "a name for a table",
        runs("data", "convert", "edges.csv", "h.npz", "--name", "cora"),
        "AGC-I820",
        "--name",
    ),
    Case(
        "a table called a folder",
        runs("data", "convert", "edges.csv", "h.npz", "--format", "reddit"),
        "AGC-I280",
        "folder",
    ),
    Case(
        "tables beside a folder",
        runs("data", "convert", ".", "h.npz", "--format", "reddit", "--labels", "labels.csv"),
        "AGC-I816",
        "--labels",
    ),
    Case(
        "a conversion from two data sets",
        runs("data", "convert", ".", "h.npz", "--format", "planetoid"),
        "AGC-I818",
        "--name",
    ),
]

# Experiments
EXPERIMENTS = [
    Case("an experiment that there is not", runs("reproduce", "table9"), "AGC-I944", "table2"),
    Case("a spec that is not there", runs("reproduce", "no.toml"), "AGC-I940", "no.toml"),
    Case("a spec that is not TOML", reproduce(lambda s: s + "rows = ["), "AGC-I942", "line"),
    Case(
        "a spec that is not text",
        runs("reproduce", "s.toml", s_toml=b"\xff\xfe"),
        "AGC-I941",
        "UTF-8",
    ),
    Case("an empty spec", reproduce(lambda _: ""), "AGC-I947", "title"),
    Case(
        "a spec with a key of its own",
        reproduce(lambda s: "colour = 1\n" + s),
        "AGC-I946",
        "colour",
    ),
    Case(
        "a spec of no rows",
        reproduce(lambda s: re.sub("rows = .*", "rows = []", s)),
        "AGC-I947",
        "rows",
    ),
    Case(
        "a spec with a row twice",
        reproduce(lambda s: re.sub(r"rows = \[(.*)\]", r"rows = [\1, \1]", s)),
        "AGC-I945",
        "'r'",
    ),
    Case(
        "a spec of an unknown model",
        reproduce(lambda s: s.replace("adagcn", "adagnn")),
        "AGC-I944",
        "model",
    ),
    Case(
        "a spec of an unknown data set",
        reproduce(lambda s: s.replace("cora", "corra")),
        "AGC-I944",
        "cora",
    ),
    Case(
        "a spec of too many splits",
        reproduce(lambda s: s.replace("n_splits = 1", "n_splits = 21")),
        "AGC-I943",
        "20",
    ),
    Case(
        "a spec of splits in words",
        reproduce(lambda s: s.replace("n_splits = 1", 'n_splits = "1"')),
        "AGC-I947",
        "n_splits",
    ),
    Case(
        "a spec of an unknown setting",
        reproduce(lambda s: s.replace('"adagcn"', '"adagcn", settings = {depth = 3}')),
        "AGC-I944",
        "depth",
    ),
    Case(
        "a spec of a wrong setting",
        reproduce(lambda s: s.replace('"adagcn"', '"adagcn", settings = {dropout = 3}')),
        "AGC-I601",
        r"rows\[0\].settings: dropout",
    ),
    Case(
        "a part that the experiment lacks",
        reproduce(str, "--models", "gcn"),
        "AGC-I948",
        "--models",
    ),
    Case(
        "more splits than the experiment has",
        reproduce(str, "--splits", "2"),
        "AGC-I905",
        "--splits",
    ),
    Case(
        "more fits than the experiment has", reproduce(str, "--inits", "2"), "AGC-I905", "--inits"
    ),
    Case("JSON in LaTeX", reproduce(str, "--json", "--format", "latex"), "AGC-I903", "--format"),
    Case("a seeding that is not there", reproduce(str, "--import", "no.gz"), "AGC-I930", "no.gz"),
    Case("a style that there is not", reproduce(str, "--format", "html"), "exit 2", "--format"),
]

EXPLANATIONS = [
    Case("an explanation of no node", explain(), "AGC-I1305", "no node is given"),
    Case("a node twice over", explain("--node", "1", "--nodes", "-"), "AGC-I1305", "combined"),
    Case("a node that is not there", explain("--node", "99"), "AGC-I104", "--node holds 1 id"),
    Case("a node by a word", explain("--node", "ann"), "AGC-I112", "--node holds ids that are not"),
    Case("parts without a file", explain("--node", "1", "--rows", "hops"), "AGC-I1306", "--out"),
    Case(
        "parts that there are not", explain("--node", "1", "--rows", "leaves"), "exit 2", "--rows"
    ),
    Case(
        "fewer than no features",
        explain("--node", "1", "--top-features", "-1"),
        "exit 2",
        "--top-f",
    ),
    Case(
        "nobody to explain",
        explain("--nodes", "n.csv", n_csv="id\n"),
        gives=0,
        says="0 nodes explained",
    ),
    Case(
        "the same node again",
        explain("--node", "1", "--node", "1"),
        gives=0,
        says="log-odds",
    ),
    Case(
        "an explanation without features",
        runs("explain", "m.adagcn", "--edges", "edges.csv", "--node", "1"),
        "AGC-I702",
        "features",
    ),
]

COMMAND_CASES = [
    *WORDS,
    *GRAPH,
    *SETTINGS,
    *SPLITS,
    *RESULTS,
    *PREDICTIONS,
    *EXPLANATIONS,
    *COMPARISONS,
    *LEDGERS,
    *DATA,
    *EXPERIMENTS,
]
