"""``adagcn bench large``: the paper's Table 4, on a generated graph as large as Reddit.

Epochs at the widths of the paper (GCN 16, APPNP and PPNP 64, AdaGCN 100 hidden units), whole fits
with their F1 (by depth, for AdaGCN), the memory of AdaGCN's fit relative to the data, and ways to
propagate a hop.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from types import MappingProxyType
from typing import Any

import numpy as np
from sklearn.metrics import f1_score

from adagcn.bench import propagation
from adagcn.bench.kept_fits import KeptFits, circumstances
from adagcn.bench.measures import Row, Section, measure, ratio
from adagcn.bench.memory import data_bytes, peak_growth
from adagcn.bench.our_models import adagcn_task, baseline
from adagcn.bench.speed_plan import ADAGCN
from adagcn.bench.task import Task
from adagcn.bench.timing import Contestant, Tick, epoch_seconds, seconds_of
from adagcn.data.generators import planted_partition
from adagcn.data.nodesets import Split
from adagcn.errors import counted
from adagcn.graph import Graph
from adagcn.models.support.registry import build_model, model_class

N_FEATURES = 602
N_CLASSES = 41
LABELED_SHARE = 0.659
STOP_SHARE = 0.1
# One edge in five more than chance stays within its class: one hop helps a lot, and many hops blur.
HOMOPHILY = 0.2
SIGNAL = 3.0  # of the features: a perceptron alone is right about every second node
HOP = 1  # whose rows the epoch of AdaGCN is timed on; a dense hop costs as much as any other

SYSTEMS: Mapping[str, tuple[str, Mapping[str, Any]]] = MappingProxyType(
    {
        "adagcn": (ADAGCN, {"hidden_units": 100}),
        "gcn": ("V.GCN", {"hidden_units": 16}),
        "appnp": ("APPNP", {"hidden_units": 64}),
        "ppnp": ("PPNP", {"hidden_units": 64}),
    }
)
# Whose whole fits can be measured: also of AdaGCN with as many layers as the stopping nodes say, of
# its presets that leave nothing to set, of GCN by PPNP's stopping rule, of SGC and of a perceptron
# that knows no edge. With the settings that were chosen there, these are the rows of table4.toml.
FITTED: Mapping[str, tuple[str, Mapping[str, Any]]] = MappingProxyType(
    {
        **SYSTEMS,
        "adagcn_auto": (f"{ADAGCN}, auto depth", {**SYSTEMS["adagcn"][1], "n_layers": "auto"}),
        "adagcn_adaptive": (f"{ADAGCN}, adaptive", {}),
        "adagcn_instant": (f"{ADAGCN}, instant", {}),
        "gcn_es": ("GCN", {}),
        "sgc": ("SGC", {}),
        "mlp": ("perceptron", {"hidden_units": 100}),
    }
)
# The presets of those that do not have their model's own; a key is that of a model, or begins so.
_PRESETS: Mapping[str, str] = MappingProxyType(
    {
        "adagcn": "tuned",
        "adagcn_auto": "tuned",
        "adagcn_adaptive": "adaptive",
        "adagcn_instant": "instant",
        "gcn_es": "authors",
    }
)
_AS_THEY_ARE = ("adagcn_adaptive", "adagcn_instant")  # epochs and layers are not ours to say


@dataclass(frozen=True)
class LargePlan:
    """How much is measured.

    Parameters
    ----------
    n_nodes, n_edges : int
        Size of the graph that is generated.
    homophily : float
        Share of its edges that are drawn within a class.
    repetitions : int
        Samples of each epoch, and of each way to propagate a hop.
    fits : int
        Whole fits of each system, with different seeds.
    max_epochs : int
        Maximum epochs of a whole fit, or of each layer of AdaGCN.
    n_layers : int
        Layers of AdaGCN; F1 is given for every depth up to this.
    memory : bool
        Whether the peak memory of AdaGCN's fit is measured, in a separate process.
    hops : bool
        Whether ways to propagate a hop are measured.
    settings : mapping
        Settings of single systems in whole fits, by their key; they go before all others.
    """

    n_nodes: int = 12_000
    n_edges: int = 300_000
    homophily: float = HOMOPHILY
    repetitions: int = 5
    fits: int = 1
    max_epochs: int = 30
    n_layers: int = 4
    memory: bool = True
    hops: bool = False
    settings: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


QUICK = LargePlan()
FULL = LargePlan(n_nodes=232_965, n_edges=11_606_919, max_epochs=100, n_layers=8)


def measure_large(
    plan: LargePlan,
    *,
    timed: Sequence[str] = tuple(SYSTEMS),
    fitted: Sequence[str] = tuple(FITTED),
    kept: KeptFits | None = None,
    seed: int = 0,
    tick: Tick,
) -> Iterator[Section]:
    """Yield the requested sections: hops, epochs and whole fits.

    Parameters
    ----------
    plan : LargePlan
        How much.
    timed, fitted : sequence of str
        Keys of :data:`SYSTEMS` to time an epoch of, and of :data:`FITTED` to fit. Ratios are to
        AdaGCN, if it is among them.
    kept : KeptFits, optional
        Recorded fits, to which new ones are added.
    seed : int
        Seed of the graph and the fits.
    tick : callable
        Called after every sample.
    """
    task = make_large_task(plan.n_nodes, plan.n_edges, seed, homophily=plan.homophily)
    if plan.hops:
        yield from _hop_sections(task, plan, tick)
    if timed:
        yield _epoch_section(task, plan, timed, tick)
    if fitted:
        yield _fit_section(task, plan, fitted, kept or KeptFits(None), tick)


def make_large_task(n_nodes: int, n_edges: int, seed: int, *, homophily: float = HOMOPHILY) -> Task:
    """Generate the graph, and label the same share of nodes as in Reddit."""
    graph = planted_partition(
        n_nodes,
        N_CLASSES,
        N_FEATURES,
        seed=seed,
        homophily=homophily,
        mean_degree=2 * n_edges / n_nodes,
        feature_signal=SIGNAL,
    )
    order = np.random.default_rng(seed).permutation(n_nodes)
    ends = np.round(np.cumsum([LABELED_SHARE, STOP_SHARE]) * n_nodes).astype(int)
    return Task(graph, Split(f"random:{seed}", *np.split(order, ends)), seed)


def _hop_sections(task: Task, plan: LargePlan, tick: Tick) -> Iterator[Section]:
    wanted = replace(propagation.FULL, repetitions=plan.repetitions)
    for section in propagation.measure_propagation([task.graph], wanted, tick=tick):
        yield replace(section, dataset=_name(task))


def _epoch_section(task: Task, plan: LargePlan, timed: Sequence[str], tick: Tick) -> Section:
    contestants = dict(zip(timed, _contestants(task, timed), strict=True))
    samples = epoch_seconds(
        list(contestants.values()),
        repetitions=plan.repetitions,
        sample_seconds=0.0,
        tick=tick,
    )
    rows = [
        Row(
            each.name,
            each.group,
            measure(samples[each.name]),
            ratio(samples[each.name], samples[ADAGCN]) if ADAGCN in samples else None,
            dict(SYSTEMS[key][1]),
        )
        for key, each in contestants.items()
    ]
    return Section(
        key="epoch",
        dataset=_name(task),
        title="one epoch with stopping evaluation, at the paper's widths",
        ratio_name="AdaGCN is faster by",
        rows=tuple(rows),
        facts=_facts(task, plan),
    )


def _contestants(task: Task, timed: Sequence[str]) -> Iterator[Contestant]:
    for key in timed:
        name, given = SYSTEMS[key]
        if key == "adagcn":
            ada = adagcn_task(task, hidden_units=given["hidden_units"])
            (rows,) = ada.hop_tasks([HOP])
            yield ada.contestant(rows, name)
            continue
        system = baseline(task, key, name=name, **given)
        assert system is not None  # all of them are networks
        yield system


@dataclass(frozen=True)
class _Fit:
    """One whole fit: its seconds, and F1 on the scored nodes (of every depth, for AdaGCN)."""

    seconds: float
    micro: float
    macro: float
    by_depth: Sequence[float] = ()


def _fit_section(
    task: Task, plan: LargePlan, fitted: Sequence[str], kept: KeptFits, tick: Tick
) -> Section:
    found: dict[str, list[_Fit]] = {key: [] for key in fitted}
    n_kept = 0
    for repetition in range(plan.fits):
        for key in fitted:
            words = _words(task, key, plan, task.seed + repetition)
            known = kept.find(words)
            if known is None:
                fit = fit_whole(task, key, plan, task.seed + repetition)
                kept.add(words, asdict(fit))
            else:
                fit = _Fit(**known)
                n_kept += 1
            found[key].append(fit)
            tick()
    seconds = {key: np.array([fit.seconds for fit in fits]) for key, fits in found.items()}
    rows = [
        Row(
            FITTED[key][0],
            "adagcn" if _is_adagcn(key) else "ours",
            measure(seconds[key]),
            ratio(seconds[key], seconds["adagcn"]) if "adagcn" in seconds else None,
            {**_fit_facts(fits), "settings": dict(plan.settings.get(key, {}))},
        )
        for key, fits in found.items()
    ]
    peak = _peak(plan, task.seed) if plan.memory else None
    facts = {
        **_facts(task, plan),
        "fits": plan.fits,
        "fits_kept": n_kept,
        "max_epochs": plan.max_epochs,
        "n_layers": plan.n_layers,
        "data_bytes": data_bytes(task.graph),
        "peak_bytes": peak,
        "peak_over_data": None if peak is None else peak / data_bytes(task.graph),
    }
    return Section(
        key="large_fit",
        dataset=_name(task),
        title=_fit_title(plan, fitted),
        ratio_name="AdaGCN is faster by",
        rows=tuple(rows),
        facts=facts,
    )


def _fit_title(plan: LargePlan, fitted: Sequence[str]) -> str:
    """Return what the fits are, with every limit on epochs that is not the plan's."""
    limits = ["each layer, for AdaGCN"]
    names: dict[int | None, list[str]] = {}
    for key in fitted:
        limit = _settings(key, plan).get("max_epochs")
        if limit != plan.max_epochs:
            names.setdefault(limit, []).append(FITTED[key][0])
    for limit, others in names.items():
        at_most = "as its preset says" if limit is None else f"at most {counted(limit, 'epoch')}"
        limits += [f"{name}: {at_most}" for name in others]
    graph = "" if plan.homophily == HOMOPHILY else f", homophily {plan.homophily:g}"
    runs = f"{counted(plan.fits, 'run')}{graph}"
    spread = ", F1 with their standard deviation" if plan.fits > 1 else ""
    epochs = counted(plan.max_epochs, "epoch")
    return f"whole fits of at most {epochs} ({'; '.join(limits)}); {runs}{spread}"


