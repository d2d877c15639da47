"""What a model has learned, measured: held-out scores, topic shares, distances between topics."""
