"""Episodes of pi-HIW: the same from the same seed, alone or together, and as if they had not been paused."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import safetensors.numpy

from noveltree.agents import PI_HIW, get_agent
from noveltree.episodes import Play, drive
from noveltree.errors import RecordError
from noveltree.heuristics import Heuristics
from noveltree.learning.architecture import MNIH_2013, Architecture, Head
from noveltree.learning.deployment import Deployment
from noveltree.learning.inputs import InputShape
from noveltree.lookahead import Interactions
from noveltree.protocol import Protocol, make_protocol
from noveltree.records.play_file import decode_play, encode_play, read_play
from noveltree.simulators import Corridor, Simulator
from noveltree.tree import Arrays, Node, restore_lookahead, store_lookahead
from tests.support.screen_worlds import ScreenWorld, random_world

ALL = ("units", "policy", "value")


def account(play: Play) -> tuple[Any, ...]:
    """What can be known of a play, but for the time it took."""
    decisions = [replace(decision, seconds=0.0) for decision in play.decisions]
    memory = {name: (array.shape, array.tobytes()) for name, array in play.memory().items()}
    arrays = store_lookahead(play.lookahead).arrays
    return decisions, play.rng.bit_generator.state, memory, {name: arrays[name].tolist() for name in arrays}


def world_play(world: ScreenWorld, seed: int, width: str = "n", actions: str = "all") -> Play:
    return Play(
        world,
        PI_HIW,
        budget=Interactions(15),
        rng=np.random.default_rng(seed),
        settings=PI_HIW.settings(tiles="2x2", levels=256, abstract_width=width, actions=actions),
    )


@pytest.mark.parametrize(("width", "actions"), [("n", "all"), ("1", "all"), ("n", "learnt")])
@pytest.mark.parametrize("tens", range(5))
def test_an_episode_that_is_stored_after_every_decision_goes_on_as_if_it_had_not_been(
    tens: int, width: str, actions: str
) -> None:
    for seed in range(10 * tens, 10 * tens + 10):
        world = random_world(np.random.default_rng([seed, 7]))
        heuristics = world.heuristics(*ALL)
        whole, parts = (world_play(world, seed, width, actions) for _ in range(2))
        parts.use(heuristics)
        for _ in range(6):
            again = world_play(world, 0, width, actions)
            again.rng.bit_generator.state = parts.rng.bit_generator.state
            lookahead = restore_lookahead(
                store_lookahead(parts.lookahead), world, node_type=parts.lookahead.node_type
            )
            again.restore(lookahead, parts.decisions, heuristics=heuristics, memory=parts.memory())
            parts = again
            drive([whole, parts], heuristics, decisions=1)
            assert account(whole) == account(parts)


def corridor_units(nodes: Sequence[Node]) -> np.ndarray:
    """Three bits of the cell's number."""
    cells = np.array([int(node.state.observation[0]) for node in nodes])
    return (cells[:, None] >> np.arange(3)) & 1


def corridor_heuristics(actions: int = 2) -> Heuristics:
    return Heuristics.of(
        units=corridor_units,
        policy=lambda nodes: np.full((len(nodes), actions), 1 / actions),
        value=lambda nodes: np.zeros(len(nodes)),
    )


def corridor_play(index: int) -> Play:
    return Play(Corridor(20), PI_HIW, budget=Interactions(12), rng=np.random.default_rng(index), max_steps=60)


def test_episodes_at_once_are_the_same_as_one_at_a_time_and_the_same_twice() -> None:
    alone, together, again = ([corridor_play(index) for index in range(4)] for _ in range(3))
    heuristics = corridor_heuristics()
    for play in alone:
        drive([play], heuristics)
    drive(together, heuristics)
    drive(again, heuristics)
    assert [account(play) for play in alone] == [account(play) for play in together]
    assert [account(play) for play in alone] == [account(play) for play in again]
    assert len({play.episode().interactions for play in alone}) > 1
    assert {play.episode().score for play in alone} == {1.0}, "the exit is found"


