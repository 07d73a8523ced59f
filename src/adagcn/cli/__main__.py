"""``python -m adagcn.cli``: the command line where the ``adagcn`` script is not on the path."""

import sys

from adagcn.cli import main

sys.exit(main())
