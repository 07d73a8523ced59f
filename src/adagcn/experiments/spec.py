"""An experiment: models by data sets under one protocol, checked before any run."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from difflib import get_close_matches
from itertools import product
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from adagcn.data.catalog import CATALOG
from adagcn.data.gasteiger import KINDS, N_SPLITS
from adagcn.data.generators import GENERATED
from adagcn.data.nodesets import Regime
from adagcn.data.splits import check_regime
from adagcn.errors import AdaGCNError, InputError, PresetNotice
from adagcn.experiments.runs import Name, Param
from adagcn.models.support.boosted_settings import flattened
from adagcn.models.support.registry import MODELS, build_model, default_preset, presets_of
from adagcn.models.support.renamed import moved

Count = Annotated[int, Field(ge=1, le=1000)]
SplitKind = Literal["val", "test", "fresh", "stratified", "holdout", "file", "public"]
Percent = Annotated[float, Field(ge=0.0, le=100.0)]


Published = Annotated[list[Percent], Field(min_length=2, max_length=2)]  # mean, half width


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class Tables(_Part):
    """A graph in tables; the keys are options of the commands, and paths are as in a column.

    Parameters
    ----------
    edges, features, labels : str
        The files; a graph need not have features.
    id, label : str, optional
        Which columns hold the ids and the labels.
    """

    edges: Name
    labels: Name
    features: Name | None = None
    id: Name | None = None
    label: Name | None = None


class Planted(_Part):
    """Sizes of a random graph; see :func:`adagcn.data.generators.planted_partition`."""

    n_nodes: Annotated[int, Field(ge=1)]
    n_classes: Annotated[int, Field(ge=1)]
    n_features: Annotated[int, Field(ge=1)]
    seed: Annotated[int, Field(ge=0)]
    homophily: Annotated[float, Field(ge=0.0, le=1.0)]
    mean_degree: Annotated[float, Field(ge=0.0)]
    feature_signal: Annotated[float, Field(ge=0.0)]


class Column(_Part):
    """A data set at one label rate.

    Parameters
    ----------
    label : str
        Heading of the column.
    dataset : str
        Name of the graph: a data set of the catalog, unless one of the next four says otherwise.
    file, tables, generated, planted : str, Tables, str, Planted, optional
        Where the graph comes from: an ``.npz`` file or tables, relative to the data folder
        (``ADAGCN_DATA``), a function of :mod:`adagcn.data.generators` without sizes, or the sizes
        of a planted partition.
    splits, splits_file : str, optional
        Another kind of splits than the experiment's, and the file of ``"file"``.
    train_per_class : int or None
        Training nodes of each class; None is the split's own rule, 20 for those of the paper.
    stop : int, optional
        Number of nodes to stop on; by default the split's own rule.
    at_most, n_train, imbalance, label_noise : optional
        Other labels than as many right ones for every class; see
        :class:`~adagcn.data.nodesets.Regime`.
    n_splits : int, optional
        At most this many splits, whatever the experiment and its rows have.
    """

    label: Name
    dataset: Name
    file: Name | None = None
    tables: Tables | None = None
    generated: Name | None = None
    planted: Planted | None = None
    splits: SplitKind | None = None
    splits_file: Name | None = None
    train_per_class: Count | None = None
    stop: Annotated[int, Field(ge=1)] | None = None
    at_most: bool = False
    n_train: Annotated[int, Field(ge=1)] | None = None
    imbalance: Annotated[list[Count], Field(min_length=2, max_length=2)] | None = None
    label_noise: Annotated[float, Field(gt=0.0, lt=1.0)] | None = None
    n_splits: Count | None = None

    @property
    def regime(self) -> Regime | None:
        """What is odd about the labels; None if nothing is."""
        regime = Regime(
            at_most=self.at_most,
            n_train=self.n_train,
            imbalance=None if self.imbalance is None else (self.imbalance[0], self.imbalance[1]),
            label_noise=self.label_noise,
        )
        return None if regime == Regime() else regime

    @property
    def source(self) -> dict[str, Any]:
        """Where the graph comes from, by key; empty for a data set of the catalog."""
        given = {key: getattr(self, key) for key in ("file", "tables", "generated", "planted")}
        return {key: value for key, value in given.items() if value is not None}


class Depth(_Part):
    """A point on a curve over depth.

    Parameters
    ----------
    curve : str
        Name of the curve.
    n_layers : int
        Where on it.
    """

    curve: Name
    n_layers: Count


class Row(_Part):
    """A model with its settings.

    Parameters
    ----------
    label : str
        Heading of the row.
    model, preset : str
        Key of the model and name of its preset, by default the model's own.
    settings : dict
        What differs from the preset.
    settings_on : dict
        What else differs on single columns, by label: settings searched for each data set.
    grid : dict
        Several values of some settings. Every combination is fitted on every split, and the cell
        holds, split by split, the one with the best accuracy on the stopping nodes.
    grid_splits : int, optional
        Try the grid on the first so many splits only. The combination with the best mean accuracy
        on their stopping nodes is then fitted on the others, and all cells hold that one.
    n_splits, n_inits : int, optional
        Override those of the experiment.
    splits_on, inits_on : dict
        Splits and initializations on single columns, by label, instead of ``n_splits`` and
        ``n_inits``.
    seeds : {"numbered", "derived"}, optional
        Overrides that of the experiment.
    columns : list of str, optional
        Labels of the columns that the row has; all by default.
    paper : str, optional
        Published row to compare with; by default the one with the same label, if any.
    depth : Depth, optional
        Which point of which curve the row is; a row written with ``depths`` becomes one for each.
    """

    label: Name
    model: Name
    preset: Name
    settings: dict[str, Param] = {}
    settings_on: dict[Name, dict[str, Param]] = {}
    grid: dict[str, Annotated[list[Param], Field(min_length=1, max_length=100)]] = {}
    grid_splits: Count | None = None
    n_splits: Count | None = None
    n_inits: Count | None = None
    splits_on: dict[Name, Count] = {}
    inits_on: dict[Name, Count] = {}
    seeds: Literal["numbered", "derived"] | None = None
    columns: list[Name] | None = None
    paper: Name | None = None
    depth: Depth | None = None

    @model_validator(mode="before")
    @classmethod
    def _with_preset(cls, fields: Any) -> Any:
        """Fill in the model's own preset; an unknown model is reported later, with its place."""
        fields = _with_flat_settings(fields)
        if not isinstance(fields, dict) or "preset" in fields:
            return fields
        model = str(fields.get("model"))
        return {**fields, "preset": default_preset(model) if model in MODELS else "unknown"}


