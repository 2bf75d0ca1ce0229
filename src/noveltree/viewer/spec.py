"""What a planning process is told: which episode it shows, and where its commands come from."""

from __future__ import annotations

from typing import Any, Protocol

from pydantic import BaseModel, ConfigDict

from noveltree.viewer.messages import Command


class Spec(BaseModel):
    """What is to be watched, as the server has it; pages never say this."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    protocol: dict[str, Any]
    seed: int
    index: int = 0
    interval: int = 0
    evaluation: bool = True
    run: str | None = None
    """The run whose networks are played with."""
    file: str | None = None
    """The episode file that is planned again."""
    actions: tuple[int, ...] = ()
    """What was executed before this process began."""


class Inbox(Protocol):
    """Where commands come from."""

    def poll(self, timeout: float | None) -> bool:
        """Whether there is a command, or comes one within so many seconds; None: wait."""
        ...

    def next(self) -> tuple[Command, bytes]:
        """The next command, and the lookahead that comes with it, if any."""
        ...
