"""The scikit-learn face of boosting over hops: what AdaGCN, AdaSGC and their controls share.

Here are settings and fitting; :mod:`adagcn.models.support.boosted_scoring` has what was learned and
the predictions.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, fields, replace
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import joblib
import numpy as np
from pydantic.fields import FieldInfo
from sklearn.base import clone

from adagcn.boosting.depth import best_prefix
from adagcn.boosting.fit_state import BoostedLayer, FitBasis, FitState, LabeledNodes
from adagcn.boosting.hop_boosting import FitHop, HopBoosting
from adagcn.boosting.samme import CombinedVotes
from adagcn.engines import Serial, current_engine, using
from adagcn.engines.threads import pool_threads
from adagcn.errors import (
    CheckpointNotice,
    InputError,
    LayerWarning,
    PresetNotice,
    WeightCollapseWarning,
    counted,
)
from adagcn.learners.sklearn_learner import check_learner
from adagcn.models.support import adapting
from adagcn.models.support import problem as problems
from adagcn.models.support.adapting import Decision
from adagcn.models.support.boosted_layers import LayerForm, steering
from adagcn.models.support.boosted_scoring import FittedEnsemble, epochs_of
from adagcn.models.support.boosted_settings import (
    DEFAULTS,
    LATER,
    PREFIX,
    BoostedSettings,
    Variant,
    boosting_rule,
    flattened,
    nested,
    settings_from,
)
from adagcn.models.support.feature_columns import remember_columns
from adagcn.models.support.labels import FitCall, hold_out
from adagcn.models.support.presets import PRESETS, preset_values, resolve
from adagcn.models.support.problem import FitData
from adagcn.models.support.settings import Params, check_preset, did_you_mean
from adagcn.propagation.gathered_rows import NO_LIMIT, RowRoom
from adagcn.propagation.hops import stream_from
from adagcn.propagation.source import ResumableSource
from adagcn.training.events import Checkpoint, Events, LayerEvent, Reason, StopEvent, logger
from adagcn.training.hop_fitter import HopFitter, HopTask, Learner, TrainingSettings

if TYPE_CHECKING:  # loaded where layers are kept
    from adagcn.models.support.checkpoint_files import FitFile
    from adagcn.models.support.checkpoints import AskedFit, Checkpoints

COLLAPSED_BELOW = 0.1  # effective sample size, against the start, that deserves a warning
_SET_BY_VALIDATION = ("n_features_in_", "feature_names_in_")


@dataclass(frozen=True)
class PreparedFit:
    """A fit that is ready to run.

    Parameters
    ----------
    state : FitState
        Where it starts: without layers, or with those of a shallower fit.
    boosting : HopBoosting
        The loop.
    source : ResumableSource
        Where the hops come from.
    decision : Decision
        All settings, resolved, and the columns that go with them.
    checkpoints : Checkpoints or None
        Where finished layers are kept until the fit has ended.
    """

    state: FitState
    boosting: HopBoosting
    source: ResumableSource
    decision: Decision
    checkpoints: Checkpoints | None = None

    @property
    def settings(self) -> BoostedSettings:
        """All settings, resolved."""
        return self.decision.settings

    def states(self, events: Events) -> Iterator[FitState]:
        """Yield the fit after each layer, to the depth asked for; the last one is the result."""
        n_layers, stop_labels = self.settings.n_layers, self.boosting.nodes.stop_labels
        before, made = self.state, self._notified(events)
        if n_layers != "auto":
            return islice(made, n_layers - len(self.state.layers))
        assert stop_labels is not None
        variant = self.settings.variant
        depths = range(1, len(before.layers) + 1)  # of a fit that goes on
        shallower = (replace(before, layers=before.layers[:depth]) for depth in depths)
        return best_prefix(
            chain(shallower, made),
            stop_labels,
            self.boosting.rule.combination,
            patience=variant.layer_patience,
            most=variant.most_layers,
        )

    def _notified(self, events: Events) -> Iterator[FitState]:
        """Pass states on as they are made, each with an event."""
        n_layers = None if self.settings.n_layers == "auto" else self.settings.n_layers
        for state in self._made():
            if self.checkpoints is not None:
                self.checkpoints.save(state)
            layer = state.layers[-1]
            record = layer.learner.record
            accuracy = None if record is None else record.stop_accuracy
            events.layer(
                LayerEvent(layer.hop, n_layers, epochs_of(layer), layer.weighted_error, accuracy)
            )
            yield state
            if events.stopped:
                return

    def _n_known(self) -> int:
        """Return how many layers need not be asked again what they say: all of them, or none."""
        boosting, state = self.boosting, self.state
        n_pseudo, stops = len(boosting.pseudo_labels.nodes), boosting.nodes.stop_nodes is not None
        known = boosting.hop_scale != "hop" or state.input_size is not None
        for layer in state.layers:
            said = 0 if layer.pseudo_log_proba is None else layer.pseudo_log_proba.shape[-2]
            known &= said == n_pseudo and (layer.stop_log_proba is not None) == stops
        return len(state.layers) if known else 0

    def _made(self) -> Iterator[FitState]:
        """Yield states, from the first hop that is needed; an interruption leaves hops in files."""
        first = self._n_known()
        try:
            hops = stream_from(self.source.at(first))
            yield from self.boosting.states(self.state, hops, first=first)
        except GeneratorExit:
            raise
        except BaseException as error:
            ended = isinstance(error, Exception) and not isinstance(error, OSError | MemoryError)
            if self.checkpoints is not None and not ended:
                self.source.keep()
            raise


class BoostedClassifier(FittedEnsemble):
    """Boosting over hops behind scikit-learn's contract; subclasses name the learner.

    ``X`` is node ids wherever a graph is given, and a plain feature matrix (every hop is the
    matrix itself) where ``graph`` is ``None``. Here are settings and fitting; what was learned and
    what it says of nodes is in :class:`~adagcn.models.support.boosted_scoring.FittedEnsemble`.
    """

    default_preset = "tuned"
    beside: ClassVar[tuple[str, ...]] = (
        "class_weight",
        "calibrate",
        "warm_start",
        "random_state",
        "device",
        "n_threads",
        "row_memory",
    )

    # Settings that a model has, by name, and switches of the variant; those that it fixes; and what
    # it sets otherwise in the presets that were searched for.
    parameters: ClassVar[tuple[str, ...]]
    switches: ClassVar[tuple[str, ...]] = ()
    _fixed: ClassVar[Mapping[str, Any]] = {}
    _tuned: ClassVar[Mapping[str, Any]] = {}

    variant: Variant | None = None
    warm_start: bool = False
    row_memory: int | None = None

    @classmethod
    def presets(cls) -> tuple[str, ...]:
        """Return the names of the presets, the default first."""
        return PRESETS

    @classmethod
    def setting_fields(cls) -> Mapping[str, FieldInfo]:
        """Return every setting of the constructor by name; the switches of the variant are one."""
        names = (*cls.parameters, *(("variant",) if cls.switches else ()))
        return {name: cls.settings.model_fields[name] for name in names}

    @classmethod
    def settable(cls) -> set[str]:
        """Return the flat names of all that ``--set`` and specs may set."""
        return super().settable() - {"variant"} | {PREFIX + switch for switch in cls.switches}

    @classmethod
    def completed(cls, params: Mapping[str, Any]) -> dict[str, Any]:
        """Return the settings of a record with the defaults of those that it leaves out.

        Later settings are left out at their defaults, which a preset may have changed.
        """
        own = {*cls.parameters, *(PREFIX + switch for switch in cls.switches)}
        return {**{name: DEFAULTS[name] for name in LATER & own}, **params}

    @classmethod
    def preset_value(cls, preset: str, name: str) -> Any:
        """Return what a preset sets on a graph that no study names."""
        own = {} if preset in ("paper", "released") else cls._tuned
        values = {**DEFAULTS, **preset_values(preset, None, on_graph=True), **own}
        if name == "variant":
            changed = {switch: values[PREFIX + switch] for switch in cls.switches}
            return Variant(**{k: v for k, v in changed.items() if v != DEFAULTS[PREFIX + k]})
        return values.get(name)

    # Settings

    def resolved_settings(self, preset: str | None = None) -> BoostedSettings:
        """Return the hyper-parameters that ``fit`` will use: the user's, else the preset's.

        ``preset`` stands in for the model's own.
        """
        names = [*self.parameters, *(PREFIX + switch for switch in self.switches)]
        given = flattened(self.given_settings())
        for name in given.keys() - set(names):
            raise self._no_switch(name, given[name])
        asked = {**{name: given.get(name) for name in names}, **self._fixed}
        check_preset(self.preset, self.presets())
        return resolve(preset or self.preset, self.graph, asked, self._tuned, self.settings)

    def set_params(self, **params: Any) -> Any:
        """Set parameters; ``variant__x`` sets a switch of the variant and leaves the others."""
        switches = {
            name.removeprefix("variant__"): params.pop(name)
            for name in list(params)
            if name.startswith("variant__")
        }
        for name in switches.keys() - set(self.switches):
            raise self._no_switch(PREFIX + name, switches[name])
        if switches:  # before anything is set: a wrong one leaves the model as it was
            given = flattened({"variant": params.get("variant", self.variant)})
            given |= {PREFIX + name: value for name, value in switches.items()}
            kept = {k.removeprefix(PREFIX): v for k, v in given.items() if v is not None}
            params["variant"] = Variant(**kept)
        return super().set_params(**params)

    def _no_switch(self, name: str, value: Any) -> InputError:
        fix = did_you_mean(name.removeprefix(PREFIX), self.switches)
        problem = f"{self.model_key} has no switch {name}"
        return InputError("AGC-I605", problem, got=value, fix=fix if self.switches else None)

    # Fitting

    def _fit(self, call: FitCall, events: Events) -> None:
        state = vars(self).get("state_")
        before = {name: vars(self).get(name) for name in _SET_BY_VALIDATION}
        try:
            with self._checkpoints(events) as checkpoints:
                self._boost(self.prepared(call, events, checkpoints), events)
        except BaseException:
            if vars(self).get("state_") is state:  # nothing new was fitted
                _reset(self, before)
            raise
        self._warn_if_collapsed()
        self._warn_if_idle()

    def _checkpoints(self, events: Events) -> AbstractContextManager[Checkpoints | None]:
        """Return where finished layers are kept: where a callback says, or in a graph's store."""
        store = None if self.graph is None else self.graph.store
        learner, asked = getattr(self, "learner", None), events.checkpoint
        if asked is None:
            asked = Checkpoint(None if store is None or learner is not None else "auto")
        if asked.folder is None:
            return nullcontext()
        if asked.folder == "auto" and store is None:
            raise InputError(
                "AGC-I1704",
                "Checkpoint needs a folder, since the graph is not in a store",
                got=repr(self.graph),
                fix="write Checkpoint('folder')",
            )
        if learner is not None:
            raise InputError(
                "AGC-I1705",
                "layers of a scikit-learn classifier cannot be kept in safe files",
                got=learner,
                fix="leave the Checkpoint out, or use the built-in learner",
            )
        from adagcn.models.support.checkpoints import Checkpoints

        if store is not None and asked.folder == "auto":
            return Checkpoints(store / "fits", resume=bool(asked.resume), is_ours=True)
        return Checkpoints(Path(asked.folder), resume=bool(asked.resume), is_ours=False)

    def prepared(
        self, call: FitCall, events: Events, checkpoints: Checkpoints | None = None
    ) -> PreparedFit:
        """Return a fit that is checked and ready to run, or to go on.

        It goes on with this model where a warm start may, and with what ``checkpoints`` hold.
        """
        settings = self._settings_for(call)
        self._check_judge(settings)
        before = None
        if not isinstance(self.warm_start, int | np.bool_):  # "no" would be true
            raise InputError("AGC-I648", "warm_start must be True or False", got=self.warm_start)
        if self.warm_start and hasattr(self, "state_"):
            before = self.state_.without_cut_layer()
        norm = "graph" if settings.feature_norm == "auto" else settings.feature_norm
        data = problems.fit_data(self, norm, call, row_by_row=True)
        seed = self._seed(before)
        found = None
        if checkpoints is not None:
            found = checkpoints.find(self._asked(settings, data, seed, before))
        if found is None:
            decision = self._decided(settings, data, seed, before)
        else:
            seed, decision = found.entry.seed, self._decided_before(settings, data, found)
        settings = decision.settings
        basis = self._basis(settings, data, seed)
        if before is not None:
            before.check_continues(basis, data.node_ids, data.features.shape[0])
            basis = before.basis or basis  # its nodes may be in another order
        nodes = hold_out(basis.nodes, settings.validation_fraction, basis.seed)
        self._check_depth(before, settings, nodes)
        source = self._source(decision)
        dtype = problems.torch_dtype(source.dtype)
        boosting = HopBoosting(
            self._fit_hop(settings, len(basis.classes), dtype, basis.seed, events),
            nodes,
            boosting_rule(settings),
            settings.variant.hop_scale,
            problems.pseudo_labels_of(self.graph, settings, nodes, basis.seed),
        )
        boosting = replace(boosting, room=self._row_room(boosting))
        state = before or FitState(basis)
        if checkpoints is not None:
            form = LayerForm(type(self), settings, source.n_columns, len(basis.classes))
            kept = checkpoints.begin(basis, decision, form, len(nodes.train_nodes))
            state = _deeper(state, kept, settings.n_layers)
        return PreparedFit(state, boosting, source, decision, checkpoints)

    def _row_room(self, boosting: HopBoosting) -> RowRoom:
        """Return how much memory the rows of a layer may take, and where they go beyond it."""
        limit = self.row_memory
        if limit is None:
            return NO_LIMIT
        if isinstance(limit, bool) or not isinstance(limit, int | np.integer) or limit < 0:
            raise InputError(
                "AGC-I1710",
                "row_memory must be a number of bytes",
                got=limit,
                fix="write row_memory=2_000_000_000 for 2 GB, or None for no limit",
            )
        nodes = boosting.nodes
        parts = (nodes.train_nodes, nodes.stop_nodes, boosting.pseudo_labels.nodes)
        n_rows = sum(len(part) for part in parts if part is not None)
        return RowRoom(int(limit), n_rows, None if self.graph is None else self.graph.store)

    def _source(self, decision: Decision) -> ResumableSource:
        """Return where the hops of a fit come from."""
        columns, coordinates = decision.columns, decision.coordinates
        settings, source = decision.settings, None
        if coordinates is None:
            source = problems.stored_source(self.graph, columns, settings)
        if source is not None:
            return source
        features = decision.features
        return problems.hop_source(features, columns, coordinates, self.graph, settings)

    def _asked(
        self, settings: BoostedSettings, data: FitData, seed: int, before: FitState | None
    ) -> AskedFit | None:
        """Return what a checkpoint is known by; None where labels have no form in a file."""
        from adagcn.models.support.checkpoints import AskedFit
        from adagcn.models.support.persistence import class_values

        basis = self._basis(settings, data, seed)
        if before is not None and before.basis is not None:
            basis = replace(basis, nodes=before.basis.nodes)  # maybe in another order
        any_seed = before is None and not isinstance(self.random_state, int | np.integer)
        try:
            classes = class_values(data.classes)
        except InputError as error:
            logger.info("this fit keeps no checkpoint: %s", error.problem)
            return None
        workers = _train_workers()
        return AskedFit(self.model_key, basis, classes, any_seed, data.node_ids, workers)

    def _decided_before(self, settings: BoostedSettings, data: FitData, found: FitFile) -> Decision:
        """Return what an interrupted fit has decided, with as many layers as are wanted now."""
        settings_from(found.entry.decided, self.settings)  # checks the values
        values = nested(found.entry.decided)
        variant = settings.variant.model_copy(update=values.pop("variant", {}))
        decided = settings.model_copy(update={**values, "variant": variant})
        features = data.features
        if self.graph is not None and adapting.is_open(settings):
            features = problems.normalized_features(self.graph, decided.feature_norm)
        choices, look = found.entry.choices, found.entry.look
        return Decision(decided, features, found.columns, found.coordinates, choices, look)

    def _settings_for(self, call: FitCall) -> BoostedSettings:
        """Return the settings of a fit; without stopping nodes those that need none.

        What a look chooses could be judged without stopping nodes, but a perceptron would train to
        its last epoch. A look holds hops in memory, which those of a large store are not for.
        """
        settings = self.resolved_settings()
        judged = call.X_val is not None or settings.validation_fraction > 0.0
        if self.graph is None or not adapting.is_open(settings):
            return settings
        if judged:
            return self._affordable(settings)
        instead = self.resolved_settings("instant")
        if adapting.is_open(instead):
            raise InputError(
                "AGC-I653",
                "a setting that says 'auto' is decided on stopping nodes",
                got="no stopping nodes",
                fix="pass X_val and y_val, or validation_fraction=0.2, or give its value",
            )
        warnings.warn(
            f"preset {self.preset!r} chooses on stopping nodes, and there are none: it falls back "
            "to preset 'instant', a ridge without epochs (max_epochs and other settings of the "
            "perceptron do nothing), which needs none; pass X_val and y_val, or "
            "validation_fraction=0.2, to let it choose",
            PresetNotice,
            stacklevel=5,
        )
        return instead

    def _affordable(self, settings: BoostedSettings) -> BoostedSettings:
        """Return settings whose look fits into memory: of a large store, those of ``tuned``."""
        graph = self.graph
        assert graph is not None
        if graph.store is None or problems.fits_into_memory(graph):
            return settings
        instead = self.resolved_settings("tuned")
        if adapting.is_open(instead):
            raise InputError(
                "AGC-I655",
                "a setting that says 'auto' is decided by a look, which needs the hops in memory",
                got=f"a store with features of {graph.n_nodes:,} × {graph.n_features:,} values",
                fix="give its value, or preset='tuned'",
            )
        warnings.warn(
            f"preset {self.preset!r} takes a look at the hops in memory, and those of this store "
            "may not fit: it falls back to preset 'tuned', one recipe for all graphs",
            PresetNotice,
            stacklevel=6,
        )
        return instead

    def _check_judge(self, settings: BoostedSettings) -> None:
        variant, own = settings.variant, getattr(self, "learner", None)
        if variant.judge == "left_out" and (own is not None or variant.learner != "ridge"):
            raise InputError(
                "AGC-I654",
                "variant.judge='left_out' needs the ridge, which alone can leave a node out",
                got=f"variant.learner={variant.learner!r}" if own is None else own,
                fix="use Variant(learner='ridge', judge='left_out'), or judge='in_sample'",
            )

    def _seed(self, before: FitState | None) -> int:
        """Return what all random streams of a fit grow from."""
        if before is not None and before.basis is not None:
            # A generator or None asks for no seed in particular: the first fit's is gone on with.
            if not isinstance(self.random_state, int | np.integer):
                return before.basis.seed
        return problems.seed_of(self.random_state)

    def _decided(
        self, settings: BoostedSettings, data: FitData, seed: int, before: FitState | None
    ) -> Decision:
        """Return the settings with everything decided, and the columns that go with them."""
        if adapting.is_open(settings):
            if self.graph is None:
                raise InputError(
                    "AGC-I652",
                    "a setting that says 'auto' is decided by a look at the graph",
                    got="graph=None",
                    fix="give its value, or pass a graph",
                )
            if before is not None and before.basis is not None:
                settings = adapting.as_before(settings, before.basis.settings)
                norm = problems.resolved_norm(settings.feature_norm, self.graph)
                settings = settings.model_copy(update={"feature_norm": norm})
                features = problems.normalized_features(self.graph, norm)
                choices, reason = getattr(self, "choices_", {}), self.params_.get("look", "")
                return Decision(
                    settings, features, self.columns_, self.coordinates_, choices, reason
                )
            nodes = hold_out(data.nodes, settings.validation_fraction, seed)
            fit_network = self._network_fits(data, seed)
            decision = adapting.decide(
                settings, self.graph, nodes, len(data.classes), seed, fit_network
            )
            logger.info("chosen by a look: %s", decision.reason)
            return decision
        settings = settings.model_copy(update={"feature_norm": data.feature_norm})
        columns = problems.kept_columns(data.features, self.graph, settings)
        coordinates = (
            self.coordinates_ if before else problems.node_coordinates(self.graph, settings)
        )
        return Decision(settings, data.features, columns, coordinates)

    def _network_fits(self, data: FitData, seed: int) -> adapting.FitNetwork:
        """Return what fits the network of some settings on a task, for a look; nobody is told."""

        def fit(settings: BoostedSettings, task: HopTask) -> Any:
            dtype, n_classes = problems.torch_dtype(task.rows.dtype), len(data.classes)
            with using(Serial()):  # short fits, for which workers would take longer to start
                make = BoostedClassifier._fit_hop(self, settings, n_classes, dtype, seed, Events())
                return make(task)

        return fit

    def _basis(self, settings: BoostedSettings, data: FitData, seed: int) -> FitBasis:
        """Return what every layer of this fit rests on."""
        learner = getattr(self, "learner", None)
        if learner is not None:
            check_learner(learner)
        described = None if learner is None else f"{learner!r} ({joblib.hash(clone(learner))[:8]})"
        return FitBasis(steering(settings), data.digest, data.classes, data.nodes, seed, described)

    def _check_depth(
        self, before: FitState | None, settings: BoostedSettings, nodes: LabeledNodes
    ) -> None:
        n_before = 0 if before is None else len(before.layers)
        if n_before and (settings.n_layers == "auto" or settings.n_layers < n_before):
            raise InputError(
                "AGC-I623",
                f"warm_start adds layers to the {n_before} there are",
                got=settings.n_layers,
                fix=f"set n_layers to at least {n_before}, or warm_start=False",
            )
        if settings.n_layers == "auto" and nodes.stop_labels is None:
            raise InputError(
                "AGC-I621",
                "n_layers='auto' needs stopping nodes to compare depths on",
                got="no stopping nodes",
                fix="pass X_val and y_val, or validation_fraction=0.2",
            )

    def _boost(self, fit: PreparedFit, events: Events) -> None:
        """Run Algorithm 1 to the depth asked for, and keep what it gives, however it ends."""
        state, n_before, rule = fit.state, len(fit.state.layers), fit.boosting.rule
        reason: Reason = "error"
        known: tuple[Any, ...] = ()  # what the model says of itself, if a new one was fitted
        try:
            for latest in fit.states(events):
                state = latest
            reason = "callback" if events.stopped else "finished"
            if state.layers and rule.ends_with(state.layers[-1].weighted_error):
                reason = "perfect layer"
            n_before -= 1  # even without a new layer: one that was cut short may be gone
            if fit.checkpoints is not None:
                fit.checkpoints.finish()
        finally:
            if len(state.layers) > n_before and state is not vars(self).get("state_"):
                self._set_fitted(fit, state)
                known = (dict(self.params_), self.stop_accuracy_)
            events.stop(StopEvent(reason, len(state.layers), *known))

    def _fit_hop(
        self,
        settings: BoostedSettings,
        n_classes: int,
        dtype: Any,
        seed: int,
        events: Events,
    ) -> FitHop:
        """Return what fits one hop: here a network that ``make_network`` gives."""

        def make_learner(generator: Any, n_features: int) -> Learner:
            learner: Learner = self.make_network(settings, n_features, n_classes, generator, dtype)
            return learner

        device = problems.checked_device(self.device)
        how = (make_learner, training_settings(settings), seed, events, device)
        n_workers = _train_workers()
        if n_workers == 1:
            return HopFitter(*how)
        from adagcn.training.data_parallel import DataParallelFitter

        return DataParallelFitter(*how, n_workers, current_engine())

    @staticmethod
    def make_network(
        settings: Any, n_features: int, n_classes: int, generator: Any, dtype: Any
    ) -> Any:
        """Return the network of one hop, at its start."""
        raise NotImplementedError

    @classmethod
    def make_learner(
        cls, settings: Any, n_features: int, n_classes: int, generator: Any, dtype: Any
    ) -> Any:
        """Return what is fitted on a hop, at its start: here the network."""
        return cls.make_network(settings, n_features, n_classes, generator, dtype)

    @classmethod
    def parameter_shapes(
        cls, settings: Any, n_features: int, n_classes: int
    ) -> dict[str, tuple[int, ...]]:
        """Return the shape of every parameter of what is fitted on a hop; here a linear map's."""
        return {"output": (n_features, n_classes)}

    def _set_fitted(self, fit: PreparedFit, state: FitState) -> None:
        basis = state.basis
        assert basis is not None
        self.__dict__.pop("kept_hops_", None)  # of another fit
        self.state_ = state
        self.classes_ = basis.classes
        self.node_columns_ = None
        if self.graph is not None:  # validate_data has done it for a plain matrix
            remember_columns(self, self.graph)
        values = {"preset": self.preset, **fit.settings.flat(), "n_threads": pool_threads()}
        self.choices_ = dict(fit.decision.choices)
        if fit.decision.reason:
            values["look"] = fit.decision.reason
        votes, labels = _stop_votes(state.layers, fit.boosting), fit.boosting.nodes.stop_labels
        self._set_uncalibrated()
        self._set_temperature(None if votes is None else votes.log_proba(), labels)
        self.params_ = Params({**values, **self._calibration_params()})
        self.seed_ = basis.seed
        self.stop_accuracy_ = (
            None if votes is None else float((votes.total.argmax(axis=1) == labels).mean())
        )
        self.column_scale_ = problems.fitted_scale(self.graph, fit.settings.feature_norm)
        self.columns_ = fit.decision.columns
        self.coordinates_ = fit.decision.coordinates
        self.on_graph_ = self.graph is not None
        self.input_digest_ = None if self.graph is None else self.graph.input_digest

    def _warn_if_collapsed(self) -> None:
        sizes = self.effective_sample_sizes_
        collapsed = np.flatnonzero(sizes < COLLAPSED_BELOW * sizes[0])
        if len(collapsed):
            first = collapsed[0]
            warnings.warn(
                f"from layer {first} on the node weights rest on few nodes (effective sample size "
                f"{sizes[first]:.1%} of {len(self.layers_[0].log_weight)}): lower reweight_rate, "
                f"now {self.params_['reweight_rate']}",
                WeightCollapseWarning,
                stacklevel=4,
            )

    def _warn_if_idle(self) -> None:
        """Tell that the released update has the factor (K − 2)/(K − 1), which is 0 for K = 2."""
        released = self.params_.get(f"{PREFIX}weight_update") == "released"
        if released and self.params_["reweight_rate"] > 0.0 and len(self.classes_) == 2:
            warnings.warn(
                "Variant(weight_update='released') never moves the node weights of two classes: "
                "use 'onehot' or 'hastie'",
                LayerWarning,
                stacklevel=4,
            )