class Spec(_Part):
    """An experiment: every row on every column, over splits and initializations.

    Parameters
    ----------
    title : str
        What it shows.
    splits : {"val", "test", "fresh", "stratified", "holdout", "file", "public"}
        Which splits: numbers 0 to ``n_splits`` − 1 of this kind. The last two come with a file: a
        column names it, or they are handed to :func:`~adagcn.experiments.campaign.plan`.
    n_splits, n_inits : int
        Runs of a cell: this many splits times this many initializations.
    columns, rows : list
        Data sets and models.
    settings : dict
        Settings of every row, unless the row has its own.
    paper : dict
        Published numbers: row → column → mean and half width, in percent.
    published_decimals : int
        Number of decimals in the paper.
    against_best : bool
        Whether the notes compare the first row with the best other model of each column: picked on
        the splits of even number, compared on those of odd number, so that luck in the one half
        does not count in the other.
    goal : float, optional
        What the interval of that difference should reach, in points; the notes say if it does.
    controls : list of str
        Labels of rows that every other one should not be significantly below; the notes say which
        are.
    figure : {"depth", "cost"}, optional
        What its figure shows: accuracy by number of layers, or against the cost of a fit; None has
        none unless somebody asks, and then by number of layers.
    seeds : {"numbered", "derived"}
        Seeds of the runs: the campaign's plus the number of the initialization, or one of its own
        for every split and initialization, so that runs of different splits are independent.
    """

    title: Name
    splits: SplitKind
    n_splits: Count
    n_inits: Count = 1
    columns: Annotated[list[Column], Field(min_length=1)]
    rows: Annotated[list[Row], Field(min_length=1)]
    settings: dict[str, Param] = {}
    paper: dict[Name, dict[Name, Published]] = {}
    published_decimals: Annotated[int, Field(ge=0, le=6)] = 2
    against_best: bool = False
    goal: Annotated[float, Field(ge=-100.0, le=100.0)] | None = None
    controls: list[Name] = []
    figure: Literal["depth", "cost"] | None = None
    seeds: Literal["numbered", "derived"] = "numbered"

    @model_validator(mode="before")
    @classmethod
    def _with_depths(cls, fields: Any) -> Any:
        """Expand a row with ``depths`` into one row for each of them."""
        fields = _with_flat_settings(fields)
        rows = fields.get("rows") if isinstance(fields, dict) else None
        if not isinstance(rows, list):
            return fields
        return {**fields, "rows": [each for row in rows for each in _rows_by_depth(row)]}

    def settings_of(self, row: Row, column: Column | None = None) -> dict[str, Param]:
        """Return the settings of a row: the experiment's, its own, a column's; the last win."""
        on_column = {} if column is None else row.settings_on.get(column.label, {})
        return {**self.settings, **row.settings, **on_column}

    def candidates_of(self, row: Row, column: Column | None = None) -> list[dict[str, Param]]:
        """Return the settings of every combination of a row's grid; without one, its settings."""
        fixed = self.settings_of(row, column)
        return [
            {**fixed, **dict(zip(row.grid, values, strict=True))}
            for values in product(*row.grid.values())
        ]

    def splits_of(self, row: Row, column: Column | None = None) -> int:
        """Return how many splits a row has, on one column or at most."""
        n_splits = row.n_splits or self.n_splits
        if column is None:
            return max(n_splits, *row.splits_on.values(), 0)
        n_splits = row.splits_on.get(column.label, n_splits)
        return n_splits if column.n_splits is None else min(n_splits, column.n_splits)

    def kind_on(self, column: Column) -> SplitKind:
        """Return the kind of splits of a column."""
        return column.splits or self.splits

    def inits_of(self, row: Row, column: Column) -> int:
        """Return how many initializations a row has on a column."""
        return row.inits_on.get(column.label, row.n_inits or self.n_inits)

    def has(self, row: Row, column: Column) -> bool:
        """Return whether the row has the column."""
        return row.columns is None or column.label in row.columns

    def published(self, row: Row, column: Column) -> tuple[float, float] | None:
        """Return the paper's mean and half width for a cell, as shares of one."""
        found = self.paper.get(row.paper or row.label, {}).get(column.label)
        return None if found is None else (found[0] / 100, found[1] / 100)


