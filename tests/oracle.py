"""AdaGCN in plain NumPy, as docs/algorithm.md writes it: what the library must equal.

The page's code is run as it stands there; it shares none with the package.
"""

from __future__ import annotations

import re
from pathlib import Path

PAGE = Path(__file__).parent.parent / "docs" / "algorithm.md"
BLOCKS = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.S | re.M)

exec(compile("\n".join(BLOCKS), str(PAGE), "exec"), globals())
