"""The lookahead L = (N, C, s_r) of Definition 1: a tree of state-action paths below the current state."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from noveltree.errors import InputError, NoveltreeError, SimulatorError
from noveltree.simulators.simulator import Draw, KnowsTwins, Simulator, State, TellsApart, Transition, chance_of
from noveltree.tree import drawing, widget
from noveltree.tree.base_policy import BasePolicy
from noveltree.tree.known_transitions import KnownTransitions
from noveltree.tree.node import HISTORY, Node, outcomes

#: Dice are drawn from 0 to here.
_DICE = 2**63


class Lookahead:
    """The tree, its root and the simulator that grows it.

    Nodes start with `base_policy` and `termination_cost` as given: a uniform policy and zero if nothing is
    learnt, None if they are to be evaluated first.

    Where chance decides, C(n, a) is a set of nodes. Each interaction draws an outcome with dice from `rng`, which
    are those of planning: what they show is not what will happen. An outcome that was drawn before is counted; two
    outcomes are the same if they pay the same, both end or not, and the simulator cannot tell their states apart.
    """

    def __init__(
        self,
        simulator: Simulator,
        state: State,
        *,
        base_policy: BasePolicy | None,
        termination_cost: float | None,
        node_type: type[Node] = Node,
        rng: np.random.Generator | None = None,
        samples: int = 1,
        free: bool = False,
    ) -> None:
        """`rng` is needed where there is chance; `samples`: how many draws make an action known well enough.

        `free`: whether a transition that is known, because its state was met by another way, is no interaction.
        """
        self.simulator = simulator
        self._chance = chance_of(simulator)
        if self._chance is not None and rng is None:
            raise InputError("A lookahead over a simulator with chance needs a generator of random numbers (rng).")
        self._rng = None if self._chance is None else rng
        #: By what states are told apart.
        self.key = simulator.key if isinstance(simulator, TellsApart) else _observed
        self.samples = samples
        self.free = free
        twins = simulator if isinstance(simulator, KnowsTwins) and self._chance is None else None
        self._known = None if twins is None else KnownTransitions(twins.identity)
        self._actions = len(simulator.actions)
        #: What a new node's base policy and termination cost are; None if they have to be asked for.
        self.base_policy = base_policy
        self.termination_cost = termination_cost
        self.node_type = node_type
        #: Whether what is asked of nodes follows from what is observed in them and in their ancestors.
        self.of_observations = False
        #: Whether the last action's subtree was kept, so that the next time step finds cached nodes.
        self.kept = False
        #: Nodes that were generated in this episode.
        self.generated = 0
        self.root = self._node(state, None, None, 0.0, False, 0)
        #: Calls of the simulator in this time step, or what counts as such.
        self.interactions = 0
        #: The number of the first node of this time step that is generated, or will be.
        self.first_new = 0
        #: Transitions of this time step that were known already and free.
        self.for_free = 0
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
        self.interactions = self.for_free = self.cached = self.pruned = self.deepest = 0
        self.first_new = self.generated
        if self._known is not None:
            self._known.begin(self.nodes())
        for node in self.nodes():
            node.begin_time_step(cached=self.kept)
            self.cached += self.kept

    def nodes(self) -> Iterator[Node]:
        """All nodes below and including the root; parents come before their children."""
        stack = [self.root]
        while stack:
            node = stack.pop()
            yield node
            stack.extend(node.offspring())

    def depth(self, node: Node) -> int:
        """How many actions below the root a node is, d(n)."""
        return node.time - self.root.time

    def look_alike(self, node: Node) -> Node | None:
        """A sibling of this time step of which the same is said, because the same is observed.

        Of those of earlier time steps other networks may have been asked.
        """
        if not self.of_observations or node.parent is None:
            return None
        observed = node.state.observation.tobytes()
        for sibling in node.parent.children:
            if sibling is None or sibling is node or sibling.number < self.first_new:
                continue
            if sibling.state is node.state or sibling.state.observation.tobytes() == observed:
                return sibling
        return None

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
        return self.draw(state, action).transition

    def expand(self, node: Node, action: int) -> Node:
        """One interaction: an outcome of C(node, action), which is added to the tree, or counted if it is there."""
        draw = self.draw(node.state, action)
        child = self._find(node, action, draw.transition)
        if child is None:
            return self._add(node, action, draw)
        child.draws += 1
        return child

    def undersampled(self, node: Node, action: int) -> bool:
        """Whether C(node, action) is not known well enough: not at all, or by less than `samples` draws."""
        first = node.children[action]
        if first is None:
            return True
        return not first.certain and sum(outcome.draws for outcome in outcomes(first)) < self.samples

    def executed(self, action: int, dice: int | None) -> Node:
        """What executing an action of the root leads to, decided by `dice` if chance has a say: no interaction."""
        first = self.root.children[action]
        if first is not None and first.certain:
            return first
        if self._chance is None:
            return self.expand(self.root, action)
        if dice is None:
            raise InputError("An action of a simulator with chance is executed with dice.")
        draw = self._ask(self.root.state, action, dice)
        child = self._find(self.root, action, draw.transition)
        if child is None:
            return self._add(self.root, action, draw)
        child.state = draw.transition.state  # which may differ in what cannot be told apart
        return child

    def draw(self, state: State, action: int) -> Draw:
        """One interaction, counted, as `simulate`; and whether it could have led elsewhere."""
        known = None if self._known is None else self._known.find(state, action)
        if known is not None:
            self.for_free += self.free
            self.interactions += not self.free
            return Draw(known, certain=True)
        self.interactions += 1
        return self._ask(state, action, 0 if self._rng is None else int(self._rng.integers(_DICE)))

    def _ask(self, state: State, action: int, dice: int) -> Draw:
        try:
            if self._chance is None:
                draw = Draw(self.simulator.step(state, action), certain=True)
            else:
                draw = self._chance.draw(state, action, dice)
            following, reward, _ = draw.transition
            if not (isinstance(following, State) and math.isfinite(reward)):
                raise TypeError(f"a State and a finite reward are expected, not {following!r} and {reward!r}")
            if self._known is not None:
                self._known.add(state, action, draw.transition)
            return draw
        except NoveltreeError:
            raise
        except (Exception, SystemExit) as error:
            name = self.simulator.actions[action]
            raise SimulatorError(
                f"The simulator failed on action {name!r}: {type(error).__name__}: {error}"
            ) from error

    def _find(self, node: Node, action: int, transition: Transition) -> Node | None:
        """The outcome of an action that is in the tree already."""
        state, reward, terminal = transition
        for outcome in outcomes(node.children[action]):
            paid_alike = outcome.reward == reward and outcome.terminal == terminal
            if paid_alike and self.key(outcome.state) == self.key(state):
                return outcome
        return None

    def _add(self, node: Node, action: int, draw: Draw) -> Node:
        (state, reward, terminal), certain = draw
        child = self._node(state, parent=node, action=action, reward=reward, terminal=terminal, time=node.time + 1)
        child.certain = certain
        *_, last = (None, *outcomes(node.children[action]))
        if last is None:
            node.children[action] = child
        else:
            last.next_outcome = child
        self.deepest = max(self.deepest, child.time - self.root.time)
        return child

    def advance(self, action: int, *, keep: bool, to: Node | None = None) -> None:
        """Execute an action: its child, or the outcome `to`, becomes the root.

        The subtree is kept or dropped; siblings and other outcomes are freed.
        """
        old_root = self.root
        root = to or old_root.children[action]
        assert root is not None
        self.root = root
        self.kept = keep
        others = [outcome for outcome in outcomes(old_root.children[action]) if outcome is not root]
        old_root.children[action] = root.next_outcome = None
        for outcome in others:
            outcome.parent = outcome.next_outcome = None
            _free(outcome)
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
        return widget.to_html(self)

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


def _observed(state: State) -> bytes:
    """By what states are told apart unless the simulator says so."""
    return state.observation.tobytes()


def _free(node: Node) -> None:
    """Cut everything below `node` off it.

    Nodes refer to their parents and to their children; undoing one of the two lets them be freed at once,
    without waiting for the garbage collector, which would otherwise stop a decision in the middle.
    """
    stack = [node]
    while stack:
        parent = stack.pop()
        for action, child in enumerate(parent.children):
            parent.children[action] = None
            while child is not None:
                child.parent = None
                stack.append(child)
                child.next_outcome, child = None, child.next_outcome
