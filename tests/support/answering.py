"""Driving a planner by hand."""

from __future__ import annotations

from noveltree.heuristics import Heuristics
from noveltree.lookahead import Planning, Question


def answer(planning: Planning, heuristics: Heuristics) -> list[Question]:
    """Run a planner, answering its questions; these."""
    asked = []
    try:
        question = next(planning)
        while True:
            asked.append(question)
            question = planning.send(heuristics.answer([question])[0])
    except StopIteration:
        return asked
