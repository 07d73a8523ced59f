"""``adagcn fit``."""

from __future__ import annotations

from adagcn.cli.options import Common, with_option_groups


@with_option_groups
def fit(common: Common) -> None:
    """To be written."""
