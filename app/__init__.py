"""The dashboard: watch a topic model learn. `panel serve app` or `python -m app` starts it."""
