"""Every setting of the boosted models, with its meaning, its type and its range.

``BoostedSettings`` holds what people set; ``Variant`` the switches that only say how a paper, its
released code or a recipe reads the algorithm. The defaults are Algorithm 1 with the paper's values,
those of Cora-ML where it has one per data set; :mod:`adagcn.models.support.presets` says what each
preset changes. In ``params_``, in files and in ``--set`` a switch is written ``variant.stop_on``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from adagcn.boosting.samme import BoostingRule, Combination, Combine, Vote, WeightUpdate
from adagcn.errors import InputError
from adagcn.models.support.settings import (
    Count,
    NonNegative,
    Positive,
    Share,
    Teleport,
    checked,
    kind_of,
    meaning,
    with_parameters,
    without_numpy,
    wrong_setting,
)
from adagcn.propagation.normalize import Normalization
from adagcn.propagation.scaling import HopScale
from adagcn.training.stopping import StopOn, StopPenalty

PREFIX = "variant."


class Variant(BaseModel):
    """How to interpret the algorithm; a switch that is left out has the preset's value.

    A frozen value: ``AdaGCNClassifier(graph, variant=Variant(stop_on="accuracy"))``. In a grid
    search it is ``variant__stop_on``, at the command line ``--set variant.stop_on=accuracy``.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    # Hops
    normalization: Annotated[Normalization, "how the adjacency becomes Â"] = "symmetric"
    hop_scale: Annotated[
        HopScale, "size of hop features; see :func:`adagcn.propagation.scaling.scaled_rows`"
    ] = "none"

    # The learner
    learner: Annotated[
        Literal["perceptron", "ridge", "both"],
        "what is fitted on a hop: a perceptron by epochs, ridge regression in closed form "
        "(:mod:`adagcn.learners.ridge`), or both, which then vote in shares that the stopping "
        "nodes set (:mod:`adagcn.learners.blend`)",
    ] = "perceptron"
    n_members: Annotated[
        Count,
        "networks side by side on every hop, each from its own start; their votes are averaged",
    ] = 1
    relu_logits: Annotated[bool, "a ReLU on the logits too, as in the released code"] = False

    # Training of a layer
    stop_on: Annotated[
        StopOn, "what early stopping watches; see :class:`adagcn.training.stopping.Stopper`"
    ] = "ranked"
    stop_penalty: Annotated[StopPenalty, "the part of the L2 term in the stopping loss"] = "full"
    carry_parameters: Annotated[bool, "start from the parameters of the hop before"] = True
    carry_optimizer: Annotated[bool, "keep Adam's moments from the hop before"] = False
    share_stopping: Annotated[bool, "one early stopping for all layers (released code)"] = False
    align_weights: Annotated[
        bool, "apply each weight to its own node; False shuffles them, as the released code does"
    ] = True

    # Boosting
    weight_update: Annotated[
        WeightUpdate,
        "reading of the weight update; see :func:`adagcn.boosting.samme.log_weight_change`",
    ] = "onehot"
    judge: Annotated[
        Literal["in_sample", "left_out"],
        "by which probabilities a training node is re-weighted: those of the layer, or those of "
        "the same fit without the node, which only the ridge can tell",
    ] = "in_sample"
    most_layers: Annotated[Count, 'layers that ``n_layers="auto"`` tries at the most'] = 64
    layer_patience: Annotated[
        Count, 'layers in a row without a lower stopping loss after which ``n_layers="auto"`` ends'
    ] = 3
    vote: Annotated[Vote, 'what each layer votes with under ``combine="samme"``'] = "hard"
    ema_teleport: Annotated[Teleport, 'γ of ``combine="ema"``'] = 0.1
    on_perfect: Annotated[
        Literal["stop", "continue"],
        'whether ``combine="samme"`` ends with a layer that makes no training error',
    ] = "stop"
    voting_share: Annotated[
        float,
        Field(gt=0.0, le=1.0),
        "of d layers the last ⌈d · voting_share⌉ vote; the others only prepare their start",
    ] = 1.0

    look: Annotated[
        str, 'the rule by which settings that say ``"auto"`` are decided; the preset sets it'
    ] = ""

    # Pseudo-labels
    pseudo_label_from: Annotated[Count, "the first layer that learns from pseudo-labels"] = 8
    pseudo_label_weight: Annotated[
        float, Field(gt=0.0, lt=1.0), "their share of the training loss"
    ] = 0.7
    pseudo_label_sharpness: Annotated[
        Positive, "exponent on the ensemble's probabilities as targets: above 1 sharpens them"
    ] = 2.0

    def __init__(self, **switches: Any) -> None:
        plain = without_numpy(switches)
        try:
            super().__init__(**plain)
        except ValidationError as error:
            raise wrong_setting(error, Variant, plain, PREFIX) from None

    def given(self) -> dict[str, Any]:
        """Return the switches that were set, by name."""
        return self.model_dump(exclude_unset=True)

    def __eq__(self, other: object) -> bool:
        """Return whether the same switches were set to the same values."""
        return isinstance(other, Variant) and self.given() == other.given()

    def __hash__(self) -> int:
        """Return a hash of the switches that were set."""
        return hash(tuple(sorted(self.given().items())))

    def __repr__(self) -> str:
        """Return the call that makes it, with the switches that were set."""
        return f"Variant({', '.join(f'{k}={v!r}' for k, v in self.given().items())})"

    __str__ = __repr__


