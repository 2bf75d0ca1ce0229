"""What a page has not taken yet: nothing is queued without end for one that is slow."""

from __future__ import annotations

import asyncio
from collections import OrderedDict, deque

#: Answers that wait for a page which does not take them; then the oldest are dropped.
MOST_ANSWERS = 32


class Mailbox:
    """What waits for a page: of everything that is shown only the latest, and a few answers."""

    def __init__(self) -> None:
        self._latest: OrderedDict[str, bytes] = OrderedDict()
        self._answers: deque[bytes] = deque(maxlen=MOST_ANSWERS)
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
