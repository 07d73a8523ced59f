"""The page of a model: complete, escaped, small, and the same every time."""

from __future__ import annotations

import json
import re
import time
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest
from report_fixtures import HOSTILE, fitted, hostile_graph

from adagcn.data import load_dataset, make_split, with_calibration
from adagcn.data.nodesets import fit_on_split
from adagcn.errors import AdaGCNWarning, OtherGraphWarning, ResourceError
from adagcn.explain.calibration import expected_calibration_error
from adagcn.graph import Graph
from adagcn.models.support.registry import build_model, load_model
from adagcn.propagation.sparse_tensors import torch_adds_in_order
from adagcn.report import page as pages
from adagcn.report.model_page import model_page
from adagcn.report.page import LARGEST, Page, script_json, write_page
from adagcn.report.scored_nodes import (
    ScoredNodes,
    confusion,
    score_nodes,
    short_names,
    wilson_interval,
)


class Elements(HTMLParser):
    """Collects the elements of a page and checks that they are closed in order."""

    VOID = frozenset({"meta", "link", "input", "br", "img"})

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.open, self.seen, self.ids, self.text = [], [], [], []
        self.feed(text)
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.seen.append((tag, dict(attrs)))
        self.ids += [value for name, value in attrs if name == "id"]
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.seen.append((tag, dict(attrs)))
        self.ids += [value for name, value in attrs if name == "id"]

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] not in ("script", "style"):
            self.text.append(data)

    def tags(self):
        return {tag for tag, _ in self.seen}


@pytest.fixture(scope="module")
def graph():
    return hostile_graph()


@pytest.fixture(scope="module")
def page(graph):
    model, split = fitted(graph)
    return model_page(model, graph, split)


@pytest.fixture(scope="module")
def html(page):
    return page.html()


def test_the_page_is_well_formed_and_has_every_section(html):
    found = Elements(html)
    assert len(found.ids) == len(set(found.ids))
    assert {"summary", "depth", "labels", "map", "data", "settings"} <= set(found.ids)
    links = [attrs["href"] for tag, attrs in found.seen if tag == "a"]
    assert all(link.startswith("#") and link[1:] in found.ids for link in links)
    headings = [tag for tag, _ in found.seen if re.fullmatch(r"h\d", tag)]
    assert headings[0] == "h1"
    assert headings.count("h1") == 1


def test_what_users_wrote_is_text_everywhere(html):
    found = Elements(html)
    assert not {"b", "i", "u", "img"} & found.tags()
    assert sum(tag == "script" for tag, _ in found.seen) == 2  # the data and our own
    shown = " ".join(" ".join(found.text).split())
    assert HOSTILE[0] in shown
    assert "<b>my</b> graph" in shown
    assert "7 rows left out: <img src=x onerror=alert(1)>" in shown
    assert "\x1b" not in html
    assert "\\x1b[31mred" in shown


def test_the_script_is_the_only_one_that_the_policy_lets_run(html):
    policy = next(a["content"] for t, a in Elements(html).seen if "http-equiv" in a)
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert "script-src 'sha256-" in policy
    assert not re.search(r'(?:src|href)="(?!#|data:)', html.split("<script>")[0])
    assert "https:" not in html.replace("http://www.w3.org", "")


def test_the_data_of_the_script_hold_no_tag(html, graph):
    (data,) = re.findall(r'id="page-data">(.*?)</script>', html)
    assert "<" not in data
    found = json.loads(data)
    assert sorted(found["labels"]) == sorted(short_names(graph.classes.tolist()))


def test_the_same_model_gives_the_same_bytes(graph, html, tmp_path):
    model, split = fitted(graph)
    size = write_page(tmp_path / "page.html", model_page(model, graph, split))
    assert (tmp_path / "page.html").read_bytes() == html.encode()
    assert size == len(html.encode()) < LARGEST


def test_the_headline_is_what_the_model_scores(graph, page):
    model, split = fitted(graph)
    ids, labels = graph.ids_and_labels(split.score_nodes)
    accuracy = float((model.predict(ids) == labels).mean())
    assert page.facts["accuracy"] == accuracy
    low, high = page.facts["interval"]
    assert low < accuracy < high
    assert f"{100 * accuracy:.1f}&nbsp;%" in page.html()
    assert page.content["depth"]["stages"][-1]["right"] == round(accuracy * len(ids))
    by_depth = [each for each in model.staged_score(ids, labels)]
    right = [each["right"] / len(ids) for each in page.content["depth"]["stages"]]
    assert right == pytest.approx(by_depth)


def test_every_depth_has_a_confusion_matrix_of_all_scored_nodes(page):
    tables = [np.array(each).reshape(3, 3) for each in page.content["classes"]["by_depth"]]
    assert {table.sum() for table in tables} == {page.facts["nodes"]}
    assert tables[-1].tolist() == page.content["classes"]["matrix"]
    assert tables[-1].trace() == page.content["headline"]["n_right"]


