"""A recorded action sequence again."""

from __future__ import annotations

from collections.abc import Iterator

from noveltree.collection.orders import Collected, Seen, make_path
from noveltree.episodes import Episode, EpisodeChance, digest
from noveltree.errors import RecordError
from noveltree.simulators import Simulator, Transition


def replay_actions(simulator: Simulator, episode: Episode, chance: EpisodeChance) -> Iterator[Transition]:
    """Execute an episode's actions again, one interaction each: first the start state, then what each led to.

    If chance had a say, the same dice are thrown again.
    """
    state = chance.start(simulator)
    yield Transition(state, 0.0, False)
    for time, action in enumerate(episode.actions):
        transition = chance.step(simulator, state, action, time)
        yield transition
        state = transition.state


def replay_path(simulator: Simulator, episode: Episode, chance: EpisodeChance) -> list[Seen]:
    """What was seen along an episode's critical path; raise RecordError if its actions lead elsewhere."""
    seen, rewards = [], []
    for transition in replay_actions(simulator, episode, chance):
        seen.append(Seen.of(transition.state))
        rewards.append(transition.reward)
    if digest(seen[-1].observation) != episode.final_observation or rewards[1:] != list(episode.rewards):
        raise RecordError(f"The recorded episode {chance.index} of interval {chance.interval} does not replay.")
    return seen


def replay(simulator: Simulator, chance: EpisodeChance, episode: Episode) -> Collected:
    """Collect an episode that was recorded, without planning, to learn from it; `chance` knows its place."""
    path = make_path(replay_path(simulator, episode, chance), episode)
    return Collected(chance.interval, chance.index, episode, path)
