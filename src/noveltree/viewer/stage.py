"""What runs in a planning process: an episode that is planned, shown, paused, and interfered with.

A stage obeys commands between interactions with the simulator. It may be in the middle of a decision then: what
only waits, waits right there; what makes the decision pointless abandons it.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from noveltree.episodes import Choice
from noveltree.errors import NoveltreeError
from noveltree.records import read_episode
from noveltree.tree import Lookahead
from noveltree.viewer import telling
from noveltree.viewer.followed import Followed
from noveltree.viewer.messages import (
    Act,
    Agent,
    Command,
    Compare,
    Go,
    LookAt,
    Rewind,
    Seek,
    Side,
    Speed,
    Spend,
    pack,
)
from noveltree.viewer.pace import Pace
from noveltree.viewer.past import Past
from noveltree.viewer.pictures import Painter
from noveltree.viewer.screens import film, screen
from noveltree.viewer.seats import Seats
from noveltree.viewer.spec import Inbox, Spec


class _Abandon(Exception):
    """A command came that makes the decision in progress pointless."""

    def __init__(self, command: Command) -> None:
        self.command = command


class Stage:
    """An episode on show."""

    def __init__(self, spec: Spec, inbox: Inbox, send: Callable[[bytes], None]) -> None:
        self._spec, self._inbox, self._send = spec, inbox, send
        self._goal = "pause"
        self._seek_to: int | None = None
        self._choice: Choice | None = None
        self._planning = self._comparing = False
        self._paint, self._pace, self._past = Painter(), Pace(), Past()
        self._seats = Seats(spec, self._watch)
        self._record: Followed | None = None
        if spec.file is not None:
            self._record = Followed(read_episode(Path(spec.file)), self._seats.playing.weights)
        self._begin(list(spec.actions), keep=bool(spec.actions))

    @property
    def t(self) -> int:
        """The time step that is decided."""
        return len(self._past.actions)

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
        if self._choice is not None:
            if self._goal == "play" and not self._wait(self._pace.next_execution(self._seats.playing)):
                return
            self._execute(self._choice.action, by="agent")
        if self._seats.playing.play.finished or (self._record is not None and self._record.ends(self.t)):
            self._stop()
            return
        if self._seek_to is not None and self.t < self._seek_to:
            self._tell_state()
        self._plan()
        if self._goal in ("decision", "rollout") or (self._seek_to is not None and self.t >= self._seek_to):
            self._stop()

    def _stop(self) -> None:
        self._goal, self._seek_to = "pause", None
        self._tell_state()

    def _plan(self) -> None:
        """Grow the lookahead of the current state and choose; others do so at the same state."""
        seat, record = self._seats.playing, self._record
        self._pace.begin()
        self._step_from = self._last_generated = seat.play.lookahead.generated
        if record is not None and (recorded := record.only_shown(self.t)) is not None:
            seat.play.lookahead.begin_time_step()
            self._choice = recorded
            self._show("a", recorded, note=record.not_planned or "")
            return
        self._planning = True
        choice = seat.plan()
        self._pace.stop()
        note = ""
        if record is not None:
            choice, note = record.agree(self.t, seat, choice)
        self._show("a", choice, note=note, differs=bool(note))
        self._planning = False
        self._choice = choice
        self._compare()

    def _compare(self) -> None:
        """Let the agent that is compared look ahead from the same state, once the decision is made."""
        if not self._seats.compared_is_seated:
            self._seats.seat_compared(self._past.actions)
        if self._seats.other is not None and self._choice is not None:
            self._planning = self._comparing = True
            self._pace.begin()
            choice = self._seats.other.plan()
            self._pace.stop()
            self._show("b", choice)
            self._planning = self._comparing = False

    def _execute(self, action: int, *, by: str) -> None:
        seat, t = self._seats.playing, self.t
        root = seat.play.lookahead.root
        values = self._choice.values if self._choice is not None else ()
        self._past.remember("a", seat.play.lookahead)
        decision = seat.play.execute(Choice(action, values))
        if self._seats.other is not None:
            self._past.remember("b", self._seats.other.play.lookahead)
            self._seats.other.follow([action])
        self._past.note(root, action)
        self._choice = None
        self._pace.executed()
        after = seat.play.lookahead.root.state
        self._send(telling.decision(seat, decision, t=t, by=by, values=values))
        frames = film(seat.simulator, root.state, action, after, seat.dice(t))
        self._send(telling.film(self._paint, frames, after, t=t))

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
                    self._seats.compared = agent
                    self._tell_world()
                    if not self._planning:  # otherwise it looks ahead as soon as the decision is made
                        self._compare()
                case Go(do=goal):
                    self._goal = goal
                    self._seek_to = None
                    self._step_from = self._seats.playing.play.lookahead.generated
                    self._tell_state()
                case Speed(speed=speed):
                    self._pace.speed = speed
                    self._tell_state()
                case Spend(budget=budget):
                    self._seats.spend(budget)
                    self._tell_world()
                case LookAt():
                    self._look_at(command, payload)

    def _perform(self, command: Command) -> None:
        """What needs a state in which nothing is being planned."""
        match command:
            case Act(action=action):
                seat = self._seats.playing
                self._goal = "pause"
                if action < len(seat.simulator.actions) and not seat.play.finished:
                    self._leave_record()
                    seat.play.lookahead.begin_time_step()
                    self._execute(action, by="human")
                    self._show("a", None)
                self._tell_state()
            case Agent(agent=agent):
                self._seats.restart(agent)
                self._leave_record()
                self._begin(self._past.actions, keep=True)
            case Seek(t=t):
                if t < self.t:
                    self._seats.restart()
                    self._begin([])
                arrived = self.t == t and self._choice is not None
                self._seek_to, self._goal = (None, "pause") if arrived else (t, "seek")
                self._tell_state()
            case Rewind(t=t):
                self._goal, self._seek_to = "pause", None
                self._leave_record()
                self._seats.restart()
                self._begin(self._past.actions[:t], keep=True)
            case Go():
                if self._record is None:
                    self._seats.index += 1
                else:
                    self._record.left = False
                self._goal, self._seek_to = "play", None
                self._seats.restart()
                self._begin([])

    def _leave_record(self) -> None:
        if self._record is not None:
            self._record.left = True

    def _begin(self, actions: list[int], *, keep: bool = False) -> None:
        """Stand at the state that some actions lead to, with nothing planned yet."""
        self._choice, self._planning = None, False
        self._past.begin(keep=len(actions) if keep else 0)
        seat = self._seats.playing
        for action in actions:
            root = seat.play.lookahead.root
            seat.follow([action])
            self._past.note(root, action)
        self._pace.begin_episode()
        self._seats.seat_compared(actions)
        self._tell_world(begin=not keep)
        root = seat.play.lookahead.root
        picture = screen(seat.simulator, root, seat.dice(self.t - 1) if self.t else None)
        frames = [] if picture is None else [picture]
        self._send(telling.film(self._paint, frames, root.state, t=self.t - 1))
        self._show("a", None)
        self._tell_state()

    # -- while it grows -------------------------------------------------------------------------------------------

    def _watch(self, lookahead: Lookahead) -> None:
        """Between two interactions: obey, wait, and show."""
        if not self._planning:
            return
        self._pace.stop()
        if self._inbox.poll(0):
            self._obey_all()
        if not self._comparing:  # what is compared is planned whole, whatever the one that plays is asked to do
            self._attend(lookahead)
        self._pace.resume()

    def _attend(self, lookahead: Lookahead) -> None:
        if self._goal == "rollout" and self._rollout_is_over(lookahead):
            self._goal = "pause"
            self._tell_state()
        if self._goal == "pause":
            self._show("a", None)
            while self._goal == "pause":
                self._inbox.poll(None)
                self._obey_all()
        self._last_generated = lookahead.generated
        if self._goal != "play":
            return
        if self._pace.growth_is_due:
            began = time.perf_counter()
            self._show("a", None)
            self._pace.growth_shown(began)
        self._wait(self._pace.next_interaction(self._seats.playing, lookahead))

    def _rollout_is_over(self, lookahead: Lookahead) -> bool:
        """Whether nodes were added since the step began, and the next one will be added elsewhere."""
        added = lookahead.generated - self._step_from
        if not added:
            return False
        newest = max(lookahead.nodes(), key=lambda node: node.number)
        ended = newest.solved or newest.terminal or not newest.novel
        elsewhere = added > 1 and newest.parent is not None and newest.parent.number != newest.number - 1
        return ended or elsewhere or lookahead.generated == self._last_generated

    def _wait(self, until: float) -> bool:
        """Wait and obey; False if the goal has changed."""
        goal, speed = self._goal, self._pace.speed
        while (left := until - time.perf_counter()) > 0:
            if self._inbox.poll(left):
                self._obey_all()
            if (self._goal, self._pace.speed) != (goal, speed):
                return self._goal == goal
        return True

    # -- telling --------------------------------------------------------------------------------------------------

    def _show(self, side: Side, choice: Choice | None, *, note: str = "", differs: bool = False) -> None:
        """Show the lookahead of whoever sits there: with a choice if it is complete."""
        seat = self._seats.of(side)
        if seat is not None:
            seconds = self._pace.seconds if self._planning else 0.0
            self._send(telling.tree(seat, side, choice, t=self.t, seconds=seconds, note=note, differs=differs))

    def _tell_world(self, *, begin: bool = False) -> None:
        """Say what is watched."""
        seats, record = self._seats, self._record
        head = telling.world(
            seats.playing, t=self.t, seed=self._spec.seed, index=seats.index, compared=seats.compared
        )
        self._send(pack({**head, "begin": begin, "not_planned": None if record is None else record.not_planned}))

    def _tell_state(self, *, error: str = "") -> None:
        self._send(
            pack(
                {
                    "kind": "state",
                    "goal": self._goal,
                    "speed": self._pace.speed,
                    "t": self.t,
                    "seek_to": self._seek_to,
                    "over": self._seats.playing.play.finished,
                    "error": error,
                }
            )
        )

    def _look_at(self, asked: LookAt, columns: bytes) -> None:
        """Tell all about a node, of the current lookahead or of one that was kept."""
        seat = self._seats.of(asked.side)
        if seat is None:
            return
        try:
            now = asked.t == self.t
            lookahead = seat.play.lookahead if now else self._past.lookahead(asked, seat, columns)
            node = next((node for node in lookahead.nodes() if node.number == asked.number), None)
            if node is not None:
                self._send(telling.node(self._paint, seat, lookahead, node, t=asked.t, side=asked.side))
        except NoveltreeError as error:
            self._tell_state(error=str(error))
