"""The viewer's server as an attacker finds it, and as pages that come and go do."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from noveltree.protocol import make_protocol
from noveltree.viewer.kept import Kept, Key
from noveltree.viewer.mailbox import MOST_ANSWERS, Mailbox
from noveltree.viewer.messages import LARGEST_COMMAND, unpack
from noveltree.viewer.serve import _SENT_AHEAD, _listen
from noveltree.viewer.server import _MOST_NONSENSE, allowed_hosts, make_app
from noveltree.viewer.session import _MOST_FAILURES, Session
from noveltree.viewer.sessions import MOST_SESSIONS, Sessions
from noveltree.viewer.watching import Watching
from tests.support.command_line import Cli
from tests.support.watching import Server, eventually, watching

pytest.importorskip("starlette", reason="needs the extra watch")
client = pytest.importorskip("websockets.sync.client")
exceptions = pytest.importorskip("websockets.exceptions")
uvicorn = pytest.importorskip("uvicorn")


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with watching("corridor", "--budget", 3) as started:
        yield started


Answer = tuple[int, dict[str, str], bytes]


def ask(server: Server, path: str = "/", *, method: str = "GET", **headers: str) -> Answer:
    """A request by hand: nothing is normalised on its way."""
    given = {name.replace("_", "-"): value for name, value in headers.items()}
    lines = {"Host": f"127.0.0.1:{server.port}", **given}
    head = "".join(f"{name}: {value}\r\n" for name, value in lines.items() if value)
    with socket.create_connection(("127.0.0.1", server.port), timeout=10) as connection:
        connection.sendall(f"{method} {path} HTTP/1.1\r\n{head}Connection: close\r\n\r\n".encode())
        answer = b""
        while part := connection.recv(65536):
            answer += part
    top, _, body = answer.partition(b"\r\n\r\n")
    status, *fields = top.decode().split("\r\n")
    found = dict(field.split(": ", 1) for field in fields)
    return int(status.split()[1]), {name.lower(): value for name, value in found.items()}, body


def connect(server: Server, *, query: str = "", **headers: str) -> Any:
    usual = {"Origin": server.origin, "Cookie": server.cookie}
    given = {name: value for name, value in (usual | headers).items() if value}
    address = f"ws://127.0.0.1:{server.port}/watch{query}"
    return client.connect(address, additional_headers=given, max_size=None, open_timeout=20)


def hear(page: Any, kind: str, *, within: float = 60.0) -> dict[str, Any]:
    """The next message of a kind."""
    end = time.monotonic() + within
    while True:
        head, _ = unpack(page.recv(timeout=end - time.monotonic()))
        if head["kind"] == kind:
            return head


class TestAttacker:
    def test_without_the_token_there_is_nothing(self, server: Server) -> None:
        for path in ("/", "/assets/page.js", "/assets/page.css", "/watch", "/?token=", "/?token=wrong", "/x"):
            status, headers, body = ask(server, path)
            assert status == 403
            assert b"<html" not in body
            assert "set-cookie" not in headers

    def test_the_token_moves_from_the_address_into_a_strict_cookie(self, server: Server) -> None:
        status, headers, _ = ask(server, f"/?token={server.token}")
        assert (status, headers["location"]) == (303, "/")
        cookie = headers["set-cookie"]
        assert server.token in cookie
        assert "HttpOnly" in cookie
        assert "samesite=strict" in cookie.lower()
        assert "domain" not in cookie.lower()

    def test_with_the_cookie_there_is_the_page(self, server: Server) -> None:
        status, headers, body = ask(server, Cookie=server.cookie)
        assert status == 200
        assert b"<html" in body
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "script-src 'self';" in policy
        assert "unsafe" not in policy
        assert (headers["x-content-type-options"], headers["referrer-policy"]) == ("nosniff", "no-referrer")
        assert b"<script>" not in body
        assert b"style=" not in body

    @pytest.mark.parametrize(
        "host",
        ["evil.example", "evil.example:{port}", "127.0.0.1", "127.0.0.1:1", "", "localhost.evil.example:{port}"],
    )
    def test_a_foreign_name_for_this_machine_is_refused(self, server: Server, host: str) -> None:
        """DNS rebinding: the attacker's name points here, and the browser even has a cookie for it."""
        status, _, _ = ask(server, Host=host.format(port=server.port), Cookie=server.cookie)
        assert status in (400, 403)

    def test_the_name_localhost_is_as_good_as_the_address(self, server: Server) -> None:
        assert ask(server, Host=f"localhost:{server.port}", Cookie=server.cookie)[0] == 200

    def test_another_origin_is_refused(self, server: Server) -> None:
        for origin in ("http://evil.example", "null", f"https://127.0.0.1:{server.port}", "http://127.0.0.1:1"):
            assert ask(server, Origin=origin, Cookie=server.cookie)[0] == 403
        assert ask(server, Origin=server.origin, Cookie=server.cookie)[0] == 200

    @pytest.mark.parametrize(
        "headers",
        [
            {"Origin": "http://evil.example"},
            {"Origin": "null"},
            {"Origin": ""},
            {"Cookie": ""},
            {"Cookie": "noveltree-1=x"},
        ],
    )
    def test_a_connection_from_elsewhere_or_without_the_token_is_refused(
        self, server: Server, headers: dict[str, str]
    ) -> None:
        with pytest.raises(exceptions.InvalidStatus) as refused, connect(server, **headers):
            pass
        assert refused.value.response.status_code == 403

    def test_a_connection_by_a_foreign_name_is_refused(self, server: Server) -> None:
        key = "A" * 22 + "=="
        upgrade = {"Upgrade": "websocket", "Sec_WebSocket_Key": key, "Sec_WebSocket_Version": "13"}
        host = f"evil.example:{server.port}"
        status, _, _ = ask(server, "/watch", Host=host, Origin=f"http://{host}", Cookie=server.cookie, **upgrade)
        assert status in (400, 403)

    @pytest.mark.parametrize(
        "path",
        [
            *("/assets/../index.html", "/assets/..%2f..%2fserver.py", "/assets/%2e%2e/%2e%2e/server.py"),
            *(
                "/assets//etc/passwd",
                "/../../../../etc/passwd",
                "/assets/....//server.py",
                "/assets/page.js%00.css",
            ),
            *("//evil.example/", "/assets/", "/server.py", "/assets/..\\server.py"),
        ],
    )
    def test_no_file_of_the_machine_can_be_named(self, server: Server, path: str) -> None:
        status, _, body = ask(server, path, Cookie=server.cookie)
        assert status in (400, 404)
        assert b"import" not in body
        assert b"root:" not in body

    def test_only_reading_is_allowed(self, server: Server) -> None:
        for method in ("POST", "PUT", "DELETE", "OPTIONS"):
            assert ask(server, method=method, Cookie=server.cookie)[0] == 405

    def test_a_huge_message_ends_the_connection_and_nothing_else(self, server: Server) -> None:
        with connect(server) as page:
            hear(page, "world")
            page.send("x" * (LARGEST_COMMAND + 1))
            with pytest.raises(exceptions.ConnectionClosed):
                hear(page, "nothing")
        assert ask(server, Cookie=server.cookie)[0] == 200

    def test_a_huge_request_is_refused(self, server: Server) -> None:
        try:
            status, _, _ = ask(server, Cookie=server.cookie, X="x" * 1_000_000)
        except OSError:
            return  # the connection was cut off before all of it was sent
        assert status == 400

    def test_malformed_messages_are_answered_and_then_cut_off(self, server: Server) -> None:
        with connect(server) as page:
            hear(page, "world")
            for nonsense in ("", "{", "[]", '{"do": "seek", "t": -1}', b"\\x00\\xff", '{"do": "eval"}'):
                page.send(nonsense)
                assert hear(page, "refused")["error"]

            def go_on() -> None:  # it may be closed by the second message or by the third
                for _ in range(3):
                    page.send("{}")
                hear(page, "nothing")

            with pytest.raises(exceptions.ConnectionClosed):
                go_on()

    def test_addresses_of_elsewhere_need_a_secret(self, cli: Cli) -> None:
        result = cli("watch", "corridor", "--no-open", "--host", "0.0.0.0", "--port", 0)
        assert result.code == 2
        assert "--token" in result.err
        result = cli("watch", "corridor", "--no-open", "--host", "0.0.0.0", "--token", "short", "--port", 0)
        assert result.code == 2

    def test_an_address_that_cannot_be_listened_on_is_named(self, cli: Cli) -> None:
        result = cli("watch", "corridor", "--host", "nowhere.invalid", "--token", "x" * 16, "--no-open")
        assert result.code == 2
        assert "Cannot listen on nowhere.invalid: " in result.err

    def test_what_is_not_there_is_not_taken_for_a_game(self, cli: Cli, tmp_path: Path) -> None:
        for path, problem in ((tmp_path / "gone.json", "no file"), (tmp_path, "no run in")):
            result = cli("watch", path, "--no-open")
            assert result.code == 2
            assert f"There is {problem} {path}" in result.err

    def test_where_everybody_is_listened_to_names_still_cannot_be_made_up(self) -> None:
        allowed = allowed_hosts("0.0.0.0", 80)
        assert allowed("192.168.1.5:80")
        assert allowed("[fe80::1]:80")
        assert not allowed("evil.example:80")
        assert not allowed("192.168.1.5:81")


