"""``adagcn evaluate``."""

from __future__ import annotations

from adagcn.cli.options import Common, with_option_groups


@with_option_groups
def evaluate(common: Common) -> None:
    """To be written."""