def model_of(key: str) -> str:
    """Return the key of the model behind a key of :data:`FITTED`."""
    return "adagcn" if _is_adagcn(key) else key


def fit_whole(task: Task, key: str, plan: LargePlan, seed: int) -> _Fit:
    """Fit one system and score it."""
    model = large_model(task.graph, key, plan, seed)
    seconds = seconds_of(lambda: model.fit(**task.labeled))
    nodes, labels = task.graph.ids_and_labels(task.split.score_nodes)
    staged = model.staged_predict(nodes) if _is_adagcn(key) else [model.predict(nodes)]
    scores = [
        (f1_score(labels, found, average="micro"), f1_score(labels, found, average="macro"))
        for found in staged
    ]
    micro, macro = (float(score) for score in scores[-1])
    by_depth = tuple(float(micro) for micro, _ in scores) if _is_adagcn(key) else ()
    return _Fit(seconds, micro, macro, by_depth)


def large_model(graph: Graph, key: str, plan: LargePlan, seed: int) -> Any:
    """Return the model of a whole fit, not fitted yet."""
    preset = _PRESETS.get(key) or model_class(key).default_preset
    settings = _settings(key, plan)
    return build_model(model_of(key), graph, preset=preset, settings=settings, random_state=seed)


def _settings(key: str, plan: LargePlan) -> dict[str, Any]:
    layers = {"n_layers": plan.n_layers} if _is_adagcn(key) else {}
    epochs = {} if key in _AS_THEY_ARE else {"max_epochs": plan.max_epochs, **layers}
    return {**epochs, **FITTED[key][1], **plan.settings.get(key, {})}


