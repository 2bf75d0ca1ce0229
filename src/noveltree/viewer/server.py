"""The server of the page: Starlette on loopback, behind a token, with nothing that a foreign page could use."""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import secrets
import socket
from collections.abc import AsyncIterator, Callable
from importlib import resources

from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import FileResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.types import ASGIApp, Receive, Scope, Send
from starlette.websockets import WebSocket, WebSocketDisconnect

from noveltree.errors import InputError
from noveltree.viewer.mailbox import Mailbox
from noveltree.viewer.messages import LARGEST_COMMAND, pack, parse_command
from noveltree.viewer.session import Session
from noveltree.viewer.sessions import GONE_FOR, Sessions

#: Pages that may look at one session.
MOST_PAGES = 8
_LOOKED_AFTER_EVERY = 5.0
#: Nonsense that a page may send before it is cut off.
_MOST_NONSENSE = 8
#: Codes with which connections are closed (RFC 6455): a policy was violated, a message was too big.
_REFUSED, _FULL = 1008, 1013

_KINDS = {".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}
_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; connect-src 'self'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Cache-Control": "no-store",
}
MakeSession = Callable[[str], Session]


class Gate:
    """Lets through what comes from the page itself, in a browser that was given the token.

    A name that an attacker makes point to this machine is not allowed; requests of a foreign page have its origin,
    and do not have the cookie.
    """

    def __init__(self, app: ASGIApp, *, token: str, allowed: Callable[[str], bool], cookie: str) -> None:
        self._app, self._token, self._allowed, self._cookie = app, token, allowed, cookie

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan" or (problem := self._problem(scope)) is None:
            await self._app(scope, receive, send)
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": _REFUSED, "reason": ""})  # before it is accepted: 403
        else:
            await problem(scope, receive, send)

    def _problem(self, scope: Scope) -> Response | None:
        headers = Headers(scope=scope)
        host, origin = headers.get("host", ""), headers.get("origin")
        if len(headers.getlist("host")) != 1 or not self._allowed(host):
            return _refusal("This is not a name of this page: open the address that noveltree printed.")
        if origin is None and scope["type"] == "websocket":
            return _refusal("A connection must say where it comes from.")
        if origin is not None and origin != f"http://{host}":
            return _refusal("Another page may not ask for this one.")
        request = Request(scope) if scope["type"] == "http" else WebSocket(scope, _never, _nowhere)
        if request.cookies.get(self._cookie, "") and secrets.compare_digest(
            request.cookies[self._cookie].encode(), self._token.encode()
        ):
            return None
        given = request.query_params.get("token", "")
        if scope["type"] == "http" and scope["path"] == "/" and given:
            if secrets.compare_digest(given.encode(), self._token.encode()):
                return self._let_in()
            return _refusal("The token in this address is of another launch: open the address printed last.")
        return _refusal("Open the address that noveltree printed, with its token.")

    def _let_in(self) -> Response:
        """Move the token from the address into a cookie."""
        response = RedirectResponse("/", status_code=303, headers=_HEADERS)
        response.set_cookie(self._cookie, self._token, httponly=True, samesite="strict", path="/")
        return response


def allowed_hosts(host: str, port: int) -> Callable[[str], bool]:
    """By which names the page may be asked for: never by one that anybody else could have made up."""
    names = {host, "localhost", "127.0.0.1", "[::1]"} if _is_loopback(host) else {host, socket.gethostname()}
    listed = {f"{name}:{port}".lower() for name in names}

    def allowed(given: str) -> bool:
        if given.lower() in listed:
            return True
        name, _, given_port = given.rpartition(":")
        # Where everybody is listened to, an address is as good as a name: addresses cannot be made to point here.
        return host in ("0.0.0.0", "::") and given_port == str(port) and _is_address(name.strip("[]"))

    return allowed


