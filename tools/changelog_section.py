"""Print what CHANGELOG.md says of one version: the text of its release.

Run ``python tools/changelog_section.py 0.2.0``; it fails where the section is missing or empty.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

CHANGELOG = Path(__file__).resolve().parent.parent / "CHANGELOG.md"

_HEADING = re.compile(r"^## \[(?P<version>[^]]+)\].*$", re.MULTILINE)


def section(changelog: str, version: str) -> str:
    """Return the text below the heading ``## [version]``, up to the next such heading."""
    headings = list(_HEADING.finditer(changelog))
    ends = [each.start() for each in headings[1:]] + [len(changelog)]
    for heading, end in zip(headings, ends, strict=True):
        if heading["version"] == version:
            text = changelog[heading.end() : end].strip()
            if not text:
                raise ValueError(f"the section [{version}] of the changelog is empty")
            return text
    known = ", ".join(each["version"] for each in headings)
    raise ValueError(f"the changelog has no section [{version}]; it has {known}")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python tools/changelog_section.py VERSION")
    try:
        found = section(CHANGELOG.read_text(encoding="utf-8"), sys.argv[1])
    except ValueError as error:
        sys.exit(str(error))
    sys.stdout.buffer.write(f"{found}\n".encode())  # UTF-8 whatever the terminal's encoding
