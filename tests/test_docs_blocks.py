"""Every block of code in the guides, the concepts and the README runs, and prints what is shown."""

from __future__ import annotations

import re
from pathlib import Path

import page_blocks
import pytest

ROOT = Path(__file__).parent.parent
PAGES = [
    ROOT / "README.md",
    ROOT / "docs" / "index.md",
    *sorted((ROOT / "docs" / "guide").glob("*.md")),
    *sorted((ROOT / "docs" / "concepts").glob("*.md")),
]
QUICK = {"index.md", "directed-weighted.md"}  # the others run in `make test-full`


@pytest.mark.parametrize(
    "path",
    [
        pytest.param(
            page,
            marks=[] if page.name in QUICK else [pytest.mark.full],
            id=page.relative_to(ROOT).as_posix(),
        )
        for page in PAGES
    ],
)
def test_the_blocks_of_a_page_run_and_print_what_it_shows(path, tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    page = path.read_text(encoding="utf-8")
    for block, expected, printed in page_blocks.run_page(page, tmp_path):
        wrong = page_blocks.difference(expected, printed)
        assert wrong is None, f"{path.name}, line {block.line}: {wrong}"


def test_no_block_escapes_because_it_has_no_language():
    for path in PAGES:
        fences = re.findall(r"^```(.*)\n.*?^```$", path.read_text(encoding="utf-8"), re.M | re.S)
        assert all(fences), path


def test_few_blocks_are_not_run_and_each_says_why():
    for path in PAGES:
        skipped = [b for b in page_blocks.blocks(path.read_text(encoding="utf-8")) if b.not_run]
        assert len(skipped) <= 3, path
        assert all(len(block.not_run.split()) >= 3 for block in skipped), path


PAGE = """
```python
x = 2
print("found", x, "nodes", 0.51)
```

```text
found 2 nodes 0.5
```

<!-- not run: there is no such file -->

```python
open("missing")
```

```console
$ adagcn data info cora \\
    --quiet
cora: … 2,485 nodes …
```

```sh
# a comment
echo one | cat
adagcn --version
```

```text
one
adagcn …
```

```python
print(x + 1)
```
"""


def test_a_page_is_run_from_top_to_bottom(tmp_path):
    ran = list(page_blocks.run_page(PAGE, tmp_path))
    assert [block.language for block, _, _ in ran] == ["python", "console", "sh", "python"]
    assert ran[-1][2] == "3\n"
    assert [page_blocks.difference(e, p) for b, e, p in ran if b.language != "console"] == [
        None
    ] * 3
    assert "2,485" in ran[1][2]


@pytest.mark.parametrize(
    ("expected", "printed", "same"),
    [
        ("85.9 % of 20", "86.4 % of 20", True),
        ("85.9 % of 20", "88.1 % of 20", False),
        ("85.9 % of 20", "85.9 % of 21", False),
        ("a … z", "a b c z", True),
        ("a … z", "a b c y", False),
        ("a  b\n───", "a   b\n─────", True),
        ("−1.5 points", "−1.6 points", True),
        ("", "anything", True),
        ("something", "", False),
    ],
)
def test_a_print_is_the_one_shown_up_to_the_last_digits(expected, printed, same):
    assert (page_blocks.difference(expected, printed) is None) == same


def test_a_block_that_fails_is_told(tmp_path):
    with pytest.raises(NameError, match="y"):
        list(page_blocks.run_page("```python\ny\n```\n", tmp_path))
    with pytest.raises(AssertionError, match="ended with 2"):
        list(page_blocks.run_page("```sh\nadagcn fit --nonsense\n```\n", tmp_path))
