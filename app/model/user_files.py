"""What one user has on disk, next to the user's corpora."""

from pathlib import Path

from stickbreaker.app.model.kept_runs import KeptRuns
from stickbreaker.app.model.saved_readings import SavedReadings
from stickbreaker.app.model.saved_runs import SavedRuns
from stickbreaker.app.model.saved_sweeps import SavedSweeps
from stickbreaker.app.model.topic_names import TopicNames

CORPORA = "corpora"
KEPT_RUNS = "runs"
OPEN_RUNS = "open-runs"
READINGS = "readings"
NAMES = "topic-names"
STREAMS = "streams"


class UserFiles:
    """The stores of a user, which all runs of the user share. folder: of the user's data."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.kept = KeptRuns(folder / KEPT_RUNS)
        self.runs = SavedRuns(folder / OPEN_RUNS)
        self.sweeps = SavedSweeps(folder / OPEN_RUNS)
        self.readings = SavedReadings(folder / READINGS)
        self.names = TopicNames(folder / NAMES)