def test_figures_follow_the_theme_and_have_text_alternatives(html):
    figures = re.findall(r'<svg class="figure".*?</svg>', html, re.DOTALL)
    assert figures
    for figure in figures:
        assert not re.search(r"#[0-9a-fA-F]{6}\b", figure)
        assert 'role="img"' in figure
        assert "<title" in figure
        assert "<desc" in figure


def test_a_model_knows_whether_it_was_fitted_on_the_split(graph):
    model, split = fitted(graph)
    assert "had no part in the fit" in model_page(model, graph, split, advice=False).content["fit"]
    other = make_split(graph, "holdout:1")
    assert "not fitted on the split" in model_page(model, graph, other, advice=False).content["fit"]
    every = replace(split, name="none")
    page = model_page(model, graph, every, advice=False)
    assert page.facts["nodes"] == len(graph.labeled_nodes)
    assert "Every labeled node is scored" in page.content["fit"]


def test_a_model_that_is_not_boosted_has_the_sections_that_apply(graph):
    model, split = fitted(graph, "appnp", preset="paper", max_epochs=5)
    page = model_page(model, graph, split, advice=False)
    found = Elements(page.html())
    assert {"summary", "labels", "map", "data", "settings"} <= set(found.ids)
    assert not {"depth", "choices"} & set(found.ids)
    assert "keeping a share of each node" in page.content["headline"]["does"]


def test_another_graph_is_told_and_another_order_of_columns_is_none(graph, tmp_path):
    model, split = fitted(graph)
    model.save(tmp_path / "m.adagcn")
    turned = replace(
        graph, features=graph.features[:, ::-1], feature_names=graph.feature_names[::-1]
    )
    with pytest.warns(AdaGCNWarning):
        loaded = load_model(tmp_path / "m.adagcn", graph=turned)
    page = model_page(loaded, turned, split, advice=False)
    assert not page.content["settings"]["other_graph"]
    links = graph.adjacency.tolil()
    links[0, 1] = links[1, 0] = 5.0
    rewired = replace(graph, adjacency=links.tocsr())
    with pytest.warns(OtherGraphWarning):
        loaded = load_model(tmp_path / "m.adagcn", graph=rewired)
    html = model_page(loaded, rewired, split, advice=False).html()
    assert "fitted on another graph than this one" in html


def test_node_weights_are_drawn_where_they_move(graph):
    model, split = fitted(graph, preset="tuned", n_layers=3, max_epochs=5, reweight_rate=1.0)
    section = model_page(model, graph, split, advice=False).content["weights"]
    assert "<svg" in section["svg"]
    model, split = fitted(graph, preset="tuned", n_layers=3, max_epochs=5)
    section = model_page(model, graph, split, advice=False).content["weights"]
    assert "svg" not in section
    assert "does not re-weight" in section["words"]


def test_two_labels_and_a_handful_of_nodes_are_enough():
    edges = [(k, k + 1) for k in range(11)]
    labels = {k: ["no", "yes"][k >= 6] for k in range(12)}
    features = np.repeat(np.eye(2, dtype=np.float32), 6, axis=0)
    graph = Graph.from_edges(edges, features=features, labels=labels)
    model, split = fitted(graph)
    page = model_page(model, graph, split, advice=False)
    assert page.facts["map_nodes"] <= 12
    Elements(page.html())


def test_a_label_that_the_model_never_saw_is_wrong_and_shown(graph):
    labels = graph.labels.copy()
    known = replace(graph, labels=np.where(labels == 2, -1, labels))
    model, split = fitted(known)
    whole = replace(split, score_nodes=np.flatnonzero(labels == 2), name="others")
    page = model_page(model, graph, whole, advice=False)
    assert page.facts["accuracy"] == 0.0
    assert "log-loss" not in page.facts["measures"]


def test_long_and_many_labels_stay_within_the_limit():
    n_labels = 60
    graph = hostile_graph(360)
    labels = np.arange(360) % n_labels
    classes = np.array([f"{k:02d}" + "<&>" * 3000 for k in range(n_labels)])
    graph = replace(graph, labels=labels, classes=classes)
    model, split = fitted(graph)
    page = model_page(model, graph, split, advice=False)
    assert page.content["classes"]["matrix"] is None
    assert len(page.html().encode()) < 500_000


def test_a_page_that_grew_too_large_is_refused(monkeypatch, page):
    monkeypatch.setattr(pages, "LARGEST", 1000)
    with pytest.raises(ResourceError, match="its limit is 1,000"):
        page.html()


def test_json_for_a_script_is_json():
    value = {"<&>": ["</script><!--", 1.5, None]}
    assert json.loads(script_json(value)) == value
    assert not set(script_json(value)) & set("<>&")


def test_confusion_counts_pairs():
    truth, predicted = np.array([0, 0, 1, 2]), np.array([0, 1, 1, 0])
    assert confusion(truth, predicted, 3).tolist() == [[1, 1, 0], [0, 1, 0], [1, 0, 0]]