def _with_flat_settings(fields: Any) -> Any:
    """Return fields with settings under flat names: TOML's ``variant.vote`` is a table."""
    if not isinstance(fields, dict):
        return fields
    tables = {
        key: flattened(fields[key])
        for key in ("settings", "grid")
        if isinstance(fields.get(key), dict)
    }
    on = fields.get("settings_on")
    if isinstance(on, dict) and all(isinstance(each, dict) for each in on.values()):
        tables["settings_on"] = {label: flattened(each) for label, each in on.items()}
    return {**fields, **tables}


def _rows_by_depth(row: Any) -> list[Any]:
    """Return one row per depth; what is no list of depths is left for the check of types."""
    settings = row.get("settings", {}) if isinstance(row, dict) else None
    if not isinstance(settings, dict) or not isinstance(row.get("depths"), list):
        return [row]
    kept = {name: value for name, value in row.items() if name != "depths"}
    return [
        {
            **kept,
            "label": f"{row.get('label')}, {n_layers} layer{'' if n_layers == 1 else 's'}",
            "settings": {**settings, "n_layers": n_layers},
            "depth": {"curve": row.get("label"), "n_layers": n_layers},
        }
        for n_layers in row["depths"]
    ]


def check_spec(spec: Spec, name: str) -> None:
    """Refuse an experiment that names what does not exist, before anything is run.

    Parameters
    ----------
    spec : Spec
        The experiment; its data sets need not be in the catalog.
    name : str
        What to call it in messages.
    """
    for what, labels in (("columns", spec.columns), ("rows", spec.rows)):
        _check_different(f"{name}: {what}", [each.label for each in labels])
    columns = {column.label for column in spec.columns}
    _check_sources(spec, name)
    _check_regimes(spec, name)
    for number, row in enumerate(spec.rows):
        at = f"{name}: rows[{number}]"
        _check_size(spec, row, at)
        for label in row.columns or ():
            check_known(f"{at}.columns", label, columns)
        for key in ("splits_on", "inits_on", "settings_on"):
            for label in getattr(row, key):
                check_known(f"{at}.{key}", label, row.columns or columns)
        if row.paper is not None:
            check_known(f"{at}.paper", row.paper, spec.paper)
        _check_model(spec, row, at)
    for label in spec.controls:
        check_known(f"{name}: controls", label, {row.label for row in spec.rows})
    _check_paper(spec, columns, name)


