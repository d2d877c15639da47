"""Keyboard access that the widgets lack: keys that open a menu, and focus that returns after a dialog."""

from pathlib import Path

import panel as pn


class Keyboard(pn.custom.JSComponent):
    """Shows nothing. Opens menus by keys, and returns the focus when a dialog closes."""

    _esm = Path(__file__).with_name("keyboard.js").read_text(encoding="utf-8")
