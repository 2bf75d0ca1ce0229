"""What every way of collecting episodes offers, and how a recorded episode is collected again without planning."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from noveltree.episodes import Decision, End, Episode, Play, digest
from noveltree.errors import RecordError
from noveltree.learning.experience import CriticalPath
from noveltree.learning.inference import Deployment
from noveltree.simulators import Simulator


@dataclass(frozen=True, slots=True)
class Collected:
    """An episode of an interval, and its critical path to learn from."""

    interval: int
    index: int
    episode: Episode
    path: CriticalPath


#: Told of every episode as soon as it is over, in whatever order that is, perhaps in another thread.
OnCollected = Callable[[Collected], None]
#: Told of interactions as they are spent.
OnInteractions = Callable[[int], None]


class Collector(Protocol):
    """Plays the episodes of intervals with the networks that are deployed."""

    def deploy(self, deployment: Deployment | None) -> None:
        """Play with these networks from now on; None: a uniform policy and a termination cost of zero."""
        ...

    def collect(
        self, interval: int, indices: Sequence[int], on_collected: OnCollected, on_interactions: OnInteractions
    ) -> Iterator[Collected]:
        """Play these episodes of an interval, and return each when it is over."""
        ...

    def close(self) -> None:
        """Release what the collector holds."""
        ...


class PathRecorder:
    """Keeps what is observed along a critical path while it is played."""

    def __init__(self, play: Play) -> None:
        self._observations: list[NDArray[Any]] = [play.lookahead.root.state.observation]

    def decided(self, play: Play, decision: Decision) -> None:
        """Take in the state that a decision led to."""
        self._observations.append(play.lookahead.root.state.observation)

    def path(self, episode: Episode) -> CriticalPath:
        return make_path(self._observations, episode)


def make_path(observations: Sequence[NDArray[Any]], episode: Episode) -> CriticalPath:
    """The critical path of an episode in which this was observed."""
    return CriticalPath(
        observations=np.stack(observations),
        actions=np.array(episode.actions, dtype=np.int64),
        rewards=np.array(episode.rewards, dtype=np.float64),
        terminal=episode.end is End.TERMINAL,
    )


def replay(simulator: Simulator, interval: int, index: int, episode: Episode) -> Collected:
    """Collect an episode that was recorded, by repeating its actions: one interaction per time step."""
    state = simulator.start()
    observations = [state.observation]
    for decision in episode.decisions:
        state, reward, _ = simulator.step(state, decision.action)
        observations.append(state.observation)
        if reward != decision.reward:
            break
    if digest(state.observation) != episode.final_observation or len(observations) != episode.steps + 1:
        raise RecordError(f"The recorded episode {index} of interval {interval} does not replay.")
    return Collected(interval, index, episode, make_path(observations, episode))
