"""Plays written to disk and read back: they go on as if they had not been, or are refused."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import safetensors.numpy

from noveltree.agents import AGENTS
from noveltree.episodes import Play, drive, drive_stream
from noveltree.errors import InputError, NoveltreeError, RecordError
from noveltree.heuristics import UNINFORMED, Heuristics
from noveltree.lookahead import ActionValues, MarkedNode, Meter, Planning, UctNode
from noveltree.protocol import Protocol, make_protocol
from noveltree.records.play_file import read_play, write_play
from noveltree.simulators import Atari, Corridor, Simulator, State, Transition
from noveltree.tree import (
    UNIFORM,
    Arrays,
    Lookahead,
    Node,
    Probabilities,
    StoredLookahead,
    restore_lookahead,
    store_lookahead,
)
from tests.support.agents import EVERYWHERE, PLAYABLE_AT_ONCE

PAUSE, END = 4, 6

#: Game, features, agent, and whether networks are asked.
CASES = [
    *(("corridor", "atoms", agent, True) for agent in EVERYWHERE),
    *(("corridor", "atoms", agent, False) for agent in PLAYABLE_AT_ONCE),
    *(("pong", "pixels", agent, False) for agent in ("riw-c", "riw-d", "uct", "iw1", "rtdp", "unpruned")),
    *(("pong", "bprost", agent, False) for agent in ("riw-c", "riw-d")),
    ("pong", "pixels", "riw-c", True),
    ("pong", "bprost", "riw-d", True),
    ("pong", "units", "pi-hiw", True),
]
#: Presets of earlier planners, which mark nodes for later time steps.
MARKING = ("bandres-2018-103", "bandres-2018-ns-ra-107", "lipovetzky-2015")


@functools.cache
def protocol_of(game: str, features: str, agent: str, budget: int = 20) -> Protocol:
    choices = {"features": features} if "features" in AGENTS[agent].uses else {}
    return make_protocol(game, agent=agent, budget=budget, **choices)


@contextlib.contextmanager
def fresh_play(protocol: Protocol) -> Iterator[Play]:
    with contextlib.closing(protocol.make_simulator()) as simulator:
        yield protocol.make_play(simulator, seed=3, index=1)


class Networks:
    """Functions of the observations of a node and its three ancestors, which remember what they were asked."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, float]] = []

    def heuristics(self) -> Heuristics:
        """Never the same one twice, as if the networks were loaded anew."""
        return Heuristics.of(
            policy=lambda nodes: self._base_policy(nodes),
            value=lambda nodes: self._termination_cost(nodes),
            units=lambda nodes: self._units(nodes),
        )

    def _base_policy(self, nodes: Sequence[Node]) -> np.ndarray:
        actions = len(nodes[0].children)
        seen = np.array([self._see("base policy", node) for node in nodes])
        weights = 1.1 + np.sin(seen[:, None] * np.arange(1, actions + 1))
        return (weights / weights.sum(axis=1, keepdims=True)).astype(np.float32)

    def _termination_cost(self, nodes: Sequence[Node]) -> np.ndarray:
        return np.array([np.cos(self._see("termination cost", node)) / 3 for node in nodes])

    def _units(self, nodes: Sequence[Node]) -> np.ndarray:
        seen = np.array([self._see("units", node) for node in nodes])
        return np.maximum(np.sin(seen[:, None] * np.arange(1, 6)), 0).astype(np.float32)

    def _see(self, question: str, node: Node) -> float:
        seen = 0.0
        ancestor: Node = node
        for place in range(4):
            seen += float(ancestor.state.observation.astype(np.float64).sum()) * (place + 1) / 7
            ancestor = ancestor.parent or ancestor
        self.asked.append((question, seen))
        return seen


def account(play: Play) -> tuple[object, ...]:
    """All that can be known of a play, but the time that it took."""
    episode = play.episode()
    decisions = [replace(decision, seconds=0.0) for decision in episode.decisions]
    return decisions, episode.end, episode.final_observation, play.rng.bit_generator.state


def number(value: object) -> object:
    """A number that is equal to itself only, to the bit and in its type."""
    return (type(value).__name__, value.hex() if isinstance(value, float) else value)


