"""Serving the page: where it listens, and by which address it can be opened."""

from __future__ import annotations

import secrets
import socket
from collections.abc import Callable

import uvicorn

from noveltree.errors import InputError
from noveltree.viewer.messages import LARGEST_COMMAND
from noveltree.viewer.server import make_app
from noveltree.viewer.session import Session
from noveltree.viewer.watching import Watching

LOOPBACK = "127.0.0.1"
DEFAULT_PORT = 8642
_SHORTEST_TOKEN = 16
#: Bytes that are on their way to a page.
_SENT_AHEAD = 64 * 1024


def serve(
    watching: Watching,
    *,
    host: str = LOOPBACK,
    port: int | None = None,
    token: str | None = None,
    on_address: Callable[[str], None] = lambda address: None,
) -> None:
    """Show the page until interrupted. `on_address` is told the address with its token, once it can be opened."""
    if token is None and host != LOOPBACK:
        raise InputError("To be seen from elsewhere, give a secret with --token along with --host.")
    if token is not None and len(token) < _SHORTEST_TOKEN:
        raise InputError(f"A token has at least {_SHORTEST_TOKEN} characters, not {len(token)}.")
    token = token or secrets.token_urlsafe(24)
    listening = _listen(host, port)
    port = listening.getsockname()[1]
    app = make_app(
        lambda name: Session(name, watching.spec(), watching.record, watching.agents()),
        token=token,
        host=host,
        port=port,
    )
    config = uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,
        http="h11",
        ws="websockets-sansio",
        ws_max_size=LARGEST_COMMAND,
        ws_max_queue=16,
        h11_max_incomplete_event_size=16_384,
        server_header=False,
        timeout_graceful_shutdown=1,
    )
    shown = "127.0.0.1" if host == "0.0.0.0" else host
    on_address(f"http://{f'[{shown}]' if ':' in shown else shown}:{port}/?token={token}")
    uvicorn.Server(config).run(sockets=[listening])


def _listen(host: str, port: int | None) -> socket.socket:
    """Listen on a port: on the usual one if none is given and it is free, otherwise on any."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    for number in [port] if port is not None else [DEFAULT_PORT, 0]:
        listening = socket.socket(family, socket.SOCK_STREAM)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            # What a slow page has not taken is dropped by us, not kept by the system.
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _SENT_AHEAD)
            listening.bind((host, number))
            listening.listen(64)
            return listening
        except OSError as error:
            listening.close()
            problem = error.strerror or str(error)
    if port is None:
        raise InputError(f"Cannot listen on {host}: {problem}. Choose another --host.")
    raise InputError(f"Cannot listen on {host}, port {port}: {problem}. Choose another --port, or 0 for any.")
