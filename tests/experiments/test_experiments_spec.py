from __future__ import annotations

import experiment_fixtures as toy
import pytest

from adagcn.bench import large
from adagcn.data import CATALOG
from adagcn.errors import InputError
from adagcn.experiments.spec_files import load_spec, make_spec, parse_spec, shipped_specs
from adagcn.models.support.boosted_settings import flattened
from adagcn.models.support.registry import build_model

GOOD = """
title = "Mine"
splits = "val"
n_splits = 3
columns = [{ label = "Cora", dataset = "cora", train_per_class = 8 }]
rows = [{ label = "a", model = "adagcn", preset = "paper", settings = { hidden_units = 8 } }]
[paper.a]
Cora = [85.0, 0.2]
"""


@pytest.mark.parametrize("name", shipped_specs())
@pytest.mark.filterwarnings("ignore::adagcn.errors.PresetNotice")
def test_a_shipped_spec_is_sound(name):
    spec = load_spec(name)
    assert all(column.source or column.dataset in CATALOG for column in spec.columns)
    for row in spec.rows:
        model = build_model(row.model, None, preset=row.preset, settings=row.settings)
        settings = flattened(model.resolved_settings().model_dump())
        settings["class_weight"] = model.class_weight
        assert settings.items() >= row.settings.items()


def size_of(spec, row):
    return spec.splits_of(row), {spec.inits_of(row, column) for column in spec.columns}


def test_table2_is_the_papers_protocol():
    spec = load_spec("table2")
    assert (spec.splits, spec.n_splits, spec.n_inits) == ("test", 20, 5)
    assert [column.dataset for column in spec.columns] == [
        "citeseer", "cora_ml", "pubmed", "ms_academic",
    ]  # fmt: skip
    assert {column.train_per_class for column in spec.columns} == {20}
    ours = [row for row in spec.rows if row.model == "adagcn"]
    sizes = {(row.preset, row.columns is None): size_of(spec, row) for row in ours}
    assert sizes == {
        ("tuned", True): (20, {5}), ("boosted", True): (20, {5}),
        ("adaptive", True): (20, {5}), ("instant", True): (20, {1}),
        ("unweighted", True): (20, {5}), ("released", True): (20, {1}), ("paper", True): (20, {1}),
        ("released", False): (1, {1}), ("paper", False): (1, {1}),  # at the paper's own width
    }  # fmt: skip
    for row in ours:
        means = [spec.published(row, column)[0] for column in spec.columns]
        assert means == pytest.approx([0.7668, 0.8597, 0.7995, 0.9317])


def test_table2_has_every_system_that_the_paper_prints():
    spec = load_spec("table2")
    others = {row.label: row for row in spec.rows if row.model != "adagcn"}
    assert list(others) == [
        "V.GCN", "GCN", "N-GCN", "GAT", "JK", "JK, two layers and output", "BT.FP", "PPNP", "APPNP",
        "PPNP (ours)", "APPNP (ours)",
    ]  # fmt: skip
    assert {spec.splits_of(row) for row in others.values()} == {20}
    for label, row in others.items():
        often = 5 if label in ("GCN", "APPNP") else 1
        assert [spec.inits_of(row, column) for column in spec.columns] == [often, often, 1, 1]
    citeseer, pubmed = spec.columns[0], spec.columns[2]
    assert spec.published(others["APPNP"], citeseer) == pytest.approx((0.7573, 0.0030))
    assert spec.published(others["PPNP"], pubmed) is None  # out of memory in the paper


def test_figure3_has_one_stopping_rule_for_every_network():
    spec = load_spec("figure3")
    rules = {}
    for row in spec.rows:
        if row.depth is not None:
            model = build_model(row.model, None, preset=row.preset, settings=row.settings)
            chosen = model.resolved_settings()
            rules[row.depth.curve] = chosen.stop_on, chosen.max_epochs, chosen.patience
    assert set(rules) == {"SGC", "GCN", "GCN, residual"}
    assert set(rules.values()) == {("ranked", 10_000, 100)}


def test_figure3_has_its_boosted_curves_from_runs_of_table2():
    table = {(row.preset, *row.settings.items()) for row in load_spec("table2").rows}
    for name in ("figure3", "figure3_boosted"):
        ours = [row for row in load_spec(name).rows if row.model == "adagcn"]
        assert {(row.preset, *row.settings.items()) for row in ours} <= table