def contents(node: Node) -> dict[str, object]:
    """Every field of a node but the nodes around it, comparable."""
    fields = {name: number(getattr(node, name)) for kind in type(node).__mro__[:-1] for name in slots(kind)}
    state, policy = node.state, node.base_policy
    fields["base_policy"] = (
        [number(value) for value in policy.values] if isinstance(policy, Probabilities) else policy
    )
    fields["unsolved"] = list(node.unsolved)
    fields["units"] = part(node.units)
    fields["state"] = [
        (name, part(getattr(state, name))) for kind in type(state).__mro__[:-1] for name in slots(kind)
    ]
    return fields


def slots(kind: type) -> list[str]:
    return [name for name in vars(kind)["__slots__"] if name not in ("parent", "children")]


def part(value: object) -> object:
    if isinstance(value, np.ndarray):
        return value.dtype, value.shape, value.tobytes(), value.flags.writeable
    return value


def family(lookahead: Lookahead) -> list[Node]:
    """The root's ancestors, the youngest first, and all nodes below it."""
    ancestors = []
    node = lookahead.root
    while node.parent is not None:
        node = node.parent
        ancestors.append(node)
    return ancestors + list(lookahead.nodes())


def assert_equal(found: Lookahead, expected: Lookahead) -> None:
    nodes, others = family(found), family(expected)
    place, other_place = ({node: i for i, node in enumerate(each)} for each in (nodes, others))
    assert len(nodes) == len(others)
    for node, other in zip(nodes, others, strict=True):
        assert type(node) is type(other)
        assert contents(node) == contents(other)
        assert [c and place[c] for c in node.children] == [c and other_place[c] for c in other.children]
        assert (node.parent and place[node.parent]) == (other.parent and other_place[other.parent])
    for name in ("kept", "interactions", "cached", "pruned", "deepest", "termination_cost", "base_policy"):
        assert number(getattr(found, name)) == number(getattr(expected, name)), name


@pytest.mark.parametrize(("game", "features", "agent", "evaluated"), CASES)
def test_a_play_that_was_written_and_read_goes_on_as_if_it_had_not_been(
    game: str, features: str, agent: str, evaluated: bool, tmp_path: Path
) -> None:
    protocol, path = protocol_of(game, features, agent), tmp_path / "paused.safetensors"
    networks, networks_read = Networks(), Networks()
    with fresh_play(protocol) as play:
        heuristics = networks.heuristics() if evaluated else UNINFORMED
        drive([play], heuristics, decisions=PAUSE)
        write_play(path, play, protocol)
        networks.asked.clear()
        with contextlib.closing(protocol.make_simulator()) as simulator:
            again = networks_read.heuristics() if evaluated else UNINFORMED
            read = read_play(path, protocol, simulator, heuristics=again)
            assert account(read) == account(play)
            assert_equal(read.lookahead, play.lookahead)
            drive([play], heuristics, decisions=END - PAUSE)
            drive([read], again, decisions=END - PAUSE)
            assert account(read) == account(play)
            if features == "atoms":  # whose numbers are given as values are met, in each process anew
                for node in (*family(read.lookahead), *family(play.lookahead)):
                    node.witness = min(node.witness, 0)
            assert_equal(read.lookahead, play.lookahead)
    assert networks_read.asked == networks.asked


@pytest.mark.parametrize("preset", MARKING)
def test_marks_that_outlive_a_time_step_are_written_and_read(preset: str, tmp_path: Path) -> None:
    protocol, path = make_protocol("berzerk", preset=preset, budget=200), tmp_path / "paused.safetensors"
    with fresh_play(protocol) as play, contextlib.closing(protocol.make_simulator()) as simulator:
        nodes: list[Node] = []
        while len(nodes) < 6:  # enough were kept
            drive([play], decisions=1)
            nodes = list(play.lookahead.nodes())
        for node in nodes[1::3]:  # a short play leaves few marks of its own
            assert isinstance(node, MarkedNode)
            node.lost = node.pruned = True
            node.repetitions = 1
        write_play(path, play, protocol)
        read = read_play(path, protocol, simulator)
        assert_equal(read.lookahead, play.lookahead)
        drive([play], decisions=2)
        drive([read], decisions=2)
        assert account(read) == account(play)
        assert_equal(read.lookahead, play.lookahead)


