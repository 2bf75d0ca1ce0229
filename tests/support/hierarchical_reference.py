"""An independent reference of pi-HIW(n, 1): slow, plain, as the algorithm is described.

Every abstract node has a low-level tree of its own, a dictionary of paths below its root. An entry point is a leaf
there, with the abstract node that it enters beside it, whose tree begins with the same state again. Tables, visits
and the open nodes are dictionaries; solved labels, values and sizes are recursive functions. Nothing of noveltree's
search is used.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from tests.support.screen_worlds import Screen, ScreenWorld

Path = tuple[int, ...]
Atom = tuple[int, int]


@dataclass(eq=False)
class Abstract:
    """An abstract node with its low-level tree; paths are below the node by which it was entered."""

    screen: Screen
    born: int
    state: dict[Path, int]
    parent: Abstract | None = None
    reward: dict[Path, float] = field(default_factory=lambda: {(): 0.0})
    number: dict[Path, int] = field(default_factory=dict)
    entered: dict[Path, Abstract] = field(default_factory=dict)
    """The abstract nodes that are entered from here, by the leaf at which they are."""
    closed: set[Path] = field(default_factory=set)
    """Leaves and inner nodes at which nothing more is looked at: terminal, entry points, not novel."""
    not_novel: set[Path] = field(default_factory=set)
    table: dict[Atom, int] = field(default_factory=dict)

    def depth(self) -> int:
        return 0 if self.parent is None else 1 + self.parent.depth()

    def family(self) -> Iterator[Abstract]:
        yield self
        for child in self.entered.values():
            yield from child.family()

    def below(self, path: Path) -> list[Path]:
        return [other for other in self.state if other[: len(path)] == path]


@dataclass
class HierarchicalReference:
    world: ScreenWorld
    budget: int
    rng: np.random.Generator
    width: str = "n"
    most_nodes: int = 5_000
    discount: float = 0.99
    learnt: bool = True
    """Whether there are a policy and a value; otherwise they are uniform and zero."""
    visits: dict[Screen, int] = field(default_factory=dict)
    interactions: int = 0
    pruned: int = 0
    generated: int = 1

    def __post_init__(self) -> None:
        self.root = self.enter(0, born=0)
        self.anew = True
        self.open: dict[Screen, Abstract] = {}

    # The low level

    def atoms(self, state: int) -> list[Atom]:
        return [(unit, value) for unit, value in enumerate(self.world.units[state])]

    def enter(self, state: int, *, born: int, parent: Abstract | None = None) -> Abstract:
        node = Abstract(self.world.screens[state], born, {(): state}, parent)
        node.number[()] = born
        node.table = dict.fromkeys(self.atoms(state), 0)
        return node

    def solved(self, node: Abstract, path: Path) -> bool:
        return path in node.closed or not self.unsolved(node, path)

    def unsolved(self, node: Abstract, path: Path) -> list[int]:
        return [
            action
            for action in range(len(self.world.actions))
            if (*path, action) not in node.state or not self.is_solved_child(node, (*path, action))
        ]

    def is_solved_child(self, node: Abstract, path: Path) -> bool:
        return path in node.entered or self.solved(node, path)

    def lowers(self, node: Abstract, path: Path) -> bool:
        """Enter a node of the low-level tree; whether that lowers an entry."""
        lower = [atom for atom in self.atoms(node.state[path]) if node.table.get(atom, math.inf) > len(path)]
        node.table.update(dict.fromkeys(lower, len(path)))
        return bool(lower)

    def still_novel(self, node: Abstract, path: Path) -> bool:
        return any(len(path) <= node.table[atom] for atom in self.atoms(node.state[path]))

    def is_not_novel(self, node: Abstract, path: Path) -> None:
        node.closed.add(path)
        node.not_novel.add(path)
        self.pruned += 1

    def begin_anew(self, node: Abstract) -> None:
        node.closed, node.not_novel, node.table = set(), set(), {}
        for path in sorted(node.state, key=node.number.__getitem__):
            if node.state[path] in self.world.terminal:
                node.closed.add(path)
            elif path in node.entered:
                self.lowers(node, path)
                node.closed.add(path)
            elif not self.lowers(node, path):
                self.is_not_novel(node, path)

    def successor(self, node: Abstract) -> Abstract | None:
        while not self.solved(node, ()) and self.interactions < self.budget:
            path: Path = ()
            while True:
                if path != () and not self.still_novel(node, path):
                    self.is_not_novel(node, path)
                    break
                path = (*path, self.draw(node, path))
                if path in node.state:
                    continue
                if self.interactions == self.budget:
                    return None
                state = self.generate(node, path)
                if state in self.world.terminal:
                    node.closed.add(path)
                    break
                lowers = self.lowers(node, path)
                if self.world.screens[state] != node.screen:
                    node.closed.add(path)
                    node.entered[path] = self.enter(state, born=node.number[path], parent=node)
                    return node.entered[path]
                if not lowers:
                    self.is_not_novel(node, path)
                    break
        return None

    def generate(self, node: Abstract, path: Path) -> int:
        self.interactions += 1
        node.state[path], node.reward[path] = self.world.table[node.state[path[:-1]]][path[-1]]
        node.number[path] = self.generated
        self.generated += 1
        return node.state[path]

    def draw(self, node: Abstract, path: Path) -> int:
        """One random number, laid along the unsolved actions in proportion to their probabilities."""
        actions = self.unsolved(node, path)
        policy = self.world.policies[node.state[path]] if self.learnt else [1.0] * len(self.world.actions)
        number = self.rng.random() * sum(policy[action] for action in actions)
        for action in actions:
            number -= policy[action]
            if number < 0:
                return action
        raise AssertionError("rounding")

    # The high level

    def abstract_atoms(self, screen: Screen) -> list[object]:
        if self.width == "n":
            return [screen]
        return [(row, column, screen[row][column]) for row in range(2) for column in range(2)]

    def abstract_lowers(self, node: Abstract) -> bool:
        depth = node.depth()
        lower = [a for a in self.abstract_atoms(node.screen) if self.abstract_table.get(a, math.inf) > depth]
        self.abstract_table.update(dict.fromkeys(lower, depth))
        return bool(lower)

    def leave(self, node: Abstract) -> None:
        """A node and its descendants leave the open nodes."""
        for each in node.family():
            if self.open.get(each.screen) is each:
                del self.open[each.screen]

    def take_in(self, node: Abstract) -> bool:
        if not self.abstract_lowers(node):
            return False
        for older in (self.open.get(node.screen), self.expanded.get(node.screen)):
            if older is not None:
                self.leave(older)
        self.expanded.pop(node.screen, None)
        self.open[node.screen] = node
        return True

    def choose(self) -> Abstract:
        screens = list(self.open)
        weights = np.exp([200.0 / (self.visits.get(s, 0) + 1) - 200.0 for s in screens])
        if weights.sum() < 1e-200:  # all of them were visited often
            smallest = min(self.visits[s] for s in screens)
            weights = np.exp([200.0 / (self.visits[s] + 1) - 200.0 / (smallest + 1) for s in screens])
        place = np.searchsorted(np.cumsum(weights), self.rng.random() * weights.sum(), side="right")
        return self.open[screens[int(place)]]

    def nodes(self) -> int:
        """Nodes of all low-level trees; an entry point is counted in the one that it leaves."""
        return 1 + sum(len(node.state) - 1 for node in self.root.family())

    def plan(self) -> None:
        self.interactions = self.pruned = 0
        if self.anew:
            self.begin_anew(self.root)
        self.abstract_table: dict[object, int] = {}
        self.open, self.expanded = {}, {}
        for node in sorted(self.root.family(), key=lambda each: each.born):
            self.take_in(node)
        while self.interactions < self.budget and self.nodes() < self.most_nodes and self.open:
            node = self.choose()
            depth = node.depth()
            if all(depth > self.abstract_table[atom] for atom in self.abstract_atoms(node.screen)):
                self.leave(node)
                continue
            while True:
                self.visits[node.screen] = self.visits.get(node.screen, 0) + 1
                successor = self.successor(node)
                if successor is None:
                    if self.interactions < self.budget:
                        self.expanded[node.screen] = self.open.pop(node.screen)
                    break
                if not self.take_in(successor):
                    break
                node = successor

    # Backup and decision

    def value(self, node: Abstract, path: Path) -> float:
        if path in node.entered:
            return self.value(node.entered[path], ())
        state = node.state[path]
        if state in self.world.terminal:
            return 0.0
        own = [self.world.values[state]] if self.learnt else []  # before that there is nothing to compare with
        return max([*own, *self.returns(node, path).values()], default=0.0)

    def returns(self, node: Abstract, path: Path) -> dict[int, float]:
        children = {action: (*path, action) for action in range(len(self.world.actions))}
        return {
            action: node.reward[child] + self.discount * self.value(node, child)
            for action, child in children.items()
            if child in node.state
        }

    def size(self, action: int) -> int:
        """Nodes below an action of the root: of its own tree, and of those entered there, without their roots."""
        paths = self.root.below((action,))
        entered = [self.root.entered[path] for path in paths if path in self.root.entered]
        return len(paths) + sum(len(each.state) - 1 for node in entered for each in node.family())

    def decide(self) -> int:
        self.plan()
        values = self.returns(self.root, ())
        best = [action for action, value in values.items() if value >= max(values.values()) - 1e-7]
        if len(best) > 1:
            sizes = {action: self.size(action) for action in best}
            best = [action for action in best if sizes[action] == max(sizes.values())]
            return best[int(self.rng.random() * len(best))]
        return best[0]

    def execute(self, action: int, *, keep: bool = True) -> None:
        old, path = self.root, (action,)
        if not keep:
            state = old.state[path]
            self.root, self.anew = self.enter(state, born=old.number[path]), True
        elif path in old.entered:
            self.root, self.anew = old.entered[path], False
            self.root.parent = None
        else:
            kept = old.below(path)
            self.root = Abstract(
                old.screen,
                old.born,
                {each[1:]: old.state[each] for each in kept},
                None,
                {each[1:]: old.reward[each] for each in kept},
                {each[1:]: old.number[each] for each in kept},
                {each[1:]: old.entered[each] for each in kept if each in old.entered},
            )
            self.anew = True
            for node in self.root.entered.values():
                node.parent = self.root

    def everything(self) -> Iterator[tuple[Path, Abstract, Path]]:
        """All nodes by the path below the root: a path in an abstract node; entry points are roots of their own."""
        stack: list[tuple[Path, Abstract]] = [((), self.root)]
        while stack:
            prefix, node = stack.pop()
            for path in node.state:
                if path in node.entered:
                    stack.append(((*prefix, *path), node.entered[path]))
                else:
                    yield (*prefix, *path), node, path
