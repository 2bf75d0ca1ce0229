"""A stage without a process: commands are handed to it one after another, and what it sends is kept."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from noveltree.viewer.columns import Columns
from noveltree.viewer.messages import Command, Head, unpack
from noveltree.viewer.spec import Spec
from noveltree.viewer.stage import Stage


class _OutOfCommands(Exception):
    pass


class _Commands:
    def __init__(self) -> None:
        self.waiting: list[tuple[Command, bytes]] = []

    def poll(self, timeout: float | None) -> bool:
        if timeout is None and not self.waiting:
            raise _OutOfCommands
        return bool(self.waiting)

    def next(self) -> tuple[Command, bytes]:
        return self.waiting.pop(0)


class StageForTests:
    """A stage that obeys until it would wait for the next command.

    A decision that was paused in its middle is abandoned then, unlike in a process.
    """

    def __init__(self, spec: Spec) -> None:
        self._commands = _Commands()
        self.sent: list[tuple[Head, bytes]] = []
        self.stage = Stage(spec, self._commands, lambda message: self.sent.append(unpack(message)))

    def obey(self, *commands: Command, lookahead: bytes = b"") -> list[tuple[Head, bytes]]:
        """What is sent in answer to some commands."""
        before = len(self.sent)
        self._commands.waiting += [(command, lookahead) for command in commands]
        with contextlib.suppress(_OutOfCommands):
            self.stage.run()
        return self.sent[before:]

    def of_kind(self, kind: str) -> Iterator[Head]:
        return (head for head, _ in self.sent if head["kind"] == kind)

    def tree(self, t: int, side: str = "a") -> tuple[Head, Columns]:
        """The last lookahead of a decision that was sent."""
        head, payload = [
            (head, payload)
            for head, payload in self.sent
            if head["kind"] == "tree" and (head["t"], head["side"]) == (t, side)
        ][-1]
        return head, Columns.from_bytes(head["nodes"], payload)

    def actions(self) -> list[Any]:
        return [head["action"] for head in self.of_kind("decision")]
