"""Collecting in this process: many episodes at once, whose questions are answered in one batch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from noveltree.collection.collector import Collected, OnCollected, OnInteractions, PathRecorder
from noveltree.episodes import Decision, Play, drive_stream
from noveltree.evaluation import UNINFORMED
from noveltree.learning.inference import Deployment
from noveltree.protocol import Protocol


class InProcess:
    """Plays `at_once` episodes at a time."""

    def __init__(self, protocol: Protocol, *, seed: int, at_once: int, device: str = "cpu") -> None:
        self._protocol = protocol
        self._seed = seed
        self._at_once = at_once
        self._device = device
        self._simulator = protocol.make_simulator()
        self._evaluation = UNINFORMED

    def deploy(self, deployment: Deployment | None) -> None:
        self._evaluation = UNINFORMED if deployment is None else deployment.evaluation(device=self._device)

    def collect(
        self, interval: int, indices: Sequence[int], on_collected: OnCollected, on_interactions: OnInteractions
    ) -> Iterator[Collected]:
        recorders: dict[Play, PathRecorder] = {}
        places: dict[Play, int] = {}

        def begin() -> Iterator[Play]:
            for index in indices:
                play = self._protocol.make_play(self._simulator, seed=self._seed, index=index, interval=interval)
                recorders[play] = PathRecorder(play)
                places[play] = index
                yield play

        def decided(play: Play, decision: Decision) -> None:
            recorders[play].decided(play, decision)
            on_interactions(decision.interactions)

        for play in drive_stream(begin(), self._evaluation, at_once=self._at_once, on_decision=decided):
            episode = play.episode()
            collected = Collected(interval, places.pop(play), episode, recorders.pop(play).path(episode))
            on_collected(collected)
            yield collected

    def close(self) -> None:
        self._simulator.close()
