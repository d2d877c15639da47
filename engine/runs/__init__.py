"""Running an algorithm over a corpus: the driver, its events, checkpoints and studies."""
