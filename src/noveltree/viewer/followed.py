"""A recorded episode that is followed by what is planned again, until somebody leaves it."""

from __future__ import annotations

from noveltree.episodes import Choice
from noveltree.records import EpisodeRecord
from noveltree.replay.agreement import difference_to_record, why_not_planned
from noveltree.viewer.seat import Seat


class Followed:
    """A record that decisions follow, until somebody leaves it by doing something else."""

    def __init__(self, record: EpisodeRecord, weights: str | None) -> None:
        """`weights` identifies the networks that there are."""
        self._episode = record.episode
        #: Why its decisions cannot be planned again; None if they can.
        self.not_planned = why_not_planned(record, weights)
        self.left = False

    def has(self, t: int) -> bool:
        return t < len(self._episode.decisions)

    def only_shown(self, t: int) -> Choice | None:
        """The recorded choice, if it cannot be planned again."""
        return Choice(self._episode.actions[t], ()) if self.not_planned is not None and self.has(t) else None

    def agree(self, t: int, seat: Seat, choice: Choice) -> tuple[Choice, str]:
        """The choice that the record has, with the values that were found, and how the two differ."""
        if self.left or not self.has(t):
            return choice, ""
        recorded = self._episode.decisions[t]
        note = difference_to_record(seat.play, choice, recorded, seat.simulator.actions)
        return Choice(recorded.action, choice.values), note

    def ends(self, t: int) -> bool:
        """Whether it has no more decisions; going on beyond is a choice of its own."""
        if self.left or self.has(t):
            return False
        self.left = True
        return True
