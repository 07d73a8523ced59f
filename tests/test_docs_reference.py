"""The reference is made from the code, and nothing of the code is missing in it."""

from __future__ import annotations

import ast
import inspect
import re
import sys
from pathlib import Path

import pytest

import adagcn
from adagcn import errors
from adagcn.models.support.boosted_settings import DEFAULTS
from adagcn.models.support.registry import MODELS

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"


@pytest.fixture(scope="module")
def parts():
    """Return the extension that writes the parts; its neighbors are imported by plain names."""
    sys.path.insert(0, str(DOCS / "extensions"))
    try:
        import generated_parts

        yield generated_parts
    finally:
        sys.path.remove(str(DOCS / "extensions"))


@pytest.fixture(scope="module")
def page_of_errors(parts):
    return parts.page_of_errors()


def test_every_part_is_on_some_page_and_every_page_asks_for_known_parts(parts):
    asked = [
        name
        for page in (DOCS / "reference").glob("*.md")
        for name in re.findall(r"<!-- generated: (\w+) -->", page.read_text(encoding="utf-8"))
    ]
    assert sorted(asked) == sorted(parts.PARTS)


def test_every_code_in_the_source_has_its_section(page_of_errors):
    in_source = {
        code
        for path in (ROOT / "src").rglob("*.py")
        for code in re.findall(r"AGC-[A-Z]\d+", path.read_text(encoding="utf-8"))
    }
    examples = set(re.findall(r"AGC-[A-Z]\d+", inspect.getdoc(errors.AdaGCNError)))
    sections = re.findall(r"^### (AGC-\w+)\n\n(.*?)(?=^##|\Z)", page_of_errors, re.M | re.S)
    assert {code for code, _ in sections} >= in_source - examples
    assert len(sections) > 250
    for code, text in sections:
        assert re.match(r"\S", text), code
        assert "**Remedy:** " in text, code
        assert not re.search(r"<var>[^<]*<var>|lambda|(?<!\\)\{", text), (code, text)


def test_every_warning_has_its_section(page_of_errors):
    kinds = [name for name in vars(errors) if name.endswith(("Warning", "Notice"))]
    assert kinds
    assert all(f"### {name}\n" in page_of_errors for name in kinds)
    assert "- layer <var>hop</var> is no better than guessing" in page_of_errors


@pytest.mark.parametrize(
    ("code", "sentences"),
    [
        ("said = f'{path!r} is {what}'", ["⟨path⟩ is ⟨what⟩"]),
        ("said = f\"{counted(n, 'row')} of {len(rows)}\"", ["⟨number⟩ rows of ⟨number of rows⟩"]),
        ("said = 'a' if x else 'b'", ["a", "b"]),
        ("said = f\"it {'is' if n == 1 else 'are'} {'' if x else 'not '}so\"", ["it are not so"]),
        ("said = f'below {_LIMIT}' + f' and {self.path}'", ["below 7 and ⟨path⟩"]),
        ("if x:\n    raised = said = 'a'\n    raise E\nsaid = 'b'", ["b"]),
        ("if x:\n    said = 'a'\nelse:\n    said = 'b'", ["a", "b"]),
    ],
)
def test_a_message_is_shown_with_placeholders(parts, monkeypatch, code, sentences):
    import message_templates

    text = f"{code}\nraise InputError('AGC-I000', said)"
    place = message_templates.Place.of_module("errors_of_a_test", text)
    monkeypatch.setitem(sys.modules, "errors_of_a_test", type(sys)("errors_of_a_test"))
    sys.modules["errors_of_a_test"]._LIMIT = 7
    name = place.tree.body[-1].exc.args[1]
    assert isinstance(name, ast.Name)
    assert message_templates.alternatives(name, place) == sentences


def test_every_command_has_a_section_with_its_whole_help(parts, capsys):
    from command_help import commands

    page = parts.page_of_commands()
    words = [words for words, _, _ in commands()]
    assert re.findall(r"^###? (.+)$", page, re.M) == words
    assert {"adagcn", "adagcn fit", "adagcn data convert", "adagcn ledger show"} <= set(words)
    for _, command, _ in commands():
        for option in command.params:
            assert all(each in page for each in option.opts if each.startswith("-"))


def test_every_value_of_every_preset_is_in_the_tables(parts):
    from preset_tables import values_of

    rows = [line.split(" | ") for line in parts.PARTS["table_of_adagcn"]().splitlines()]
    presets = [each.strip("`| ") for each in rows[0][1:]]
    assert presets == list(MODELS["adagcn"].presets())
    assert [row[0].strip("`| ") for row in rows[2:]] == list(DEFAULTS)
    for number, preset in enumerate(presets, start=1):
        for row, (name, value) in zip(rows[2:], values_of(preset).items(), strict=True):
            if name != "variant.look":
                assert row[number].strip(" |").replace(",", "") == str(value)
    others = parts.PARTS["tables_of_other_models"]()
    assert re.findall(r"^### (\w+)$", others, re.M) == [key for key in MODELS if key != "adagcn"]
    for key in MODELS:
        for name in MODELS[key].setting_fields():
            assert f"`{name}" in others or key == "adagcn" or name == "variant"


def test_every_public_name_is_in_a_group(parts):
    from python_names import public_names

    named = {each.removeprefix("adagcn.") for group in public_names().values() for each in group}
    assert {name for name in adagcn.__all__ if not name.startswith("__")} <= named
    blocks = parts.PARTS["names_of_models"]()
    assert ".. autoclass:: adagcn.AdaGCNClassifier\n   :members: " in blocks
    assert re.search(r":members: .*\bfit, .*predict_proba", blocks)
    assert "set_fit_request" not in blocks
