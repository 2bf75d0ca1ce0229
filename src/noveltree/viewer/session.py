"""A session: one episode that is watched, by one page or by several, and what of it is kept."""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict, deque
from collections.abc import Callable
from typing import NamedTuple

from noveltree.records import EpisodeRecord
from noveltree.viewer.messages import Agent, Command, Go, Head, LookAt, See, Seek, Spend, pack, unpack
from noveltree.viewer.process import PlanningProcess
from noveltree.viewer.spec import Spec

#: Bytes of lookaheads and films that a session keeps; the oldest go first.
KEPT = 96 * 2**20
#: Answers that wait for a page which does not take them; then the oldest are dropped.
_MOST_ANSWERS = 32
#: Messages that wait for a page, above which it is told of all decisions at once instead of each.
_MOST_WAITING = 48
#: Seconds within which a page that is loaded again is back.
_RELOADED = 3.0
#: A planning process that fails so often in a row is not started again.
_MOST_FAILURES = 3
_LASTING = 10.0


class Key(NamedTuple):
    """What a kept message shows: of which decision, and whose lookahead or the film."""

    kind: str
    t: int
    side: str = ""


class Mailbox:
    """What a page has not taken yet: of everything that is shown only the latest, and a few answers."""

    def __init__(self) -> None:
        self._latest: OrderedDict[str, bytes] = OrderedDict()
        self._answers: deque[bytes] = deque(maxlen=_MOST_ANSWERS)
        self._there = asyncio.Event()

    def show(self, slot: str, message: bytes) -> None:
        """Put what replaces an earlier message in the same slot that was not taken."""
        self._latest[slot] = message
        self._there.set()

    def answer(self, message: bytes) -> None:
        self._answers.append(message)
        self._there.set()

    async def take(self) -> bytes:
        """The next message: answers first, then what has waited longest."""
        while not self._answers and not self._latest:
            self._there.clear()
            await self._there.wait()
        return self._answers.popleft() if self._answers else self._latest.popitem(last=False)[1]

    def __len__(self) -> int:
        return len(self._answers) + len(self._latest)


class Session:
    """An episode that is watched. All its methods are called in the server's event loop."""

    def __init__(self, name: str, spec: Spec, record: EpisodeRecord | None, agents: list[str]) -> None:
        self.name = name
        self._spec, self._record, self._agents = spec, record, agents
        self._pages: list[Mailbox] = []
        self._kept: OrderedDict[Key, bytes] = OrderedDict()
        self._kept_bytes = 0
        self._decisions: list[Head] = []
        self._world: Head = {}
        self._state: Head = {}
        self._asked: list[tuple[LookAt, Mailbox]] = []
        self._failures = 0
        self._loop = asyncio.get_running_loop()
        self._closed = False
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
                    if (message := self._kept.get(key)) is not None:
                        self._kept.move_to_end(key)
                        page.answer(message)
                if Key("tree", t, "a") not in self._kept:
                    page.answer(pack({"kind": "gone", "t": t}))
            case LookAt(t=t, side=side):
                kept = self._kept.get(Key("tree", t, side))
                columns = b"" if kept is None or t == self._head else unpack(kept)[1]
                self._asked = [*self._asked[-_MOST_ANSWERS:], (command, page)]
                self._process.send(command, columns)
            case Seek(t=t) if t < self._head and Key("tree", t, "a") in self._kept:
                self.obey(See(do="see", t=t), page)
            case _:
                self._process.send(command)
                self._remember(command)

    def close(self) -> None:
        """End the session and its process."""
        self._closed = True
        self._process.close()

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
            case Agent() | Spend():
                self._commands[command.do] = command

    # -- the process ----------------------------------------------------------------------------------------------

    def _start(self) -> PlanningProcess:
        self._commands: dict[str, Command] = {}
        self._started = time.monotonic()
        loop = self._loop

        def later(call: Callable[..., None], *arguments: object) -> None:
            if not loop.is_closed():
                loop.call_soon_threadsafe(call, *arguments)

        return PlanningProcess(
            self._spec, lambda message: later(self._take, message), lambda: later(self._process_ended)
        )

    def _process_ended(self) -> None:
        """Start another process where the one that is gone was."""
        if self._closed:
            return
        self._failures = self._failures + 1 if time.monotonic() - self._started < _LASTING else 1
        if self._failures > _MOST_FAILURES:
            self._tell({"kind": "failed", "error": self._error or "The planning process fails again and again."})
            return
        commands, state = self._commands, self._state
        shown = self._kept.get(Key("tree", self._head, "a"))
        decided = shown is not None and unpack(shown)[0]["done"]
        actions = tuple(decision["action"] for decision in self._decisions)
        self._spec = self._spec.model_copy(update={"actions": actions})
        self._tell({"kind": "lost", "error": "The planning process ended; another one goes on where it was."})
        self._process = self._start()
        for command in commands.values():
            self._process.send(command)
            self._remember(command)
        if state.get("goal") == "play":
            self._process.send(Go(do="play"))
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
                    self._keep(Key("tree", head["t"], head["side"]), message)
                self._show(f"tree-{head['side']}", message)
            case "film":
                self._keep(Key("film", head["t"]), message)
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

    def _keep(self, key: Key, message: bytes) -> None:
        self._kept_bytes += len(message) - len(self._kept.pop(key, b""))
        self._kept[key] = message
        while self._kept_bytes > KEPT and len(self._kept) > 1:
            self._kept_bytes -= len(self._kept.popitem(last=False)[1])

    def _forget_from(self, t: int) -> None:
        """Forget decisions from `t` on: they were taken back."""
        del self._decisions[t:]
        for key in [key for key in self._kept if (key.t >= t and key.kind == "film") or key.t > t]:
            self._kept_bytes -= len(self._kept.pop(key))

    def _show(self, slot: str, message: bytes) -> None:
        for page in self._pages:
            page.show(slot, message)

    def _tell(self, head: Head) -> None:
        self._show(head["kind"], pack(head))

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
