"""Compare models on the same splits, with intervals and paired differences.

Run it:  python examples/compare_models.py

One split says little: labels are few, and which nodes have them matters more than the model. The
command line does the same, keeps every run and can be interrupted:

    adagcn compare cora --models adagcn,sgc,logistic --splits 5
"""

import numpy as np

from adagcn import load_dataset
from adagcn.data import make_split
from adagcn.experiments.statistics import compare_paired, summarize
from adagcn.models import MODELS

N_SPLITS = 5
PRESETS = {"adagcn": "instant", "sgc": "paper", "label_propagation": "paper", "logistic": "tuned"}


def main() -> None:
    graph = load_dataset("cora")
    accuracy = {name: np.full((N_SPLITS, 1), np.nan) for name in PRESETS}
    for number in range(N_SPLITS):
        # 20 labels of each class to train on, 500 to stop on; the scored nodes are seen once.
        split = make_split(graph, f"val:{number}")
        train, stop, score = (
            graph.ids_and_labels(nodes)
            for nodes in (split.train_nodes, split.stop_nodes, split.score_nodes)
        )
        for name, preset in PRESETS.items():
            model = MODELS[name](graph, preset=preset, random_state=number)
            model.fit(*train, X_val=stop[0], y_val=stop[1])
            accuracy[name][number, 0] = model.score(*score)

    print(f"Cora, {N_SPLITS} splits, mean accuracy with a 95 % interval over splits")
    for name, runs in accuracy.items():
        found = summarize(runs)
        low, high = found.interval
        print(f"  {name:18} {found.mean:.1%}  [{low:.1%}, {high:.1%}]")

    print("AdaGCN minus each other model, paired by split, in percentage points")
    for name in list(PRESETS)[1:]:
        found = compare_paired(accuracy["adagcn"], accuracy[name])
        low, high = found.interval
        print(f"  {name:18} {100 * found.difference:+.1f}  [{100 * low:+.1f}, {100 * high:+.1f}]")


if __name__ == "__main__":
    main()
