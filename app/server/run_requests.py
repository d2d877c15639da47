"""What the pages of a run ask of the thread that learns."""

from dataclasses import dataclass, field

from stickbreaker.app.model.run_spec import RunSpec
from stickbreaker.engine.runs.checkpoint import Position


@dataclass
class Requests:
    """What the pages ask for. `spec` and `changed` are taken once, the others stay as they are.

    number: grows with every request, so that the sleeping thread misses none. spec: a new run to begin. saved: where it
    continues; is_on_disk: whether its address opens it there. changed: the spec of the current run after changes of its
    live settings.
    """

    number: int = 0
    is_running: bool = False
    num_steps: int = 0
    spec: RunSpec | None = None
    saved: Position | None = None
    is_on_disk: bool = False
    changed: RunSpec | None = None
    forgets_earlier: bool = False
    names: dict[int, str] = field(default_factory=dict)
    undoes_names: bool = False
    is_closed: bool = False
