"""The lookahead L = (N, C, s_r) of Definition 1: a tree of state-action paths below the current state."""

from __future__ import annotations

from collections.abc import Iterator

from noveltree.errors import NoveltreeError, SimulatorError
from noveltree.simulators.simulator import Simulator, State, Transition
from noveltree.tree import drawing
from noveltree.tree.base_policy import BasePolicy
from noveltree.tree.node import HISTORY, Node


class Lookahead:
    """The tree, its root and the simulator that grows it.

    Nodes start with `base_policy` and `termination_cost` as given: a uniform policy and zero if nothing is
    learnt, None if they are to be evaluated first.
    """

    def __init__(
        self,
        simulator: Simulator,
        state: State,
        *,
        base_policy: BasePolicy | None,
        termination_cost: float | None,
        node_type: type[Node] = Node,
    ) -> None:
        self.simulator = simulator
        self._actions = len(simulator.actions)
        #: What a new node's base policy and termination cost are; None if they have to be asked for.
        self.base_policy = base_policy
        self.termination_cost = termination_cost
        self.node_type = node_type
        #: Whether the last action's subtree was kept, so that the next time step finds cached nodes.
        self.kept = False
        #: Nodes that were generated in this episode.
        self.generated = 0
        self.root = self._node(state, None, None, 0.0, False, 0)
        #: Calls of the simulator in this time step.
        self.interactions = 0
        #: Nodes that this time step found in the tree when it began, its root included.
        self.cached = 0
        #: Newly generated or revisited nodes that this time step found not to be novel.
        self.pruned = 0
        #: Depth of the deepest node that this time step generated.
        self.deepest = 0

    def begin_time_step(self) -> None:
        """Let every node begin a time step, by which most become novel and not solved, and start the counts anew.

        Nodes that were kept from the time step before are cached; the first root of an episode, and every root
        where nothing is kept, is not.
        """
        self.interactions = self.cached = self.pruned = self.deepest = 0
        for node in self.nodes():
            node.begin_time_step(cached=self.kept)
            self.cached += self.kept

    def nodes(self) -> Iterator[Node]:
        """All nodes below and including the root; parents come before their children."""
        stack = [self.root]
        while stack:
            node = stack.pop()
            yield node
            stack.extend(child for child in node.children if child is not None)

    def depth(self, node: Node) -> int:
        """How many actions below the root a node is, d(n)."""
        return node.time - self.root.time

    def collected(self, node: Node, discount: float = 1.0) -> float:
        """The discounted sum of the rewards from the root to a node; the root's own actions count in full."""
        total = 0.0
        while node is not self.root:
            total = node.reward + discount * total
            assert node.parent is not None
            node = node.parent
        return total

    def simulate(self, state: State, action: int) -> Transition:
        """One interaction with the simulator, counted, that leaves the tree as it is."""
        self.interactions += 1
        try:
            return self.simulator.step(state, action)
        except NoveltreeError:
            raise
        except Exception as error:
            name = self.simulator.actions[action]
            raise SimulatorError(
                f"The simulator failed on action {name!r}: {type(error).__name__}: {error}"
            ) from error

    def expand(self, node: Node, action: int) -> Node:
        """Generate C(node, action) by one interaction and add it to the tree."""
        state, reward, terminal = self.simulate(node.state, action)
        child = self._node(state, parent=node, action=action, reward=reward, terminal=terminal, time=node.time + 1)
        node.children[action] = child
        self.deepest = max(self.deepest, child.time - self.root.time)
        return child

    def advance(self, action: int, *, keep: bool) -> None:
        """Execute an action: its child becomes the root. The subtree is kept or dropped, siblings are freed."""
        old_root = self.root
        root = old_root.children[action]
        assert root is not None
        self.root = root
        self.kept = keep
        old_root.children[action] = None
        _free(old_root)
        if not keep:
            _free(root)
        oldest = root
        for _ in range(HISTORY):
            if oldest.parent is None:
                break
            oldest = oldest.parent
        oldest.parent = None

    def unknown(self, heads: tuple[str, ...]) -> tuple[str, ...]:
        """Those of the heads of networks that a new node has to be asked for."""
        known = {"policy": self.base_policy is not None, "value": self.termination_cost is not None}
        return tuple(head for head in heads if not known.get(head))

    def forget_answers(self, *, base_policy: BasePolicy | None, termination_cost: float | None) -> None:
        """Reset what depends on network parameters, after these have changed."""
        self.base_policy = base_policy
        self.termination_cost = termination_cost
        for node in self.nodes():
            node.base_policy = base_policy
            node.termination_cost = termination_cost
            node.units = None

    def to_svg(self) -> str:
        """The tree drawn as SVG, for papers and notebooks; `noveltree.tree.drawing` says how to read it."""
        return drawing.to_svg(self)

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        return drawing.to_html(self)

    def _node(
        self, state: State, parent: Node | None, action: int | None, reward: float, terminal: bool, time: int
    ) -> Node:
        number = self.generated
        self.generated += 1
        return self.node_type(
            state,
            parent,
            action,
            reward,
            terminal,
            time,
            number,
            self._actions,
            self.base_policy,
            self.termination_cost,
        )


def _free(node: Node) -> None:
    """Cut everything below `node` off it.

    Nodes refer to their parents and to their children; undoing one of the two lets them be freed at once,
    without waiting for the garbage collector, which would otherwise stop a decision in the middle.
    """
    stack = [node]
    while stack:
        parent = stack.pop()
        for action, child in enumerate(parent.children):
            if child is not None:
                child.parent = None
                parent.children[action] = None
                stack.append(child)
