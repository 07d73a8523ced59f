"""``python -m adagcn.cli``: the command line where the ``adagcn`` script is not on the path."""

import sys

from adagcn.cli import main

code = main()
# A KeyboardInterrupt that passed through a string run by exec(), as dataclasses run theirs, is
# remembered by CPython even when it was caught, and `python -m` then ends by the signal instead
# of the code. Running another string makes it forget.
exec("")
sys.exit(code)
