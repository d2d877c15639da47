"""The health check at /healthz: reports what the process knows and loads nothing.

Serve it with `panel serve app --plugins stickbreaker.app.health`.
"""

import json

from panel.io.state import state
from tornado.web import RequestHandler

from stickbreaker.app.server.service import SERVICE


class HealthHandler(RequestHandler):
    """200 while the engine compiles or works; 503 with the reason where it has failed, or before the service is up."""

    def get(self) -> None:
        """Report the state that the process already has in memory."""
        service, _ = state.cache.get((SERVICE,), (None, None))
        faults = ["service: not started yet"] if service is None else []
        if service is not None and service.compilation.error:
            faults.append(f"engine: {service.compilation.error}")
        known = {} if service is None else {"runs": len(service), "cores": service.cpu_queue.num_cores}
        self.set_status(503 if faults else 200)
        self.set_header("Content-Type", "application/json")
        self.write(json.dumps({"healthy": not faults, "faults": faults, **known}))


ROUTES: list[tuple[str, type[RequestHandler], dict[str, object]]] = [("/healthz", HealthHandler, {})]
