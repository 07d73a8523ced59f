"""Training one layer: the loop, early stopping, and the fit of a network on a hop."""