def test_wilsons_interval_contains_the_ends():
    assert wilson_interval(0, 10)[0] == pytest.approx(0.0, abs=1e-12)
    assert wilson_interval(10, 10)[1] == pytest.approx(1.0, abs=1e-12)
    # (p + z²/2n ± z √(p(1−p)/n + z²/4n²)) / (1 + z²/n) by hand for p = 0.8, n = 100
    assert wilson_interval(80, 100) == pytest.approx((0.7112, 0.8666), abs=1e-4)


def test_the_hardest_nodes_are_wrong_and_surest_of_it():
    proba = np.array([[0.9, 0.1], [0.6, 0.4], [0.2, 0.8], [0.45, 0.55]])
    scored = ScoredNodes(np.arange(4), ("a", "b"), np.array([1, 1, 1, 1]), proba, np.array([0, 1]))
    assert scored.hardest(3).tolist() == [0, 1, 3]
    assert scored.right.tolist() == [False, False, True, True]
    assert scored.unsure.tolist() == [False, False, False, True]
    assert scored.truth_proba.tolist() == [0.1, 0.4, 0.8, 0.55]


def test_scored_nodes_are_the_models_answers(graph):
    model, split = fitted(graph)
    scored = score_nodes(model, graph, split.score_nodes)
    ids, labels = graph.ids_and_labels(split.score_nodes)
    assert (scored.right == (model.predict(ids) == labels)).all()


def test_a_page_without_jinja_says_how_to_get_it(monkeypatch):
    monkeypatch.setattr(pages, "find_spec", lambda name: None)
    with pytest.raises(ResourceError, match=r"adagcn\[report\]"):
        Page("model.html", {}).html()


def test_reasons_add_up_to_the_margin(graph, page):
    model, _ = fitted(graph)
    cards = page.content["hard"]["cards"]
    assert len(cards) == 12
    for card in cards:
        assert sum(part["part"] for part in card["hops"]["rows"]) == pytest.approx(card["log_odds"])
        assert max(part["width"] for part in card["hops"]["rows"]) == 1.0
        assert card["features"]["rows"][0]["name"].startswith("<u>column</u>")
    data = page.content["script_data"]
    nodes = [node for node in graph.node_ids if str(node) in {each["id"] for each in data["nodes"]}]
    found = model.explain(nodes, n_features=0, n_neighbors=0)
    sums = [sum(parts) for parts in data["map_parts"]]
    assert sums == pytest.approx([each.margin for each in found], abs=0.01)


def test_the_hop_figure_is_of_the_hops_that_vote(graph, page):
    model, _ = fitted(graph)
    assert page.content["script_data"]["voting"] == [4, 5, 6, 7]
    assert len(model.layers_) == 8
    assert "the last 4 vote" in page.content["depth"]["voting"]


def test_the_advice_never_sees_a_scored_label(graph):
    model, split = fitted(graph)
    section = model_page(model, graph, split).content["advice"]
    assert section["n_labels"] == len(split.train_nodes) + len(split.stop_nodes)
    labels = graph.labels.copy()
    labels[split.score_nodes] = (labels[split.score_nodes] + 1) % 3
    other = model_page(model, replace(graph, labels=labels), split).content["advice"]
    assert other == section


def test_calibration_and_prediction_sets_have_their_numbers(graph):
    chosen = with_calibration(make_split(graph, "holdout:0", stop=40), 20)
    model = build_model("adagcn", graph, preset="instant", random_state=0)
    model.set_params(calibrate="temperature")
    fit_on_split(model, graph, chosen)
    page = model_page(model, graph, chosen, advice=False)
    section = page.content["certainty"]
    ids, labels = graph.ids_and_labels(chosen.score_nodes)
    proba = model.predict_proba(ids)
    assert section["error"] == expected_calibration_error(labels, proba, model.classes_)
    assert section["temperature"] == model.temperature_
    model.temperature_ = None
    plain = expected_calibration_error(labels, model.predict_proba(ids), model.classes_)
    assert section["error_before"] == pytest.approx(plain)
    covered = model_page(model, graph, chosen, advice=False).content["certainty"]["sets"]
    assert section["sets"]["n_calibration"] == covered["n_calibration"] == 20
    assert sum(each["n"] for each in section["sets"]["by_class"]) == len(ids)
    assert "had no part in the fit" in page.content["fit"]


@pytest.mark.full
@pytest.mark.dataset
def test_a_page_costs_at_most_two_fits(dataset_dir):
    graph = load_dataset("cora_ml", data_dir=dataset_dir)
    model, split = fitted(graph, preset="instant", split="val:0")
    model_page(model, graph, split).html()  # imports and first calls are nobody's cost
    fitting, drawing = [], []
    for _ in range(2):  # in turn: the machine may be busy
        started = time.process_time()
        model, split = fitted(graph, preset="tuned", split="val:0")
        fitting.append(time.process_time() - started)
        started = time.process_time()
        size = len(model_page(model, graph, split).html().encode())
        drawing.append(time.process_time() - started)
    # The goal is 2; on an Intel Xeon, where scipy multiplies, 2.03 was measured beside other work.
    assert min(drawing) <= (2.0 if torch_adds_in_order() else 3.0) * min(fitting)
    assert size < LARGEST