def make_app(make_session: MakeSession, *, token: str, host: str, port: int, gone_for: float = GONE_FOR) -> ASGIApp:
    """The server. `make_session` starts a session of the name it is given; it ends when nobody sees it so long."""
    sessions = Sessions(make_session, gone_for=gone_for)
    files = _files()

    async def page(request: Request) -> Response:
        name = request.path_params.get("name", "index.html")
        if name not in files:
            return PlainTextResponse("There is no such file.", status_code=404, headers=_HEADERS)
        content, kind = files[name]
        return Response(content, media_type=kind, headers=_HEADERS)

    async def video(request: Request) -> Response:
        session = sessions.get(request.path_params["session"])
        path = None if session is None else session.video
        if path is None:
            return PlainTextResponse("There is no such video.", status_code=404, headers=_HEADERS)
        return FileResponse(path, media_type="video/mp4", headers=_HEADERS)

    async def connect(socket: WebSocket) -> None:
        await socket.accept()
        try:
            session = sessions.find(socket.query_params.get("session"))
            if session.pages >= MOST_PAGES:
                raise InputError(f"{MOST_PAGES} pages look at this session already.")
        except InputError as error:
            await socket.send_bytes(pack({"kind": "failed", "error": str(error)}))
            await socket.close(_FULL)
            return
        mailbox = session.join()
        sending = asyncio.create_task(_send(socket, mailbox))
        try:
            await _receive(socket, session, mailbox)
        finally:
            sending.cancel()
            session.leave(mailbox)

    async def look_after() -> None:
        while True:
            await asyncio.sleep(min(_LOOKED_AFTER_EVERY, gone_for))
            sessions.end_unseen()

    @contextlib.asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        looking = asyncio.create_task(look_after())
        yield
        looking.cancel()
        sessions.close()

    app = Starlette(
        routes=[
            Route("/", page, methods=["GET"]),
            Route("/assets/{name}", page, methods=["GET"]),
            Route("/videos/{session}", video, methods=["GET"]),
            WebSocketRoute("/watch", connect),
        ],
        lifespan=lifespan,
    )
    return Gate(app, token=token, allowed=allowed_hosts(host, port), cookie=f"noveltree-{port}")


async def _receive(socket: WebSocket, session: Session, mailbox: Mailbox) -> None:
    """Obey a page until it goes, or sends too much nonsense."""
    nonsense = 0
    with contextlib.suppress(WebSocketDisconnect):
        while True:
            message = await socket.receive()
            if message["type"] == "websocket.disconnect":
                return
            try:
                text = message.get("text")
                if text is None or len(text) > LARGEST_COMMAND:
                    raise InputError("A page sends short texts.")
                session.obey(parse_command(text), mailbox)
            except InputError as error:
                nonsense += 1
                mailbox.answer(pack({"kind": "refused", "error": str(error)}))
                if nonsense == _MOST_NONSENSE:
                    await socket.close(_REFUSED)
                    return


async def _send(socket: WebSocket, mailbox: Mailbox) -> None:
    """Send what is there as fast as the page takes it."""
    with contextlib.suppress(WebSocketDisconnect, RuntimeError):
        while True:
            await socket.send_bytes(await mailbox.take())


def _files() -> dict[str, tuple[bytes, str]]:
    """The files of the page by name: nothing else is ever read."""
    found = {}
    place = resources.files("noveltree.viewer") / "page"
    for directory in (place, place / "assets"):
        for file in directory.iterdir():
            kind = _KINDS.get("." + file.name.rpartition(".")[2])
            if file.is_file() and kind is not None:
                found[file.name] = (file.read_bytes(), kind)
    return found


def _refusal(sentence: str) -> Response:
    return PlainTextResponse(sentence + "\n", status_code=403, headers=_HEADERS)


def _is_loopback(host: str) -> bool:
    return host == "localhost" or (_is_address(host) and ipaddress.ip_address(host).is_loopback)


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


async def _never() -> dict[str, object]:
    raise RuntimeError("Nothing is received before a connection is let in.")


async def _nowhere(message: object) -> None:
    raise RuntimeError("Nothing is sent before a connection is let in.")
