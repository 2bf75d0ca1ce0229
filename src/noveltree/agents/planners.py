"""The planners: agents that learn nothing, each an assembly of parts."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

from noveltree.agents.agent import Agent
from noveltree.agents.rules import RULES, rollouts_by_rules, rules_are_chosen
from noveltree.agents.settings import FEATURES, Settings
from noveltree.errors import InputError
from noveltree.features import FeatureSet, PairFeatures, make_features
from noveltree.lookahead import (
    CACHED_NODES,
    SUCCESSOR_ORDERS,
    ActionSet,
    AllActions,
    Backup,
    BestFirst,
    BreadthFirst,
    Duplicates,
    ExactDuplicates,
    LabelledFirst,
    LeafValues,
    LearntActions,
    MarkedNode,
    NoLookahead,
    NoPruning,
    NoveltyPruning,
    OneLife,
    OneStepRollouts,
    PersistentActions,
    Planner,
    PrunedTested,
    Pruning,
    Rollouts,
    SubtreeCap,
    Uct,
    exploiting,
    exploring,
    make_pruned_leaves,
    novel_by_reward,
)
from noveltree.novelty import ClassicTable, DepthTable, NoveltyTable, RewardTable
from noveltree.simulators import State
from noveltree.tree import Lookahead, Node

_SEARCH = ("horizon", "discount", "cache", "tie_breaking", "most_nodes", "samples")
_ROLLOUTS = (
    *_SEARCH,
    *("reward_weight", "duplicates", "exact_duplicates", "known_transitions", "actions"),
    *("lives", "persistence", "caution", "safe_steps"),
)
_NOVELTY = (*FEATURES, "width", "pruned_leaves")


def _rollout_iw(table: Callable[[], NoveltyTable]) -> Callable[[State, Settings], Planner]:
    def assemble(start: State, settings: Settings) -> Planner:
        if rules_are_chosen(settings):
            pruning, backup = rollouts_by_rules(start, settings, table)
            return _rollouts(pruning, settings, backup, MarkedNode)
        cached_nodes = CACHED_NODES[settings.cached_nodes]
        return _rollouts(NoveltyPruning(_features(start, settings), table(), cached_nodes), settings)

    return assemble


def _rollouts(
    pruning: Pruning, settings: Settings, backup: Backup | None = None, node_type: type[Node] = Node
) -> Planner:
    if backup is None:
        pruning, backup = _with_backup(pruning, settings, settings.reward_weight)
    duplicates = Duplicates() if settings.duplicates else None
    actions = action_set(settings)
    return Rollouts(pruning, settings.horizon, backup, duplicates, node_type, actions)


#: Time steps without a known way, a reward or the loss of a life, after which rollouts are persistent again.
_PATIENCE = 30


def action_set(settings: Settings) -> ActionSet:
    """What draws the actions of rollouts."""
    actions: ActionSet = LearntActions() if settings.actions == "learnt" else AllActions()
    if settings.persistence == "none":
        return actions
    if settings.persistence == "drawn":
        return PersistentActions(actions, settings.caution)
    if not settings.safe_steps:
        raise InputError("Where persistence asks what is safe, it has to know how long: choose --safe-steps, too.")
    patience = _PATIENCE if settings.persistence == "if-safe-or-idle" else None
    return PersistentActions(actions, settings.caution, settings.safe_steps, patience)


def _with_backup(pruning: Pruning, settings: Settings, reward_weight: float = 1.0) -> tuple[Pruning, Backup]:
    """A pruning, with the rules around it that are chosen, and a backup that knows what pruned leaves are worth."""
    worths = make_pruned_leaves(settings.pruned_leaves, settings.horizon)
    if settings.exact_duplicates:
        pruning = duplicates = ExactDuplicates(pruning, worths)
        worths = duplicates.worths
    backup = LeafValues(settings.discount, reward_weight, worths)
    if settings.lives == "one":
        pruning = life = OneLife(pruning, worths)
        backup = dataclasses.replace(backup, pruned=life.worths)
    return pruning, backup


def _features(start: State, settings: Settings) -> FeatureSet:
    features = make_features(settings.features, start, settings.bins)
    return features if settings.width == 1 else PairFeatures(features)


RIW_C = Agent(
    name="riw-c",
    summary="Rollout IW(1) with classic novelty",
    novelty="classic",
    assemble=_rollout_iw(ClassicTable),
    uses=(*_NOVELTY, "cached_nodes", *_ROLLOUTS, *RULES),
)


# As Bandres et al. (2018) defined RIW(1); what they did besides is in `agents/rules.py`.
RIW_D = Agent(
    name="riw-d",
    summary="Rollout IW(1) with depth novelty",
    novelty="depth",
    assemble=_rollout_iw(DepthTable),
    uses=(*_NOVELTY, "cached_nodes", *_ROLLOUTS, *RULES),
)


_TABLES: dict[str, Callable[[], NoveltyTable]] = {"classic": ClassicTable, "depth": DepthTable}


def _riw_plus(start: State, settings: Settings) -> Planner:
    return _rollout_iw(_TABLES[settings.table])(start, settings)


# Ours: docs/faster-learning.md says how it came about.
RIW_PLUS = dataclasses.replace(
    RIW_D,
    name="riw-plus",
    summary="Rollout IW(1) with depth novelty: it survives first, asks nothing twice, hurries and explores",
    assemble=_riw_plus,
    uses=("table", *RIW_D.uses),
    defaults={
        "table": "depth",
        "known_transitions": "free",
        "lives": "one",
        "safe_steps": 10,
        "reward_weight": 0.97,
        "persistence": "if-safe-or-idle",
        "caution": 100,
        "tie_breaking": "unseen-if-idle",
    },
)


def _iw1(start: State, settings: Settings) -> Planner:
    by_novelty = NoveltyPruning(_features(start, settings), ClassicTable())
    tested = settings.pruned_nodes == "tested"
    pruning: Pruning = PrunedTested(by_novelty) if tested else by_novelty
    if settings.subtree_cap is not None:
        pruning = SubtreeCap(pruning, settings.subtree_cap)
    order, node_type = SUCCESSOR_ORDERS[settings.successors], MarkedNode if tested else Node
    pruning, backup = _with_backup(pruning, settings)
    return BreadthFirst(pruning, settings.horizon, backup, order, node_type)


# Lipovetzky et al. (2015).
IW1 = Agent(
    name="iw1",
    summary="Breadth-first IW(1) with classic novelty",
    novelty="classic",
    assemble=_iw1,
    uses=(*_NOVELTY, *_SEARCH, "successors", "pruned_nodes", "subtree_cap", "exact_duplicates"),
)


def _p_iw(start: State, settings: Settings) -> Planner:
    features = make_features(settings.features, start, settings.bins)
    pruning = NoveltyPruning(features, RewardTable(), measure=Lookahead.collected)
    backup, successors = LeafValues(settings.discount), SUCCESSOR_ORDERS[settings.successors]
    return BestFirst(pruning, (novel_by_reward,), settings.horizon, backup, successors=successors)


# Shleyfman et al. (2016).
P_IW = Agent(
    name="p-iw",
    summary="Best-first IW(1): novel is what holds a feature with more reward, and the most reward comes first",
    novelty="reward",
    assemble=_p_iw,
    uses=(*FEATURES, *_SEARCH, "successors"),
)


def _2bfs(start: State, settings: Settings) -> Planner:
    labels = NoveltyPruning(make_features(settings.features, start, settings.bins), ClassicTable(), LabelledFirst())
    backup, successors = LeafValues(settings.discount), SUCCESSOR_ORDERS[settings.successors]
    return BestFirst(labels, (exploring, exploiting), settings.horizon, backup, settings.discount, successors)


# Lipovetzky et al. (2015).
TWO_BFS = Agent(
    name="2bfs",
    summary="Best-first search with two queues in turn, by novelty and by reward, without pruning",
    novelty="none",
    assemble=_2bfs,
    uses=(*FEATURES, *_SEARCH, "successors"),
)


def _bfs(start: State, settings: Settings) -> Planner:
    pruning, backup = _with_backup(NoPruning(), settings)
    return BreadthFirst(pruning, settings.horizon, backup)


BFS = Agent(
    name="bfs",
    summary="Breadth-first search without pruning",
    novelty="none",
    assemble=_bfs,
    uses=(*_SEARCH, "exact_duplicates"),
)


def _unpruned(start: State, settings: Settings) -> Planner:
    return _rollouts(NoPruning(), settings)


UNPRUNED = Agent(
    name="unpruned",
    summary="Rollouts to the horizon without pruning (CPL without networks)",
    novelty="none",
    assemble=_unpruned,
    uses=_ROLLOUTS,
)


def _uct(start: State, settings: Settings) -> Planner:
    return Uct(rollout_depth=settings.rollout_depth, exploration=settings.exploration, discount=settings.discount)


# Kocsis and Szepesvari (2006).
UCT = Agent(
    name="uct",
    summary="Upper confidence bounds and random rollouts",
    novelty="none",
    assemble=_uct,
    uses=("rollout_depth", "exploration", "discount", "cache", "tie_breaking"),
    defaults={"rollout_depth": 20},
)


def _rtdp(start: State, settings: Settings) -> Planner:
    return OneStepRollouts(rollout_depth=settings.rollout_depth, discount=settings.discount)


# As in the paper's test for sparse meaningful rewards.
RTDP = Agent(
    name="rtdp",
    summary="One step ahead, closed by a random rollout per action",
    novelty="none",
    assemble=_rtdp,
    uses=("rollout_depth", "discount", "tie_breaking"),
    defaults={"rollout_depth": 10},
    sets_budget=True,
    # One pass over the actions, each with its rollout.
    default_budget=lambda actions, settings: actions * (1 + settings.rollout_depth),
)


def _random(start: State, settings: Settings) -> Planner:
    return NoLookahead()


RANDOM = Agent(
    name="random",
    summary="Uniformly random actions, no lookahead",
    novelty="none",
    assemble=_random,
    uses=(),
    sets_budget=True,
    default_budget=lambda actions, settings: 1,  # the action itself
)