def test_pareto_shares_its_runs_with_the_tables():
    def cells(name):
        spec = load_spec(name)
        return {
            (column.dataset, row.model, row.preset, str(spec.settings_of(row, column)))
            for row in spec.rows
            for column in spec.columns
            if spec.has(row, column)
        }

    # The rows of no table: the controls, and the systems of Figures 3 and 5.
    own = {"adasgc", "gcn_res", "sgc", "label_propagation", "mlp", "logistic"}
    others = {cell for cell in cells("pareto") if cell[1] not in own}
    assert others <= cells("table2") | cells("rivals")


def test_fresh_is_table2_on_splits_and_seeds_of_their_own():
    spec = load_spec("fresh")
    assert (spec.splits, spec.seeds, spec.n_inits) == ("fresh", "derived", 1)
    assert spec.rows[0].model == "adagcn"
    sizes = {c.dataset: spec.splits_of(spec.rows[0], c) for c in spec.columns}
    assert sizes == {"citeseer": 20, "cora_ml": 20, "pubmed": 20, "ms_academic": 10}


def test_the_development_graphs_have_few_labels_or_their_published_splits():
    spec = load_spec("development")
    few = [column for column in spec.columns if column.splits is None]
    published = [column for column in spec.columns if column.splits is not None]
    assert {(column.train_per_class, column.stop) for column in few} == {(20, 500)}
    assert [column.label for column in published] == ["Chameleon", "Minesweeper"]
    assert {spec.kind_on(column) for column in published} == {"file"}
    assert not {column.dataset for column in spec.columns} & set(CATALOG)
    assert {spec.kind_on(column) for column in few} == {"holdout"}
    assert {spec.splits_of(row) for row in spec.rows} == {10}


def test_a_column_caps_the_splits_and_may_have_another_kind():
    fields = toy.toy_fields(n_splits=4)
    fields["columns"].append({"label": "B", "dataset": "toy", "n_splits": 3, "splits": "test"})
    fields["rows"].append({"label": "few", "model": "mlp", "n_splits": 2})
    spec = make_spec(fields, "toy")
    counts = [[spec.splits_of(row, column) for column in spec.columns] for row in spec.rows]
    assert counts == [[4, 3], [4, 3], [2, 2]]
    assert [spec.kind_on(column) for column in spec.columns] == ["stratified", "test"]
    fields["n_splits"] = fields["columns"][1]["n_splits"] = 21
    with pytest.raises(InputError, match="exceeds the 20 splits of kind 'test'; got 21"):
        make_spec(fields, "toy")


@pytest.mark.parametrize(
    ("source", "match"),
    [
        ('file = "a.npz"', r"columns\[0\]\.dataset is the name of another graph; got 'cora'"),
        ('file = "a.npz", generated = "weak_dense"', r"columns\[0\]: file and generated exclude"),
        ('generated = "weak_dens"', r"columns\[0\]\.generated is unknown;.*mean 'weak_dense'"),
        ('tables = { edges = "a", labels = "b", feature = "c" }', r"tables\.feature;.*'features'"),
        ('tables = { edges = "a" }', r"columns\[0\]\.tables\.labels: Field required"),
        ("planted = { n_node = 3 }", r"unknown key columns\[0\]\.planted\.n_node;.*'n_nodes'"),
        ("planted = { n_nodes = 3 }", r"columns\[0\]\.planted\.n_classes: Field required"),
        ('splits = "vals"', r"columns\[0\]\.splits: Input should be 'val', 'test'"),
        ("stop = 0", r"columns\[0\]\.stop: Input should be greater than"),
    ],
)
def test_a_fault_in_where_a_graph_comes_from(source, match):
    with pytest.raises(InputError, match=match):
        parse_spec(GOOD.replace('dataset = "cora"', f'dataset = "cora", {source}'), "mine")


def test_a_row_may_have_other_settings_on_single_columns():
    fields = toy.toy_fields()
    fields["columns"].append({"label": "B", "dataset": "toy"})
    row = {"label": "c", "model": "adagcn", "grid": {"max_epochs": [3, 4]}}
    row["settings"] = {"variant": {"n_members": 2}}
    row["settings_on"] = {"B": {"dropout": 0.25, "variant": {"n_members": 3}}}
    fields["rows"] = [row]
    spec = make_spec(fields, "toy")
    found = [spec.candidates_of(spec.rows[0], column) for column in spec.columns]
    assert found[0] == [{"variant.n_members": 2, "max_epochs": n} for n in (3, 4)]
    other = {"variant.n_members": 3, "dropout": 0.25}
    assert found[1] == [{**other, "max_epochs": n} for n in (3, 4)]


