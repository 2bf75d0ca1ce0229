"""Who sits at an episode: the agent that plays, and another one that is compared with it at the same state."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from noveltree.protocol import parse_protocol
from noveltree.viewer.messages import Side
from noveltree.viewer.seat import Seat, with_agent
from noveltree.viewer.spec import Spec
from noveltree.viewer.watched_budget import Watch


class Seats:
    """Two seats at one episode, the second often empty. Whoever sits down has the budget that was chosen last."""

    def __init__(self, spec: Spec, watch: Watch) -> None:
        self._spec, self._watch = spec, watch
        self._run = None if spec.run is None else Path(spec.run)
        self._protocol = parse_protocol(spec.protocol)
        self._budget: int | None = None
        #: Which of a trial's episodes it is.
        self.index = spec.index
        #: The agent that is to be compared, who sits down when `seat_compared` says so.
        self.compared: str | None = None
        self.playing = self._make(self._protocol.agent)
        self.other: Seat | None = None

    def __iter__(self) -> Iterator[Seat]:
        return filter(None, (self.playing, self.other))

    def of(self, side: Side) -> Seat | None:
        return self.playing if side == "a" else self.other

    def restart(self, agent: str | None = None) -> None:
        """Have an agent, or the same one, at the start of the episode."""
        seat = self._make(agent or self.playing.protocol.agent)  # which may fail: the one that sits there stays
        self.playing.close()
        self.playing = seat

    def seat_compared(self, actions: Sequence[int]) -> None:
        """Have the agent that is compared sit at the state that some actions lead to."""
        if self.other is not None:
            self.other.close()
            self.other = None
        if self.compared is not None:
            self.other = self._make(self.compared)
            self.other.follow(actions)

    @property
    def compared_is_seated(self) -> bool:
        return self.compared == (None if self.other is None else self.other.protocol.agent)

    def spend(self, interactions: int) -> None:
        """Have a budget of so many interactions from now on."""
        self._budget = interactions
        for seat in self:
            seat.spend(interactions)

    def _make(self, agent: str) -> Seat:
        protocol = self._protocol
        if agent != protocol.agent:
            protocol = with_agent(protocol, agent, run=self._run)
        seat = Seat(
            protocol,
            self._watch,
            seed=self._spec.seed,
            index=self.index,
            interval=self._spec.interval,
            evaluation=self._spec.evaluation,
            run=self._run,
        )
        if self._budget is not None:
            seat.spend(self._budget)
        return seat
