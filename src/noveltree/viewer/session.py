"""A session: one episode that is watched, by one page or by several, and what of it is kept."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from pathlib import Path

from noveltree.errors import InputError
from noveltree.records import EpisodeRecord
from noveltree.viewer.filming import Filming
from noveltree.viewer.kept import Kept, Key
from noveltree.viewer.mailbox import MOST_ANSWERS, Mailbox
from noveltree.viewer.messages import (
    Agent,
    Command,
    Compare,
    Film,
    Go,
    Head,
    LookAt,
    See,
    Seek,
    Speed,
    Spend,
    pack,
    unpack,
)
from noveltree.viewer.process import Process, start_planning
from noveltree.viewer.spec import Spec

#: Bytes of lookaheads and films that a session keeps.
KEPT = 96 * 2**20
#: Messages that wait for a page, above which it is told of all decisions at once instead of each.
_MOST_WAITING = 48
#: Seconds within which a page that is loaded again is back.
_RELOADED = 3.0
#: A planning process that fails so often in a row is not started again.
_MOST_FAILURES = 3
_LASTING = 10.0


class Session:
    """An episode that is watched. All its methods are called in the server's event loop."""

    def __init__(self, name: str, spec: Spec, record: EpisodeRecord | None, agents: list[str]) -> None:
        self.name = name
        self._spec, self._record, self._agents = spec, record, agents
        self._pages: list[Mailbox] = []
        self._kept = Kept(KEPT)
        self._decisions: list[Head] = []
        self._world: Head = {}
        self._state: Head = {}
        self._asked: list[tuple[LookAt, Mailbox]] = []
        self._failures = 0
        self._loop = asyncio.get_running_loop()
        self._closed = False
        self._filming: Filming | None = None
        self._filmed = True
        #: When the last page went; None while there is one.
        self.left: float | None = time.monotonic()
        self._process = self._start()

    # -- pages ----------------------------------------------------------------------------------------------------

    def join(self) -> Mailbox:
        """A page has come: it is shown everything up to now."""
        page = Mailbox()
        self._pages.append(page)
        self.left = None
        self._welcome(page)
        if self._failures > _MOST_FAILURES:  # whoever loads the page again wants to try again
            self._failures, self._error = 0, ""
            self._start_again()
        return page

    def leave(self, page: Mailbox) -> None:
        self._pages.remove(page)
        self._asked = [(asked, by) for asked, by in self._asked if by is not page]
        if not self._pages:
            self.left = time.monotonic()
            self._loop.call_later(_RELOADED, self._pause_unseen)

    def _pause_unseen(self) -> None:
        """Plan nothing that nobody sees; a page that is only loaded again is back by now."""
        if self.left is not None and time.monotonic() - self.left >= _RELOADED:
            self._process.send(Go(do="pause"))

    def obey(self, command: Command, page: Mailbox) -> None:
        """Do what a page asks for."""
        match command:
            case See(t=t):
                for key in (Key("film", t - 1), Key("film", t), Key("tree", t, "a"), Key("tree", t, "b")):
                    if (message := self._kept.see(key)) is not None:
                        page.answer(message)
                if Key("tree", t, "a") not in self._kept:
                    page.answer(pack({"kind": "gone", "t": t}))
            case LookAt(t=t, side=side):
                kept = self._kept.get(Key("tree", t, side))
                columns = b"" if kept is None or t == self._head else unpack(kept)[1]
                self._asked = [*self._asked[-MOST_ANSWERS:], (command, page)]
                self._process.send(command, columns)
            case Seek(t=t) if t < self._head and Key("tree", t, "a") in self._kept:
                self.obey(See(do="see", t=t), page)
            case Film():
                self._film(page)
            case _:
                self._process.send(command)
                self._remember(command)

    def close(self) -> None:
        """End the session and its process."""
        self._closed = True
        self._process.close()
        if self._filming is not None:
            self._filming.close()

    @property
    def _head(self) -> int:
        return len(self._decisions)

    @property
    def pages(self) -> int:
        """How many pages look at it."""
        return len(self._pages)

    @property
    def pid(self) -> int | None:
        return self._process.pid

    def _remember(self, command: Command) -> None:
        """Keep what a process that has to be started again must be told."""
        match command:
            case Agent() | Spend() | Speed() | Compare():
                self._commands[command.do] = command

    # -- the process ----------------------------------------------------------------------------------------------

    def _start(self) -> Process:
        self._commands: dict[str, Command] = {}
        self._started = time.monotonic()
        return start_planning(self._spec, self._later(self._take), self._later(self._process_ended))

    def _later(self, call: Callable[..., None]) -> Callable[..., None]:
        """The call, made in the server's event loop by whichever thread asks for it."""

        def later(*arguments: object) -> None:
            if not self._loop.is_closed():
                self._loop.call_soon_threadsafe(call, *arguments)

        return later

    def _process_ended(self) -> None:
        """Start another process, unless that has failed too often."""
        if self._closed:
            return
        self._failures = self._failures + 1 if time.monotonic() - self._started < _LASTING else 1
        if self._failures > _MOST_FAILURES:
            error = self._error or "The planning process fails again and again: load the page to try once more."
            self._tell({"kind": "failed", "error": error})
            return
        self._start_again()

    def _start_again(self) -> None:
        """Start another process at the state where the one before was, to do what that one did."""
        commands, state = self._commands, self._state
        shown = self._kept.get(Key("tree", self._head, "a"))
        decided = shown is not None and unpack(shown)[0]["done"]
        actions = tuple(decision["action"] for decision in self._decisions)
        index = self._world.get("index", self._spec.index)  # which a new episode has changed
        self._spec = self._spec.model_copy(update={"actions": actions, "index": index})
        self._tell({"kind": "lost", "error": "The planning process ended; another one goes on where it was."})
        self._process = self._start()
        for command in commands.values():
            self._process.send(command)
            self._remember(command)
        if state.get("goal") == "play":
            self._process.send(Go(do="play"))
        elif state.get("seek_to") is not None:
            self._process.send(Seek(do="seek", t=state["seek_to"]))
        elif decided:
            self._process.send(Go(do="decision"))

    _error = ""

    def _take(self, message: bytes) -> None:
        """What the process says."""
        head, _ = unpack(message)
        kind = head["kind"]
        match kind:
            case "world":
                self._forget_from(head["t"])
                self._world = {**head, "session": self.name, "agents": self._agents, "recorded": self._recorded()}
                self._show("world", pack(self._world))
            case "decision":
                self._forget_from(head["t"])
                before = self._decisions[-1]["score"] if self._decisions else 0.0
                head["score"] = before + head["reward"]
                self._decisions.append(head)
                self._tell_decision(head)
            case "state":
                self._state = head
                self._show("state", message)
            case "tree":
                if head["done"] or head["t"] == self._head:
                    self._kept.put(Key("tree", head["t"], head["side"]), message)
                self._show(f"tree-{head['side']}", message)
            case "film":
                self._kept.put(Key("film", head["t"]), message)
                self._show("film", message)
            case "node":
                self._answer(head, message)
            case "failed":
                self._error = head["error"]
                self._failures = _MOST_FAILURES
                self._tell(head)

    def _tell_decision(self, head: Head) -> None:
        """Tell of a decision, or of all if a page has not taken many that came before."""
        for page in self._pages:
            if len(page) < _MOST_WAITING:
                page.show(f"decision-{head['t']}", pack(head))
            else:
                page.show("history", pack({"kind": "history", "decisions": self._decisions}))

    def _answer(self, head: Head, message: bytes) -> None:
        """Give what was asked about a node to those who asked."""
        about = (head["t"], head["number"], head["side"])
        waiting = []
        for asked, page in self._asked:
            if (asked.t, asked.number, asked.side) == about:
                page.answer(message)
            else:
                waiting.append((asked, page))
        self._asked = waiting

    def _forget_from(self, t: int) -> None:
        """Forget decisions from `t` on: they were taken back."""
        del self._decisions[t:]
        self._kept.forget_from(t)

    def _show(self, slot: str, message: bytes) -> None:
        for page in self._pages:
            page.show(slot, message)

    def _tell(self, head: Head) -> None:
        self._show(head["kind"], pack(head))

    # -- videos ---------------------------------------------------------------------------------------------------

    def _film(self, page: Mailbox) -> None:
        """Make a video of the decisions that are kept, one at a time."""
        if not self._filmed:
            page.answer(pack({"kind": "refused", "error": "A video is being made already."}))
            return
        if self._filming is not None:
            self._filming.close()
            self._filming = None

        def take(message: bytes) -> None:
            if unpack(message)[0]["kind"] == "filming":
                page.show("filming", message)
            else:
                page.answer(message)

        try:
            self._filming = Filming(
                self._kept.of_kind("tree", "a"),
                self._kept.of_kind("film"),
                self._world,
                receive=self._later(take),
                ended=self._later(self._filming_ended),
            )
            self._filmed = False
        except InputError as error:
            page.answer(pack({"kind": "refused", "error": str(error)}))

    def _filming_ended(self) -> None:
        self._filmed = True

    @property
    def video(self) -> Path | None:
        """The video that was made last, if there is one."""
        return self._filming.path if self._filming is not None and self._filming.path.is_file() else None

    def _recorded(self) -> Head | None:
        """The whole strip of a recorded episode, known before it is planned again."""
        if self._record is None:
            return None
        episode = self._record.episode
        columns = ("action", "reward", "interactions", "cached", "pruned", "depth")
        return {name: episode.column(name) for name in columns} | {"end": str(episode.end)}

    def _welcome(self, page: Mailbox) -> None:
        """Show a page that has come what there is."""
        if not self._world:
            return
        page.show("world", pack(self._world))
        page.show("history", pack({"kind": "history", "decisions": self._decisions}))
        for key in (Key("film", self._head - 1), Key("tree", self._head, "a"), Key("tree", self._head, "b")):
            if (message := self._kept.get(key)) is not None:
                page.show(f"{key.kind}-{key.side}", message)
        if self._state:
            page.show("state", pack(self._state))
