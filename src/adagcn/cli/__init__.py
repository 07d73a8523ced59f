"""The command line: parses, calls the library, prints.

:func:`main` is what ``adagcn`` runs. It turns whatever happens into an exit code and, when
something went wrong or ended it, one line on standard error:

===  =============================================================
0    done, or the reader of standard output left early (``| head``)
1    a fault of the program (run again with ``--debug``)
2    a command line that cannot be understood
3    input: an argument, a table or a file that cannot be used
4    a damaged or unsafe file
5    memory, disk, network or an optional package is missing
7    a computation gave NaN or infinity
129  hung up, 130 interrupted (Ctrl-C), 143 terminated
===  =============================================================
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import NoReturn

__all__ = ["main", "run"]


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code.

    Parameters
    ----------
    argv : sequence of str, optional
        The words after ``adagcn``; those of the process by default.

    Returns
    -------
    int
        What the process should end with.
    """
    try:
        # Here and not above, so that Ctrl-C while the imports run ends in one line too.
        from adagcn.cli.guard import run_guarded

        return run_guarded(sys.argv[1:] if argv is None else argv)
    except KeyboardInterrupt:
        print("adagcn: interrupted", file=sys.stderr)
        return 130


def run() -> NoReturn:
    """Run the command of this process, started by ``python -m``, and end the process."""
    code = main()
    # A KeyboardInterrupt that passed through a string run by exec(), as dataclasses run theirs, is
    # remembered by CPython even when it was caught, and `python -m` then ends by the signal instead
    # of the code. Running another string makes it forget.
    exec("")
    sys.exit(code)
