"""What the server does before the first page: compile the kernels, so that nobody waits for them twice."""

from stickbreaker.app.server.service import find_service


def on_server_loaded(server_context):
    """Make the service, which starts compiling in the background."""
    find_service()


def on_server_unloaded(server_context):
    """End the engine threads."""
    find_service().close()
