"""One life: a lookahead ends where a life is lost, as it does where the episode ends.

Games with several lives go on after a loss, so that a lookahead that knows only of rewards is indifferent to it.
One that ends there still takes a reward and the loss rather than neither, unless a life has a price.
"""

from __future__ import annotations

from dataclasses import dataclass

from noveltree.lookahead.pruned_leaves import PrunedLeaves, Worth, nothing, termination_costs
from noveltree.lookahead.pruning import Generating, Pruning
from noveltree.lookahead.questions import Planning
from noveltree.simulators.simulator import lives_of
from noveltree.tree import Lookahead, Node


@dataclass(slots=True)
class OneLife:
    """Around a pruning: a node is pruned in which fewer lives are left than at the root.

    It is worth nothing more, for which `worths` is the rule of the backup; other leaves that were pruned are worth
    what the rule inside says. Nothing changes where states do not tell how many lives are left.

    A life may have a `price`, in actions: it costs what so many of them pay in the mean over the lookahead, if that
    is more than nothing.
    """

    pruning: Pruning
    others: PrunedLeaves = termination_costs
    price: float = 0.0

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
        return self._priced(lookahead, self.others(lookahead, discount))

    def ends(self, lookahead: Lookahead, discount: float) -> Worth:
        """What terminal leaves are worth, for the backup."""
        return self._priced(lookahead, nothing(lookahead, discount))

    def _priced(self, lookahead: Lookahead, other: Worth) -> Worth:
        """A life is to be paid for where it is lost; elsewhere a leaf is worth what `other` says."""
        cost = self.price * max(0.0, _mean_reward(lookahead)) if self.price else 0.0
        return lambda node: 0.0 - cost if _lost(lookahead, node) else other(node)

    def _label(self, lookahead: Lookahead, node: Node) -> None:
        if _lost(lookahead, node):
            lookahead.pruned += node.novel
            node.novel = False


def _mean_reward(lookahead: Lookahead) -> float:
    """What an action of the lookahead pays in the mean."""
    rewards = [node.reward for node in lookahead.nodes() if node is not lookahead.root]
    return sum(rewards) / len(rewards) if rewards else 0.0


def _lost(lookahead: Lookahead, node: Node) -> bool:
    return lives_of(node.state) < lives_of(lookahead.root.state)
