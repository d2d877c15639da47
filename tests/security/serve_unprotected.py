"""A server that serves the page without its hooks: `python serve_unprotected.py file` or
`function`.
"""

import sys
from pathlib import Path

import panel as pn

import stickbreaker.app
from stickbreaker.app.session.page import create

FILE = Path(stickbreaker.app.__file__).with_name("main.py")

if __name__ == "__main__":
    if sys.argv[1] == "function":
        pn.extension(notifications=True, throttled=True)
    served = str(FILE) if sys.argv[1] == "file" else create
    server = pn.serve({"app": served}, port=0, show=False, start=False)
    print(f"http://localhost:{server.port}/app", flush=True)
    server.start()
    server.io_loop.start()
