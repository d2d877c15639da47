"""A health check that tells the truth: `panel serve app --plugins app.health` answers at /healthz.

Panel's own /liveness says true of a page that cannot be drawn.
"""

import json
from functools import cache

from bokeh.document import Document
from panel.io.state import set_curdoc
from tornado.web import RequestHandler

from stickbreaker import engine
from stickbreaker.app.server.service import CORPUS_NAME, find_service
from stickbreaker.app.session.page import lay_out
from stickbreaker.app.session.session import Session


class HealthHandler(RequestHandler):
    """200 while the engine compiles or works, the corpus loads and the page can be drawn; otherwise 503 and why."""

    def get(self) -> None:
        faults = find_faults()
        service = find_service()
        self.set_status(503 if faults else 200)
        self.set_header("Content-Type", "application/json")
        state = {"runs": len(service), "cores": service.cpu_queue.num_cores}
        self.write(json.dumps({"healthy": not faults, "faults": faults, **state}))


def find_faults() -> list[str]:
    """Try everything a visitor would need; say what does not work."""
    checks = {"engine": _check_engine, "corpus": lambda: engine.load_corpus(CORPUS_NAME), "page": _check_page}
    faults = []
    for name, check in checks.items():
        try:
            check()
        except Exception as error:
            faults.append(f"{name}: {type(error).__name__}: {error}")
    return faults


def _check_engine() -> None:
    if error := find_service().compilation.error:
        raise RuntimeError(error)


@cache
def _check_page() -> None:
    document = Document()
    with set_curdoc(document):
        session = Session(find_service())
        lay_out(session).server_doc(document)
        session.unfold()
    document.clear()


ROUTES = [("/healthz", HealthHandler, {})]
