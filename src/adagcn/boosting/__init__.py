"""Multi-class AdaBoost over hops: the formulas and the loop."""
