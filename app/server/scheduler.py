"""The scheduler of a Dask cluster: runs, sweeps and readings use its workers if it is named."""

import os
import threading
from functools import lru_cache
from typing import TYPE_CHECKING

from stickbreaker.engine.parallel.clusters import Cluster, ClusterError, connect
from stickbreaker.engine.versions import find_environment

if TYPE_CHECKING:
    from distributed import Client

VARIABLE = "STICKBREAKER_SCHEDULER"
SECONDS_TO_CONNECT = 10
CERTIFICATES = ("CA_FILE", "CLIENT__CERT", "CLIENT__KEY")

_lock = threading.Lock()


def find_client() -> "Client | None":
    """The client of the scheduler; None if none is named; or a ClusterError.

    A client closes if its scheduler is away for longer than SECONDS_TO_CONNECT. The next call then
    connects again.
    """
    with _lock:
        client = connect_once()
        if client is not None and client.status in ("closing", "closed"):
            connect_once.cache_clear()
            client = connect_once()
        return client


@lru_cache(1)
def connect_once() -> "Client | None":
    """The client of the scheduler, the same one in each call; or a ClusterError."""
    address = os.environ.get(VARIABLE, "")
    if not address:
        return None
    try:
        from distributed import Client
        from distributed.comm import resolve_address
    except ImportError as error:
        raise ClusterError(
            f"{VARIABLE} needs Dask: python -m pip install 'stickbreaker[dask]'."
        ) from error
    try:
        # A client that is made with a malformed address leaves a traceback when the process ends.
        resolve_address(address)
        if address.startswith("tls://"):
            _check_certificates(address)
        return Client(address, timeout=SECONDS_TO_CONNECT, set_as_default=False)
    except ValueError as error:
        raise ClusterError(
            f"{VARIABLE} is {address[:200]!r}, which is no address: write tcp://HOST:8786, or"
            " remove the variable."
        ) from error
    except OSError as error:
        raise ClusterError(
            f"{VARIABLE} is {address[:200]!r}, where no scheduler answers: run `dask scheduler`"
            " there, or remove the variable."
        ) from error


def _check_certificates(address: str) -> None:
    """Raise ClusterError if Dask has no certificates, or unreadable ones."""
    from distributed.security import Security

    reason = "which needs certificates"
    try:
        if Security().get_connection_args("client")["ssl_context"] is not None:
            return
    except OSError as error:
        reason = f"but its certificates cannot be read ({error})"
    ca, certificate, key = (f"DASK_DISTRIBUTED__COMM__TLS__{name}" for name in CERTIFICATES)
    raise ClusterError(
        f"{VARIABLE} is {address[:200]!r}, {reason}: set {ca}, {certificate} and {key} to the files"
        " of the cluster."
    )


def find_cluster() -> Cluster | None:
    """The scheduler's checked workers, if one is named; or a ClusterError."""
    client = find_client()
    return None if client is None else connect(client, find_environment)
