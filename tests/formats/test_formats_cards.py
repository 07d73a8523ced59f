"""What a notebook shows of a graph: the numbers, and nothing that a browser would run."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest

from adagcn import Graph, load_dataset
from adagcn.formats import html_card

HOSTILE = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "</td></table></details>",
    "a\x1b[31m\nb",
    "x" * 10_000,
]


class Page(HTMLParser):
    """The text of a page and its tags, refusing what is not closed in order."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.words: list[str] = []
        self.open: list[str] = []
        self.feed(page)
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.open.append(tag)
        assert {name for name, _ in attrs} <= {"style", "open", "aria-hidden"}

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.words.append(data)

    @property
    def text(self) -> str:
        return "|".join(self.words)


ALLOWED = {"div", "b", "span", "table", "tr", "td", "th", "details", "summary", "ul", "li"}


def test_the_card_of_cora_says_what_there_is():
    page = Page(load_dataset("cora")._repr_html_())
    assert page.tags <= ALLOWED
    for words in (
        "2,485 (4.1 neighbors on average)",
        "5,069 (undirected, unweighted)",
        "1,433 (float32, sparse: 1.3% not zero, rows divided by their L1 norm)",
        "2,485 of 2,485 nodes, 7 classes",
        "Neural_Networks|726",
        "What was read, changed and left out",
        "largest component kept: 223 nodes dropped",
    ):
        assert words in page.text


def test_bars_are_as_long_as_the_counts():
    page = html_card.bars([("a", 10), ("b", 5), ("c", 0)])
    assert re.findall(r"width:([\d.]+)em", page) == ["10.00", "5.00", "0.00"]


@pytest.mark.parametrize("text", HOSTILE)
def test_nothing_of_the_users_is_more_than_text(text):
    table = pd.DataFrame({"id": ["a", "b", "c"], text: [1.0, 2.0, 3.0]})
    graph = Graph.from_edges(
        [("a", "b")], features=table, labels={"a": text, "b": "plain"}, name=text
    )
    shown = replace(graph, changes=(text,))._repr_html_()
    page = Page(shown)
    assert page.tags <= ALLOWED
    assert "\x1b" not in shown
    assert "\n" not in shown
    assert len(shown) < 20_000
    assert "1 without edges" in page.text


def test_directed_weighted_dense_and_bare_graphs_are_told_apart():
    edges = pd.DataFrame({"a": [0, 1], "b": [1, 2], "w": [1.0, 2.5]})
    graph = Graph.from_edges(edges, weight="w", directed="keep")
    page = Page(graph._repr_html_()).text
    assert "2 (directed, weighted)" in page
    assert "none: each node is a column of its own" in page
    assert "0 of 3 nodes, 0 classes" in page
    assert "Labeled nodes per class" not in page
    assert "without edges" not in page  # node 2 has no edge of its own, but one ends there
    dense = Graph.from_edges(
        edges[["a", "b"]], features=np.ones((3, 8)), feature_names=list("abcdefgh")
    )
    assert "8 (float32): a, b, c, d, e, f, …" in Page(dense._repr_html_()).text


def test_many_classes_are_cut_and_counted():
    n_nodes = 60
    labels = np.minimum(np.arange(n_nodes), 29)
    path = (np.arange(n_nodes - 1), np.arange(1, n_nodes))
    page = Page(Graph.from_edges(path, labels=labels, node_ids=range(n_nodes))._repr_html_()).text
    assert "29|31" in page
    assert "and 10 in 10 other classes" in page
