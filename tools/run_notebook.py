"""Run the example notebook and write it with its outputs.

    python tools/run_notebook.py [OUT]

Without OUT the notebook itself is replaced. What belongs to one machine is left out: times, and
what libraries say on standard error.
"""

from __future__ import annotations

import sys
from pathlib import Path

import nbformat
from nbclient import NotebookClient

NOTEBOOK = Path(__file__).parent.parent / "examples" / "tour.ipynb"
SECONDS = 300  # that a cell may take


def executed(path: Path) -> nbformat.NotebookNode:
    """Return the notebook with fresh outputs; raises if a cell fails."""
    notebook = nbformat.read(path, as_version=4)
    NotebookClient(notebook, timeout=SECONDS).execute()
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)
        if cell.cell_type == "code":
            cell.outputs = _tidy(cell.outputs)
    notebook.metadata["language_info"] = {"name": "python"}
    return notebook


def _tidy(outputs: list[nbformat.NotebookNode]) -> list[nbformat.NotebookNode]:
    """Return outputs without standard error, printed lines that were sent in parts in one piece."""
    kept: list[nbformat.NotebookNode] = []
    for each in outputs:
        if each.get("name") == "stderr":
            continue
        if kept and each.output_type == kept[-1].output_type == "stream":
            kept[-1].text += each.text
        else:
            kept.append(each)
    return kept


def main() -> None:
    out = Path(sys.argv[1]) if len(sys.argv) > 1 else NOTEBOOK
    nbformat.write(executed(NOTEBOOK), out)


if __name__ == "__main__":
    main()
