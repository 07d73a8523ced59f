"""Why a node got its label, how sure the model is, and a page to show.

Run it:  python examples/explain_and_report.py [FOLDER]     (needs pip install "adagcn[report]")

The margin between the winning label and the runner-up is a sum over hops: it says exactly which
hop decided.
"""

import sys
from pathlib import Path

from adagcn import AdaGCNClassifier, load_dataset
from adagcn.data import make_split
from adagcn.report.model_page import model_page
from adagcn.report.page import write_page


def main(folder: Path) -> None:
    folder.mkdir(exist_ok=True)
    graph = load_dataset("cora")
    split = make_split(graph, "val:0")
    X_val, y_val = graph.ids_and_labels(split.stop_nodes)
    model = AdaGCNClassifier(graph, preset="instant", random_state=0)
    model.fit(*graph.ids_and_labels(split.train_nodes), X_val=X_val, y_val=y_val)

    # The five least certain of the scored nodes.
    scored = graph.node_ids[split.score_nodes]
    unsure = model.predict_frame(scored).nsmallest(5, "margin").id.to_numpy()
    for reasons in model.explain(unsure, n_features=3, n_neighbors=3):
        print(
            f"node {reasons.node}: {reasons.label}, before {reasons.runner_up}; "
            f"hop {reasons.deciding_hop} decided"
        )
        parts = ", ".join(f"hop {part.hop} {part.margin:+.3f}" for part in reasons.parts)
        print(f"  margin {reasons.margin:+.3f} = {parts}")
        print("  neighbors that carried it:", *(each.node for each in reasons.neighbors))
        assert abs(sum(part.margin for part in reasons.parts) - reasons.margin) < 1e-9

    # As a table for a spreadsheet: a row for every node and hop.
    model.explain(unsure).to_frame("hops").to_csv(folder / "reasons.csv", index=False)

    # One HTML file, offline: accuracy, depth, what it gets wrong, a map of the graph.
    size = write_page(folder / "report.html", model_page(model, graph, split))
    print(f"{folder / 'report.html'}: {size / 1000:,.0f} kB")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "adagcn-example"))
