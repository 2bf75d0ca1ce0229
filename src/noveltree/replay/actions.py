"""A recorded action sequence again."""

from __future__ import annotations

from collections.abc import Iterator

from noveltree.collection.orders import Collected, make_path
from noveltree.episodes import Episode, digest
from noveltree.errors import RecordError
from noveltree.simulators import Simulator, State, Transition


def replay_actions(simulator: Simulator, episode: Episode, *, start: State | None = None) -> Iterator[Transition]:
    """Execute an episode's actions again, one interaction each: first the start state, then what each led to.

    `start` is where it began, if that is not the simulator's only one.
    """
    state = simulator.start() if start is None else start
    yield Transition(state, 0.0, False)
    for action in episode.actions:
        transition = simulator.step(state, action)
        yield transition
        state = transition.state


def replay(
    simulator: Simulator, interval: int, index: int, episode: Episode, *, start: State | None = None
) -> Collected:
    """Collect an episode that was recorded, without planning, to learn from it."""
    observations, rewards = [], []
    for transition in replay_actions(simulator, episode, start=start):
        observations.append(transition.state.observation)
        rewards.append(transition.reward)
    if digest(observations[-1]) != episode.final_observation or rewards[1:] != list(episode.rewards):
        raise RecordError(f"The recorded episode {index} of interval {interval} does not replay.")
    return Collected(interval, index, episode, make_path(observations, episode))
