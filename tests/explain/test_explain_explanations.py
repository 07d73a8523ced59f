"""Explanations as a sequence, as frames and in a notebook."""

from __future__ import annotations

import numpy as np
import pytest

from adagcn import InputError
from adagcn.explain.explanations import (
    Explanations,
    FeaturePart,
    HopPart,
    NeighborPart,
    NodeExplanation,
)

NASTY = "<script>alert(1)</script>\x1b[31m"


def explanation(node="ann", **changes):
    values = {
        "label": NASTY,
        "runner_up": "=cmd()",
        "probability": 0.75,
        "margin": 1.5,
        "parts": (HopPart(0, "perceptron", 1.0), HopPart(1, "perceptron", 0.5)),
        "deciding_hop": 0,
        "last_change": 1,
        "features": (FeaturePart("word", 0.1, 2.0, 0.7),),
        "features_total": 0.7,
        "features_remainder": 0.8,
        "neighbors": (
            NeighborPart("bob", 1, 0.5, 0.6, "Theory", True),
            NeighborPart("eve", 2, 0.1, -0.1),
        ),
        "labeled": (NeighborPart("bob", 1, 0.5, 0.6, "Theory", True),),
        **changes,
    }
    return NodeExplanation(node, **values)


def test_it_is_a_sequence_whose_slices_keep_the_notes():
    three = Explanations(tuple(explanation(name) for name in ("a", "b", "c")), ("Note.",))
    assert len(three) == 3
    assert [each.node for each in three] == ["a", "b", "c"]
    assert three[-1].node == "c"
    assert three[1:].notes == ("Note.",)
    assert [each.node for each in three[1:]] == ["b", "c"]
    assert repr(three) == "Explanations(3 nodes)"


@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow"])
def test_frames_of_every_kind(backend):
    pytest.importorskip(backend)
    two = Explanations((explanation("ann"), explanation("dan", neighbors=(), label="x")))
    sizes = {"nodes": 2, "hops": 4, "features": 2, "neighbors": 2, "labeled": 2}
    for what, n_rows in sizes.items():
        frame = two.to_frame(what, backend)
        assert type(frame).__module__.startswith(backend)
        assert len(frame) == n_rows
        assert next(iter(getattr(frame, "column_names", frame.columns))) == "node"
    nodes = two.to_frame("nodes", backend)
    assert list(np.asarray(nodes["label"])) == [NASTY, "x"]
    near = two.to_frame("neighbors", backend)
    assert list(np.asarray(near["neighbor"])) == ["bob", "eve"]


@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow"])
def test_ids_past_64_bits_become_text_in_a_frame_and_empty_ones_stay_frames(backend):
    pytest.importorskip(backend)
    frame = Explanations((explanation(2**70),)).to_frame("nodes", backend)
    assert [str(value) for value in np.asarray(frame["node"])] == [str(2**70)]
    assert len(Explanations(()).to_frame("hops", backend)) == 0


def test_a_kind_of_part_that_is_none_is_refused():
    with pytest.raises(InputError, match=r"what must be one of nodes, hops.*AGC-I1302"):
        Explanations(()).to_frame("leaves")


def test_a_notebook_shows_text_as_text():
    shown = Explanations(tuple(explanation(f"n{k}") for k in range(12)), ("<b>",))._repr_html_()
    assert "<script" not in shown
    assert "&lt;script&gt;" in shown
    assert "\x1b" not in shown
    assert "&lt;b&gt;" in shown
    assert "and 2 other nodes" in shown
    long = Explanations((explanation("x" * 10_000),))._repr_html_()
    assert len(long) < 4_000


def test_parts_of_one_hop_are_added():
    both = explanation(parts=(HopPart(3, "perceptron", 1.0), HopPart(3, "ridge", 0.5)))
    assert both.by_hop() == {3: 1.5}
