"""The origins that may open a websocket: addresses that are served, and those that are named."""

import re
import socket
from collections.abc import Iterable
from contextlib import suppress
from urllib.parse import urlsplit

from bokeh.server.util import check_allowlist

LOCAL_HOSTS = ("localhost", "127.0.0.1", "[::1]")
# An address for documentation (RFC 5737): nothing is sent to it.
ELSEWHERE = ("192.0.2.1", 9)
# The host by which other devices reach the server of this process; without one, none can.
_network: list[str] = []
EVERY_ADDRESS = ("0.0.0.0", "::")
DEFAULT_PORTS = (80, 443)
HOST = re.compile(r"[\w.:\[\]-]{1,250}")


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


def explain_origin(host: str, allowed: Iterable[str]) -> str:
    """Say what to do if the websockets of pages of this host are refused; "" if they are allowed.

    >>> explain_origin("localhost:5006", ["localhost:5006"])
    ''
    >>> print(explain_origin("a.example", ["localhost:5006"])[:72])
    This server does not accept pages of a.example: start it with --allow-we
    """
    if not HOST.fullmatch(host) or check_allowlist(host.lower(), list(allowed)):
        return ""
    return (
        f"This server does not accept pages of {host}: start it with --allow-websocket-origin"
        f" {host}, or open one of the addresses that it has printed."
    )


def list_own_names() -> list[str]:
    """List the names of this machine and the addresses that they have on its network."""
    names = {socket.gethostname(), socket.getfqdn(), find_own_address()}
    with suppress(OSError):
        names |= {
            str(found[4][0])
            for found in socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET)
        }
    return sorted(name for name in names if name)


def find_own_address() -> str:
    """Find the address of this machine on its network; empty without a network."""
    with suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect(ELSEWHERE)
        return str(probe.getsockname()[0])
    return ""


def note_network(is_open: bool) -> None:
    """Note whether the server of this process accepts requests from other devices."""
    _network[:] = [find_own_address()] if is_open else []


def replace_local(address: str) -> str:
    """Name this machine in an address as other devices do, if they can reach the server."""
    parts = urlsplit(address)
    host = parts.netloc.removesuffix(f":{parts.port}")
    if host not in LOCAL_HOSTS or not any(_network):
        return address
    return parts._replace(netloc=parts.netloc.replace(host, _network[0], 1)).geturl()


def port_of_origin(port: int) -> int:
    """Return the port that Bokeh compares for a page on this port.

    It adds port 80 to an origin without a port, even under https, where the port is 443.

    >>> [port_of_origin(port) for port in (80, 443, 5006)]
    [80, 80, 5006]
    """
    return 80 if port in DEFAULT_PORTS else port