def _check_model(spec: Spec, row: Row, at: str) -> None:
    if row.grid_splits is not None and not row.grid:
        raise InputError(
            "AGC-I2230",
            f"{at}: grid_splits says where a grid is tried, and there is none",
            got=row.grid_splits,
            fix="add a grid, or leave grid_splits out",
        )
    check_known(f"{at}.model", row.model, MODELS)
    check_known(f"{at}.preset", row.preset, presets_of(row.model))
    named: dict[str, Iterable[str]] = {"settings": spec.settings_of(row), "grid": row.grid}
    for label, settings in row.settings_on.items():
        named[f"settings_on.{label}"] = settings
    _check_once(row, at)
    for key, names in named.items():
        for setting in names:
            error = moved(row.model, setting, settings_of(row.model))
            if error is not None:
                raise InputError(error.code, f"{at}.{key}: {error.problem}", fix=error.fix)
            check_known(f"{at}.{key}", setting, settings_of(row.model))
    _check_values(row, spec.candidates_of(row), f"{at}.{'grid' if row.grid else 'settings'}")
    for column in spec.columns:
        if column.label in row.settings_on:
            at_column = f"{at}.settings_on.{column.label}"
            _check_values(row, spec.candidates_of(row, column), at_column)


def _check_once(row: Row, at: str) -> None:
    """Refuse a setting of the row that its grid would override."""
    given = {**row.settings, **{key: 0 for on in row.settings_on.values() for key in on}}
    twice = sorted(set(given) & set(row.grid))
    if twice:
        raise InputError(
            "AGC-I2234",
            f"{at}: a setting stands in the grid and beside it",
            got=twice[0],
            fix="leave it out of one of them",
        )


def _check_values(row: Row, candidates: Iterable[dict[str, Param]], at: str) -> None:
    """Refuse values that the model would refuse."""
    for settings in candidates:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", PresetNotice)  # there is no graph to choose by yet
                model = build_model(row.model, None, preset=row.preset, settings=settings)
                model.resolved_settings()
        except AdaGCNError as error:
            problem = f"{at}: {error.problem}"
            raise InputError(error.code, problem, got=error.got, fix=error.fix) from error


def settings_of(model: str) -> set[str]:
    """Return the names of a model's settings."""
    return MODELS[model].settable() - {"device"}


def _check_sources(spec: Spec, name: str) -> None:
    """Refuse a graph of two origins, and a name that stands for two graphs."""
    first: dict[str, Column] = {}
    for number, column in enumerate(spec.columns):
        at, source = f"{name}: columns[{number}]", column.source
        if len(source) > 1:
            problem = f"{at}: {' and '.join(source)} exclude each other"
            raise InputError("AGC-I980", problem, got=column.label, fix="leave one of them out")
        if "generated" in source:
            check_known(f"{at}.generated", source["generated"], GENERATED)
        taken = source and column.dataset in CATALOG
        if taken or first.setdefault(column.dataset, column).source != source:
            raise InputError(
                "AGC-I981",
                f"{at}.dataset is the name of another graph",
                got=column.dataset,
                fix="give each graph a name of its own",
            )


def _check_regimes(spec: Spec, name: str) -> None:
    """Refuse labels that exclude each other or that the column's splits do not have."""
    for number, column in enumerate(spec.columns):
        try:
            if column.regime is not None:
                check_regime(spec.kind_on(column), column.regime, column.train_per_class)
        except InputError as error:
            problem = f"{name}: columns[{number}]: {error.problem}"
            raise InputError(error.code, problem, got=error.got, fix=error.fix) from error


def _check_size(spec: Spec, row: Row, at: str) -> None:
    for column in spec.columns:
        kind, n_splits = spec.kind_on(column), spec.splits_of(row, column)
        if kind in KINDS and n_splits > N_SPLITS and spec.has(row, column):
            raise InputError(
                "AGC-I943",
                f"{at}: n_splits exceeds the {N_SPLITS} splits of kind {kind!r}",
                got=n_splits,
                fix=f'use at most {N_SPLITS}, or splits = "stratified"',
            )


def _check_paper(spec: Spec, columns: set[str], name: str) -> None:
    used = {row.paper or row.label for row in spec.rows}
    for row, numbers in spec.paper.items():
        check_known(f"{name}: paper", row, used)
        for column in numbers:
            check_known(f"{name}: paper.{row}", column, columns)


def check_known(key: str, value: str, known: Iterable[str], *, fix: str = "") -> None:
    """Refuse an unknown value, and suggest the nearest known one."""
    names = sorted(known)
    if value in names:
        return
    near = get_close_matches(value, names, n=2)
    hint = f"did you mean {' or '.join(map(repr, near))}? " if near else ""
    raise InputError(
        "AGC-I944",
        f"{key} is unknown",
        got=value,
        fix=f"{hint}Choose from {', '.join(names)}{' ' if fix else ''}{fix}",
    )


def _check_different(key: str, labels: list[str]) -> None:
    twice = [label for label in labels if labels.count(label) > 1]
    if twice:
        raise InputError(
            "AGC-I945", f"{key} has a label twice", got=twice[0], fix="make the labels unique"
        )
