"""What the command line says names its options, never the arguments of the library."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest
import typer

import adagcn
from adagcn import errors
from adagcn.cli.app import app
from adagcn.cli.option_words import FLAGS, HYPER_PARAMETERS, OPTIONS, error_in_options, in_options
from adagcn.errors import InputError

SOURCES = Path(adagcn.__file__).parent
# Whatever tables, splits and models can raise; the rest of the library speaks to programs.
REACHABLE = [
    *sorted((SOURCES / "formats").glob("*.py")),
    SOURCES / "graph.py",
    *sorted((SOURCES / "data").glob("*.py")),
    *sorted((SOURCES / "models" / "support").glob("*.py")),
    *sorted((SOURCES / "boosting").glob("*.py")),
    *sorted((SOURCES / "training").glob("*.py")),
]
NAMES = {"problem", "fix", "remedy", "message", "phrase", "hint"}
RAISED = {name for name in dir(errors) if name.endswith("Error")}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("3 repeated edges, but duplicates='error'", "3 repeated edges, but --duplicates error"),
        ("choose directed='ignore' to make", "choose --directed ignore to make"),
        ("choose self_loops='keep' or 'drop'", "choose --self-loops keep or drop"),
        ("write variant=Variant(stop_on='loss')", "write --set variant.stop_on=loss"),
        ("(edges need none with header=False)", "(edges need none with --no-header)"),
        ("name it as id_column or label_column", "name it as --id or --label"),
        ("leave it out with drop=['name']", "leave it out with --drop name"),
        ("write one_hot=['a', 'b c']", "write --one-hot a --one-hot 'b c'"),
        ("; weight='my weight' makes it count", "; --weight 'my weight' makes it count"),
        ("unlabeled=-1 makes it mean", "--unlabeled -1 makes it mean"),
        ("write --set n_layers=12", "write --set n_layers=12"),
        ("name it with separator= if", "name it with --separator if"),
        ("allow more with max_bytes", "allow more with --max-size"),
        ("fill them in with missing='mean'", "fill them in with --missing mean"),
        ("lower n_stop or train_per_class", "lower --stop or --train-per-class"),
        ("n_stop=500 leaves nothing", "--stop 500 leaves nothing"),
        ("or validation_fraction=0.2", "or --set validation_fraction=0.2"),
        ("Variant(on_perfect='continue') goes on", "--set variant.on_perfect=continue goes on"),
        ("random_state=0 makes", "--seed 0 makes"),
        ("into data_dir or ADAGCN_DATA", "into --data-dir or ADAGCN_DATA"),
    ],
)
def test_arguments_become_options(text, said):
    assert in_options(text) == said
    assert in_options(said) == said


@pytest.mark.parametrize(
    "text",
    [
        "edges has no column 'id_column'",
        "the missing weight of a source and its target",
        "directed edges, and a drop in the metric",
        "/tmp/my_max_bytes/x.csv",
    ],
)
def test_what_is_not_an_argument_stays(text):
    assert in_options(text) == text


def test_every_option_that_is_named_exists():
    commands = list(typer.main.get_command(app).commands.values())
    for each in commands:
        commands += getattr(each, "commands", {}).values()
    known = {name for each in commands for option in each.params for name in option.opts}
    assert {*OPTIONS.values(), *FLAGS.values()} <= known


def test_the_users_value_is_never_translated():
    error = InputError("AGC-I000", "wrong", got="train_per_class=3", fix="lower train_per_class")
    said = "wrong; got 'train_per_class=3'. Lower --train-per-class [AGC-I000]"
    assert error_in_options(error) == said


def test_errors_of_a_command_speak_in_options(run_cli, tables, tmp_path):
    edges = tables.edges.read_text().splitlines()
    twice = tmp_path / "twice.csv"
    twice.write_text("\n".join([*edges, edges[1]]))
    outcome = run_cli("data", "convert", twice, tmp_path / "g.npz", "--duplicates", "error")
    assert "--duplicates max" in outcome.stderr
    assert "=" not in outcome.stderr


def messages(path):
    """Yield the texts of every error and warning that a file raises, values left out."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        match node:
            case ast.Call(func=ast.Name(id=name)) if name in RAISED:
                parts = [*node.args[1:], *(k.value for k in node.keywords if k.arg == "fix")]
            case ast.Call(func=ast.Attribute(attr="warn" | "note")):
                parts = node.args[:1]
            case ast.Assign(targets=[ast.Name(id=name)]) if name in NAMES:
                parts = [node.value]
            case _:
                continue
        yield from (text for part in parts for text in texts(part))


def texts(node):
    """Yield each text in an expression, with a digit in place of whatever is put in."""
    match node:
        case ast.Constant(value=str(text)):
            yield text
        case ast.JoinedStr(values=parts):
            yield "".join(p.value if isinstance(p, ast.Constant) else "7" for p in parts)
        case _:
            for child in ast.iter_child_nodes(node):
                yield from texts(child)


def test_no_message_names_an_argument_that_has_an_option():
    names = "|".join([*OPTIONS, *HYPER_PARAMETERS, *(flag.split("=")[0] for flag in FLAGS)])
    bare = "|".join(name for name in OPTIONS if "_" in name)
    spelled = re.compile(rf"(?<!--set )\b({names})=|(?<!['\w-])({bare})(?!['\w])")
    found = {text for path in REACHABLE for text in messages(path)}
    assert len(found) > 200
    left = sorted(text for text in found if spelled.search(in_options(text)))
    assert left == []
