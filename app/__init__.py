"""The dashboard: watch a topic model learn. `panel serve app` or `stickbreaker` starts it."""