@pytest.mark.parametrize(
    ("settings_on", "match"),
    [
        ({"C": {"dropout": 0.1}}, r"rows\[0\]\.settings_on is unknown; got 'C'"),
        ({"Toy": {"drop": 0.1}}, r"rows\[0\]\.settings_on\.Toy is unknown; got 'drop'"),
        ({"Toy": {"dropout": 2.0}}, r"rows\[0\]\.settings_on\.Toy: dropout"),
        ({"Toy": 3}, r"rows\[0\]\.settings_on\.Toy"),
        ({"Toy": {"max_epochs": 3}}, r"rows\[0\]: a setting stands in the grid and beside it"),
    ],
)
def test_a_fault_in_the_settings_of_a_column(settings_on, match):
    row = {"label": "a", "model": "mlp", "settings_on": settings_on, "grid": {"max_epochs": [3]}}
    with pytest.raises(InputError, match=match):
        make_spec(toy.toy_fields(rows=[row]), "toy")


def test_one_name_stands_for_one_graph():
    fields = toy.toy_fields()
    fields["columns"].append({"label": "B", "dataset": "toy", "file": "toy.npz"})
    with pytest.raises(InputError, match=r"columns\[1\]\.dataset is the name of another graph"):
        make_spec(fields, "toy")


def test_table3_has_the_label_rates_of_the_catalog():
    spec = load_spec("table3")
    found = {}
    for column in spec.columns:
        found.setdefault(column.dataset, []).append(column.train_per_class)
        assert spec.published(spec.rows[0], column) is not None
    fewer = {key: each.fewer_labels for key, each in CATALOG.items() if each.fewer_labels}
    assert {key: tuple(sizes) for key, sizes in found.items()} == fewer


def test_table4_has_the_graph_and_the_shares_of_bench_large():
    spec = load_spec("table4")
    assert [column.planted.homophily for column in spec.columns] == [large.HOMOPHILY, 0.1]
    for column in spec.columns:
        sizes = column.planted
        assert (sizes.n_nodes, sizes.n_classes) == (large.QUICK.n_nodes, large.N_CLASSES)
        assert (sizes.n_features, sizes.feature_signal) == (large.N_FEATURES, large.SIGNAL)
        assert sizes.mean_degree == 2 * large.QUICK.n_edges / large.QUICK.n_nodes
        trained_on = column.train_per_class * sizes.n_classes / sizes.n_nodes
        assert trained_on == pytest.approx(large.LABELED_SHARE, abs=0.001)
        assert column.stop == large.STOP_SHARE * sizes.n_nodes
    searched = [row for row in spec.rows if row.grid]
    assert {len(spec.candidates_of(row)) for row in searched} == {8}
    assert {(row.grid_splits, row.settings["max_epochs"]) for row in searched} == {(1, 500)}


