"""The library's messages in the words of the command line: ``--directed``, not ``directed=``.

The library names Python arguments in its errors and warnings. Here they become the options that
set them. Values that the user gave are left alone: a column may well be called ``id_column``.
"""

from __future__ import annotations

import re
import shlex

from adagcn.errors import AdaGCNError

# Arguments of the library and the options that set them.
OPTIONS = {
    "calibrate": "--calibrate",
    "coverage": "--coverage",
    "data_dir": "--data-dir",
    "directed": "--directed",
    "drop": "--drop",
    "duplicates": "--duplicates",
    "id_column": "--id",
    "label_column": "--label",
    "max_bytes": "--max-size",
    "metric": "--metric",
    "missing": "--missing",
    "n_stop": "--stop",
    "n_threads": "--threads",
    "one_hot": "--one-hot",
    "preset": "--preset",
    "random_state": "--seed",
    "remove_edges": "--remove-edges",
    "row_memory": "--row-memory",
    "score_fraction": "--score",
    "self_loops": "--self-loops",
    "separator": "--separator",
    "source": "--source",
    "splits_file": "--splits-file",
    "stop_fraction": "--stop",
    "target": "--target",
    "train_per_class": "--train-per-class",
    "unlabeled": "--unlabeled",
    "weight": "--weight",
}
# Flags that are on or off.
FLAGS = {
    "header=False": "--no-header",
    "offline=True": "--offline",
    "proba=True": "--proba",
    "refit=True": "--refit",
}
# Remedies inside a warning that a program can follow and a command cannot.
PHRASES = {
    "pass X_val and y_val, or validation_fraction=0.2, to let it choose": "raise --stop, or use a "
    "split that has stopping nodes, to let it choose",
    "fit with more of them in X_cal": "fit with a larger --conformal",
    "Checkpoint(resume=False) starts over": "--no-resume starts over",
}
# Hyper-parameters that messages name with a value.
HYPER_PARAMETERS = (
    "combine",
    "device",
    "feature_norm",
    "hidden_units",
    "learning_rate",
    "max_features",
    "n_layers",
    "tolerance",
    "validation_fraction",
)
# Remedies that a program can follow and a command cannot, by the code of the error.
REMEDIES = {
    "AGC-I104": "check the ids, or list every node in --features",
    "AGC-I1906": "give --edges, --remove-edges, --features or --labels",
    "AGC-I1908": "give a table with a column of ids",
    "AGC-I614": "make the labels all numbers or all text",
    "AGC-I616": "add labeled nodes of another class to --labels",
    "AGC-I621": "raise --stop, or use a split that has stopping nodes",
    "AGC-I633": "name the graph: DATA, or --edges with its tables",
    "AGC-I641": "label more nodes, or use --stop 0",
    "AGC-I1354": "fit it with --conformal 0.5, which keeps half of the stopping nodes for them",
    "AGC-I1356": "raise --stop, or use a split that has stopping nodes",
    "AGC-I702": "give the features that the model was fitted on",
    "AGC-I1705": "leave --checkpoint out, or use the built-in learner",
    "AGC-I1706": "leave --checkpoint and --no-resume out",
    "AGC-F705": "give a file that adagcn fit --out wrote",
    "AGC-I624": "give a file that adagcn fit --out wrote",
}

_QUOTED = r"""(?:'[^']*'|"[^"]*")"""
# 'max' or 'sum', ['a', 'b'], -1, 0.2, or nothing at all
_VALUE = rf"(?P<value>\[[^\]]*\]|{_QUOTED}(?:(?:,| or) {_QUOTED})*|-?[\w.,]*\w)?"
_NAMES = "|".join((*OPTIONS, *HYPER_PARAMETERS))
_ASSIGNED = re.compile(rf"(?<!--set )\b(?P<name>{_NAMES})={_VALUE}")
_SWITCH = re.compile(r"\b(?:variant=)?Variant\((?P<name>\w+)=(?P<value>'[^']*'|[\w.]+)\)")
# A bare name is one only if no English word is spelled like it; in quotes it is the user's.
_NAMED = re.compile(
    rf"(?<!['\w-])(?:{'|'.join(name for name in OPTIONS if '_' in name)})(?!['\w=])"
)
_FLAG = re.compile("|".join(FLAGS))
# English words that are arguments where a sentence begins with them and a demand.
_SUBJECT = re.compile(r"^(?=(?:calibrate|coverage|metric|model|preset|separator|top) must be )")


def in_options(text: str) -> str:
    """Return a message of the library with options in place of Python arguments.

    >>> in_options("12 self-loops, but self_loops='error'")
    '12 self-loops, but --self-loops error'
    >>> in_options("lower train_per_class, or use validation_fraction=0")
    'lower --train-per-class, or use --set validation_fraction=0'
    """
    for ours, theirs in PHRASES.items():
        text = text.replace(ours, theirs)
    text = _FLAG.sub(lambda match: FLAGS[match[0]], text)
    text = _SWITCH.sub(
        lambda match: f"--set variant.{match['name']}={_typed(match['value'])}", text
    )
    text = _ASSIGNED.sub(_option, text)
    return _NAMED.sub(lambda match: OPTIONS[match[0]], text)


def error_in_options(error: AdaGCNError) -> str:
    """Return the whole message of an error in the words of the command line."""
    fix = REMEDIES.get(error.code, error.fix)
    translated = AdaGCNError(
        error.code,
        in_options(_SUBJECT.sub("--", error.problem)),
        got=error.got,
        fix=None if fix is None else in_options(fix),
    )
    return str(translated)


def _option(match: re.Match[str]) -> str:
    option, value = OPTIONS.get(match["name"]), match["value"] or ""
    if option is None:
        return f"--set {match['name']}={_typed(value)}"
    if value.startswith("["):  # an option is repeated for each item
        items = re.findall(rf"{_QUOTED}|[^\s,\[\]]+", value)
        return " ".join(f"{option} {_typed(item)}" for item in items)
    return f"{option} {_typed(value)}".rstrip()


def _typed(value: str) -> str:
    """Return a value as one types it: in quotes only where a shell needs them."""
    return re.sub(_QUOTED, lambda quoted: shlex.quote(quoted[0][1:-1]), value)
