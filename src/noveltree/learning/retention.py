"""Which critical paths are still held when an interval is over."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

_PART = ConfigDict(frozen=True, extra="forbid", strict=True)


class DropAll(BaseModel):
    """Nothing: the next interval learns from its own episodes alone. The paper's."""

    model_config = _PART
    kind: Literal["paper"] = Field(default="paper", description="which part it is")

    def keep(self, lengths: Sequence[int]) -> int:
        """How many of the newest paths to keep, given the lengths of all of them, oldest first."""
        return 0


class KeepLatest(BaseModel):
    """The newest whole paths that together have at most `transitions` transitions.

    Those of an interval whose update is rejected are never among them; of a window of several, those of the last.
    """

    model_config = _PART
    kind: Literal["latest"] = Field(default="latest", description="which part it is")
    transitions: int = Field(default=50_000, ge=1, description="how many at most")

    def keep(self, lengths: Sequence[int]) -> int:
        held = 0
        for count, length in enumerate(reversed(lengths)):
            held += length
            if held > self.transitions:
                return count
        return len(lengths)


class Replay(BaseModel):
    """The newest whole paths that together have `transitions` transitions or more; the newest of these are used."""

    model_config = _PART
    kind: Literal["replay"] = Field(default="replay", description="which part it is")
    transitions: int = Field(default=10_000, ge=1, description="how many are drawn from")

    def keep(self, lengths: Sequence[int]) -> int:
        held = 0
        for count, length in enumerate(reversed(lengths)):
            if held >= self.transitions:
                return count
            held += length
        return len(lengths)


Retention = Annotated[DropAll | KeepLatest | Replay, Field(discriminator="kind")]