def test_a_users_spec_is_a_file(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text(GOOD, "utf-8")
    spec = load_spec(str(path))
    assert spec == parse_spec(GOOD, "mine")
    assert spec.published(spec.rows[0], spec.columns[0]) == (0.85, 0.002)
    assert size_of(spec, spec.rows[0]) == (3, {1})


@pytest.mark.parametrize(
    ("old", "new", "match"),
    [
        ("n_splits", "n_split", r"unknown key n_split; got 3\. Did you mean 'n_splits'"),
        ("train_per_class", "train_per_clas", r"columns\[0\]\.train_per_clas;.*'train_per_class'"),
        ("preset", "presett", r"unknown key rows\[0\]\.presett;.*Did you mean 'preset'"),
        ('"paper"', '"papr"', r"rows\[0\]\.preset is unknown; got 'papr'.*mean 'paper'"),
        ('"adagcn"', '"adagnc"', r"rows\[0\]\.model is unknown;.*Did you mean .*or 'adagcn'"),
        ('"cora"', '"corra"', r"columns\[0\]\.dataset is unknown;.*Did you mean 'cora'"),
        ("hidden_units", "hidden_unit", r"rows\[0\]\.settings is unknown;.*'hidden_units'"),
        ("hidden_units = 8", "hidden_units = 0", r"rows\[0\]\.settings: hidden_units: should be"),
        ("hidden_units = 8", "hidden_units = [8]", r"settings\.hidden_units: should be a number"),
        ("hidden_units = 8", "graph = 8", r"rows\[0\]\.settings is unknown; got 'graph'"),
        ("n_splits = 3", "n_splits = 21", r"rows\[0\]: n_splits exceeds the 20 splits.*got 21"),
        ("n_splits = 3", "n_splits = 0", r"n_splits: Input should be greater than.*got 0"),
        ("n_splits = 3", 'n_splits = "3"', r"n_splits: Input should be a valid integer; got '3'"),
        ('"val"', '"vals"', r"splits: Input should be 'val', 'test', .* got 'vals'"),
        ('title = "Mine"', 'title = "M"\ncontrols = ["b"]', r"controls is unknown; got 'b'"),
        ('title = "Mine"', 'title = "M"\ngoal = "no"', "goal: Input should be a valid number"),
        ("Cora =", "Coral =", r"paper\.a is unknown; got 'Coral'\. Did you mean 'Cora'"),
        ("paper.a", "paper.b", r"paper is unknown; got 'b'"),
        ("[85.0, 0.2]", "[85.0]", r"paper\.a\.Cora: List should have at least 2 items"),
        ('title = "Mine"', "", "title: Field required"),
        ("title =", "title", "is not TOML: .*line 2"),
        ("rows = [{", 'rows = [{ label = "a", model = "mlp" }, {', "rows has a label twice"),
        ('model = "adagcn"', 'model = "mlp", columns = ["X"]', r"rows\[0\]\.columns is unknown"),
        (
            'model = "adagcn"',
            'model = "mlp", inits_on = { X = 2 }',
            r"rows\[0\]\.inits_on is unknown",
        ),
        ('model = "adagcn"', 'model = "mlp", inits_on = { Cora = 0 }', r"inits_on\.Cora: Input"),
        ('model = "adagcn"', 'model = "mlp", paper = "c"', r"rows\[0\]\.paper is unknown"),
    ],
)
def test_a_fault_is_found_before_any_run_and_named(old, new, match):
    assert old in GOOD
    with pytest.raises(InputError, match=match):
        parse_spec(GOOD.replace(old, new), "mine.toml")


@pytest.mark.parametrize("kind", ["val", "test", "fresh"])
def test_the_protocol_has_twenty_splits_of_each_kind(kind):
    good = GOOD.replace('"val"', f'"{kind}"')
    assert parse_spec(good.replace("n_splits = 3", "n_splits = 20"), "mine").splits == kind
    with pytest.raises(InputError, match=f"exceeds the 20 splits of kind '{kind}'; got 21"):
        parse_spec(good.replace("n_splits = 3", "n_splits = 21"), "mine")


def test_initializations_on_a_column_that_the_row_leaves_out_are_a_fault():
    fields = toy.toy_fields()
    fields["columns"] = [{**fields["columns"][0], "label": label} for label in ("A", "B")]
    fields["rows"][0] |= {"columns": ["A"], "inits_on": {"B": 2}}
    with pytest.raises(InputError, match=r"rows\[0\]\.inits_on is unknown; got 'B'"):
        make_spec(fields, "toy")


def test_an_unknown_name_or_file(tmp_path):
    with pytest.raises(InputError, match=r"got 'table1'\. Did you mean 'table4' or 'table3'"):
        load_spec("table1")
    with pytest.raises(InputError, match="there is no spec"):
        load_spec(str(tmp_path / "none.toml"))
    (tmp_path / "latin.toml").write_bytes(b"title = '\xe9'")
    with pytest.raises(InputError, match="is not UTF-8 text"):
        load_spec(str(tmp_path / "latin.toml"))


def test_own_graphs_need_no_place_in_the_catalog():
    assert make_spec(toy.toy_fields(), "toy").columns[0].dataset == "toy"


def test_a_row_with_depths_is_a_row_for_each():
    spec = make_spec(
        {
            "title": "t",
            "splits": "val",
            "n_splits": 1,
            "columns": [{"label": "mine", "dataset": "mine"}],
            "rows": [{"label": "SGC", "model": "sgc", "depths": [1, 4]}],
        },
        "mine",
    )
    assert [(row.label, row.settings, row.depth.n_layers) for row in spec.rows] == [
        ("SGC, 1 layer", {"n_layers": 1}, 1),
        ("SGC, 4 layers", {"n_layers": 4}, 4),
    ]
    assert {row.depth.curve for row in spec.rows} == {"SGC"}


@pytest.mark.parametrize("depths", ["all", [0], ["deep"], [2, 2]])
def test_depths_are_different_counts(depths):
    rows = [{"label": "SGC", "model": "sgc", "depths": depths}]
    fields = {"columns": [{"label": "mine", "dataset": "mine"}], "rows": rows}
    with pytest.raises(InputError):
        make_spec({"title": "t", "splits": "val", "n_splits": 1, **fields}, "mine")
