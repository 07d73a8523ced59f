"""The layouts of tables that are recognized, with two lines of each.

One list for the help page of the commands, the documentation and the tests, which read every one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Layout:
    """A layout and its example.

    Parameters
    ----------
    argument : {"edges", "features", "labels"}
        What it is a layout of.
    name : str
        What people call it.
    example : str
        Two lines of such a file.
    separator : str or None
        The separator that has to be given; most are seen.
    """

    argument: Literal["edges", "features", "labels"]
    name: str
    example: str
    separator: str | None = None


LAYOUTS: tuple[Layout, ...] = (
    Layout("edges", "comma, tab, ; or |", "source,target\nann,bob"),
    Layout("edges", "SNAP's", "# FromNodeId\tToNodeId\n0\t1"),
    Layout("edges", "runs of spaces", "0   1\n1  12"),
    Layout("edges", "another separator", "1::2\n2::3", separator="::"),
    Layout("edges", "with weights", "source,target,weight\nann,bob,0.5"),
    Layout(
        "edges",
        "JSON, node-link",
        '{"nodes": [{"id": "ann"}, {"id": "bob"}],\n'
        ' "links": [{"source": "ann", "target": "bob"}]}',
    ),
    Layout("edges", "JSON, adjacency lists", '{"ann": ["bob", "eve"],\n "bob": ["eve"]}'),
    Layout("edges", "JSON, pairs", '[["ann", "bob"],\n ["bob", "eve"]]'),
    Layout("edges", "JSON lines", '{"from": "ann", "to": "bob"}\n{"from": "bob", "to": "eve"}'),
    Layout("features", "wide", "id,age,height\nann,31,1.7"),
    Layout("features", "long", "node,feature,value\nann,word_7,1"),
    Layout("features", "JSON, values", '{"ann": [31, 1.7],\n "bob": [44, 1.8]}'),
    Layout("features", "JSON, feature numbers", '{"ann": [7, 12, 90],\n "bob": [12]}'),
    Layout("features", "JSON, named values", '{"ann": {"age": 31},\n "bob": {"height": 1.8}}'),
    Layout("features", "svmlight", "1 3:0.5 7:1\n0 2:1"),
    Layout("labels", "two columns", "id,label\nann,spam"),
    Layout("labels", "JSON", '{"ann": "spam",\n "bob": "ham"}'),
)


def layouts_help() -> str:
    """Return the layouts as they stand on a help page."""
    lines: list[str] = []
    argument = None
    for layout in LAYOUTS:
        if layout.argument != argument:
            argument = layout.argument
            lines += ["", f"Layouts of --{argument}, two lines of each"]
        given = f" (--separator {layout.separator})" if layout.separator else ""
        first, second = layout.example.split("\n")
        lines += [f"  {layout.name:24}{first}{given}", f"{'':26}{second}"]
    lines += [
        "",
        "Each file may be compressed (gzip, zstd, bzip2), a Parquet file, or a folder",
        "of them. The lines after 'read' say what each file was taken for.",
    ]
    return "\n".join(lines).strip("\n")