class TestPages:
    def test_a_page_that_comes_back_finds_its_session_where_it_was(self, server: Server) -> None:
        with connect(server) as page:
            session = hear(page, "world")["session"]
            page.send(json.dumps({"do": "act", "action": 1}))
            hear(page, "decision")
        with connect(server, query=f"?session={session}") as page:
            assert hear(page, "world")["session"] == session
            assert [decision["action"] for decision in hear(page, "history")["decisions"]] == [1]

    def test_two_pages_of_a_session_see_the_same(self, server: Server) -> None:
        with connect(server) as one:
            session = hear(one, "world")["session"]
            with connect(server, query=f"?session={session}") as other:
                hear(other, "world")
                one.send(json.dumps({"do": "act", "action": 1}))
                assert hear(one, "decision")["t"] == hear(other, "decision")["t"] == 0

    def test_a_planner_that_is_killed_is_started_again_where_it_was(self, server: Server) -> None:
        with connect(server) as page:
            hear(page, "world")
            for _ in range(3):
                page.send(json.dumps({"do": "act", "action": 1}))
                hear(page, "decision")
            os.kill(server.planners()[-1], signal.SIGKILL)
            hear(page, "lost")
            assert hear(page, "world")["t"] == 3
            page.send(json.dumps({"do": "act", "action": 1}))
            assert hear(page, "decision")["t"] == 3

    def test_a_planner_that_is_killed_is_replaced_by_one_that_does_the_same(self, server: Server) -> None:
        """In the same episode, at the same speed, with the same agents."""
        with connect(server) as page:
            hear(page, "world")
            page.send(json.dumps({"do": "restart"}))  # another episode of the trial
            assert hear(page, "world")["index"] == 1
            page.send(json.dumps({"do": "pause"}))
            for command in ({"do": "speed", "speed": 0.1}, {"do": "compare", "agent": "uct"}):
                page.send(json.dumps(command))
            while hear(page, "world")["compared"] is None:
                pass
            os.kill(server.planners()[-1], signal.SIGKILL)
            hear(page, "lost")
            while (world := hear(page, "world"))["compared"] != "uct":
                pass
            assert world["index"] == 1
            page.send(json.dumps({"do": "pause"}))
            while hear(page, "state")["speed"] != 0.1:
                pass

    def test_a_page_that_is_loaded_again_tries_again_what_failed_too_often(self, server: Server) -> None:
        with connect(server) as page:
            session = hear(page, "world")["session"]
            for _ in range(_MOST_FAILURES + 1):
                os.kill(server.planners()[-1], signal.SIGKILL)
                heard = ""
                while heard not in ("world", "failed"):
                    heard = unpack(page.recv(timeout=60))[0]["kind"]
            assert heard == "failed"
        with connect(server, query=f"?session={session}") as page:
            hear(page, "lost")
            hear(page, "world")
            page.send(json.dumps({"do": "act", "action": 1}))
            hear(page, "decision")

    def test_a_game_without_pictures_cannot_be_filmed_and_that_is_said(self, server: Server) -> None:
        with connect(server) as page:
            session = hear(page, "world")["session"]
            for _ in range(_MOST_NONSENSE + 1):  # which is no nonsense
                page.send(json.dumps({"do": "film"}))
                assert "nothing to film" in hear(page, "refused")["error"]
            page.send(json.dumps({"do": "act", "action": 1}))
            while hear(page, "film")["t"] < 0:  # the one before anything was executed
                pass
            page.send(json.dumps({"do": "film"}))
            assert "no pictures" in hear(page, "refused")["error"]
        for name in (session, "x", "..", "%2e%2e"):
            assert ask(server, f"/videos/{name}", Cookie=server.cookie)[0] == 404
        assert ask(server, f"/videos/{session}")[0] == 403

    def test_sessions_are_bounded_in_number(self, server: Server) -> None:
        for _ in range(MOST_SESSIONS + 2):
            with connect(server) as page:
                hear(page, "world")
        eventually(lambda: len(server.planners()) <= MOST_SESSIONS)
        with contextlib.ExitStack() as pages:
            for _ in range(MOST_SESSIONS):
                hear(pages.enter_context(connect(server)), "world")
            with connect(server) as page:
                assert "sessions" in hear(page, "failed")["error"]


