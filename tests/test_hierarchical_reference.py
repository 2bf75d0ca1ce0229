"""pi-HIW compared with an independent implementation, node by node and decision by decision, in random worlds."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

from noveltree.agents import PI_HIW, Agent
from noveltree.episodes import Choice, Play, drive
from noveltree.lookahead import Interactions
from tests.support.hierarchical_reference import HierarchicalReference
from tests.support.screen_worlds import ScreenWorld, name_of, random_world
from tests.support.worlds import tree_of

DECISIONS = 5


def agent_with(most_nodes: int) -> Agent:
    def assemble(start: Any, chosen: Any) -> Any:
        planner: Any = PI_HIW.assemble(start, chosen)
        return dataclasses.replace(planner, most_nodes=most_nodes)

    return dataclasses.replace(PI_HIW, assemble=assemble)


def assert_equal(play: Play, choice: Choice, reference: HierarchicalReference) -> None:
    """The lookahead is the reference's."""
    lookahead = play.lookahead
    nodes = tree_of(lookahead)
    expected = list(reference.everything())
    assert {path for path, _, _ in expected} == nodes.keys()
    for path, abstract, low_path in expected:
        node = nodes[path]
        assert name_of(node.state) == abstract.state[low_path]
        assert node.number == abstract.number[low_path]
        assert node.value == reference.value(abstract, low_path)
        assert node.novel == (low_path not in abstract.not_novel)
        if not node.terminal:
            assert node.unsolved == reference.unsolved(abstract, low_path)
        if path:
            assert node.solved == reference.solved(abstract, low_path)
    assert lookahead.root.solved == (not reference.open)
    assert (lookahead.interactions, lookahead.pruned) == (reference.interactions, reference.pruned)
    returns = reference.returns(reference.root, ())
    assert choice.values == tuple(returns.get(action) for action in range(len(choice.values)))


def visits_of(play: Play) -> dict[bytes, int]:
    memory = play.memory()
    rows = [row.tobytes() for row in memory["abstract_states"]]
    return {row: count for row, count in zip(rows, memory["visits"].tolist(), strict=True) if count}


@pytest.mark.parametrize("width", ["n", "1"])
@pytest.mark.parametrize("learnt", [True, False])
@pytest.mark.parametrize("tens", range(10))
def test_every_lookahead_is_that_of_the_reference(width: str, learnt: bool, tens: int) -> None:
    for seed in range(10 * tens, 10 * tens + 10):
        rng = np.random.default_rng([seed, width == "n", learnt])
        compare(
            random_world(rng),
            budget=int(rng.integers(1, 40)),
            width=width,
            learnt=learnt,
            cache=bool(rng.random() < 0.9),
            most_nodes=int(rng.choice([5_000, 5_000, 10, 40])),
            seed=seed,
        )


def compare(
    world: ScreenWorld, budget: int, width: str, learnt: bool, cache: bool, most_nodes: int, seed: int
) -> None:
    reference = HierarchicalReference(
        world, budget, np.random.default_rng(seed), width=width, most_nodes=most_nodes, learnt=learnt
    )
    play = Play(
        world,
        agent_with(most_nodes),
        budget=Interactions(budget),
        rng=np.random.default_rng(seed),
        settings=PI_HIW.settings(tiles="2x2", levels=256, abstract_width=width, cache=cache),
    )

    def check(play: Play, choice: Choice) -> None:
        action = reference.decide()
        assert_equal(play, choice, reference)
        assert choice.action == action
        assert visits_of(play) == {
            bytes(np.array(screen, dtype=np.uint8).ravel()): count for screen, count in reference.visits.items()
        }
        assert play.rng.bit_generator.state == reference.rng.bit_generator.state
        reference.execute(action, keep=cache)

    heads = ("units", "policy", "value") if learnt else ("units",)
    drive([play], world.heuristics(*heads), decisions=DECISIONS, on_choice=check)