def _words(task: Task, key: str, plan: LargePlan, seed: int) -> dict[str, Any]:
    """Return all that determines a whole fit and its time."""
    return {
        "system": key,
        "settings": _settings(key, plan),
        "seed": seed,
        "graph": {"seed": task.seed, **_facts(task, plan)},
        **circumstances(),
    }


def _is_adagcn(key: str) -> bool:
    return key.startswith("adagcn")


def _fit_facts(fits: Sequence[_Fit]) -> dict[str, Any]:
    facts: dict[str, Any] = {}
    for kind in ("micro", "macro"):
        scores = [getattr(fit, kind) for fit in fits]
        facts[f"f1_{kind}"] = float(np.mean(scores))
        facts[f"f1_{kind}_deviation"] = float(np.std(scores, ddof=1)) if len(fits) > 1 else None
    if fits[0].by_depth:  # as far as all of them go, where each has a depth of its own
        facts["n_layers"] = [len(fit.by_depth) for fit in fits]
        common = min(facts["n_layers"])
        facts["f1_by_depth"] = np.mean([f.by_depth[:common] for f in fits], axis=0).tolist()
    return facts


def _peak(plan: LargePlan, seed: int) -> int | None:
    """Return the bytes that graph, features and AdaGCN's fit take beyond the bare interpreter."""
    settings = plan.settings.get("adagcn", {})
    return peak_growth(
        _short_fit,
        _fit_a_little,
        (plan.n_nodes, plan.n_edges, seed, settings),
        warm_up=(600, 3_000, seed, settings),
    )


def _short_fit(
    n_nodes: int, n_edges: int, seed: int, settings: Mapping[str, Any]
) -> tuple[Task, LargePlan]:
    """Return a task, and a few layers for a few epochs, unless the settings say otherwise.

    Further layers keep only predictions on stopping nodes; homophily changes no size.
    """
    plan = LargePlan(max_epochs=3, n_layers=3, settings={"adagcn": settings})
    return make_large_task(n_nodes, n_edges, seed), plan


def _fit_a_little(made: tuple[Task, LargePlan]) -> None:
    task, plan = made
    fit_whole(task, "adagcn", plan, task.seed)


def _name(task: Task) -> str:
    return f"{task.graph.n_nodes:,} nodes"


def _facts(task: Task, plan: LargePlan) -> dict[str, Any]:
    return {
        "n_nodes": task.graph.n_nodes,
        "n_edges": task.graph.adjacency.nnz // 2,
        "n_features": N_FEATURES,
        "n_classes": N_CLASSES,
        "n_train": len(task.split.train_nodes),
        "n_stop": len(task.split.stop_nodes),
        "homophily": plan.homophily,
        "feature_signal": SIGNAL,
    }
