"""What runs in a planning process: an episode that is planned, shown, paused, and interfered with.

A stage obeys commands between interactions with the simulator. It may be in the middle of a decision then: what
only waits, waits right there; what makes the decision pointless abandons it.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from pydantic import BaseModel, ConfigDict

from noveltree.episodes import Choice, Decision
from noveltree.errors import InputError, NoveltreeError
from noveltree.lookahead import TIE_TOLERANCE, Interactions
from noveltree.protocol import parse_protocol
from noveltree.records import EpisodeRecord, read_episode
from noveltree.replay.agreement import difference_to_record, why_not_planned
from noveltree.tree import Lookahead, Node
from noveltree.viewer.columns import Columns, columns_of, grow_again
from noveltree.viewer.details import details_of
from noveltree.viewer.messages import (
    Act,
    Agent,
    Command,
    Compare,
    Go,
    Head,
    LookAt,
    Rewind,
    Seek,
    Side,
    Speed,
    Spend,
    pack,
)
from noveltree.viewer.pictures import Painter
from noveltree.viewer.screens import film, lives, screen, seconds_per_decision
from noveltree.viewer.seat import Seat, with_agent

#: While a lookahead grows it is shown so often at most, and showing it may take so little of the time.
_SHOWN_EVERY = 0.05
_SHARE_OF_TIME = 0.04
#: How much of a time step the growing of a lookahead is spread over.
_SPREAD = 0.8
#: Waiting for less is not worth it.
_SHORT = 0.004
_RELINKED = 3


class Spec(BaseModel):
    """What is to be watched, as the server has it; pages never say this."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    protocol: dict[str, Any]
    seed: int
    index: int = 0
    interval: int = 0
    evaluation: bool = True
    run: str | None = None
    """The run whose networks are played with."""
    file: str | None = None
    """The episode file that is planned again."""
    actions: tuple[int, ...] = ()
    """What was executed before this process began."""


class Inbox(Protocol):
    """Where commands come from."""

    def poll(self, timeout: float | None) -> bool:
        """Whether there is a command, or comes one within so many seconds; None: wait."""
        ...

    def next(self) -> tuple[Command, bytes]:
        """The next command, and the lookahead that comes with it, if any."""
        ...


class _Abandon(Exception):
    """A command came that makes the decision in progress pointless."""

    def __init__(self, command: Command) -> None:
        self.command = command


class _Shown(NamedTuple):
    """A decision that was grown again, to be asked about."""

    t: int
    side: Side
    lookahead: Lookahead


