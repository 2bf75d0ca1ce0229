"""Lanes: playing what is ordered, many episodes at once, in one process."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence

from noveltree.collection.orders import Collected, Order, PathRecorder, Paused
from noveltree.episodes import Decision, Play, drive_stream
from noveltree.errors import SimulatorError
from noveltree.heuristics import UNINFORMED, Heuristic, Heuristics
from noveltree.learning.deployment import Deployment, digest_of
from noveltree.lookahead import POLICY, VALUE, Answers
from noveltree.protocol import Protocol
from noveltree.simulators import StorableStates
from noveltree.tree import Node


class Lanes:
    """Plays orders, `at_once` of them at a time. An episode that is paused is kept until it is ordered again.

    It is the iterator from which the driver takes plays whenever it has room. Before that it calls `listen`, which
    may bring new orders.
    """

    def __init__(
        self,
        protocol: Protocol,
        *,
        seed: int,
        at_once: int,
        device: str,
        listen: Callable[[], None],
        decided: Callable[[Decision], None],
    ) -> None:
        self._protocol = protocol
        self._seed = seed
        self._at_once = at_once
        self._device = device
        self._listen = listen
        self._decided = decided
        self._simulator = protocol.make_simulator()
        self._weights: str | None = None
        self._heuristics: Heuristics = UNINFORMED
        self._driven_with: Heuristics = UNINFORMED
        self._orders: deque[Order] = deque()
        self._playing: dict[Play, tuple[Order, PathRecorder]] = {}
        self._paused: dict[tuple[int, int], Play] = {}
        self._pausing = False

    def deploy(self, deployment: Deployment | None) -> None:
        """Play with these networks from now on."""
        self._weights = digest_of(deployment)
        self._heuristics = UNINFORMED if deployment is None else deployment.heuristics(device=self._device)

    def order(self, order: Order) -> None:
        self._orders.append(order)

    def pause(self) -> None:
        """Pause everything after the decision that is being made."""
        self._pausing = True

    def run(self) -> Iterator[Collected]:
        """Play until nothing is ordered any more; each order when it is done."""
        while self._orders:
            if self._pausing:
                yield self._not_begun(self._orders.popleft())
                continue
            self._driven_with = self._heuristics
            driven = drive_stream(
                self,
                self._driven_with,
                at_once=self._at_once,
                on_choice=lambda play, choice: self._playing[play][1].chose(play),
                on_decision=self._made,
            )
            for play in driven:
                order, recorder = self._playing.pop(play)
                yield self._collected(order, recorder, play)

    def close(self) -> None:
        self._simulator.close()

    def __iter__(self) -> Lanes:
        return self

    def __next__(self) -> Play:
        self._listen()
        if self._pausing or not self._orders or self._heuristics is not self._driven_with:
            raise StopIteration  # for now; there may be more later, or with the networks that have just come
        order = self._orders.popleft()
        play = self._play(order)
        play.pause_at = None if order.decisions is None else len(play.decisions) + order.decisions
        self._playing[play] = order, PathRecorder(play, sample=order.sample)
        return play

    def _play(self, order: Order) -> Play:
        """The episode from where it goes on."""
        if kept := self._paused.pop((order.interval, order.index), None):
            return kept
        if order.paused is not None:
            return self._restored(order, order.paused)
        return self._begun(order)

    def _begun(self, order: Order) -> Play:
        return self._protocol.make_play(
            self._simulator,
            seed=self._seed,
            index=order.index,
            interval=order.interval,
            evaluation=order.evaluation,
        )

    def _restored(self, order: Order, paused: Paused) -> Play:
        # Needs safetensors, which planners do without.
        from noveltree.records.play_file import decode_play, heads_asked

        if paused.weights == self._weights:
            former = self._heuristics
        else:  # the driver then lets the play go on with other networks
            former = UNINFORMED if paused.weights is None else _gone(self._heuristics, heads_asked(paused.data))
        return decode_play(
            paused.data, self._protocol, self._simulator, heuristics=former, begun=self._begun(order)
        )

    def _collected(self, order: Order, recorder: PathRecorder, play: Play) -> Collected:
        episode = play.episode()
        paused = None
        if not play.finished:
            self._paused[order.interval, order.index] = play
            if isinstance(self._simulator, StorableStates) and (order.store or self._pausing):
                paused = self._stored(play)
        path = recorder.path(episode, of=(order.interval, order.index))
        return Collected(order.interval, order.index, episode, path, paused)

    def _not_begun(self, order: Order) -> Collected:
        """What comes back of an order that was paused before it was begun: as much as came with it."""
        play = self._play(order)
        episode = play.episode()
        return Collected(order.interval, order.index, episode, PathRecorder(play).path(episode), order.paused)

    def _stored(self, play: Play) -> Paused:
        from noveltree.records.play_file import encode_play

        return Paused(encode_play(play, self._protocol), self._weights)

    def _made(self, play: Play, decision: Decision) -> None:
        self._playing[play][1].decided(play, decision)
        if self._pausing:
            play.pause_at = len(play.decisions)
        self._decided(decision)


def _gone(heuristics: Heuristics, asked: frozenset[str]) -> Heuristics:
    """Networks like these whose weights are gone: what they answered can be read, but they cannot be asked.

    They may have had fewer heads: the policy and the value only if they were asked for.
    """
    heads = asked.union(*(part.heads for part in heuristics.parts)) - ({POLICY, VALUE} - asked)

    def refuse(nodes: Sequence[Node], heads: tuple[str, ...]) -> Answers:
        raise SimulatorError("A paused episode asks for networks that were replaced.")

    return Heuristics((Heuristic(heads, refuse),))
