"""Lookaheads and films of a session, to be seen again: as many as there is room for."""

from __future__ import annotations

from collections import OrderedDict
from typing import NamedTuple


class Key(NamedTuple):
    """What a kept message shows: of which decision, and whose lookahead or the film."""

    kind: str
    t: int
    side: str = ""


class Kept:
    """Messages by what they show. Where they need more than `room` bytes, those go that nobody saw for longest."""

    def __init__(self, room: int) -> None:
        self._room = room
        self._messages: OrderedDict[Key, bytes] = OrderedDict()
        self.bytes = 0

    def put(self, key: Key, message: bytes) -> None:
        self.bytes += len(message) - len(self._messages.pop(key, b""))
        self._messages[key] = message
        while self.bytes > self._room and len(self._messages) > 1:
            self.bytes -= len(self._messages.popitem(last=False)[1])

    def get(self, key: Key) -> bytes | None:
        return self._messages.get(key)

    def see(self, key: Key) -> bytes | None:
        """The same, for somebody who looks at it now: it stays longer for that."""
        if key in self._messages:
            self._messages.move_to_end(key)
        return self._messages.get(key)

    def forget_from(self, t: int) -> None:
        """Forget what comes after the root of decision `t`, which was taken back."""
        for key in [key for key in self._messages if key.t > t or (key.t == t and key.kind == "film")]:
            self.bytes -= len(self._messages.pop(key))

    def of_kind(self, kind: str, side: str = "") -> dict[int, bytes]:
        """All lookaheads of a side, or all films, by their decisions."""
        return {key.t: message for key, message in self._messages.items() if (key.kind, key.side) == (kind, side)}

    def __contains__(self, key: Key) -> bool:
        return key in self._messages

    def __len__(self) -> int:
        return len(self._messages)
