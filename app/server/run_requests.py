"""What the pages of a run ask of the thread that learns."""

from dataclasses import dataclass, field, replace

from stickbreaker.app.model.run_spec import RunSpec
from stickbreaker.engine.algorithm import TopicEdit
from stickbreaker.engine.runs.checkpoint import Checkpoint


@dataclass(frozen=True)
class Start:
    """A run to begin. saved: where it continues; is_on_disk: whether its address opens it there;
    before: the run before its edits.
    """

    spec: RunSpec
    saved: Checkpoint | None = None
    is_on_disk: bool = False
    before: tuple[Checkpoint, ...] = ()


@dataclass
class Requests:
    """The pending requests.

    number: grows with every request, so that the sleeping thread misses none. is_running, num_steps
    and is_closed stay as they are; `take` returns the others once. changed: the spec of the current
    run after changes of live settings.
    """

    number: int = 0
    is_running: bool = False
    num_steps: int = 0
    is_closed: bool = False
    start: Start | None = None
    changed: RunSpec | None = None
    forgets_earlier: bool = False
    names: dict[int, str] = field(default_factory=dict)
    undoes_names: bool = False
    edits: tuple[TopicEdit, ...] = ()

    def begin(self, start: Start, is_running: bool) -> None:
        """Ask for another run, which learns at once or waits."""
        self.start = start
        self.changed = None
        self.is_running = is_running
        self.num_steps = 0

    def take(self) -> "Requests":
        """Return the requests as they are, and remove those that are applied once."""
        taken = replace(self)
        self.start = self.changed = None
        self.forgets_earlier = self.undoes_names = False
        self.names = {}
        self.edits = ()
        return taken