class Fake:
    """A session without a process."""

    def __init__(self, name: str, left: float | None = None) -> None:
        self.name, self.left, self.closed = name, left, False

    def close(self) -> None:
        self.closed = True


class TestEnds:
    def test_a_session_that_nobody_looks_at_ends_and_others_do_not(self) -> None:
        sessions = Sessions(Fake, gone_for=100.0)
        seen, just_left, long_gone = (sessions.find(None) for _ in range(3))
        just_left.left, long_gone.left = time.monotonic() - 90.0, time.monotonic() - 110.0
        sessions.end_unseen()
        assert [each.closed for each in (seen, just_left, long_gone)] == [False, False, True]
        assert sessions.find(just_left.name) is just_left
        assert sessions.find(long_gone.name) is not long_gone

    def test_one_session_too_many_ends_the_one_that_was_left_first(self) -> None:
        sessions = Sessions(Fake)
        all_of_them = [sessions.find(None) for _ in range(MOST_SESSIONS)]
        all_of_them[1].left, all_of_them[2].left = 20.0, 10.0
        sessions.find(None)
        assert [each.closed for each in all_of_them] == [False, False, True, False]
        assert len(sessions) == MOST_SESSIONS

    def test_the_process_of_a_session_ends_when_its_page_has_been_gone_for_a_while(self) -> None:
        """A real server, whose patience is short."""
        spec = Watching(make_protocol("corridor", budget=3), 0).spec()
        listening = socket.create_server(("127.0.0.1", 0))
        port, token = listening.getsockname()[1], "t" * 24
        made: list[Session] = []

        def make(name: str) -> Session:
            made.append(Session(name, spec, None, []))
            return made[-1]

        app = make_app(make, token=token, host="127.0.0.1", port=port, gone_for=0.5)
        running = uvicorn.Server(uvicorn.Config(app, log_level="warning", ws="websockets-sansio"))
        thread = threading.Thread(target=running.run, kwargs={"sockets": [listening]})
        thread.start()
        try:
            there = Server(f"http://127.0.0.1:{port}/?token={token}", os.getpid())
            eventually(lambda: running.started)
            with connect(there) as page:
                hear(page, "world")
                pid = made[0].pid
                time.sleep(1.2)
                assert is_alive(pid)  # for as long as there is a page
            eventually(lambda: not is_alive(pid), within=10)
        finally:
            running.should_exit = True
            thread.join()


