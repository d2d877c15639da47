"""The health check at /healthz and numbers at /metrics, from what the process has in memory.

Serve them with `panel serve app --plugins stickbreaker.app.health`.
"""

import json

from panel.io.state import state
from tornado.web import RequestHandler

from stickbreaker.app.model.progress import STATUSES
from stickbreaker.app.server.page_queue import PAGE_QUEUE
from stickbreaker.app.server.service import SERVICE
from stickbreaker.app.server.stream import STREAM

# Everyone who reaches the server sees this: the message of the error may contain paths.
STREAM_FAILED = "stream: failed; the page and the server log give the reason"
NOT_COMPILED = "engine: could not be compiled; the server log gives the reason"


class HealthHandler(RequestHandler):
    """200 while the engine compiles or works; 503 with the reason if not."""

    def get(self) -> None:
        """Report the state that the process already has in memory."""
        service, _ = state.cache.get((SERVICE,), (None, None))
        stream, _ = state.cache.get((STREAM,), (None, None))
        faults = []
        known = {}
        if service is None:
            faults.append("service: not started yet")
        else:
            known = {"runs": len(service), "cores": service.cpu_queue.num_cores}
            if service.compilation.error:
                faults.append(NOT_COMPILED)
        if stream is not None and stream.progress.status == "failed":
            faults.append(STREAM_FAILED)
        self.set_status(503 if faults else 200)
        self.set_header("Content-Type", "application/json")
        self.write(json.dumps({"healthy": not faults, "faults": faults, **known}))


class MetricsHandler(RequestHandler):
    """Numbers of the process in the text format of Prometheus."""

    def get(self) -> None:
        """Write runs by status, pages open and made, cores, a stream's documents, and events."""
        service, _ = state.cache.get((SERVICE,), (None, None))
        self.set_header("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
        if service is None:
            self.set_status(503)
            return
        runs = service.count_runs()
        lines = ["# TYPE stickbreaker_runs gauge"]
        lines += [f'stickbreaker_runs{{status="{status}"}} {runs[status]}' for status in STATUSES]
        stream, _ = state.cache.get((STREAM,), (None, None))
        num_pages = service.count_pages() + (stream.num_pages if stream is not None else 0)
        lines += ["# TYPE stickbreaker_pages gauge", f"stickbreaker_pages {num_pages}"]
        lines.append("# TYPE stickbreaker_pages_made_total counter")
        lines.append(f"stickbreaker_pages_made_total {PAGE_QUEUE.num_made}")
        lines += [
            "# TYPE stickbreaker_cores gauge",
            f"stickbreaker_cores {service.cpu_queue.num_cores}",
        ]
        if stream is not None:
            lines.append("# TYPE stickbreaker_stream_documents gauge")
            lines.append(f"stickbreaker_stream_documents {stream.progress.documents_seen}")
        lines.append("# TYPE stickbreaker_events_total counter")
        lines += [
            f'stickbreaker_events_total{{event="{event}"}} {n}'
            for event, n in service.events.counts().items()
        ]
        self.write("\n".join(lines) + "\n")


ROUTES: list[tuple[str, type[RequestHandler], dict[str, object]]] = [
    ("/healthz", HealthHandler, {}),
    ("/metrics", MetricsHandler, {}),
]
