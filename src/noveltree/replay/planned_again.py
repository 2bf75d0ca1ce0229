"""A recorded episode planned again: from its protocol, seed and place alone, decision by decision."""

from __future__ import annotations

import contextlib

from noveltree.episodes import Choice, Decision, Episode, Play, drive
from noveltree.errors import InputError
from noveltree.heuristics import UNINFORMED, Heuristics
from noveltree.lookahead import Interactions
from noveltree.protocol import Protocol
from noveltree.records.episode_file import EpisodeRecord
from noveltree.replay.agreement import difference_to_record


class _Differs(Exception):
    """A decision came out differently."""


def why_never_again(protocol: Protocol) -> str:
    """Why decisions cannot be planned again from protocol and seed; nothing if they can."""
    if not isinstance(protocol.make_budget(), Interactions):
        return "its planning ended by the clock"
    try:
        protocol.check_plannable()
    except InputError as gone:
        return str(gone)
    return ""


def stands_alone(record: EpisodeRecord) -> bool:
    """Whether an episode can be planned again without learning again: its networks stayed, and nobody but planning
    drew its random numbers, as those do who sample screens of lookaheads to train networks once.
    """
    learning = record.protocol.learning
    sampled = learning is not None and learning.loop.kind not in ("intervals", "lockstep") and not record.weights
    return not record.refreshed and not sampled


def plan_again(record: EpisodeRecord, heuristics: Heuristics = UNINFORMED) -> str:
    """What comes out differently when an episode is planned again with these networks; nothing if all agrees."""
    protocol, recorded = record.protocol, record.episode.decisions
    evaluation = protocol.level_of(record.index, evaluation=True) == record.level
    with contextlib.closing(protocol.make_simulator()) as simulator:
        play = protocol.make_play(
            simulator, seed=record.seed, index=record.index, interval=record.interval, evaluation=evaluation
        )

        def compare(play: Play, choice: Choice) -> None:
            time = len(play.decisions)
            if difference := difference_to_record(play, choice, recorded[time], simulator.actions):
                raise _Differs(f"step {time}: {difference}")

        def compare_outcome(play: Play, decision: Decision) -> None:
            time = len(play.decisions) - 1
            if difference := difference_in_outcome(decision, recorded[time]):
                raise _Differs(f"step {time}: {difference}")

        try:
            drive([play], heuristics, decisions=len(recorded), on_choice=compare, on_decision=compare_outcome)
        except _Differs as difference:
            return str(difference)
        return difference_in_end(play.episode(), record.episode)


def difference_of_decisions(found: Episode, recorded: Episode) -> str:
    """What is different between decisions as they were planned again and as they were recorded, where both are."""
    for time, (now, then) in enumerate(zip(found.decisions, recorded.decisions, strict=False)):
        if now.action != then.action:
            return f"step {time}: The record has action {then.action}; planned again, {now.action} is chosen."
        if difference := difference_in_outcome(now, then):
            return f"step {time}: {difference}"
    return ""


def difference_in_outcome(found: Decision, recorded: Decision) -> str:
    """What is different in one decision with the same action once it is executed; times are no part of it."""
    for what in ("reward", "interactions", "cached", "pruned", "solved", "depth"):
        now, then = getattr(found, what), getattr(recorded, what)
        if now != then:
            return f"The record has {what} {then}; planned again, it is {now}."
    if recorded.action_values and recorded.action_values != found.action_values:
        return "The record has the same action, chosen by other values."
    return ""


def difference_in_end(found: Episode, recorded: Episode) -> str:
    """What is different at the end of an episode whose decisions agree."""
    if found.steps != recorded.steps:
        return f"The record has {recorded.steps} steps; planned again, there are {found.steps}."
    if found.final_observation != recorded.final_observation:
        return "The last observation is different."
    return ""
