"""Serve a page of plain Panel with a switch and a button, without our own scripts."""

import panel as pn
import panel_material_ui as pmui


def create():
    """Make the page."""
    return pn.Column(pmui.Switch(label="On"), pmui.Button(label="Run"))


if __name__ == "__main__":
    server = pn.serve({"app": create}, port=0, show=False, start=False)
    print(f"http://localhost:{server.port}/app", flush=True)
    server.start()
    server.io_loop.start()
