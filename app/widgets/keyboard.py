"""What the keyboard lacks in the page's widgets: keys that open a list of choices, and focus that comes back."""

from pathlib import Path

import panel as pn


class Keyboard(pn.custom.JSComponent):
    """Shows nothing. Opens selects by keys, and gives back the focus that a closed dialog took."""

    _esm = Path(__file__).with_name("keyboard.js").read_text(encoding="utf-8")
