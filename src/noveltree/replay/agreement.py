"""Whether decisions that are planned again agree with the recorded ones, and why they cannot be planned."""

from __future__ import annotations

from collections.abc import Sequence

from noveltree.episodes import Choice, Decision, Play
from noveltree.records import EpisodeRecord


def difference_to_record(play: Play, choice: Choice, recorded: Decision, actions: Sequence[str]) -> str:
    """What is different in one decision; nothing if it was planned again exactly."""
    if choice.action != recorded.action:
        return f"The record has {actions[recorded.action]}; planned again, {actions[choice.action]} is chosen."
    lookahead = play.lookahead
    # An action that was never tried is tried when it is executed, which is an interaction unless chance decides.
    untried = lookahead.root.children[choice.action] is None
    found = {
        "interactions": (lookahead.interactions + (untried and play.chance is None), recorded.interactions),
        "cached nodes": (lookahead.cached, recorded.cached),
        "pruned nodes": (lookahead.pruned, recorded.pruned),
        "levels": (max(lookahead.deepest, untried), recorded.depth),
    }
    for what, (now, then) in found.items():
        if now != then:
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