class BoostedSettings(BaseModel):
    """The resolved hyper-parameters of a boosted model, as a model file remembers them.

    A model sets those that it has.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    n_layers: Annotated[
        Count | Literal["auto"],
        'boosted learners, on hops 0 to n_layers − 1 (the paper\'s L is n_layers − 1); ``"auto"`` '
        "adds hops until some in a row (``variant.layer_patience``) bring no lower loss on the "
        "stopping nodes, and keeps those up to the best",
    ] = 12
    teleport: Annotated[
        Share | Literal["auto"],
        'γ: share of the input features that every hop keeps; ``"auto"``: by a look, see '
        ":mod:`adagcn.boosting.look`",
    ] = 0.0
    max_features: Annotated[
        Count | Literal["all", "auto"],
        'feature columns used: those with the largest sums of squares; ``"auto"``: as many as pay, '
        "by a look, of those that a quick fit leans on. Of a graph without features "
        "and with more nodes than that, 128 spectral coordinates are used; see "
        ":mod:`adagcn.propagation.coordinates`",
    ] = "all"
    feature_norm: Annotated[
        Literal["l1", "hellinger", "standard", "none", "graph", "auto"],
        'divide rows of features by their L1 norm ("hellinger": and take square roots), or columns '
        'by their standard deviation; "graph": as the graph\'s features are, or by deviations '
        'where these differ a thousandfold; "auto": that or "hellinger", by a look',
    ] = "graph"
    hidden_units: Annotated[Count, "width of the hidden layer"] = 5000
    dropout: Annotated[
        Share, "rate on the learner's input (stored values only, where features are sparse)"
    ] = 0.0
    hidden_dropout: Annotated[Share, "rate on the hidden layer"] = 0.0
    first_layer_l2: Annotated[
        NonNegative | Literal["auto"],
        'λ of the penalty (λ/2)‖W0‖² on the first weights; ``"auto"``: by a look',
    ] = 5e-3
    weight_decay: Annotated[NonNegative, "coupled decay of all parameters"] = 1e-4
    learning_rate: Annotated[Positive, "learning rate of Adam"] = 0.01
    max_epochs: Annotated[Count, "maximum number of epochs per layer"] = 500
    batch_size: Annotated[
        Count | Literal["all"],
        'rows of one step of Adam; ``"all"``: one step per epoch over all rows, as in the paper. '
        "See :mod:`adagcn.training.batches`",
    ] = "all"
    patience: Annotated[
        Count, "epochs of a layer that may bring no improvement on the stopping nodes"
    ] = 300
    validation_fraction: Annotated[
        Share, "share of the labeled nodes set aside for stopping where ``fit`` gets no ``X_val``"
    ] = 0.0
    reweight_rate: Annotated[
        NonNegative,
        "factor on the exponent of the node-weight update (AdaBoost's shrinkage): 1 as in the "
        "paper, 0 turns it off",
    ] = 1.0
    combine: Annotated[
        Combine, "how layers become one prediction; see :class:`adagcn.boosting.samme.Combination`"
    ] = "samme_r"
    pseudo_labels: Annotated[
        Annotated[int, Field(ge=0)] | Literal["auto"],
        "unlabeled nodes, drawn at random, that later layers learn from as the ensemble so far "
        'sees them; see :mod:`adagcn.boosting.pseudo_labels`. ``"auto"``: 500 where at most a '
        "quarter of the nodes is trained on, else none",
    ] = 0
    variant: Annotated[
        Variant,
        "switches that say how to interpret the algorithm; see :class:`Variant`. A switch that is "
        "left out has the preset's value",
    ] = Variant()

    def flat(self) -> dict[str, Any]:
        """Return the settings that were set, by name; those of the variant with its prefix."""
        return flattened(self.model_dump(exclude_unset=True))


def flattened(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings with those of the variant under dotted names.

    >>> flattened({"n_layers": 3, "variant": {"vote": "hard"}})
    {'n_layers': 3, 'variant.vote': 'hard'}
    """
    flat: dict[str, Any] = {}
    for name, value in values.items():
        if name != "variant":
            if name in flat:
                raise InputError("AGC-I607", f"{name} is set twice", got=value, fix="keep one")
            flat[name] = value
            continue
        switches = value.given() if isinstance(value, Variant) else value
        if switches is not None and not isinstance(switches, Mapping):
            raise InputError(
                "AGC-I604",
                "variant must be a Variant",
                got=value,
                fix="write variant=Variant(stop_on='loss'), or set variant__stop_on",
            )
        for switch, given in (switches or {}).items():
            if f"{PREFIX}{switch}" in flat or f"{PREFIX}{switch}" in values:
                problem = f"{PREFIX}{switch} is set twice"
                raise InputError("AGC-I607", problem, got=given, fix="keep one")
            flat[f"{PREFIX}{switch}"] = given
    return flat


