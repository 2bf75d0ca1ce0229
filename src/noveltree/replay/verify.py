"""Verification: replay the actions of an episode in a fresh simulator, without planning, and compare."""

from __future__ import annotations

from dataclasses import dataclass

from noveltree.agents import get_agent
from noveltree.episodes import End, Episode, digest
from noveltree.lookahead import Interactions
from noveltree.protocol import Protocol
from noveltree.records.episode_file import EpisodeRecord
from noveltree.replay.actions import replay_actions


@dataclass(frozen=True, slots=True)
class Verification:
    """Whether a recorded score holds."""

    holds: bool
    score: float
    """The score that the replay gave."""
    finding: str
    """Why it does not hold, or a caveat, or nothing."""


def verify_episode(record: EpisodeRecord) -> Verification:
    """Replay a recorded episode in a fresh simulator."""
    protocol, episode = record.protocol, record.episode
    caveat = _version_caveat(record)
    if protocol.rom_md5 != protocol.simulator_kind.rom_md5(protocol.game):
        return Verification(False, 0.0, f"the ROM of {protocol.game} here is a different one{caveat}")
    if record.level not in _levels(record):
        return Verification(False, 0.0, f"it began in level {record.level}, which is not that of such an episode")
    simulator = protocol.make_simulator()
    try:
        transitions = replay_actions(simulator, episode, record.chance)
        state, score, terminal = next(transitions)
        for step, decision in enumerate(episode.decisions):
            if terminal:
                return Verification(False, score, f"the game was over before step {step}{caveat}")
            if not 0 <= decision.action < len(simulator.actions):
                return Verification(False, score, f"step {step} has an action that does not exist")
            state, reward, terminal = next(transitions)
            score += reward
            if reward != decision.reward:
                return Verification(
                    False, score, f"step {step} paid {reward:g}, not {decision.reward:g} as recorded{caveat}"
                )
        if terminal != (episode.end is End.TERMINAL):
            was = "over" if terminal else "not over"
            return Verification(False, score, f"the game was {was} after the last step{caveat}")
        if digest(state.observation) != episode.final_observation:
            return Verification(False, score, f"the last observation is different{caveat}")
        if finding := _impossible_account(protocol, episode):
            return Verification(False, score, finding)
        if episode.steps > protocol.max_steps:
            return Verification(False, score, f"it goes beyond the limit of {protocol.max_steps} steps")
        if episode.end is End.TRUNCATED and episode.steps < protocol.max_steps:
            return Verification(False, score, f"it ends before the limit of {protocol.max_steps} steps")
    finally:
        simulator.close()
    return Verification(True, score, caveat.lstrip("; "))


def _levels(record: EpisodeRecord) -> tuple[int | None, int | None]:
    """The level of an episode of its place in training, and in an evaluation."""
    level_of = record.protocol.level_of
    return level_of(record.index, interval=record.interval), level_of(record.index, evaluation=True)


def _impossible_account(protocol: Protocol, episode: Episode) -> str:
    """What decisions say of their lookaheads and no lookahead of this protocol can be, if they do."""
    settings, agent = protocol.settings(), get_agent(protocol.agent)
    most = _interactions_allowed(protocol)
    for step, decision in enumerate(episode.decisions):
        if most is not None and decision.interactions > most:
            return f"step {step} took {decision.interactions:,} interactions, more than {most:,}"
        if "horizon" in agent.uses and decision.depth > settings.horizon:
            return f"step {step} looked {decision.depth} actions ahead, beyond the horizon of {settings.horizon}"
        # Without novelty simulations may end where the tree does, again and again, and nothing is ever solved. What
        # is known may be as many nodes as there may be without an interaction.
        free = settings.most_nodes is None and settings.visits == "free" and agent.novelty != "none"
        asks = settings.known_transitions == "counted"
        if most is not None and free and asks and not decision.interactions and not decision.solved:
            return f"step {step} took no interactions although its root was not solved"
    return ""


def _interactions_allowed(protocol: Protocol) -> int | None:
    """Interactions that a decision may have taken: the budget's, and one to execute an action never tried.

    Where visits count, a walk that began within the budget may go on through kept nodes, down to the horizon.
    """
    budget = protocol.make_budget()
    if not isinstance(budget, Interactions):
        return None
    settings = protocol.settings()
    return budget.limit + 1 + (settings.horizon if settings.visits == "counted" else 0)


def _version_caveat(record: EpisodeRecord) -> str:
    protocol = record.protocol
    here, there = protocol.simulator_kind.version(protocol.game), protocol.simulator_version
    return "" if here == there else f"; recorded with {there}, replayed with {here}"
