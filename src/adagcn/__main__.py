"""``python -m adagcn``: the command line where the ``adagcn`` script is not on the path."""

from adagcn.cli import run

run()
