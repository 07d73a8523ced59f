"""One epoch of everything, of equal width and columns: our systems first, then the peers."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from adagcn.bench.measures import Row, Section, measure, ratio
from adagcn.bench.our_models import adagcn_task, baseline, graph_made_anew
from adagcn.bench.peers import Peer
from adagcn.bench.speed_plan import ADAGCN, HIDDEN_UNITS, HOP, SpeedPlan
from adagcn.bench.task import Task
from adagcn.bench.timing import Contestant, Tick

# Our systems at that width, in total: a head of GAT has 8 units, GraphSAGE two halves of 32.
SYSTEMS: Mapping[str, tuple[str, Mapping[str, Any]]] = MappingProxyType(
    {
        "gcn_es": ("GCN", {"hidden_units": HIDDEN_UNITS}),
        "sgc": ("SGC (Â inside)", {"precompute": False}),
        "appnp": ("APPNP", {"hidden_units": HIDDEN_UNITS}),
        "ppnp": ("PPNP", {"hidden_units": HIDDEN_UNITS}),
        "gat": ("GAT", {"n_heads": 8, "hidden_units": HIDDEN_UNITS // 8}),
        "fastgcn": ("FastGCN", {"hidden_units": HIDDEN_UNITS}),
        "graphsage": ("GraphSAGE", {"hidden_units": HIDDEN_UNITS // 2}),
    }
)


def epoch_section(task: Task, plan: SpeedPlan, tick: Tick) -> Section:
    """Return the time of an epoch: a training step and an evaluation on the stopping nodes.

    Every contestant has all columns of the features and the same hidden width.
    """
    present = [peer for peer in plan.peers if peer.is_installed]
    contestants = [*_ours(task), *_peers(task, present)]
    samples = plan.epochs(contestants, tick)
    notes = {peer.name: {"note": peer.note} for peer in present}
    measured = [
        Row(
            each.name,
            each.group,
            measure(samples[each.name]),
            ratio(samples[each.name], samples[ADAGCN]),
            notes.get(each.name, {}),
        )
        for each in contestants
    ]
    absent = [
        Row(peer.name, "peer", None, None, {"note": peer.missing})
        for peer in plan.peers
        if not peer.is_installed
    ]
    return Section(
        key="epoch",
        dataset=task.name,
        title=f"one epoch with stopping evaluation, {HIDDEN_UNITS} hidden units, all columns",
        ratio_name="AdaGCN is faster by",
        rows=(*measured, *absent),
        facts={
            "hidden_units": HIDDEN_UNITS,
            "hop": HOP,
            "n_train": len(task.split.train_nodes),
            "n_stop": len(task.split.stop_nodes),
        },
    )


def _ours(task: Task) -> list[Contestant]:
    """Return AdaGCN's epochs and those of our other systems.

    AdaGCN is ``tuned`` but for its width and its columns, which are those of the others: an early
    layer, and a later one that also learns from pseudo-labels. Beside them is its own number of
    columns. At the end are AdaGCN and GCN as the paper's code runs them: a pass over every node, Â
    computed anew.
    """
    whole = adagcn_task(task, hidden_units=HIDDEN_UNITS, max_features="all")
    strongest = adagcn_task(task, hidden_units=HIDDEN_UNITS)
    (rows,), (pseudo,) = whole.hop_tasks([HOP]), whole.hop_tasks([HOP], pseudo=True)
    (fewer,) = strongest.hop_tasks([HOP])
    made = {key: baseline(task, key, name=name, **given) for key, (name, given) in SYSTEMS.items()}
    others = {key: each for key, each in made.items() if each is not None}
    published = [whole.every_node(rows, f"{ADAGCN}, every node each epoch")]
    if "gcn_es" in others:
        published.append(graph_made_anew(others["gcn_es"], task, "GCN, Â anew each epoch"))
    return [
        whole.contestant(rows, ADAGCN),
        whole.contestant(pseudo, f"{ADAGCN}, pseudo-labels too"),
        strongest.contestant(fewer, f"{ADAGCN}, its own columns"),
        *others.values(),
        *published,
    ]


def _peers(task: Task, peers: list[Peer]) -> list[Contestant]:
    (rows,) = adagcn_task(task, hidden_units=HIDDEN_UNITS, max_features="all").hop_tasks([HOP])
    return [peer.contestant(task, rows, HIDDEN_UNITS) for peer in peers]
