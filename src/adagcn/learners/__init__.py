"""What is fitted on one hop: a two-layer perceptron, a linear map, any scikit-learn classifier."""