def _train_workers() -> int:
    """Return how many workers train a layer together."""
    n_workers: int = getattr(current_engine(), "train_workers", 1)
    return n_workers


def _reset(model: Any, attributes: Mapping[str, Any]) -> None:
    """Put attributes back that scikit-learn's validation has set."""
    for name, value in attributes.items():
        if value is not None:
            setattr(model, name, value)
        elif name in vars(model):
            delattr(model, name)


def training_settings(settings: BoostedSettings) -> TrainingSettings:
    """Return the part of the settings that the training of a layer needs."""
    known = {**settings.variant.model_dump(), **settings.model_dump()}
    return TrainingSettings(**{field.name: known[field.name] for field in fields(TrainingSettings)})


def _deeper(state: FitState, kept: FitState, n_layers: int | str) -> FitState:
    """Return the state with more layers, the one at hand or that of a checkpoint; say which."""
    n_kept = len(kept.layers)
    if n_kept <= len(state.layers):
        return state
    most = n_kept if isinstance(n_layers, str) else n_layers
    text = f"going on after layer {n_kept}"
    if not isinstance(n_layers, str):
        text += f" of {n_layers}"
        if n_kept >= n_layers:
            text = f"{counted(n_layers, 'layer')} of {n_layers} are there already"
    warnings.warn(
        f"{text}: an earlier run of this fit was interrupted (Checkpoint(resume=False) starts "
        "over)",
        CheckpointNotice,
        stacklevel=5,
    )
    return replace(kept, layers=kept.layers[:most])


def _stop_votes(layers: tuple[BoostedLayer, ...], boosting: HopBoosting) -> CombinedVotes | None:
    """Return what the ensemble says of the stopping nodes; None where there are none."""
    labels = boosting.nodes.stop_labels
    if labels is None or any(layer.stop_log_proba is None for layer in layers):
        return None
    pairs = [(layer.coefficient, np.asarray(layer.stop_log_proba)) for layer in layers]
    return boosting.rule.combination.combined(pairs)
