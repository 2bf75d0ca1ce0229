"""The base policy and the termination cost of nodes: uniform and zero, or answered in batches.

An `Evaluation` pairs the two. What it leaves out is never asked: nodes are born with a uniform base policy and a
termination cost of zero. What it has is a function from nodes to answers, called with the nodes of one batch.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from noveltree.errors import InputError
from noveltree.lookahead import (
    UNIFORM,
    Answer,
    BasePolicy,
    BasePolicyQuestion,
    Node,
    Question,
    TerminationCostQuestion,
)

#: From nodes to an array: (nodes, actions) for a base policy, (nodes,) for a termination cost.
NodeFunction = Callable[[Sequence[Node]], Answer]


@dataclass(frozen=True, slots=True)
class Evaluation:
    """pi_b and V^T. None stands for the uniform policy and for zero."""

    base_policy: NodeFunction | None = None
    termination_cost: NodeFunction | None = None

    def initial_base_policy(self) -> BasePolicy | None:
        """What a new node starts with."""
        return None if self.base_policy is not None else UNIFORM

    def initial_termination_cost(self) -> float | None:
        """What a new node starts with."""
        return None if self.termination_cost is not None else 0.0

    def answer(self, questions: Sequence[Question]) -> list[Answer]:
        """Answer questions of several planners, all of one kind in one batch."""
        answers: list[Answer | None] = [None] * len(questions)
        for kind, function in (
            (BasePolicyQuestion, self.base_policy),
            (TerminationCostQuestion, self.termination_cost),
        ):
            asked = [i for i, question in enumerate(questions) if isinstance(question, kind)]
            if not asked:
                continue
            if function is None:
                raise InputError(f"A planner asks a {kind.__name__} that this evaluation cannot answer.")
            nodes = [node for i in asked for node in questions[i].nodes]
            batch = np.asarray(function(nodes))
            expected = (len(nodes), len(nodes[0].children)) if kind is BasePolicyQuestion else (len(nodes),)
            if batch.shape != expected:
                raise InputError(f"The answer to a {kind.__name__} has shape {batch.shape}, not {expected}.")
            if not np.isfinite(batch).all():
                raise InputError(f"The answer to a {kind.__name__} has values that are not finite numbers.")
            start = 0
            for i in asked:
                end = start + len(questions[i].nodes)
                answers[i] = batch[start:end]
                start = end
        return [answer for answer in answers if answer is not None]


#: Uniform base policy, zero termination cost: nothing is learnt and nothing is ever asked.
UNINFORMED = Evaluation()
