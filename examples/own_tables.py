"""From your own CSV tables to a file of predictions.

Run it:  python examples/own_tables.py [FOLDER]

The tables are those of Cora, written to FOLDER first, so that the example runs anywhere. With your
own, start at `Graph.from_edges`.
"""

import sys
from pathlib import Path

import pandas as pd

from adagcn import AdaGCNClassifier, Graph, load_dataset, load_model
from adagcn.data.tables import write_tables


def main(folder: Path) -> None:
    folder.mkdir(exist_ok=True)
    edges, features, labels = write_tables(load_dataset("cora"), folder)

    # Only some labels are known; the others are to be predicted.
    known = pd.read_csv(labels).sample(300, random_state=0)
    graph = Graph.from_edges(edges, features=features, labels=known)
    print(graph)
    print(*graph.changes, sep="\n")

    # A quarter of the known labels decides when training stops, and what the model chooses.
    stop, train = known[:75], known[75:]
    model = AdaGCNClassifier(graph, preset="instant", random_state=0)
    model.fit(train.node, train.label, X_val=stop.node, y_val=stop.label)
    print(f"{model.stop_accuracy_:.1%} on the stopping nodes, which the fit has seen")

    unknown = graph.node_ids[graph.labels < 0]
    predictions = model.predict_frame(unknown)
    predictions.to_csv(folder / "predictions.csv", index=False)
    print(predictions.sort_values("margin").head())  # the least certain

    # The model without its graph is one file; it predicts on any graph with these features.
    model.save(folder / "cora.adagcn")
    again = load_model(folder / "cora.adagcn", graph=graph)
    assert (again.predict(unknown) == predictions.label).all()

    truth = pd.read_csv(labels).set_index("node").label.loc[unknown]
    accuracy = (predictions.label.to_numpy() == truth.to_numpy()).mean()
    print(f"{accuracy:.1%} of {len(unknown):,} predictions are right")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "adagcn-example"))
