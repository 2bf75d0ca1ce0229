"""What is ordered of whoever plays episodes, and what is collected when it is done."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from noveltree.episodes import Decision, End, Episode, Play
from noveltree.learning.experience import CriticalPath
from noveltree.learning.inputs import STACK
from noveltree.simulators import State, lives_of


@dataclass(frozen=True, slots=True)
class Paused:
    """An episode that was paused, as a play file has it, and the networks that it was driven with."""

    data: bytes
    weights: str | None


@dataclass(frozen=True, slots=True)
class Order:
    """An episode to play, or to play on."""

    interval: int
    index: int
    decisions: int | None = None
    """After how many more decisions it is paused; None: it is played to its end."""
    paused: Paused | None = None
    """From where it goes on, if that is not its beginning and whoever plays it does not have it any more."""
    store: bool = False
    """Whether it is wanted as a file if it is paused."""
    sample: int | None = None
    """How many nodes of every decision's lookahead are sampled, besides its root; None: not even that."""
    evaluation: bool = False
    """Whether it is of an evaluation, which may have levels of its own."""


@dataclass(frozen=True, slots=True)
class Collected:
    """An episode as far as it was played, and what is new of its critical path."""

    interval: int
    index: int
    episode: Episode
    path: CriticalPath
    paused: Paused | None = None
    """How it goes on, if it is paused and that was asked for."""

    @property
    def over(self) -> bool:
        """Whether it was played to its end."""
        return self.episode.end in (End.TERMINAL, End.TRUNCATED)


class Seen(NamedTuple):
    """What is kept of a state on a critical path."""

    observation: NDArray[Any]
    lives: int

    @classmethod
    def of(cls, state: State) -> Seen:
        return cls(state.observation, lives_of(state))


class PathRecorder:
    """Keeps what is observed along a critical path while it is played, from now on."""

    def __init__(self, play: Play, *, sample: int | None = None) -> None:
        """`sample`: how many nodes of every lookahead are sampled besides its root, if any are."""
        self._first = len(play.decisions)
        self._sample = sample
        self._sampled: list[NDArray[Any]] = []
        node = play.lookahead.root
        self._seen = [Seen.of(node.state)]
        while node.parent is not None:
            node = node.parent
            self._seen.insert(0, Seen.of(node.state))
        self._before = len(self._seen) - 1

    def chose(self, play: Play) -> None:
        """Sample from the lookahead, which is still there."""
        if self._sample is None:
            return
        root, *others = play.lookahead.nodes()
        drawn = play.rng.choice(len(others), size=min(self._sample, len(others)), replace=False)
        self._sampled += [node.state.observation for node in (root, *(others[number] for number in drawn))]

    def decided(self, play: Play, decision: Decision) -> None:
        """Take in the state that a decision led to."""
        self._seen.append(Seen.of(play.lookahead.root.state))

    def path(self, episode: Episode, of: tuple[int, int] | None = None) -> CriticalPath:
        path = make_path(self._seen, episode, first=self._first, before=self._before, of=of)
        return replace(path, sampled=np.stack(self._sampled)) if self._sampled else path


def make_path(
    seen: Sequence[Seen],
    episode: Episode,
    *,
    first: int = 0,
    before: int = 0,
    of: tuple[int, int] | None = None,
) -> CriticalPath:
    """The critical path of an episode from its time step `first` on, in which this was seen.

    What was seen begins `before` time steps earlier. `of` is the episode's interval and index.
    """
    decisions = episode.decisions[first:]
    values = [decision.action_values for decision in decisions]
    roots = [decision.root_value for decision in decisions]
    return CriticalPath(
        observations=np.stack([state.observation for state in seen]),
        actions=np.array([decision.action for decision in decisions], dtype=np.int64),
        rewards=np.array([decision.reward for decision in decisions], dtype=np.float64),
        terminal=episode.end is End.TERMINAL,
        before=before,
        first=first,
        episode=of,
        lives=np.array([state.lives for state in seen[before:]], dtype=np.int64),
        action_values=np.array(values, dtype=np.float64) if decisions and all(values) else None,
        root_values=np.array(roots, dtype=np.float64),
    )


def cut_path(episode: Episode, seen: Sequence[Seen], *, of: tuple[int, int], first: int, last: int) -> CriticalPath:
    """A piece of a critical path, as it was when it was played: from time step `first` until before `last`.

    `seen` is what was seen in the whole episode, whose interval and index are in `of`.
    """
    before = min(first, STACK - 1)
    if last < episode.steps:  # it went on there
        episode = replace(episode, decisions=episode.decisions[:last], end=End.STOPPED)
    return make_path(seen[first - before : last + 1], episode, first=first, before=before, of=of)
