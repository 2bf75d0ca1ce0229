"""Collecting what was recorded: episodes come from their records, piece by piece as they were played.

With such a collector a trial learns once more what it has learnt, and plans nothing.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, replace

from noveltree.collection import Collected, Collector, Listener, Order
from noveltree.collection.orders import Seen, cut_path
from noveltree.episodes import End, Episode
from noveltree.learning.deployment import Deployment
from noveltree.protocol import Protocol
from noveltree.replay.actions import replay_path
from noveltree.replay.planned_again import difference_in_end, difference_of_decisions

#: The record of an episode of training, by interval and index; None if there is none.
FindRecord = Callable[[int, int], Episode | None]


class EndOfRecords(Exception):
    """What is ordered was not recorded: a trial has come as far as its records go."""


@dataclass(slots=True)
class _Lane:
    """An episode that is handed out piece by piece."""

    episode: Episode
    seen: list[Seen]
    steps: int = 0
    """How many were handed out."""


class FromRecords:
    """A collector whose episodes are replayed from their records.

    What has no record goes to a `player`, if there is one, which plans it; and so do the episodes that are to be
    `planned` again, whose decisions are then compared with their records.
    """

    def __init__(
        self,
        protocol: Protocol,
        seed: int,
        find: FindRecord,
        *,
        player: Collector | None = None,
        planned: frozenset[tuple[int, int]] = frozenset(),
        on_deploy: Callable[[Deployment | None], None] = lambda deployment: None,
    ) -> None:
        self.listener = Listener()
        self.may_lose_lanes = False
        #: Interval and index of the episodes that were planned.
        self.played: set[tuple[int, int]] = set()
        #: What came out differently of them, if they have a record.
        self.differences: dict[tuple[int, int], str] = {}
        self._protocol, self._seed, self._find = protocol, seed, find
        self._player, self._planned, self._on_deploy = player, planned, on_deploy
        self._simulator = protocol.make_simulator()
        self._lanes: dict[tuple[int, int], _Lane] = {}
        self._orders: deque[Order] = deque()
        self._played = 0

    def deploy(self, deployment: Deployment | None) -> None:
        self._on_deploy(deployment)
        if self._player is not None:
            self._player.deploy(deployment)

    def order(self, order: Order) -> None:
        if self._is_played(order):
            assert self._player is not None
            self._player.order(order)
            self.played.add((order.interval, order.index))
            self._played += 1
        else:
            self._orders.append(order)

    def collect(self) -> Collected:
        if self._orders:
            collected = self._replayed(self._orders.popleft())
        else:
            assert self._player is not None
            assert self._played, "nothing was ordered"
            collected = self._player.collect()
            self._played -= 1
            self._compare(collected)
        self.listener.collected(collected)
        return collected

    def pause(self) -> None:
        """Nothing is worth pausing: all of it is on the disk."""

    def close(self) -> None:
        self._simulator.close()
        if self._player is not None:
            self._player.close()

    def _is_played(self, order: Order) -> bool:
        """Whether this is planned rather than replayed: samples of lookaheads are in no record."""
        if self._player is None:
            return False
        place = order.interval, order.index
        return order.sample is not None or place in self._planned or self._find(*place) is None

    def _replayed(self, order: Order) -> Collected:
        place = order.interval, order.index
        lane = self._lanes.pop(place, None) or self._begin(order)
        first, last = lane.steps, lane.episode.steps
        if order.decisions is not None:
            last = min(last, first + order.decisions)
        lane.steps = last
        path = cut_path(lane.episode, lane.seen, of=place, first=first, last=last)
        made = Collected(*place, _until(lane.episode, last), path)
        if not made.over:
            if order.decisions is None or last - first < order.decisions:
                raise EndOfRecords
            self._lanes[place] = lane
        return made

    def _begin(self, order: Order) -> _Lane:
        episode = self._find(order.interval, order.index)
        if episode is None:
            raise EndOfRecords
        chance = self._protocol.chance_of(seed=self._seed, index=order.index, interval=order.interval)
        return _Lane(episode, replay_path(self._simulator, episode, chance))

    def _compare(self, collected: Collected) -> None:
        """Note what comes out differently of an episode that was recorded too, as far as it was played."""
        place = collected.interval, collected.index
        recorded = self._find(*place)
        if recorded is None or place in self.differences:
            return
        difference = difference_of_decisions(collected.episode, recorded)
        if not difference and (collected.over or collected.episode.steps == recorded.steps):
            difference = difference_in_end(collected.episode, recorded)
        if difference:
            self.differences[place] = difference


def _until(episode: Episode, steps: int) -> Episode:
    """An episode as far as it was played after so many steps."""
    if steps == episode.steps:
        return episode
    return replace(episode, decisions=episode.decisions[:steps], end=End.STOPPED)
