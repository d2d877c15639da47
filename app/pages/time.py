"""The page Time: topics over calendar time, and their life over the run."""

from collections.abc import Sequence
from typing import Any

from stickbreaker.app.pages.page import ReadingPage
from stickbreaker.app.views.calendar import Calendar
from stickbreaker.app.views.topic_life import TopicLife


class Time(ReadingPage):
    """Topics over calendar time, and the life of topics over the run."""

    title = "Time"

    def view(self) -> Sequence[Any]:
        self.views = (Calendar(self.state), TopicLife(self.state))
        return self.views