@pytest.mark.parametrize("agent", EVERYWHERE)
def test_a_play_can_be_written_before_its_first_decision_and_after_every_other(agent: str, tmp_path: Path) -> None:
    protocol, path = protocol_of("corridor", "atoms", agent), tmp_path / "paused.safetensors"
    networks, heuristics = Networks(), Networks().heuristics()
    with fresh_play(protocol) as whole:
        drive([whole], heuristics, decisions=12)
    with fresh_play(protocol) as play:
        play.use(current := networks.heuristics())
        for _ in whole.decisions:
            write_play(path, play, protocol)
            current = networks.heuristics()
            play = read_play(path, protocol, protocol.make_simulator(), heuristics=current)
            drive([play], current, decisions=1)
        write_play(path, play, protocol)
        play = read_play(path, protocol, protocol.make_simulator(), heuristics=current)
        assert play.finished is whole.finished
        assert account(play) == account(whole)


def test_kept_ancestors_labels_and_answers_are_really_there_to_be_compared(tmp_path: Path) -> None:
    with fresh_play(protocol_of("pong", "bprost", "riw-d")) as play:
        drive([play], Networks().heuristics(), decisions=PAUSE)
        nodes = family(play.lookahead)
        below = list(play.lookahead.nodes())
    assert len(nodes) - len(below) == 3
    assert len(below) > 3
    for name in ("novel", "solved", "cached"):
        assert {getattr(node, name) for node in nodes} == {False, True}, name
    assert {type(node.base_policy) for node in below} == {type(None), Probabilities}
    assert {type(node.termination_cost) for node in below} == {type(None), float}
    assert any(node.value for node in below)
    state: Any = play.lookahead.root.state
    assert not np.array_equal(state.tiles, state.previous_tiles)


