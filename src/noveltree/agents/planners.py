"""The planners: agents that learn nothing, each an assembly of parts."""

from __future__ import annotations

from noveltree.agents.agent import Agent
from noveltree.agents.settings import Settings
from noveltree.features import make_features
from noveltree.lookahead import (
    BreadthFirst,
    LeafValues,
    NoLookahead,
    NoPruning,
    NoveltyPruning,
    OneStepRollouts,
    Planner,
    Rollouts,
    Uct,
)
from noveltree.novelty import ClassicTable, DepthTable
from noveltree.simulators import State

_SEARCH = ("horizon", "discount", "cache", "tie_breaking")
_WIDTH_SEARCH = ("features", *_SEARCH)


def _riw_c(start: State, settings: Settings) -> Planner:
    pruning = NoveltyPruning(make_features(settings.features, start), ClassicTable())
    return Rollouts(pruning, settings.horizon, LeafValues(settings.discount))


RIW_C = Agent(
    name="riw-c",
    summary="Rollout IW(1) with classic novelty",
    novelty="classic",
    assemble=_riw_c,
    uses=_WIDTH_SEARCH,
)


def _riw_d(start: State, settings: Settings) -> Planner:
    pruning = NoveltyPruning(make_features(settings.features, start), DepthTable())
    return Rollouts(pruning, settings.horizon, LeafValues(settings.discount))


# As Bandres et al. (2018) defined RIW(1).
RIW_D = Agent(
    name="riw-d",
    summary="Rollout IW(1) with depth novelty",
    novelty="depth",
    assemble=_riw_d,
    uses=_WIDTH_SEARCH,
)


def _iw1(start: State, settings: Settings) -> Planner:
    pruning = NoveltyPruning(make_features(settings.features, start), ClassicTable())
    return BreadthFirst(pruning, settings.horizon, LeafValues(settings.discount))


# Lipovetzky et al. (2015).
IW1 = Agent(
    name="iw1",
    summary="Breadth-first IW(1) with classic novelty",
    novelty="classic",
    assemble=_iw1,
    uses=_WIDTH_SEARCH,
)


def _bfs(start: State, settings: Settings) -> Planner:
    return BreadthFirst(NoPruning(), settings.horizon, LeafValues(settings.discount))


BFS = Agent(
    name="bfs",
    summary="Breadth-first search without pruning",
    novelty="none",
    assemble=_bfs,
    uses=_SEARCH,
)


def _unpruned(start: State, settings: Settings) -> Planner:
    return Rollouts(NoPruning(), settings.horizon, LeafValues(settings.discount))


UNPRUNED = Agent(
    name="unpruned",
    summary="Rollouts to the horizon without pruning (CPL without networks)",
    novelty="none",
    assemble=_unpruned,
    uses=_SEARCH,
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