def nested(flat: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings with those of the variant gathered; the reverse of :func:`flattened`."""
    values = {name: value for name, value in flat.items() if not name.startswith(PREFIX)}
    switches = {n.removeprefix(PREFIX): v for n, v in flat.items() if n.startswith(PREFIX)}
    return {**values, "variant": switches} if switches else values


def settings_from(flat: Mapping[str, Any], kind: type[BoostedSettings]) -> BoostedSettings:
    """Return checked settings from flat names; ``InputError`` names the first wrong one."""
    if "variant" in flat:
        raise InputError("AGC-I604", "variant must be a Variant", got=flat["variant"])
    values = nested(without_later(flat))
    if "variant" in values:
        values["variant"] = Variant(**values["variant"])
    return checked(kind, values)


def boosting_rule(settings: BoostedSettings) -> BoostingRule:
    """Return the part of the settings that the boosting loop needs."""
    variant = settings.variant
    return BoostingRule(
        combination=Combination(
            settings.combine, variant.vote, variant.ema_teleport, variant.voting_share
        ),
        update=variant.weight_update,
        reweight_rate=settings.reweight_rate,
        judge_left_out=variant.judge == "left_out",
        on_perfect=variant.on_perfect,
    )


Variant.__doc__ = with_parameters(
    Variant.__doc__ or "",
    [(name, kind_of(field), meaning(field)) for name, field in Variant.model_fields.items()],
)

DEFAULTS: Mapping[str, Any] = flattened(BoostedSettings().model_dump())

# Settings that came after the first runs were recorded. At their defaults, which change nothing,
# they are left out of ``params_``, files and keys, so that old runs and models stay what they are.
LATER = frozenset(
    [
        "batch_size",
        *(PREFIX + name for name in ("learner", "judge", "most_layers", "layer_patience", "look")),
    ]
)


def without_later(flat: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings without the later ones that have their defaults."""
    return {k: v for k, v in flat.items() if k not in LATER or v != DEFAULTS[k]}
