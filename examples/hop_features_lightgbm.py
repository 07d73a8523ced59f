"""Gradient-boosted trees on hops: HopFeatures in a scikit-learn pipeline.

Run it:  python examples/hop_features_lightgbm.py      (needs pip install lightgbm)

X is node ids, so that cross-validation and grid search slice nodes and never the graph. Labels are
not among the features: nothing of the held-out ones can leak.
"""

import numpy as np
from lightgbm import LGBMClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

from adagcn import HopFeatures, load_dataset


def main() -> None:
    graph = load_dataset("cora")
    ids, labels = graph.ids_and_labels(graph.labeled_nodes)
    order = np.random.default_rng(0).permutation(len(ids))
    train, test = order[:600], order[600:]

    trees = LGBMClassifier(n_estimators=25, num_leaves=8, n_jobs=1, random_state=0, verbose=-1)
    pipeline = make_pipeline(HopFeatures(graph), trees)
    pipeline.set_output(transform="pandas")
    search = GridSearchCV(pipeline, {"hopfeatures__n_hops": [0, 1, 2]}, cv=3)
    search.fit(ids[train], labels[train])

    print("Cora, 600 labeled nodes, accuracy in 3-fold cross-validation")
    for n_hops, score in zip(
        search.cv_results_["param_hopfeatures__n_hops"],
        search.cv_results_["mean_test_score"],
        strict=True,
    ):
        print(f"  {n_hops} hops: {score:.1%}")
    accuracy = search.score(ids[test], labels[test])
    print(f"the best on the other {len(test):,} nodes: {accuracy:.1%}")

    best = search.best_estimator_[-1]
    strongest = np.argsort(-best.feature_importances_)[:5]
    print("most used columns:", ", ".join(np.array(best.feature_name_)[strongest]))


if __name__ == "__main__":
    main()