class TestPlayFiles:
    @functools.cached_property
    def protocol(self) -> Protocol:
        return make_protocol("corridor", agent="pi-hiw", budget=12)

    @functools.cached_property
    def heuristics(self) -> Heuristics:
        return corridor_heuristics()

    def paused(self, decisions: int = 3) -> Play:
        play = self.protocol.make_play(self.protocol.make_simulator(), seed=1, index=0)
        drive([play], self.heuristics, decisions=decisions)
        return play

    def read(self, data: bytes) -> Play:
        return decode_play(data, self.protocol, self.protocol.make_simulator(), heuristics=self.heuristics)

    def test_it_holds_abstract_states_and_their_visits(self) -> None:
        play = self.paused()
        arrays = safetensors.numpy.load(encode_play(play, self.protocol))
        assert {name for name in arrays if name.startswith("planner.")} == {
            "planner.abstract_states",
            "planner.visits",
        }
        cells = arrays["planner.abstract_states"].view(np.int64).ravel().tolist()
        assert cells[0] == 0
        assert sorted(cells) == list(range(len(cells)))
        assert arrays["planner.visits"].sum() >= 3

    @pytest.mark.parametrize(
        ("change", "complaint"),
        [
            (lambda memory: memory.clear(), "missing or are something else"),
            (lambda memory: memory.pop("visits"), "missing or are something else"),
            (lambda memory: memory.update(more=np.zeros(1)), "remember nothing of an episode, and there is more"),
            (lambda memory: memory.update(visits=memory["visits"] * 0.5), "missing or are something else"),
            (lambda memory: memory.update(visits=-memory["visits"]), "not those of its nodes"),
            (lambda memory: memory.update(visits=memory["visits"][1:]), "not those of its nodes"),
            (
                lambda memory: memory.update(abstract_states=memory["abstract_states"][::-1]),
                "not those of its nodes",
            ),
            (lambda memory: memory["abstract_states"].fill(0), "not those of its nodes"),
            (lambda memory: memory.update({n: a[:1] for n, a in memory.items()}), "not those of its nodes"),
        ],
    )
    def test_a_memory_that_does_not_fit_is_refused(
        self, change: Any, complaint: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        play = self.paused()
        memory: Arrays = {name: array.copy() for name, array in play.memory().items()}
        change(memory)
        monkeypatch.setattr(Play, "memory", lambda self: memory)
        with pytest.raises(RecordError, match=f"This cannot be read as a paused play.*{complaint}"):
            self.read(encode_play(play, self.protocol))

    def test_it_holds_what_was_learnt_of_the_actions(self) -> None:
        """In the first cell waiting leads where LEFT leads."""
        protocol = make_protocol("corridor", agent="pi-hiw", budget=12, actions="learnt")
        corridor, heuristics = Corridor(wait=True), corridor_heuristics(3)
        play = protocol.make_play(corridor, seed=1, index=0)
        drive([play], heuristics, decisions=3)
        data = encode_play(play, protocol)
        estimates = safetensors.numpy.load(data)["planner.actions.novel"].tolist()
        assert estimates[:2] == [1.0, 1.0]
        assert estimates[2] < 1.0
        again = decode_play(data, protocol, corridor, heuristics=heuristics)
        assert again.memory()["actions.novel"].tolist() == estimates
        memory = {name: array for name, array in play.memory().items() if name != "actions.novel"}
        with pytest.raises(RecordError, match="What was learnt of the actions is missing"):
            play.restore(play.lookahead, play.decisions, heuristics=heuristics, memory=memory)

    def test_without_the_networks_it_was_driven_with_it_goes_on_with_others(self) -> None:
        data = encode_play(self.paused(), self.protocol)
        play = decode_play(data, self.protocol, self.protocol.make_simulator(), heuristics=None)
        drive([play], corridor_heuristics(), decisions=2)
        assert len(play.decisions) == 5


class TestMontezuma:
    """With an untrained network of the usual size, as pi-HIW begins."""

    def deployment(self, simulator: Simulator) -> Deployment:
        heads = Head("policy", "softmax", len(simulator.actions)), Head("value", "scalar"), Head("units", "hidden")
        architecture = Architecture(InputShape.of(simulator.start().observation), heads, MNIH_2013)
        weights = architecture.initial_weights(rng=np.random.default_rng(0))
        return Deployment({"pi": architecture}, {"pi": weights})

    def test_it_plans_on_two_levels_and_goes_on_to_the_bit(self, tmp_path: Path) -> None:
        protocol = make_protocol("montezuma_revenge", agent="pi-hiw", budget=40)
        with (
            contextlib.closing(protocol.make_simulator()) as simulator,
            contextlib.closing(protocol.make_simulator()) as other,
        ):
            heuristics = self.deployment(simulator).heuristics()
            play = protocol.make_play(simulator, seed=0, index=0)
            drive([play], heuristics, decisions=4)
            path = tmp_path / "paused.safetensors"
            path.write_bytes(encode_play(play, protocol))
            read = read_play(path, protocol, other, heuristics=heuristics)
            drive([play], heuristics, decisions=3)
            drive([read], heuristics, decisions=3)
            assert account(play) == account(read)
        assert all(decision.interactions <= 40 for decision in play.decisions)
        assert len(play.memory()["visits"]) > 5
        nodes = list(play.lookahead.nodes())
        assert {np.shape(node.units) for node in nodes if not node.terminal} == {(256,)}
        assert all(node.termination_cost is not None for node in nodes if not node.terminal)

    def test_the_agent_is_found_by_its_names(self) -> None:
        assert get_agent("pi-HIW") is get_agent("PI_HIW") is PI_HIW
        assert PI_HIW.keeps_answers
        assert make_protocol("montezuma_revenge", agent="pi-hiw").budget == 100