def is_alive(pid: int | None) -> bool:
    try:
        os.kill(pid or 0, 0)
    except ProcessLookupError:
        return False
    return True


class TestKept:
    def test_what_is_kept_is_bounded_and_what_was_not_seen_for_longest_goes(self) -> None:
        kept = Kept(room=1000)
        for t in range(30):
            kept.put(Key("tree", t, "a"), bytes(100))
            kept.see(Key("tree", 0, "a"))
            assert kept.bytes <= 1000
        assert list(kept.of_kind("tree", "a")) == [*range(21, 30), 0]

    def test_what_is_put_again_counts_once_and_what_is_taken_back_not_at_all(self) -> None:
        kept = Kept(room=1000)
        for t in (3, 3, 4, 5):
            kept.put(Key("tree", t, "a"), bytes(100))
            kept.put(Key("film", t), bytes(10))
        assert kept.bytes == 330
        kept.forget_from(4)  # whose lookahead is still the one of this state
        assert (kept.bytes, len(kept)) == (210, 3)


class TestMailbox:
    async def fill(self) -> Mailbox:
        mailbox = Mailbox()
        for n in range(1000):
            mailbox.show("tree", b"tree %d" % n)
            mailbox.show("film", b"film %d" % n)
            mailbox.answer(b"node %d" % n)
        return mailbox

    def test_the_system_keeps_little_of_what_a_slow_page_does_not_take(self) -> None:
        """It would send all that later, long after it was so."""
        with (
            contextlib.closing(_listen("127.0.0.1", 0)) as listening,
            socket.create_connection(listening.getsockname()),
        ):
            accepted, _ = listening.accept()
            with accepted:
                # Linux doubles what it is asked for.
                assert accepted.getsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF) <= 2 * _SENT_AHEAD

    def test_what_a_slow_page_does_not_take_is_dropped_and_the_latest_is_kept(self) -> None:
        async def take() -> list[bytes]:
            mailbox = await self.fill()
            assert len(mailbox) == MOST_ANSWERS + 2
            return [await mailbox.take() for _ in range(MOST_ANSWERS + 2)]

        taken = asyncio.run(take())
        assert taken[-2:] == [b"tree 999", b"film 999"]
        assert taken[0] == b"node %d" % (1000 - MOST_ANSWERS)
