"""Names that settings had before, so that old ledgers and model files keep their meaning.

A file or a run with an old name is read under the new one. A constructor, ``--set`` or a spec that
uses an old name is refused, with the place where the setting is now.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from types import MappingProxyType
from typing import Any

from adagcn.errors import InputError
from adagcn.models.support.boosted_settings import PREFIX, Variant

# Models whose settings were renamed; the other systems have settings of these names of their own.
BOOSTED = frozenset({"adagcn", "adasgc", "mlp", "logistic"})

NEW_NAMES: Mapping[str, str] = MappingProxyType(
    {
        # A constructor's ``learner`` is another thing: an estimator of scikit-learn.
        **{name: f"{PREFIX}{name}" for name in Variant.model_fields if name != "learner"},
        "adopted_nodes": "pseudo_labels",
        "adopted_from": f"{PREFIX}pseudo_label_from",
        "adopted_weight": f"{PREFIX}pseudo_label_weight",
        "adopted_sharpness": f"{PREFIX}pseudo_label_sharpness",
    }
)


def renamed(model: str, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings of a model under the names that they have now, flat.

    >>> renamed("adagcn", {"adopted_nodes": 5, "vote": "hard", "n_layers": 3})
    {'pseudo_labels': 5, 'variant.vote': 'hard', 'n_layers': 3}
    """
    if model not in BOOSTED:
        return dict(values)
    return {NEW_NAMES.get(name, name): value for name, value in values.items()}


def moved(model: str, name: str, settable: Collection[str]) -> InputError | None:
    """Return what to say to somebody who uses an old name of what a model can still set."""
    new = NEW_NAMES.get(name)
    if model not in BOOSTED or new is None or new not in settable:
        return None
    if not new.startswith(PREFIX):
        return InputError("AGC-I603", f"{name} is now called {new}", got=name, fix=f"use {new}")
    switch = new.removeprefix(PREFIX)
    return InputError(
        "AGC-I603",
        f"{name} is now a switch of the variant",
        got=name,
        fix=f"use variant=Variant({switch}=…); in a search variant__{switch}; with --set or in a "
        f"spec {new}",
    )
