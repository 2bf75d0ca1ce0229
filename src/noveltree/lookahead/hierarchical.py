"""pi-HIW(n, 1) (Junyent et al., 2021): a lookahead on two levels.

The high level chooses an abstract node by how often its abstract state was visited. The low level searches inside
of it until a node enters another abstract state; if that is novel, the search goes on inside of that one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from noveltree.features import FeatureSet
from noveltree.lookahead.abstract_nodes import AbstractNode, abstract_nodes, is_entry_point
from noveltree.lookahead.abstract_states import HierarchicalNode
from noveltree.lookahead.backup import Backup
from noveltree.lookahead.budget import Meter
from noveltree.lookahead.high_level import OpenNodes
from noveltree.lookahead.low_level import LowLevelSearch
from noveltree.lookahead.planner import ActionValues
from noveltree.lookahead.questions import Planning
from noveltree.tree import Arrays, Lookahead, Node

#: Nodes of a lookahead at which planning stops.
MOST_NODES = 5_000


@dataclass(slots=True)
class Hierarchical:
    """Rollouts over abstract nodes, each step of which is a search in a low-level tree.

    Abstract nodes follow from the tree of nodes; what an episode remembers besides are visits of abstract states,
    and what was learnt of the actions.
    """

    low_level: LowLevelSearch
    abstract_features: FeatureSet
    """Of the root of an abstract node: novelty of abstract nodes is over these."""
    backup: Backup
    most_nodes: int = MOST_NODES
    node_type: type[Node] = HierarchicalNode

    def plan(self, lookahead: Lookahead, meter: Meter, *, rng: np.random.Generator) -> Planning:
        root = lookahead.root
        yield from self.low_level.begin(lookahead)
        nodes = abstract_nodes(root)
        if not lookahead.kept or not is_entry_point(root):  # the executed action stayed inside the abstract node
            self.low_level.begin_anew(lookahead, nodes[0])
        open_nodes = OpenNodes(self.abstract_features, nodes)
        most_interactions = self.most_nodes - max(1, lookahead.cached)
        while open_nodes and not meter.exhausted(lookahead) and lookahead.interactions < most_interactions:
            node = open_nodes.choose(self.low_level.states.visits, rng=rng)
            if open_nodes.is_novel(node):
                yield from self._rollout(lookahead, open_nodes, node, meter, rng)
            else:
                open_nodes.close_family(node)
        # Of the low-level tree the label is not needed any more: now it says whether planning came to its end.
        root.solved = not open_nodes
        yield from self.backup.ask(lookahead)
        self.low_level.end(lookahead)  # at last, so that a decision that is cut off and begun again teaches once

    def action_values(self, lookahead: Lookahead) -> ActionValues:
        return self.backup.action_values(lookahead)

    @property
    def needs_certainty(self) -> bool:
        return True  # a low-level tree is left by an action, not by one of its outcomes

    def memory(self) -> Arrays:
        return self.low_level.memory()

    def remember(self, memory: Arrays, lookahead: Lookahead) -> None:
        self.low_level.remember(memory, lookahead)

    def _rollout(
        self,
        lookahead: Lookahead,
        open_nodes: OpenNodes,
        node: AbstractNode,
        meter: Meter,
        rng: np.random.Generator,
    ) -> Planning:
        while True:
            self.low_level.states.visits[node.state] += 1
            entry_point = yield from self.low_level.successor(lookahead, node, meter, rng=rng)
            if entry_point is None:
                if not meter.exhausted(lookahead):
                    open_nodes.close(node)
                return
            node = node.add(entry_point)
            if not open_nodes.enter(node):
                return