class TestEvaluations:
    @pytest.fixture
    def path(self, tmp_path: Path) -> Path:
        path = tmp_path / "paused.safetensors"
        with fresh_play(self.protocol) as play:
            drive([play], Networks().heuristics(), decisions=2)
            write_play(path, play, self.protocol)
        return path

    @property
    def protocol(self) -> Protocol:
        return protocol_of("corridor", "atoms", "unpruned")

    def read(self, path: Path, heuristics: Heuristics | None) -> Play:
        return read_play(path, self.protocol, self.protocol.make_simulator(), heuristics=heuristics)

    @pytest.mark.parametrize(
        "heuristics", [UNINFORMED, Heuristics.of(policy=np.ones), Heuristics.of(value=np.ones)]
    )
    def test_another_kind_of_evaluation_is_refused(self, path: Path, heuristics: Heuristics) -> None:
        with pytest.raises(
            InputError, match="policy was evaluated and its termination cost evaluated: read it with"
        ):
            self.read(path, heuristics)

    def test_without_the_evaluation_at_hand_what_it_answered_is_forgotten(self, path: Path) -> None:
        play = self.read(path, None)
        assert all((n.base_policy, n.termination_cost) == (UNIFORM, 0.0) for n in play.lookahead.nodes())
        networks = Networks()
        root = play.lookahead.root
        drive([play], networks.heuristics(), decisions=1)
        assert networks.asked[0][0] == "base policy"
        assert isinstance(root.base_policy, Probabilities)

    def test_driven_on_with_another_evaluation_it_forgets_too(self, path: Path) -> None:
        play = self.read(path, Networks().heuristics())
        known = sum(node.base_policy is not None for node in play.lookahead.nodes())
        assert known > 0
        play.use(Networks().heuristics())
        assert all(node.base_policy is node.termination_cost is None for node in play.lookahead.nodes())


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small file that is whole."""
    path = tmp_path_factory.mktemp("plays") / "whole.safetensors"
    protocol = protocol_of("corridor", "atoms", "riw-c")
    with fresh_play(protocol) as play:
        drive([play], decisions=PAUSE)
        write_play(path, play, protocol)
    return path


def read_corridor(path: Path) -> Play:
    protocol = protocol_of("corridor", "atoms", "riw-c")
    return read_play(path, protocol, protocol.make_simulator())


class TestFiles:
    def test_a_changed_byte_anywhere_is_noticed(self, written: Path, tmp_path: Path) -> None:
        data, path = written.read_bytes(), tmp_path / "changed.safetensors"
        assert len(read_corridor(written).decisions) == PAUSE
        header = 8 + int.from_bytes(data[:8], "little")
        for place in (*range(header), *range(header, len(data), 11), len(data) - 1):
            changed = bytearray(data)
            changed[place] ^= 1 << place % 8
            path.write_bytes(changed)
            with pytest.raises(RecordError, match=r"changed\.safetensors is"):
                read_corridor(path)

    def test_truncated_and_lengthened_files_are_noticed(self, written: Path, tmp_path: Path) -> None:
        data, path = written.read_bytes(), tmp_path / "cut.safetensors"
        for length in (0, 1, 8, 100, 1000, len(data) // 2, len(data) - 1):
            path.write_bytes(data[:length])
            with pytest.raises(RecordError, match=r"cut\.safetensors is"):
                read_corridor(path)
        path.write_bytes(data + b"\0")
        with pytest.raises(RecordError, match=r"checksum does not fit"):
            read_corridor(path)

    def test_foreign_files_are_refused(self, tmp_path: Path) -> None:
        other = safetensors.numpy.save({"a": np.zeros(3)})
        for number, data in enumerate([b"{}", b"\0" * 5000, other]):
            (path := tmp_path / str(number)).write_bytes(data)
            with pytest.raises(RecordError, match=r"is not a paused play of noveltree"):
                read_corridor(path)
        with pytest.raises(RecordError, match=r"Cannot read .*: No such file"):
            read_corridor(tmp_path / "missing")
        with pytest.raises(RecordError, match=r"Cannot read .*: Is a directory"):
            read_corridor(tmp_path)

    def test_another_protocol_is_refused_with_the_setting_that_differs(self, written: Path) -> None:
        protocol = protocol_of("corridor", "atoms", "riw-c", budget=21)
        with pytest.raises(InputError, match=r"another protocol: budget was 20.0 and is 21.0\."):
            read_play(written, protocol, protocol.make_simulator())

    def test_a_simulator_with_other_actions_is_refused(self, written: Path) -> None:
        with pytest.raises(InputError, match="has the actions LEFT, RIGHT: make the simulator by its protocol"):
            read_play(written, protocol_of("corridor", "atoms", "riw-c"), Corridor(10, wait=True))

    @pytest.mark.parametrize(
        ("old", "new", "complaint"),
        [
            (r'"version":2,', '"version":3,', "of another version: version 3: input should be 2"),
            (r'"has_uint32":0', '"has_uint32":0.5', "generator.has_uint32"),
            (r'"inc":\d+', '"inc":-1', "random generator"),
            (r'"ancestors":3', '"ancestors":2', "not stand where its decisions lead"),
            (r'"ancestors":3', '"ancestors":4', "do not form a tree"),
            (r'"decisions":\[\{.*?\},', '"decisions":[', "not stand where its decisions lead"),
            (r'"agent":"riw-c"', '"agent":3', "Not a valid protocol"),
        ],
    )
    def test_what_was_forged_is_refused_even_if_its_checksum_fits(
        self, written: Path, tmp_path: Path, old: str, new: str, complaint: str
    ) -> None:
        data = written.read_bytes()
        header = json.loads(data[8 : 8 + int.from_bytes(data[:8], "little")])
        text, count = re.subn(old, new, header["__metadata__"]["play"], count=1)
        assert count == 1
        (path := tmp_path / "forged").write_bytes(signed(safetensors.numpy.load(data), text))
        with pytest.raises(RecordError, match=complaint):
            read_corridor(path)

    def test_something_else_with_a_checksum_is_refused(self, tmp_path: Path) -> None:
        (path := tmp_path / "other").write_bytes(with_digest(b'{"sha256":"' + b"0" * 64 + b'"}'))
        with pytest.raises(RecordError, match="another file with a checksum"):
            read_corridor(path)

    def test_nothing_is_decoded_before_the_checksum_is_right(
        self, written: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def refuse(*arguments: object) -> None:
            raise AssertionError("decoded")

        monkeypatch.setattr(safetensors.numpy, "load", refuse)
        monkeypatch.setattr(Corridor, "decode_state", refuse)
        data = bytearray(written.read_bytes())
        data[-1] ^= 1
        (path := tmp_path / "changed").write_bytes(data)
        with pytest.raises(RecordError, match="damaged or truncated"):
            read_corridor(path)


def signed(arrays: dict[str, np.ndarray], play: str) -> bytes:
    return with_digest(safetensors.numpy.save(arrays, {"play": play, "sha256": "0" * 64}))


def with_digest(data: bytes) -> bytes:
    """A file with the digest that it should have."""
    return data.replace(b"0" * 64, hashlib.sha256(data).hexdigest().encode(), 1)


Change = Callable[[dict[str, np.ndarray]], None]


def edit(name: str, place: int | slice, value: object) -> Change:
    def change(arrays: dict[str, np.ndarray]) -> None:
        arrays[name] = arrays[name].copy()
        arrays[name][place] = value

    return change


def swap(name: str, change: Callable[[np.ndarray], np.ndarray]) -> Change:
    return lambda arrays: arrays.update({name: change(arrays[name])})


class TestArrays:
    @pytest.mark.parametrize(
        ("change", "complaint"),
        [
            (lambda arrays: arrays.pop("reward"), "does not fit its agent: reward"),
            (lambda arrays: arrays.update(visits=np.zeros(3)), "does not fit its agent: visits"),
            (swap("time", lambda a: a.astype("U3")), "does not fit its agent: time"),
            (swap("value", lambda a: a[:-1]), "array 'value' .* has shape"),
            (swap("unsolved", lambda a: a[:, :1]), "array 'unsolved' .* has shape"),
            (swap("state.bytes", lambda a: a[:-1]), "array 'state.bytes' .* has shape"),
            (swap("parent", lambda a: a[:0]), "has shape"),
            (edit("base_policy", 0, 2), "array 'base_policy.probabilities' .* has shape"),
            (edit("base_policy", 0, 3), "do not form a tree"),
            (edit("parent", -1, 10**6), "do not form a tree"),
            (edit("parent", -1, -1), "do not form a tree"),
            (edit("parent", 0, 0), "do not form a tree"),
            (edit("action", -1, 2), "do not form a tree"),
            (edit("action", -1, -1), "do not form a tree"),
            (edit("action", slice(None), 0), "do not form a tree"),
            (edit("time", 0, 9), "do not form a tree"),
            (edit("state.end", 0, 10), "not a cell of a corridor"),
            (edit("state.end", 0, -8), "do not form a tree"),
            (edit("state.bytes", 0, 200), "not a cell of a corridor of 10 cells"),
            (edit("state.observation", 0, 9), "another cell was observed"),
        ],
    )
    def test_arrays_that_cannot_be_a_lookahead_are_refused(self, change: Change, complaint: str) -> None:
        with fresh_play(protocol_of("corridor", "atoms", "riw-c")) as play:
            drive([play], decisions=PAUSE)
            stored = store_lookahead(play.lookahead)
        arrays = dict(stored.arrays)
        change(arrays)
        with pytest.raises(RecordError, match=complaint):
            restore_lookahead(StoredLookahead(arrays, stored.counts), Corridor(10))

    def test_nodes_of_another_agent_are_refused(self) -> None:
        stored = store_lookahead(
            Lookahead(Corridor(4), Corridor(4).start(), base_policy=None, termination_cost=0.0)
        )
        with pytest.raises(RecordError, match="does not fit its agent: returns, visits"):
            restore_lookahead(stored, Corridor(4), node_type=UctNode)

    def test_numbers_keep_their_bits_and_their_types(self) -> None:
        class Marked(UctNode):
            __slots__ = ("mark",)

            def __init__(self, *path: Any) -> None:
                super().__init__(*path)
                self.mark = False

        world = Corridor(5)
        lookahead = Lookahead(world, world.start(), base_policy=None, termination_cost=None, node_type=Marked)
        root: Any = lookahead.root
        child: Any = lookahead.expand(root, 1)
        root.visits, root.returns, root.mark = 2**53 + 1, 0.1 + 0.2, True
        root.base_policy = Probabilities([5e-324, 1 - 2**-53])
        child.termination_cost, child.value, child.reward = -0.0, float("nan"), -float("inf")
        lookahead.kept = True
        assert_equal(restore_lookahead(store_lookahead(lookahead), world, node_type=Marked), lookahead)

    def test_what_would_not_come_back_the_same_is_refused(self) -> None:
        class Loose(Node):
            pass

        class Greedy:
            def sample(self, actions: Sequence[int], *, rng: np.random.Generator) -> int:
                return actions[0]

        def stored(node_type: type[Node] = Node, **fields: Any) -> StoredLookahead:
            world = Corridor(5)
            lookahead = Lookahead(world, world.start(), base_policy=None, termination_cost=0.0, node_type=node_type)
            child = lookahead.expand(lookahead.root, 1)
            for name, value in fields.items():
                setattr(child, name, value)
            return store_lookahead(lookahead)

        for found, complaint in (
            ({"reward": np.float32(0.0)}, "slot 'reward' .* holds float, float32"),
            ({"state": State(np.zeros(2))}, "A corridor cannot encode a State"),
            ({"base_policy": Greedy()}, "base policy of type Greedy"),
            ({"node_type": Loose}, "type Loose .* __slots__"),
        ):
            with pytest.raises(InputError, match=complaint):
                stored(**found)  # type: ignore[arg-type]


@dataclass
class Homesick:
    """A planner that goes on from what it remembers besides the tree: every third step leads back."""

    steps: int = 0
    node_type: type[Node] = Node

    def plan(self, lookahead: Lookahead, meter: Meter, *, rng: np.random.Generator) -> Planning:
        yield from ()
        self.steps += 1

    def action_values(self, lookahead: Lookahead) -> ActionValues:
        return [float(self.steps % 3 == 0), 0.5]

    def memory(self) -> Arrays:
        return {"steps": np.array([self.steps])}

    def remember(self, memory: Arrays, lookahead: Lookahead) -> None:
        if memory.keys() != {"steps"} or memory["steps"].shape != (1,):
            raise RecordError("The steps are missing.")
        self.steps = int(memory["steps"][0])


class TestMemory:
    @pytest.fixture
    def protocol(self, monkeypatch: pytest.MonkeyPatch) -> Protocol:
        agent = replace(AGENTS["random"], name="homesick", assemble=lambda start, settings: Homesick())
        monkeypatch.setitem(AGENTS, "homesick", agent)
        return make_protocol("corridor", agent="homesick")

    def test_what_a_planner_remembers_is_written_and_read(self, protocol: Protocol, tmp_path: Path) -> None:
        with fresh_play(protocol) as play, fresh_play(protocol) as whole:
            drive([whole], decisions=7)
            for _ in range(7):
                drive([play], decisions=1)
                write_play(tmp_path / "paused", play, protocol)
                play = read_play(tmp_path / "paused", protocol, play.lookahead.simulator)
            assert account(play) == account(whole)
        assert [decision.action for decision in whole.decisions] == [1, 1, 0, 1, 1, 0, 1]

    def test_what_does_not_fit_is_refused(self, protocol: Protocol, written: Path, tmp_path: Path) -> None:
        with fresh_play(protocol) as play:
            drive([play], decisions=2)
            write_play(path := tmp_path / "paused", play, protocol)
        with pytest.raises(RecordError, match=r"cannot be read as a paused play\. The steps are missing"):
            self.read(path, protocol, lambda arrays: arrays.pop("planner.steps"))
        path.write_bytes(written.read_bytes())
        with pytest.raises(RecordError, match="all actions remember nothing of an episode, and there is a"):
            self.read(path, protocol_of("corridor", "atoms", "riw-c"), lambda a: a.update({"planner.a": a["time"]}))

    def read(self, path: Path, protocol: Protocol, change: Change) -> Play:
        data = path.read_bytes()
        arrays = safetensors.numpy.load(data)
        change(arrays)
        header = json.loads(data[8 : 8 + int.from_bytes(data[:8], "little")])
        path.write_bytes(signed(arrays, header["__metadata__"]["play"]))
        return read_play(path, protocol, protocol.make_simulator())

    def test_the_file_of_a_planner_that_remembers_nothing_has_nothing_of_it(self, written: Path) -> None:
        assert not any(name.startswith("planner") for name in safetensors.numpy.load(written.read_bytes()))


class TestSimulators:
    @pytest.mark.parametrize("tiles", [False, True])
    def test_an_atari_state_goes_on_in_another_emulator_exactly(self, tiles: bool) -> None:
        first, second = Atari("pong", tiles=tiles), Atari("pong", tiles=tiles)
        state: State = first.start()
        for action in (1, 2, 3):
            state = first.step(state, action).state
        decoded = second.decode_state(first.encode_state(state), state.observation)
        for action in (3, 4):
            (state, *rest), (other, *others) = first.step(state, action), second.step(decoded, action)
            assert rest == others
            assert second.encode_state(other) == first.encode_state(state)
            assert np.array_equal(state.observation, other.observation)
            decoded = other

    def test_bytes_that_cannot_be_an_atari_state_are_refused(self) -> None:
        with_tiles, without = Atari("pong", tiles=True), Atari("pong")
        screen = without.start().observation
        data = without.encode_state(without.start())
        for simulator, wrong in (
            (without, data[:-1]),
            (without, data + b"\0"),
            (without, b""),
            (without, with_tiles.encode_state(with_tiles.start())),
            (with_tiles, data),
        ):
            with pytest.raises(RecordError, match=r"has [\d,]+ bytes, but one of pong with"):
                simulator.decode_state(wrong, screen)
        for observation in (screen[:-1], screen.astype(np.int64)):
            with pytest.raises(RecordError, match="A stored screen has type"):
                without.decode_state(data, observation)
        with pytest.raises(InputError, match="cannot encode a CorridorState"):
            without.encode_state(Corridor().start())

    def test_environments_of_gymnasium_are_refused_with_what_to_add(self, tmp_path: Path) -> None:
        protocol = make_protocol("FrozenLake-v1", agent="iw1", budget=10)
        with fresh_play(protocol) as play:
            drive([play], decisions=1)
            with pytest.raises(InputError, match=r"GymnasiumSimulator cannot be stored: .* encode_state\(state\)"):
                write_play(tmp_path / "paused", play, protocol)
        assert not list(tmp_path.iterdir())

    def test_any_simulator_can_add_the_two_methods(self) -> None:
        class Counter:
            actions = ("wait",)

            def start(self) -> State:
                return State(np.zeros((2, 2), dtype=np.float32))

            def step(self, state: State, action: int) -> Transition:
                return Transition(State(state.observation + 0.1), 1, False)

            def encode_state(self, state: State) -> bytes:
                return b""

            def decode_state(self, data: bytes, observation: np.ndarray) -> State:
                return State(observation)

            def close(self) -> None:
                pass

        world: Simulator = Counter()
        lookahead = Lookahead(world, world.start(), base_policy=UNIFORM, termination_cost=0.0)
        lookahead.expand(lookahead.expand(lookahead.root, 0), 0)
        restored = restore_lookahead(store_lookahead(lookahead), Counter())
        for node in lookahead.nodes():
            node.reward = float(node.reward)  # the root's is a float: they come back as what they have in common
        assert_equal(restored, lookahead)
        # No node keeps the observations of the others in memory.
        assert all(node.state.observation.base is None for node in restored.nodes())


class TestPausing:
    def test_a_play_in_the_middle_of_a_decision_is_not_written(self, tmp_path: Path) -> None:
        protocol = protocol_of("corridor", "atoms", "unpruned")
        with contextlib.closing(protocol.make_simulator()) as simulator:
            plays = [protocol.make_play(simulator, seed=0, index=index) for index in range(3)]
            for play in plays:
                play.pause_at = 2
            stream = drive_stream(plays, Networks().heuristics(), at_once=3)
            done = next(stream)
            write_play(tmp_path / "done", done, protocol)
            waiting = next(play for play in plays if play is not done)
            with pytest.raises(InputError, match="between two decisions, not in the middle"):
                write_play(tmp_path / "waiting", waiting, protocol)
            list(stream)
            write_play(tmp_path / "waiting", waiting, protocol)

    def test_a_play_can_be_written_as_each_decision_is_told(self, tmp_path: Path) -> None:
        protocol = protocol_of("corridor", "atoms", "riw-c")
        with fresh_play(protocol) as play:
            drive([play], on_decision=lambda play, decision: write_play(tmp_path / "latest", play, protocol))
        assert account(read_corridor(tmp_path / "latest")) == account(play)

    def test_another_random_generator_is_refused(self, tmp_path: Path) -> None:
        protocol = protocol_of("corridor", "atoms", "riw-c")
        with fresh_play(protocol) as play:
            play.rng = np.random.Generator(np.random.MT19937(0))
            with pytest.raises(NoveltreeError, match="draws from PCG64, not MT19937"):
                write_play(tmp_path / "paused", play, protocol)