class Stage:
    """An episode on show."""

    def __init__(self, spec: Spec, inbox: Inbox, send: Callable[[bytes], None]) -> None:
        self._spec, self._inbox, self._send = spec, inbox, send
        self._run = None if spec.run is None else Path(spec.run)
        self._protocol = parse_protocol(spec.protocol)
        self._index = spec.index
        self._record: EpisodeRecord | None = None if spec.file is None else read_episode(Path(spec.file))
        self._paint = Painter()
        self._speed = 1.0
        self._goal = "pause"
        self._seek_to: int | None = None
        self._budget: int | None = None
        self._other: Seat | None = None
        self._compared: str | None = None
        self._actions: list[int] = []
        self._roots: list[Node] = []
        self._choice: Choice | None = None
        self._planning = self._comparing = False
        self._again: _Shown | None = None
        self._seat = self._make_seat(self._protocol.agent)
        self._not_planned = why_not_planned(self._record, self._seat.weights) if self._record else None
        self._begin(list(spec.actions))

    # -- the loop -------------------------------------------------------------------------------------------------

    def run(self) -> None:
        """Play, and obey, until nobody sends commands any more (EOFError)."""
        while True:
            try:
                if self._goal == "pause":
                    self._inbox.poll(None)
                    self._obey_all()
                else:
                    self._go_on()
            except _Abandon as abandoned:
                self._planning = self._comparing = False
                self._choice = None
                self._perform(abandoned.command)
            except NoveltreeError as error:
                self._planning = self._comparing = False
                self._goal = "pause"
                self._tell_state(error=str(error))

    def _go_on(self) -> None:
        """One decision, or what is missing of it."""
        play = self._seat.play
        if self._choice is not None:
            if self._goal == "play" and not self._wait(self._time_of_next_decision()):
                return
            self._execute(self._choice.action, by="agent")
        if play.finished or self._at_end_of_record():
            self._goal = "pause"
            self._seek_to = None
            self._tell_state()
            return
        if self._seek_to is not None and self.t < self._seek_to:
            self._tell_state()
        self._plan()
        if self._goal in ("decision", "rollout") or (self._seek_to is not None and self.t >= self._seek_to):
            self._goal, self._seek_to = "pause", None
            self._tell_state()

    @property
    def t(self) -> int:
        """The time step that is decided."""
        return len(self._actions)

    def _plan(self) -> None:
        """Grow the lookahead of the current state and choose; others do so at the same state."""
        self._began, self._last_shown, self._cost = time.perf_counter(), 0.0, 0.0
        self._step_from = self._last_generated = self._seat.play.lookahead.generated
        if (
            self._not_planned is not None
            and self._record is not None
            and self.t < len(self._record.episode.actions)
        ):
            self._seat.play.lookahead.begin_time_step()
            self._choice = Choice(self._record.episode.actions[self.t], ())
            self._show(self._seat, "a", self._choice, note=self._not_planned)
            return
        self._planning = True
        choice = self._seat.plan()
        note, differs = "", False
        if self._record is not None and not self._left_record and self.t < len(self._record.episode.decisions):
            recorded = self._record.episode.decisions[self.t]
            note = difference_to_record(self._seat.play, choice, recorded, self._seat.simulator.actions)
            differs = bool(note)
            choice = Choice(recorded.action, choice.values)
        self._show(self._seat, "a", choice, note=note, differs=differs)
        self._planning = False
        self._choice = choice
        self._compare()

    def _compare(self) -> None:
        """Let the agent that is compared look ahead from the same state, once the decision is made."""
        if (None if self._other is None else self._other.protocol.agent) != self._compared:
            self._choose_other()
        if self._other is not None and self._choice is not None:
            self._planning = self._comparing = True
            self._show(self._other, "b", self._other.plan())
            self._planning = self._comparing = False

    def _execute(self, action: int, *, by: str) -> None:
        play, simulator, t = self._seat.play, self._seat.simulator, self.t
        root = play.lookahead.root
        values = self._choice.values if self._choice is not None else ()
        worth = max((value for value in values if value is not None), default=None)
        decision = play.execute(Choice(action, values))
        self._note_root(root, action)
        if self._other is not None:
            self._other.follow([action])
        self._choice = None
        self._executed = time.perf_counter()
        after = play.lookahead.root.state
        self._send(pack(self._account(t, decision, by, worth)))
        if frames := film(simulator, root.state, action, after, self._seat.dice(t)):
            head, data = self._paint(frames)
            self._send(pack({"kind": "film", "t": t, **head}, data))
        else:
            self._send(pack({"kind": "film", "t": t, "frames": 0, "text": _as_text(after.observation)}))

    def _account(self, t: int, decision: Decision, by: str, worth: float | None) -> Head:
        return {
            "kind": "decision",
            "t": t,
            "action": decision.action,
            "reward": decision.reward,
            "value": worth,
            "interactions": decision.interactions,
            "cached": decision.cached,
            "pruned": decision.pruned,
            "depth": decision.depth,
            "seconds": round(decision.seconds, 6),
            "lives": lives(self._seat.play.lookahead.root.state),
            "by": by,
            "agent": self._seat.protocol.agent,
            "over": self._seat.play.lookahead.root.terminal,
        }

    # -- commands -------------------------------------------------------------------------------------------------

    def _obey_all(self) -> None:
        """Obey what has come."""
        while self._inbox.poll(0):
            command, payload = self._inbox.next()
            match command:
                case Seek(t=t) if self._planning and t >= self.t:  # the decision in progress is on the way
                    self._seek_to, self._goal = t, "seek"
                    self._tell_state()
                case Go(do="restart") | Act() | Agent() | Seek() | Rewind():
                    if self._planning:
                        raise _Abandon(command)
                    self._perform(command)
                case Compare(agent=agent):
                    self._compared = agent
                    self._tell_world()
                    if not self._planning:  # otherwise it looks ahead as soon as the decision is made
                        self._compare()
                case Go(do=goal):
                    self._goal = goal
                    self._seek_to = None
                    self._step_from = self._seat.play.lookahead.generated
                    self._tell_state()
                case Speed(speed=speed):
                    self._speed = speed
                    self._tell_state()
                case Spend(budget=budget):
                    self._budget = budget
                    for seat in filter(None, (self._seat, self._other)):
                        seat.spend(budget)
                    self._tell_world()
                case LookAt():
                    self._look_at(command, payload)

    def _perform(self, command: Command) -> None:
        """What needs a state in which nothing is being planned."""
        match command:
            case Act(action=action):
                self._goal = "pause"
                if action < len(self._seat.simulator.actions) and not self._seat.play.finished:
                    self._left_record = True
                    self._seat.play.lookahead.begin_time_step()
                    self._execute(action, by="human")
                    self._show(self._seat, "a", None)
                self._tell_state()
            case Agent(agent=agent):
                seat = self._make_seat(agent)
                self._seat.close()
                self._seat, self._left_record = seat, True
                self._begin(self._actions, keep=True)
            case Seek(t=t):
                if t < self.t:
                    self._restart([])
                self._seek_to, self._goal = t, "seek"
                if self.t == t and self._choice is not None:
                    self._seek_to, self._goal = None, "pause"
                self._tell_state()
            case Rewind(t=t):
                self._goal, self._seek_to = "pause", None
                self._left_record = True
                self._restart(self._actions[:t], rewound=True)
            case Go():
                if self._record is None:
                    self._index += 1
                self._left_record = False
                self._goal, self._seek_to = "play", None
                self._restart([])

    def _restart(self, actions: list[int], *, rewound: bool = False) -> None:
        seat = self._make_seat(self._seat.protocol.agent)
        self._seat.close()
        self._seat = seat
        self._begin(actions, keep=rewound)

    def _make_seat(self, agent: str) -> Seat:
        spec = self._spec
        protocol = self._protocol
        if agent != protocol.agent:
            protocol = with_agent(protocol, agent, run=self._run)
        seat = Seat(
            protocol,
            self._watch,
            seed=spec.seed,
            index=self._index,
            interval=spec.interval,
            evaluation=spec.evaluation,
            run=self._run,
        )
        if self._budget is not None:
            seat.spend(self._budget)
        return seat

    _left_record = False

    def _begin(self, actions: list[int], *, keep: bool = False) -> None:
        """Stand at the state that some actions lead to, with nothing planned yet."""
        self._choice, self._planning, self._again = None, False, None
        self._actions, self._roots = [], []
        for action in actions:
            root = self._seat.play.lookahead.root
            self._seat.follow([action])
            self._note_root(root, action)
        self._executed = 0.0
        self._choose_other()
        self._tell_world(begin=not keep)
        self._show_screen()
        self._show(self._seat, "a", None)
        self._tell_state()

    def _choose_other(self) -> None:
        """Have the agent that is compared sit at the same state."""
        if self._other is not None:
            self._other.close()
            self._other = None
        if self._compared is not None:
            self._other = self._make_seat(self._compared)
            self._other.follow(self._actions)

    def _note_root(self, root: Node, action: int) -> None:
        self._roots.append(root)
        self._actions.append(action)

    def _at_end_of_record(self) -> bool:
        """Whether the record has no more decisions; going on beyond is a choice of its own."""
        if self._record is None or self._left_record or self.t < len(self._record.episode.decisions):
            return False
        self._left_record = True
        return True

    # -- while it grows -------------------------------------------------------------------------------------------

    def _watch(self, lookahead: Lookahead) -> None:
        """Between two interactions: obey, wait, and show."""
        if not self._planning:
            return
        if self._inbox.poll(0):
            self._obey_all()
        if self._comparing:  # it is planned whole, whatever the one that plays is asked to do
            return
        if self._goal == "rollout" and self._rollout_is_over(lookahead):
            self._goal = "pause"
            self._tell_state()
        if self._goal == "pause":
            self._show_growing(lookahead)
            while self._goal == "pause":
                self._inbox.poll(None)
                self._obey_all()
        self._last_generated = lookahead.generated
        now = time.perf_counter()
        if self._goal == "seek":
            return
        if self._goal == "play" and now - self._last_shown >= max(_SHOWN_EVERY, self._cost / _SHARE_OF_TIME):
            self._show_growing(lookahead)
        if self._goal == "play":
            self._spread_out(lookahead, now)

    def _rollout_is_over(self, lookahead: Lookahead) -> bool:
        """Whether nodes were added since the step began, and the next one will be added elsewhere."""
        added = lookahead.generated - self._step_from
        if not added:
            return False
        newest = max(lookahead.nodes(), key=lambda node: node.number)
        ended = newest.solved or newest.terminal or not newest.novel
        elsewhere = added > 1 and newest.parent is not None and newest.parent.number != newest.number - 1
        return ended or elsewhere or lookahead.generated == self._last_generated

    def _spread_out(self, lookahead: Lookahead, now: float) -> None:
        """At the speed of the console and below, let a lookahead grow for as long as its time step takes."""
        budget = self._seat.budget.budget
        if not 0 < self._speed <= 1 or not isinstance(budget, Interactions):
            return
        length = _SPREAD * self._length_of_step() * min(1.0, lookahead.interactions / budget.limit)
        if self._began + length - now > _SHORT:
            self._wait(self._began + length)

    def _length_of_step(self) -> float:
        """Seconds that a time step takes on the page."""
        length = seconds_per_decision(self._seat.simulator, self._seat.protocol.frame_skip)
        return length / self._speed if self._speed else 0.0

    def _time_of_next_decision(self) -> float:
        return self._executed + self._length_of_step()

    def _wait(self, until: float) -> bool:
        """Wait and obey; False if the goal has changed."""
        goal, speed = self._goal, self._speed
        while (left := until - time.perf_counter()) > 0:
            if self._inbox.poll(left):
                self._obey_all()
            if (self._goal, self._speed) != (goal, speed):
                return self._goal == goal
        return True

    # -- telling --------------------------------------------------------------------------------------------------

    def _show_growing(self, lookahead: Lookahead) -> None:
        """Show the lookahead of whoever is planning."""
        seat, side = (self._seat, "a") if lookahead is self._seat.play.lookahead else (self._other, "b")
        if seat is not None:
            started = time.perf_counter()
            self._show(seat, "a" if side == "a" else "b", None)
            self._last_shown = time.perf_counter()
            self._cost = self._last_shown - started

    def _show(
        self, seat: Seat, side: Side, choice: Choice | None, *, note: str = "", differs: bool = False
    ) -> None:
        """Send a lookahead: with a choice if it is complete."""
        lookahead = seat.play.lookahead
        columns = columns_of(lookahead)
        limit = seat.budget.budget.limit if isinstance(seat.budget.budget, Interactions) else None
        values = list(choice.values) if choice is not None else []
        head: Head = {
            "kind": "tree",
            "t": self.t,
            "side": side,
            "agent": seat.protocol.agent,
            "nodes": len(columns),
            "done": choice is not None,
            "values": values,
            "chosen": None if choice is None else choice.action,
            "tied": _tied(values),
            "interactions": lookahead.interactions,
            "budget": limit,
            "cached": lookahead.cached,
            "pruned": lookahead.pruned,
            "depth": lookahead.deepest,
            "solved": lookahead.root.solved,
            "seconds": round(time.perf_counter() - self._began, 4) if self._planning else 0.0,
            "note": note,
            "differs": differs,
        }
        self._send(pack(head, columns.to_bytes()))

    def _show_screen(self) -> None:
        """Send what is seen at the current state."""
        root = self._seat.play.lookahead.root
        picture = screen(self._seat.simulator, root, self._seat.dice(self.t - 1) if self.t else None)
        if picture is None:
            text = _as_text(root.state.observation)
            self._send(pack({"kind": "film", "t": self.t - 1, "frames": 0, "text": text}))
        else:
            head, data = self._paint([picture])
            self._send(pack({"kind": "film", "t": self.t - 1, **head}, data))

    def _tell_world(self, *, begin: bool = False) -> None:
        """Say what is watched."""
        protocol, simulator = self._seat.protocol, self._seat.simulator
        budget = self._seat.budget.budget
        self._send(
            pack(
                {
                    "kind": "world",
                    "begin": begin,
                    "game": protocol.title,
                    "actions": list(simulator.actions),
                    "agent": protocol.agent,
                    "compared": self._compared,
                    "features": protocol.features,
                    "budget": budget.limit if isinstance(budget, Interactions) else None,
                    "seed": self._spec.seed,
                    "index": self._index,
                    "seconds": seconds_per_decision(simulator, protocol.frame_skip),
                    "lives": lives(self._seat.play.lookahead.root.state),
                    "t": self.t,
                    "discount": protocol.discount or 1.0,
                    "not_planned": self._not_planned,
                }
            )
        )

    def _tell_state(self, *, error: str = "") -> None:
        self._send(
            pack(
                {
                    "kind": "state",
                    "goal": self._goal,
                    "speed": self._speed,
                    "t": self.t,
                    "seek_to": self._seek_to,
                    "over": self._seat.play.finished,
                    "human": self._left_record and self._record is not None,
                    "error": error,
                }
            )
        )

    def _look_at(self, command: LookAt, payload: bytes) -> None:
        """Tell all about a node, of the current lookahead or of one that was kept."""
        try:
            seat = self._seat if command.side == "a" else self._other
            if seat is None:
                return
            lookahead = self._lookahead_of(command, seat, payload)
            node = next((node for node in lookahead.nodes() if node.number == command.number), None)
            if node is None:
                return
            head = details_of(seat, lookahead, node)
            picture = screen(seat.simulator, node)
            data = b""
            if picture is not None:
                painted, data = self._paint([picture])
                head["screen"] = painted
            else:
                head["text"] = _as_text(node.state.observation)
            self._send(pack({"kind": "node", "t": command.t, "side": command.side, **head}, data))
        except NoveltreeError as error:
            self._tell_state(error=str(error))

    def _lookahead_of(self, command: LookAt, seat: Seat, payload: bytes) -> Lookahead:
        if command.t == self.t:
            return seat.play.lookahead
        shown = self._again
        if shown is not None and (shown.t, shown.side) == (command.t, command.side):
            return shown.lookahead
        if command.t >= len(self._roots) or not payload:
            raise InputError(f"The lookahead of decision {command.t} is not kept any more.")
        root = self._roots[command.t]
        for t in range(max(0, command.t - _RELINKED), command.t):  # networks see some screens before
            self._roots[t + 1].parent = self._roots[t]
        nodes = len(payload) // Columns.WIDTH
        lookahead = grow_again(Columns.from_bytes(nodes, payload), root, seat.simulator, seat.heuristics)
        self._again = _Shown(command.t, command.side, lookahead)
        return lookahead


def _tied(values: list[float | None]) -> list[int]:
    """The actions that are worth as much as the best, if they are several."""
    best = max((value for value in values if value is not None), default=0.0)
    tied = [a for a, value in enumerate(values) if value is not None and value >= best - TIE_TOLERANCE]
    return tied if len(tied) > 1 else []


def _as_text(observation: Any) -> str:
    """What is observed, for simulators without pictures."""
    text = str(observation)
    return text if len(text) < 2_000 else text[:2_000] + " ..."
