"""``python -m adagcn.cli``: the same as ``python -m adagcn``."""

from adagcn.cli import run

run()
