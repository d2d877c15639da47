"""The origins that may open a websocket: addresses that are served, and those that are named."""

import socket
from collections.abc import Iterable
from contextlib import suppress

LOCAL_HOSTS = ("localhost", "127.0.0.1", "[::1]")
EVERY_ADDRESS = ("0.0.0.0", "::")
DEFAULT_PORTS = (80, 443)


def list_origins(address: str | None, port: int, named: Iterable[str]) -> list[str]:
    """List the allowed origins as "host:port", without wildcards.

    >>> list_origins("192.0.2.7", 5006, ["class.example:80"])
    ['127.0.0.1:5006', '192.0.2.7:5006', '[::1]:5006', 'class.example:80', 'localhost:5006']
    """
    hosts = {*LOCAL_HOSTS}
    if address in EVERY_ADDRESS or not address:
        hosts |= set(list_own_names())
    else:
        hosts.add(f"[{address}]" if ":" in address else address)
    served = {f"{host.lower()}:{port_of_origin(port)}" for host in hosts}
    return sorted(served | {name.lower() for name in named})


def list_own_names() -> list[str]:
    """List the names of this machine and the addresses that they have on its network."""
    names = {socket.gethostname(), socket.getfqdn()}
    with suppress(OSError):
        names |= {
            str(found[4][0])
            for found in socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET)
        }
    return sorted(name for name in names if name)


def port_of_origin(port: int) -> int:
    """Return the port that Bokeh compares for a page on this port.

    It adds port 80 to an origin without a port, even under https, where the port is 443.

    >>> [port_of_origin(port) for port in (80, 443, 5006)]
    [80, 80, 5006]
    """
    return 80 if port in DEFAULT_PORTS else port
