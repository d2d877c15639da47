"""A progress bar with a name, which screen readers need; that of panel-material-ui 0.16 cannot have one."""

from pathlib import Path
from typing import ClassVar

import param

from stickbreaker.app.panel_fixes import PlainScript
from stickbreaker.app.widgets.scripts import read_script


class ProgressBar(PlainScript):
    """A bar that shows a percentage; label: its name for screen readers."""

    value = param.Integer(default=0, bounds=(0, 100))
    label = param.String()

    _esm = read_script(Path(__file__).with_name("progress_bar.js"))
    _stylesheets: ClassVar = [Path(__file__).with_name("progress_bar.css").read_text(encoding="utf-8")]
