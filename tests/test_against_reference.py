"""Lookaheads on random small worlds equal those of the plain reference: tree, labels, values, choices."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from noveltree.agents import Settings
from noveltree.agents.rules import assemble_rules
from noveltree.heuristics import Heuristics
from noveltree.lookahead import (
    CACHED_NODES,
    SELECTIONS,
    Interactions,
    LeafValues,
    MarkedNode,
    NoPruning,
    NoveltyPruning,
    Planning,
    RiskAverse,
    RiskAverseFromRoot,
    Rollouts,
    Subtables,
    best_action,
    random_tie,
    true_reward,
)
from noveltree.novelty import ClassicTable, DepthTable
from noveltree.simulators import State
from noveltree.tree import UNIFORM, Lookahead, Node
from tests.support.bandres_reference import BandresReference
from tests.support.reference import Reference
from tests.support.worlds import TableFeatures, TableState, TableWorld, tree_of, worlds

PRUNING = {
    "classic": lambda world: NoveltyPruning(TableFeatures(world), ClassicTable()),
    "depth": lambda world: NoveltyPruning(TableFeatures(world), DepthTable()),
    "none": lambda world: NoPruning(),
}
DECISIONS = 4


@pytest.mark.parametrize("novelty", PRUNING)
@given(
    world=worlds(),
    budget=st.integers(1, 25),
    horizon=st.integers(1, 6),
    cache=st.booleans(),
    seed=st.integers(0, 2**32 - 1),
    weights=st.lists(st.integers(1, 9), min_size=24, max_size=24),
    costs=st.lists(st.integers(-3, 3), min_size=8, max_size=8),
)
@settings(max_examples=200, deadline=None)
def test_lookaheads_equal_the_reference(
    novelty: str,
    world: TableWorld,
    budget: int,
    horizon: int,
    cache: bool,
    seed: int,
    weights: list[int],
    costs: list[int],
) -> None:
    actions = len(world.actions)
    policy = {s: [w / 10 for w in weights[3 * s : 3 * s + actions]] for s in range(len(world.table))}
    cost = {s: float(costs[s]) for s in range(len(world.table))}
    heuristics = Heuristics.of(
        policy=lambda nodes: np.array([policy[_name(node)] for node in nodes]),
        value=lambda nodes: np.array([cost[_name(node)] for node in nodes]),
    )
    rng = np.random.default_rng(seed)
    planner = Rollouts(PRUNING[novelty](world), horizon, LeafValues())
    lookahead = Lookahead(world, world.start(), base_policy=None, termination_cost=None)
    reference = Reference(world, novelty, budget, horizon, np.random.default_rng(seed), policy, cost, cache=cache)
    for _ in range(DECISIONS):
        lookahead.begin_time_step()
        _run(planner.plan(lookahead, Interactions(budget).start(), rng=rng), heuristics)
        action = best_action(random_tie)(lookahead.root, planner.action_values(lookahead), rng)
        assert action == reference.decide()
        _compare(lookahead, reference)
        lookahead.advance(action, keep=cache)
        reference.advance(action)
        assert tree_of(lookahead).keys() == reference.state.keys()
        if lookahead.root.terminal:
            break


def _name(node: Node) -> int:
    assert isinstance(node.state, TableState)
    return node.state.name


def _run(planning: Planning, heuristics: Heuristics) -> None:
    try:
        question = next(planning)
        while True:
            question = planning.send(heuristics.answer([question])[0])
    except StopIteration:
        pass


def _compare(lookahead: Lookahead, reference: Reference) -> None:
    tree = tree_of(lookahead)
    assert tree.keys() == reference.state.keys()
    for path, node in tree.items():
        assert _name(node) == reference.state[path]
        assert node.reward == reference.reward[path]
        assert node.cached == (path in reference.cached)
        assert node.novel == reference.novel.get(path, True)
        assert node.solved == reference.solved(path)
        assert node.value == reference.value(path)
    assert lookahead.interactions == reference.interactions
    assert lookahead.pruned == reference.pruned
    assert lookahead.cached == len(reference.cached)


@given(
    world=worlds(),
    lives=st.lists(st.integers(0, 3), min_size=8, max_size=8),
    budget=st.integers(1, 25),
    horizon=st.integers(1, 6),
    seed=st.integers(0, 2**32 - 1),
    cached_nodes=st.sampled_from(["never-tested", "tested-when-met"]),
    visits=st.sampled_from(["free", "counted"]),
    repetitions=st.booleans(),
    lost_nodes=st.sampled_from(["stay", "leave"]),
    subtables=st.booleans(),
    risk_averse=st.sampled_from(["no", "parent", "root"]),
    untried=st.sampled_from(["left-out", "zero"]),
    tie_breaking=st.sampled_from(["random", "longest-branch"]),
)
@settings(max_examples=1000, deadline=None)
def test_the_rules_of_bandres_et_al_equal_their_reference(
    world: TableWorld, lives: list[int], budget: int, horizon: int, seed: int, **rules: Any
) -> None:
    reference = BandresReference(world, lives, budget, horizon, np.random.default_rng(seed), **rules)
    rng = np.random.default_rng(seed)
    planner = _planner_by_rules(world, lives, horizon, Settings(**rules))
    select = SELECTIONS[rules["tie_breaking"]]()
    lookahead = Lookahead(world, world.start(), base_policy=UNIFORM, termination_cost=0.0, node_type=MarkedNode)
    for _ in range(DECISIONS):
        lookahead.begin_time_step()
        _run(planner.plan(lookahead, Interactions(budget).start(), rng=rng), Heuristics())
        values = planner.action_values(lookahead)
        action = select(lookahead.root, values, rng)
        assert action == reference.decide()
        assert values == reference.action_values(())
        _compare_marks(lookahead, reference)
        if lookahead.root.children[action] is None:
            lookahead.expand(lookahead.root, action)
        lookahead.advance(action, keep=True)
        reference.advance(action)
        if lookahead.root.terminal:
            break


def _planner_by_rules(world: TableWorld, lives: list[int], horizon: int, chosen: Settings) -> Rollouts:
    """What `assemble_rules` makes of settings, for a world whose states are no Atari states."""

    def lives_of(state: State) -> int:
        assert isinstance(state, TableState)
        return lives[state.name]

    rewards = {"no": true_reward, "parent": RiskAverse(lives_of), "root": RiskAverseFromRoot(lives_of)}
    reward = rewards[chosen.risk_averse]
    table = Subtables(DepthTable, reward) if chosen.subtables else DepthTable()
    by_novelty = NoveltyPruning(TableFeatures(world), table, CACHED_NODES[chosen.cached_nodes])
    pruning, backup = assemble_rules(by_novelty, chosen, reward)
    return Rollouts(pruning, horizon, backup, node_type=MarkedNode)


def _compare_marks(lookahead: Lookahead, reference: BandresReference) -> None:
    tree = tree_of(lookahead)
    assert tree.keys() == reference.state.keys()
    for path, node in tree.items():
        assert isinstance(node, MarkedNode)
        assert _name(node) == reference.state[path]
        assert node.cached == (path in reference.cached)
        assert node.lost == (path in reference.lost)
        assert node.repetitions == reference.repeated(path)
        assert node.novel == reference.novel.get(path, True)
        assert node.solved == reference.solved(path)
        assert node.value == reference.value(path)
    assert lookahead.interactions == reference.interactions
    assert lookahead.pruned == reference.pruned
