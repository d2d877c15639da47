"""What a browser and a component of a page send each other, without a browser."""

from collections.abc import Callable
from typing import Any

import panel as pn


def send(component: pn.custom.JSComponent, message: Any) -> None:
    """Send a message as the browser does: Panel calls this method of a component."""
    component._handle_msg(message)


def answer_with(component: pn.custom.JSComponent, receive: Callable[[Any], None]) -> None:
    """Receive what a component sends to its browser: it calls this method of Panel."""
    component._send_msg = receive
