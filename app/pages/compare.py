"""The page Compare: kept runs side by side, and sweeps of settings."""

from collections.abc import Sequence
from typing import Any

from stickbreaker import engine
from stickbreaker.app.pages.page import Page
from stickbreaker.app.views.check_note import AGAIN, KEEP, CheckNote
from stickbreaker.app.views.compare import Compare
from stickbreaker.app.views.count_evidence import CountEvidence
from stickbreaker.app.views.group_comparison import GroupComparison
from stickbreaker.app.views.sweep import SweepPanel


class ComparePage(Page):
    """Kept runs and sweeps."""

    title = "Compare"

    def view(self) -> Sequence[Any]:
        groups = GroupComparison(self.state, self.commands)
        self.runs = Compare(self.state, self.commands, groups)
        self.sweep = SweepPanel(self.state, self.commands, engine.REGISTRY)
        again, keep = (CheckNote(self.state, self.commands, each) for each in (AGAIN, KEEP))
        self.evidence = CountEvidence(self.state, again, keep)
        self.views = (self.runs, groups, self.sweep, again, keep, self.evidence)
        return [self.runs, self.sweep, self.evidence, self.runs.below]

    def opened(self) -> None:
        self.runs.list_runs()
        if self.state.progress.status == "finished":
            # What other runs say of a model is kept with its reading.
            self.commands.read()
