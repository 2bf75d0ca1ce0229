"""A recorded episode that is followed: whether decisions that are planned again agree with it, if they can be."""

from __future__ import annotations

from collections.abc import Sequence

from noveltree.episodes import Choice, Decision, Play
from noveltree.records import EpisodeRecord
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


def difference_to_record(play: Play, choice: Choice, recorded: Decision, actions: Sequence[str]) -> str:
    """What is different in one decision; nothing if it was planned again exactly."""
    if choice.action != recorded.action:
        return f"The record has {actions[recorded.action]}; planned again, {actions[choice.action]} is chosen."
    lookahead = play.lookahead
    found = {
        "interactions": (lookahead.interactions, recorded.interactions),
        "cached nodes": (lookahead.cached, recorded.cached),
        "pruned nodes": (lookahead.pruned, recorded.pruned),
        "levels": (lookahead.deepest, recorded.depth),
    }
    for what, (now, then) in found.items():
        # An action that was never tried costs an interaction more when it is executed.
        untried = what == "interactions" and lookahead.root.children[choice.action] is None and play.chance is None
        if now + untried != then:
            return f"The record has {then:,} {what}; planned again, there are {now:,}."
    if recorded.action_values and tuple(recorded.action_values) != tuple(choice.values):
        return "The record has the same action, chosen by other values."
    return ""


def why_not_planned(record: EpisodeRecord, weights: str | None) -> str | None:
    """Why a recorded episode cannot be planned again; None if it can."""
    if record.refreshed:
        return (
            "The networks changed while this episode was played, and the earlier ones are gone: it is only shown."
        )
    if record.weights is not None and record.weights != weights:
        return (
            "The networks that this episode was played with are not there: it is only shown. "
            "Give the run that has them with --weights."
        )
    return None
