"""The page Class: tasks for a class, and its answers."""

from collections.abc import Sequence
from typing import Any

from stickbreaker.app.commands.class_commands import ClassCommands
from stickbreaker.app.commands.run_commands import RunCommands
from stickbreaker.app.pages.page import Page
from stickbreaker.app.state import CLASS, RunState
from stickbreaker.app.views.class_tasks import ClassTasks


class Class(Page):
    """The tasks. Its button appears once the run is shared, or its class gets a task."""

    title = CLASS
    needs_controls = False
    is_listed = False

    def __init__(self, state: RunState, commands: RunCommands):
        super().__init__(state, commands)
        self.asks = ClassCommands(commands)

    def view(self) -> Sequence[Any]:
        self.tasks = ClassTasks(self.state, self.asks)
        self.views = (self.tasks,)
        return self.views

    def opened(self) -> None:
        if self.commands.run is not None:
            self.tasks.open(self.commands.find_link())
