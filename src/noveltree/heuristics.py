"""Who answers planners: heuristics, in batches.

A heuristic is a network, or any function of nodes, that has some heads. What no heuristic has is never asked: nodes
are born with a uniform base policy and a termination cost of zero.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noveltree.errors import InputError
from noveltree.lookahead import POLICY, VALUE, Answers, Question
from noveltree.tree import UNIFORM, BasePolicy, Node


@dataclass(frozen=True, slots=True)
class Heuristic:
    """A function that answers for some heads at once."""

    heads: frozenset[str]
    evaluate: Callable[[Sequence[Node], tuple[str, ...]], Answers]
    """Given nodes and some of the heads: an array by head, with a row for each node."""
    of_observations: bool = False
    """Whether answers follow from what is observed in a node and in its ancestors, and from nothing else."""


@dataclass(frozen=True, slots=True)
class Heuristics:
    """Several heuristics, each with heads of its own."""

    parts: tuple[Heuristic, ...] = ()

    @classmethod
    def of(cls, **functions: Callable[[Sequence[Node]], NDArray[Any]]) -> Heuristics:
        """One function for each head, as in `Heuristics.of(policy=...)`."""

        def part(head: str, function: Callable[[Sequence[Node]], NDArray[Any]]) -> Heuristic:
            return Heuristic(frozenset({head}), lambda nodes, heads: {head: np.asarray(function(nodes))})

        return cls(tuple(part(head, function) for head, function in functions.items()))

    def answer_for(self, head: str) -> bool:
        """Whether this head can be asked."""
        return any(head in part.heads for part in self.parts)

    @property
    def of_observations(self) -> bool:
        """Whether all answers follow from what is observed in a node and in its ancestors."""
        return all(part.of_observations for part in self.parts)

    def initial_base_policy(self) -> BasePolicy | None:
        """What a new node starts with."""
        return None if self.answer_for(POLICY) else UNIFORM

    def initial_termination_cost(self) -> float | None:
        """What a new node starts with."""
        return None if self.answer_for(VALUE) else 0.0

    def answer(self, questions: Sequence[Question]) -> list[Answers]:
        """Answer questions of several planners: all that ask the same of a heuristic in one batch."""
        answers: list[dict[str, NDArray[Any]]] = [{} for _ in questions]
        for part in self.parts:
            batches: dict[tuple[str, ...], list[int]] = {}
            for number, question in enumerate(questions):
                if heads := tuple(head for head in question.heads if head in part.heads):
                    batches.setdefault(heads, []).append(number)
            for heads, numbers in batches.items():
                nodes = [node for number in numbers for node in questions[number].nodes]
                rows = part.evaluate(nodes, heads)
                for head in heads:
                    _check(head, rows[head], nodes)
                start = 0
                for number in numbers:
                    end = start + len(questions[number].nodes)
                    answers[number].update({head: rows[head][start:end] for head in heads})
                    start = end
        for question, answer in zip(questions, answers, strict=True):
            if len(answer) < len(question.heads):
                missing = next(head for head in question.heads if head not in answer)
                raise InputError(
                    f"A planner asks for {missing!r}, and there is no network that has it: train the agent first."
                )
        return list(answers)


def _check(head: str, rows: NDArray[Any], nodes: Sequence[Node]) -> None:
    """Raise InputError if these are not answers for the nodes."""
    expected = {POLICY: (len(nodes), len(nodes[0].children)), VALUE: (len(nodes),)}
    if rows.shape != expected.get(head, (len(nodes), *rows.shape[1:])):
        raise InputError(f"The answer for {head!r} has shape {rows.shape}, not {expected.get(head, len(nodes))}.")
    if not np.isfinite(rows).all():
        raise InputError(f"The answer for {head!r} has values that are not finite numbers.")


#: Uniform base policy, zero termination cost: nothing is learnt and nothing is ever asked.
UNINFORMED = Heuristics()
