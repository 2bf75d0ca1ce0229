"""Algorithm 1: rollouts from the root, guided by a base policy, cut short where nothing is novel."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from noveltree.errors import RecordError
from noveltree.lookahead.action_set import ActionSet
from noveltree.lookahead.backup import Backup
from noveltree.lookahead.budget import Meter
from noveltree.lookahead.duplicates import Duplicates
from noveltree.lookahead.marked_node import MarkedNode
from noveltree.lookahead.planner import ActionValues
from noveltree.lookahead.pruning import Pruning
from noveltree.lookahead.questions import POLICY, Planning, ask
from noveltree.lookahead.solved import update_solved_labels
from noveltree.tree import Arrays, Lookahead, Node, Probabilities, outcomes


class AllActions:
    """Actions are drawn from the base policy, and nothing is learnt of them."""

    def begin(self, lookahead: Lookahead) -> None:
        pass

    def sample(self, node: Node, root: Node, *, rng: np.random.Generator) -> int:
        return sample_unsolved_child(node, rng=rng)

    def learn(self, lookahead: Lookahead) -> None:
        pass

    def memory(self) -> Arrays:
        return {}

    def remember(self, memory: Arrays, lookahead: Lookahead) -> None:
        if memory:
            names = ", ".join(sorted(memory))
            raise RecordError(f"Rollouts over all actions remember nothing of an episode, and there is {names}.")


@dataclass(slots=True)
class Rollouts:
    """RIW(1) with any pruning, any base policy and any backup.

    Where chance decides, a rollout samples transitions, too: an action's outcome is drawn anew, until there are
    enough draws; then it is sampled from these, for free.
    """

    pruning: Pruning
    horizon: int
    backup: Backup
    duplicates: Duplicates | None = None
    """Leaves out actions that seem to lead where others do."""
    node_type: type[Node] = Node
    actions: ActionSet = field(default_factory=AllActions)
    """Draws the actions."""

    def plan(self, lookahead: Lookahead, meter: Meter, *, rng: np.random.Generator) -> Planning:
        root = lookahead.root
        yield from self.pruning.begin(lookahead)
        self.actions.begin(lookahead)
        if self.duplicates is not None:
            self.duplicates.begin(lookahead)
        while not root.solved and not meter.exhausted(lookahead):
            yield from self._rollout(lookahead, meter, rng)
        yield from self.backup.ask(lookahead)
        self.actions.learn(lookahead)  # at last, so that a decision that is cut off and begun again teaches once

    def action_values(self, lookahead: Lookahead) -> ActionValues:
        return self.backup.action_values(lookahead)

    @property
    def needs_certainty(self) -> bool:
        return issubclass(self.node_type, MarkedNode)  # whose rules know one outcome of an action

    def memory(self) -> Arrays:
        return self.actions.memory()

    def remember(self, memory: Arrays, lookahead: Lookahead) -> None:
        self.actions.remember(memory, lookahead)

    def _rollout(self, lookahead: Lookahead, meter: Meter, rng: np.random.Generator) -> Planning:
        node = root = lookahead.root
        horizon = root.time + self.horizon
        while node.novel and not node.terminal and node.time < horizon:
            if node.base_policy is None:
                yield from ask((node,), POLICY)
            action = self._sample(node, root, rng)
            if action is None:
                break
            child = node.children[action]
            if child is None or (not child.certain and lookahead.undersampled(node, action)):
                if meter.exhausted(lookahead):
                    return
                child = yield from self.pruning.generate(lookahead, node, action)
                if self.duplicates is not None and child.draws == 1:
                    self.duplicates.learn(child)
            else:
                if child.next_outcome is not None:
                    child = sample_unsolved_outcome(child, rng=rng)
                self.pruning.meet_again(lookahead, child)
            node = child
        update_solved_labels(node, root, lookahead.samples)

    def _sample(self, node: Node, root: Node, rng: np.random.Generator) -> int | None:
        """An unsolved action that is not left out as a probable duplicate; None if none is left."""
        while node.unsolved:
            action = self.actions.sample(node, root, rng=rng)
            if self.duplicates is None or not self.duplicates.left_out(node, action, rng=rng):
                return action
            node.unsolved.remove(action)
        return None


def sample_unsolved_child(node: Node, *, rng: np.random.Generator) -> int:
    """An action drawn from the node's base policy restricted to actions whose child is not solved."""
    assert node.base_policy is not None
    return node.base_policy.sample(node.unsolved, rng=rng)


def sample_unsolved_outcome(first: Node, *, rng: np.random.Generator) -> Node:
    """One of an action's outcomes that are not solved, in proportion to the draws that led there."""
    known = list(outcomes(first))
    unsolved = [outcome for outcome in known if not outcome.solved] or known
    if len(unsolved) == 1:
        return unsolved[0]
    draws = Probabilities([float(outcome.draws) for outcome in unsolved])
    return unsolved[draws.sample(range(len(unsolved)), rng=rng)]
