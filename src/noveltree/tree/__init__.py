"""The lookahead (Definition 1): nothing but the tree, how it grows and how it is re-rooted."""

from noveltree.tree.base_policy import UNIFORM as UNIFORM
from noveltree.tree.base_policy import BasePolicy as BasePolicy
from noveltree.tree.base_policy import Probabilities as Probabilities
from noveltree.tree.lookahead import Lookahead as Lookahead
from noveltree.tree.measures import subtree_height as subtree_height
from noveltree.tree.measures import subtree_size as subtree_size
from noveltree.tree.node import HISTORY as HISTORY
from noveltree.tree.node import NO_FEATURE as NO_FEATURE
from noveltree.tree.node import Node as Node
from noveltree.tree.node import outcomes as outcomes
from noveltree.tree.storage import Arrays as Arrays
from noveltree.tree.storage import Counts as Counts
from noveltree.tree.storage import StoredLookahead as StoredLookahead
from noveltree.tree.storage import decode_states as decode_states
from noveltree.tree.storage import encode_states as encode_states
from noveltree.tree.storage import restore_lookahead as restore_lookahead
from noveltree.tree.storage import store_lookahead as store_lookahead
