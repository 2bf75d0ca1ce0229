"""Driving episodes, one or many at once: what all of them ask is answered in one batch."""

from __future__ import annotations

import functools
import gc
from collections.abc import Callable, Iterable, Iterator, Sequence

from noveltree.episodes.episode import Decision
from noveltree.episodes.play import Choice, Play
from noveltree.errors import InputError
from noveltree.heuristics import UNINFORMED, Heuristics
from noveltree.lookahead import Answers, Planning, Question

#: The second one meets nodes that were kept.
_REHEARSED_DECISIONS = 3
#: Told when an action is chosen and not executed yet: the whole lookahead is there.
OnChoice = Callable[[Play, Choice], None]
#: Told of every decision once it is executed. The root is then the state it led to, and the root's parent the one
#: it was made in.
OnDecision = Callable[[Play, Decision], None]


def drive(
    plays: Sequence[Play],
    heuristics: Heuristics = UNINFORMED,
    *,
    decisions: int | None = None,
    on_choice: OnChoice | None = None,
    on_decision: OnDecision | None = None,
) -> None:
    """Play on, all at once, until all are finished or have made `decisions` more decisions each.

    A play whose decision is made begins its next one at once, so that batches stay full until plays finish. Plays
    that were driven with other heuristics before go on with these.
    """
    for play in plays:
        play.pause_at = None if decisions is None else len(play.decisions) + decisions
    at_once = max(1, len(plays))
    for _ in drive_stream(plays, heuristics, at_once=at_once, on_choice=on_choice, on_decision=on_decision):
        pass


def drive_stream(
    plays: Iterable[Play],
    heuristics: Heuristics = UNINFORMED,
    *,
    at_once: int,
    on_choice: OnChoice | None = None,
    on_decision: OnDecision | None = None,
) -> Iterator[Play]:
    """Drive plays as they are handed out, `at_once` of them at a time; return each when it is finished or paused.

    A play is taken from `plays` only when there is room for it, so that there are never more than `at_once`.
    """
    if at_once < 1:
        raise InputError(f"At least 1 episode must be played at once, not {at_once}.")
    waiting = iter(plays)
    asking: list[_Lane] = []
    while True:
        while len(asking) < at_once and (play := next(waiting, None)) is not None:
            play.use(heuristics)
            if (rehearsal := play.rehearsal()) is not None:
                drive([rehearsal], heuristics, decisions=_REHEARSED_DECISIONS)
                _settle_memory()
            lane = _Lane(play, on_choice, on_decision)
            if lane.go_on(None):
                asking.append(lane)
            else:
                yield play
        if not asking:
            return
        answers = heuristics.answer([lane.question for lane in asking])
        still_asking = []
        for lane, answer in zip(asking, answers, strict=True):
            if lane.go_on(answer):
                still_asking.append(lane)
            else:
                yield lane.play
        asking = still_asking


@functools.cache
def _settle_memory() -> None:
    """Let Python look for garbage only among what is new: a look at all that was imported takes 50 ms and more."""
    gc.collect()
    gc.freeze()


class _Lane:
    """One play under a driver: the planning of its current decision, and the question it waits for."""

    __slots__ = ("_on_choice", "_on_decision", "_planning", "play", "question")

    def __init__(self, play: Play, on_choice: OnChoice | None, on_decision: OnDecision | None) -> None:
        self.play = play
        self._on_choice = on_choice
        self._on_decision = on_decision
        self._planning: Planning | None = None
        self.question: Question

    def go_on(self, answers: Answers | None) -> bool:
        """Run until the next question, which is then in `question`; False if there is nothing left to decide."""
        play = self.play
        while self._planning is not None or not (play.finished or play.paused):
            try:
                if self._planning is None:
                    self._planning = play.plan()
                    self.question = next(self._planning)
                else:
                    assert answers is not None
                    self.question = self._planning.send(answers)
                return True
            except StopIteration:
                self._planning = answers = None
            choice = play.choose()
            if self._on_choice is not None:
                self._on_choice(play, choice)
            decision = play.execute(choice)
            if self._on_decision is not None:
                self._on_decision(play, decision)
        return False
