"""All sessions of a server: bounded in number, and ended when nobody has looked at them for a while."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable
from typing import Generic, Protocol, TypeVar

from noveltree.errors import InputError

#: Sessions at once, each with a process; one more ends the one that nobody has looked at for longest.
MOST_SESSIONS = 4
#: Seconds after which a session ends that no page looks at.
GONE_FOR = 300.0


class Ends(Protocol):
    """What is known of a session here."""

    name: str
    left: float | None
    """When the last page went; None while there is one."""

    def close(self) -> None: ...


S = TypeVar("S", bound=Ends)


class Sessions(Generic[S]):
    """Sessions by name. `make` starts one of the name it is given."""

    def __init__(self, make: Callable[[str], S], *, gone_for: float = GONE_FOR) -> None:
        self._make, self._gone_for = make, gone_for
        self._sessions: dict[str, S] = {}

    def get(self, name: str) -> S | None:
        return self._sessions.get(name)

    def find(self, name: str | None) -> S:
        """The session of a name if there still is one, otherwise a new one."""
        if name is not None and name in self._sessions:
            return self._sessions[name]
        if len(self._sessions) >= MOST_SESSIONS:
            self._make_room()
        made = self._make(secrets.token_urlsafe(9))
        self._sessions[made.name] = made
        return made

    def _make_room(self) -> None:
        idle = [(each.left, each.name) for each in self._sessions.values() if each.left is not None]
        if not idle:
            raise InputError(f"{MOST_SESSIONS} sessions are being watched: close one of their pages first.")
        self._sessions.pop(min(idle)[1]).close()

    def end_unseen(self) -> None:
        """End sessions that nobody has looked at for a while."""
        now = time.monotonic()
        for session in list(self._sessions.values()):
            if session.left is not None and now - session.left > self._gone_for:
                self._sessions.pop(session.name).close()

    def close(self) -> None:
        for session in self._sessions.values():
            session.close()

    def __len__(self) -> int:
        return len(self._sessions)
