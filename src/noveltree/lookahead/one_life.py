"""One life: a lookahead ends where a life is lost, as it does where the episode ends.

Games with several lives go on after a loss, so that a lookahead that knows only of rewards is indifferent to it.
One that ends there still takes a reward and the loss rather than neither.
"""

from __future__ import annotations

from dataclasses import dataclass

from noveltree.lookahead.pruned_leaves import PrunedLeaves, Worth, termination_costs
from noveltree.lookahead.pruning import Generating, Pruning
from noveltree.lookahead.questions import Planning
from noveltree.simulators.simulator import lives_of
from noveltree.tree import Lookahead, Node


@dataclass(slots=True)
class OneLife:
    """Around a pruning: a node is pruned in which fewer lives are left than at the root.

    It is worth nothing more, for which `worths` is the rule of the backup; other leaves that were pruned are worth
    what the rule inside says. Nothing changes where states do not tell how many lives are left.
    """

    pruning: Pruning
    others: PrunedLeaves = termination_costs

    def begin(self, lookahead: Lookahead) -> Planning:
        yield from self.pruning.begin(lookahead)
        for node in lookahead.nodes():
            self._label(lookahead, node)

    def generate(self, lookahead: Lookahead, node: Node, action: int) -> Generating:
        child = yield from self.pruning.generate(lookahead, node, action)
        self._label(lookahead, child)
        return child

    def meet_again(self, lookahead: Lookahead, child: Node) -> None:
        self.pruning.meet_again(lookahead, child)
        self._label(lookahead, child)

    def worths(self, lookahead: Lookahead, discount: float) -> Worth:
        """What pruned leaves are worth, for the backup."""
        other = self.others(lookahead, discount)
        return lambda node: 0.0 if _lost(lookahead, node) else other(node)

    def _label(self, lookahead: Lookahead, node: Node) -> None:
        if _lost(lookahead, node):
            lookahead.pruned += node.novel
            node.novel = False


def _lost(lookahead: Lookahead, node: Node) -> bool:
    return lives_of(node.state) < lives_of(lookahead.root.state)
