"""What can be chosen about an agent: the one place where its settings are declared."""

from __future__ import annotations

from typing import Literal

from pydantic import field_validator

from noveltree.declarations import SettingsModel, setting
from noveltree.errors import InputError, UnknownNameError
from noveltree.features import FEATURE_SETS, Bins, parse_ranges, parse_size
from noveltree.lookahead import CACHED_NODES, SELECTIONS
from noveltree.simulators import Size

#: The settings that say over which features novelty is defined.
FEATURES = ("features", "precision", "ranges")
#: The settings that say by what states are told apart.
STATE_KEYS = ("state_keys", "clocks")
LARGEST_HORIZON = 30_000  # novelty tables keep depths in 16 bits


class Settings(SettingsModel):
    """The settings of all agents; `Agent.uses` says which of them make a difference to one.

    A default here is what records without the setting were played with; what new protocols have instead is in
    `Agent.defaults`.
    """

    features: str = setting(
        f"the features over which novelty is defined: {', '.join(FEATURE_SETS)}", default="pixels"
    )
    precision: int = setting(
        "bins into which the range of a continuous variable is divided, in atoms; 0: every value is one of its own",
        default=0,
        ge=0,
    )
    ranges: str | None = setting(
        "the ranges of variables, as low:high, or = where values are told apart exactly, with commas between them; "
        "null: there are none",
        default=None,
    )
    horizon: int = setting(
        "actions below the root that a lookahead may reach", default=100, ge=1, le=LARGEST_HORIZON
    )
    discount: float = setting("weight of a reward one action later, in the backup", default=1.0, gt=0, le=1)
    reward_weight: float = setting(
        "weight of a reward one action later, in the backup; unlike a discount it leaves termination costs alone",
        default=1.0,
        gt=0,
        le=1,
    )
    duplicates: bool = setting(
        "whether an action is left out that has led to the same state as another one elsewhere in the lookahead",
        default=False,
    )
    known_transitions: Literal["counted", "free"] = setting(
        "whether what an action leads to counts as an interaction although it is known, from another node with the "
        "same state: counted, or free, where the simulator is not called; for simulators that can tell",
        default="counted",
    )
    table: Literal["classic", "depth"] = setting(
        "by which novelty nodes are pruned, where both are at hand: classic or depth", default="classic"
    )
    cached_nodes: str = setting(
        f"whether nodes that were kept are tested for novelty: {', '.join(CACHED_NODES)}", default="never-tested"
    )
    most_nodes: int | None = setting(
        "nodes of a lookahead from which on it is not grown any more; null: as many as there are",
        default=None,
        ge=2,
    )
    samples: int = setting(
        "draws after which an action whose outcome is not certain counts as known", default=10, ge=1
    )
    cache: bool = setting("whether the executed action's subtree is kept", role="conditions", default=True)
    tie_breaking: str = setting(
        f"how one of several equally good actions is chosen: {', '.join(SELECTIONS)}", default="random"
    )
    safe_steps: int = setting(
        "the action is chosen among those below which a way is known that keeps the life for so many steps, or for "
        "half as many as the longest; 0: among all",
        default=0,
        ge=0,
    )
    visits: Literal["free", "counted"] = setting(
        "whether a kept node counts as an interaction when it is first met in a time step: free or counted",
        default="free",
    )
    repetitions: bool = setting(
        "whether an action that changes no feature is repeated, up to three times, instead of being tested",
        default=False,
    )
    lost_nodes: Literal["stay", "leave"] = setting(
        "whether a node that loses its novelty when it is met again stays in the backup: stay or leave",
        default="stay",
    )
    subtables: bool = setting(
        "whether there is a novelty table for each logarithm of the reward collected since the root", default=False
    )
    risk_averse: Literal["no", "parent", "root"] = setting(
        "whether the lookahead counts negative rewards 50,000 times and a lost life as -500,000: no; parent, where "
        "lives are fewer than before the action; root, where they are fewer than at the root",
        default="no",
    )
    untried: Literal["left-out", "zero"] = setting(
        "what actions that were not tried are worth in the backup: left-out or zero", default="left-out"
    )
    successors: Literal["in-order", "random"] = setting(
        "the order in which the actions of a node are tried: in-order or random", default="in-order"
    )
    pruned_nodes: Literal["novel", "tested"] = setting(
        "whether kept nodes that had been pruned count as novel or are tested again: novel or tested",
        default="novel",
    )
    subtree_cap: int | None = setting(
        "nodes kept below an action of the root from which on none are added there; null: there is no cap",
        default=None,
        ge=1,
    )
    rollout_depth: int = setting(
        "length of random rollouts: below the root in uct, below the child in rtdp", default=10, ge=1
    )
    exploration: float = setting("constant of UCB1, and of PUCT", default=2.0**0.5, ge=0)
    noise_share: float = setting("share of noise in the root's prior, in PUCT", default=0.25, ge=0, le=1)
    noise_alpha: float = setting("parameter of that noise's Dirichlet distribution", default=0.03, gt=0)
    drawn_steps: int = setting(
        "time steps of an episode in which the action is drawn in proportion to its visits, in PUCT",
        default=30,
        ge=0,
    )
    value_scale: Literal["spread", "raw"] = setting(
        "what values are divided by before exploration is added, in PUCT: spread, theirs in the lookahead, or raw",
        default="spread",
    )
    actions: Literal["all", "learnt"] = setting(
        "whether rollouts draw all actions by the base policy alone, or those less that were often duplicates",
        default="all",
    )
    persistence: Literal["none", "drawn", "if-safe", "if-safe-or-idle"] = setting(
        "whether rollouts repeat their last action: none; drawn, each with a probability of its own, from 0 to 1; "
        "if-safe, drawn in time steps that begin with a known way of so many safe steps; if-safe-or-idle, also "
        "where for 30 time steps nothing was paid and no life lost",
        default="none",
    )
    caution: int = setting(
        "where rollouts are persistent: time steps after the loss of a life in which they are not",
        default=0,
        ge=0,
    )
    latent_threshold: float = setting(
        "probability above which a latent variable of an encoder is a true feature", default=0.9, gt=0, lt=1
    )
    tiles: str = setting("tiles of a screen, across and down, whose gray is its abstract state", default="8x11")
    levels: int = setting(
        "levels of gray by which tiles are told apart", option="gray-levels", default=8, ge=2, le=256
    )
    abstract_width: Literal["n", "1"] = setting(
        "width of the novelty of abstract states: n, over all tiles at once, or 1, over each", default="n"
    )

    pruned_leaves: Literal["termination-cost", "left-out", "pessimistic", "extrapolated"] = setting(
        "what leaves are worth that were pruned: termination-cost, like others (0, or what is learnt); left-out, "
        "unless nothing else is left; pessimistic or extrapolated, going on to the horizon at the costliest reward "
        "of the lookahead or at the mean of the way there",
        default="termination-cost",
    )
    exact_duplicates: bool = setting(
        "whether a state is pruned, and left out of the backup, that was met in the lookahead before, at no "
        "greater depth and with no less reward collected",
        default=False,
    )
    lives: Literal["all", "one"] = setting(
        "whether lookaheads go on behind the loss of a life: all; or one, where they end there",
        default="all",
    )
    width: int = setting(
        "how many features make a node novel together: 1, or 2, where features are few", default=1, ge=1, le=2
    )
    cells: int = setting(
        "about how many cells the space of continuous observations is cut into",
        default=4_000,
        ge=2,
    )
    known_after: int = setting(
        "draws after which what an action leads to counts as known, in R-max", default=1, ge=1
    )

    state_keys: Literal["observed", "held"] = setting(
        "by what states are told apart: observed, what is observed of them; held, all that they hold but clocks",
        default="observed",
    )
    clocks: str | None = setting(
        "places of numbers in states that only count steps, with commas between them: they tell no states apart",
        default=None,
    )

    @property
    def bins(self) -> Bins | None:
        """How continuous variables are divided, if they are."""
        if not self.precision:
            return None
        if self.ranges is None:
            raise InputError("A precision divides the ranges of continuous variables, and none are given.")
        return Bins(self.precision, self.ranges)

    @property
    def tile_size(self) -> Size:
        """How many tiles there are across and down."""
        return parse_size(self.tiles)

    @field_validator("tiles")
    @classmethod
    def _check_tiles(cls, tiles: str) -> str:
        parse_size(tiles)
        return tiles

    @field_validator("features")
    @classmethod
    def _check_features(cls, name: str) -> str:
        if name not in FEATURE_SETS:
            raise UnknownNameError("feature set", name, FEATURE_SETS)
        return name

    @field_validator("ranges")
    @classmethod
    def _check_ranges(cls, ranges: str | None) -> str | None:
        if ranges is not None:
            parse_ranges(ranges)
        return ranges

    @field_validator("cached_nodes")
    @classmethod
    def _check_cached_nodes(cls, name: str) -> str:
        if name not in CACHED_NODES:
            raise UnknownNameError("rule for cached nodes", name, CACHED_NODES)
        return name

    @field_validator("tie_breaking")
    @classmethod
    def _check_tie_breaking(cls, name: str) -> str:
        if name not in SELECTIONS:
            raise UnknownNameError("tie-breaking", name, SELECTIONS)
        return name
