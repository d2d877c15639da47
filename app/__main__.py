"""The command `stickbreaker`: serve the app and open it in a browser."""

import argparse
import os
import socket
from pathlib import Path

from stickbreaker import app
from stickbreaker.app.server.stream_source import DATE, PATH, TEXT

COMMAND = "stickbreaker"
PORT = 5006
LAST_PORT = 65_535
# Options of `panel serve` with one value each, which this command passes on.
PASSED_ON = {
    "--basic-auth": "JSON file of user names and passwords: users must log in",
    "--cookie-secret": "secret that signs the login cookies (default: a new one at each start)",
    "--ssl-certfile": "certificate: serve over https",
    "--ssl-keyfile": "private key of the certificate",
}
# Options that the app reads from a variable of the environment, by their variable.
VARIABLES = {
    PATH: (
        "--follow",
        "PATH",
        "JSON-lines file or folder to which texts are added: follow it live",
    ),
    TEXT: ("--follow-text", "NAME", "name of the text in its JSON lines (default: text)"),
    DATE: ("--follow-date", "NAME", "name of the date in its JSON lines (default: date)"),
}


def serve(arguments: list[str] | None = None) -> None:
    """Serve until interrupted."""
    provide_home()
    from panel.command.serve import Serve

    parser = argparse.ArgumentParser(prog=COMMAND)
    panel_serve = Serve(parser=parser)
    options = read_options(arguments)
    os.environ.update(list_variables(options))
    panel_serve.invoke(parser.parse_args(make_command(options)))


def provide_home() -> None:
    """Name "/" as the home of an account without one: Bokeh needs one when it is imported."""
    try:
        Path.home()
    except RuntimeError:
        os.environ["HOME"] = "/"


def list_variables(options: argparse.Namespace) -> dict[str, str]:
    """The variables of the environment that options set."""
    return {name: value for name in VARIABLES if (value := getattr(options, name))}


def make_command(options: argparse.Namespace) -> list[str]:
    """Write the arguments of `panel serve`; which origins are served is up to the server."""
    port = options.port if options.port is not None else _find_port(options.address)
    folder = str(Path(app.__file__).parent)
    command = [folder, "--port", str(port), "--plugins", "stickbreaker.app.health"]
    if options.address:
        command += ["--address", options.address]
    for origin in options.allow_websocket_origin:
        command += ["--allow-websocket-origin", origin]
    for name in PASSED_ON:
        if value := getattr(options, name):
            command += [name, value]
    return [*command, "--show"] if options.show else command


def read_options(arguments: list[str] | None) -> argparse.Namespace:
    """Read the options of the command line; those of this process if `arguments` is None."""
    parser = argparse.ArgumentParser(
        prog=COMMAND, description="Watch a topic model learn, in a browser."
    )
    parser.add_argument(
        "--port",
        type=_read_port,
        help=f"port to listen on; 0 finds a free one (default: {PORT} if free)",
    )
    parser.add_argument(
        "--address", help="network address to listen on (default: this machine's own)"
    )
    parser.add_argument(
        "--show", action=argparse.BooleanOptionalAction, default=True, help="open a browser"
    )
    parser.add_argument(
        "--allow-websocket-origin",
        metavar="HOST:PORT",
        action="append",
        default=[],
        help=(
            "another name under which browsers reach this server, such as a proxy's; may be"
            " repeated"
        ),
    )
    for name, about in PASSED_ON.items():
        parser.add_argument(name, dest=name, metavar=name[2:].replace("-", "_").upper(), help=about)
    for variable, (name, unit, about) in VARIABLES.items():
        parser.add_argument(name, dest=variable, metavar=unit, help=about)
    return parser.parse_args(arguments)


def _read_port(text: str) -> int:
    if not text.isdigit() or int(text) > LAST_PORT:
        raise argparse.ArgumentTypeError(
            f"{text!r} is not a valid port: use a whole number from 0 to {LAST_PORT}"
        )
    return int(text)


def _find_port(address: str | None) -> int:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((address or "", PORT))
        except OSError:
            return 0
    return PORT


if __name__ == "__main__":
    serve()
