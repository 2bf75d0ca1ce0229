"""What the viewer shows: lookaheads as columns, why nodes are novel or pruned, and episodes on a stage."""

from __future__ import annotations

import base64
import re
import time
import zlib
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import cv2
import numpy as np
import pytest

import noveltree.viewer
from noveltree.errors import InputError
from noveltree.features import BprostFeatures, FeatureSet, PairFeatures, PixelFeatures, RamFeatures
from noveltree.features.bprost import NO_OFFSET, OFFSETS, pros_index, prot_index
from noveltree.heuristics import UNINFORMED
from noveltree.lookahead import Interactions, NoveltyPruning, Seconds
from noveltree.novelty import ClassicTable, DepthTable
from noveltree.protocol import make_protocol, play_episode
from noveltree.simulators import Atari, Corridor
from noveltree.tree import UNIFORM, Lookahead, Node
from noveltree.trial import train
from noveltree.viewer import past
from noveltree.viewer.columns import Columns, columns_of, grow_again
from noveltree.viewer.export import export_page
from noveltree.viewer.filming import film_kept
from noveltree.viewer.marks import _pair, marks
from noveltree.viewer.messages import (
    LARGEST_COMMAND,
    Act,
    Agent,
    Compare,
    Go,
    LookAt,
    Rewind,
    Seek,
    Spend,
    pack,
    pack_all,
    parse_command,
    unpack,
)
from noveltree.viewer.pictures import Painter, picture_of
from noveltree.viewer.recorded import watch_recorded
from noveltree.viewer.seat import Seat
from noveltree.viewer.spec import Spec
from noveltree.viewer.video import render_with_tree
from noveltree.viewer.watched_budget import Watched
from noveltree.viewer.watching import Watching
from noveltree.viewer.why import explain
from tests.support.episodes import recorded
from tests.support.runs import small_protocol
from tests.support.stages import StageForTests

PAGE = Path(noveltree.viewer.__file__).parent / "page"


def spec_of(game: str = "corridor", *, seed: int = 0, **choices: object) -> Spec:
    return Watching(make_protocol(game, **choices), seed).spec()


def lookahead_of(length: int = 6) -> Lookahead:
    return Lookahead(Corridor(length), Corridor(length).start(), base_policy=UNIFORM, termination_cost=0.0)


class TestColumns:
    def test_a_lookahead_grows_again_from_its_columns(self) -> None:
        protocol = make_protocol("breakout", budget=25)
        seat = Seat(protocol, lambda lookahead: None, seed=3)
        seat.plan()
        there = seat.play.lookahead
        columns = Columns.from_bytes(len(columns_of(there)), columns_of(there).to_bytes())
        again = grow_again(columns, there.root, seat.simulator, UNINFORMED)
        theirs, ours = (sorted(each.nodes(), key=lambda node: node.number) for each in (there, again))
        assert len(ours) == 26
        for one, other in zip(theirs, ours, strict=True):
            for slot in ("number", "action", "reward", "time", "novel", "solved", "cached"):
                assert getattr(one, slot) == getattr(other, slot)
            assert np.array_equal(one.state.observation, other.state.observation)

    def test_a_decision_of_a_hundred_nodes_with_all_its_screens_is_below_300_kB(self) -> None:
        stage = StageForTests(spec_of("breakout"))
        stage.obey(Go(do="decision"))
        _, columns = stage.tree(0)
        assert len(columns) == 101
        for number in columns.arrays["number"].tolist():
            stage.obey(LookAt(do="node", t=0, number=number))
        stage.obey(Go(do="decision"))
        assert len(list(stage.of_kind("node"))) == 101
        first = [(head, data) for head, data in stage.sent if head.get("t") == 0]
        assert sum(len(pack(head, data)) for head, data in first) < 300_000


def grown(lookahead: Lookahead, pruning: NoveltyPruning, *path: tuple[int, int]) -> list[Node]:
    """The root and nodes that are generated one after another: below which one, by which action."""
    nodes = [lookahead.root]
    for _ in pruning.begin(lookahead):
        raise AssertionError
    for parent, action in path:
        generating = pruning.generate(lookahead, nodes[parent], action)
        with pytest.raises(StopIteration) as end:
            next(generating)
        nodes.append(end.value.value)
    return nodes


class Cells(PixelFeatures):
    """One feature: the cell of a corridor."""

    def __init__(self) -> None:
        super().__init__((1, 1))

    def __call__(self, node: Node) -> np.ndarray:
        return node.state.observation.astype(np.int32)


class TestWhy:
    """Cells of a corridor; 0 is the root, moved LEFT (0) or RIGHT (1).

          0
        /   \\
       0     1        the wall on the left: cell 0 again; then cell 1, and right of it cell 2
            / \\
           0   2
    """

    def lookahead(self, table: ClassicTable | DepthTable) -> tuple[Lookahead, NoveltyPruning, list[Node]]:
        lookahead, pruning = lookahead_of(), NoveltyPruning(Cells(), table)
        return lookahead, pruning, grown(lookahead, pruning, (0, 0), (0, 1), (2, 0), (2, 1))

    def test_a_novel_node_has_features_that_none_had_before(self) -> None:
        lookahead, pruning, nodes = self.lookahead(ClassicTable())
        why = explain(lookahead, nodes[4], pruning, UNINFORMED)
        assert (why.tested, why.features, why.first.tolist(), why.holders) == (True, 1, [2], ())

    def test_a_pruned_node_names_the_first_that_had_its_features(self) -> None:
        lookahead, pruning, nodes = self.lookahead(ClassicTable())
        assert not nodes[3].novel
        why = explain(lookahead, nodes[3], pruning, UNINFORMED)
        assert (why.first.tolist(), why.holders) == ([], ((0, 1),))

    def test_kept_nodes_were_not_tested(self) -> None:
        lookahead, pruning, nodes = self.lookahead(ClassicTable())
        nodes[2].cached = True
        assert not explain(lookahead, nodes[2], pruning, UNINFORMED).tested

    def test_with_depth_novelty_a_later_node_may_take_features_away(self) -> None:
        """Cell 1 is entered at depth 3 first, and then at depth 1: met again, the deeper one is pruned."""
        lookahead, pruning = lookahead_of(), NoveltyPruning(Cells(), DepthTable())
        nodes = grown(lookahead, pruning, (0, 0), (1, 0), (2, 1), (0, 1))
        assert nodes[3].novel
        assert explain(lookahead, nodes[3], pruning, UNINFORMED).first.tolist() == [1]
        pruning.meet_again(lookahead, nodes[3])
        assert not nodes[3].novel
        assert explain(lookahead, nodes[3], pruning, UNINFORMED).holders == ((4, 1),)


class TwoFeatures(FeatureSet):
    """Two features that are always true."""

    size = 400

    def __call__(self, node: Node) -> np.ndarray:
        return np.array([7, 300], dtype=np.int32)


class TestMarks:
    def test_pixels_are_where_they_are_on_the_screen(self) -> None:
        simulator = Atari("breakout")
        node = Lookahead(simulator, simulator.start(), base_policy=UNIFORM, termination_cost=0.0).root
        features = PixelFeatures((84, 84))
        found = marks(features, features(node)[[0, 84 * 10 + 5]], node)
        assert self.places(found) == [0, 84 * 10 + 5]

    def test_bytes_are_named_with_their_values(self) -> None:
        simulator = Atari("breakout")
        node = Lookahead(simulator, simulator.start(), base_policy=UNIFORM, termination_cost=0.0).root
        found = marks(RamFeatures(), RamFeatures()(node)[[3, 127]], node)
        assert self.places(found) == [3, 127]
        assert found["words"][0] == f"byte 03 is {simulator.start().ram[3]}"

    def test_tiles_are_those_that_have_the_colours(self) -> None:
        """Each feature alone marks the tiles it is about: at least one, and a basic one exactly that."""
        simulator = Atari("breakout", tiles=True)
        node = Lookahead(simulator, simulator.start(), base_policy=UNIFORM, termination_cost=0.0).root
        features = BprostFeatures()
        true = features(node)
        rng = np.random.default_rng(0)
        for index in rng.choice(true, 60, replace=False):
            assert len(self.places(marks(features, np.array([index]), node))) >= 1
        basic = int(true.min())
        assert self.places(marks(features, np.array([basic]), node)) == [basic % 224]

    def test_pairs_of_colours_are_found_again_from_the_number(self) -> None:
        rng = np.random.default_rng(0)
        for first, second in [(0, 0), (127, 127), (127, 0), (64, 63), *rng.integers(128, size=(20, 2)).tolist()]:
            second, first = sorted((first, second))
            offset = int(rng.integers(NO_OFFSET + 1 if first == second else OFFSETS))
            assert _pair(pros_index(first, second, offset)) == (first, second, offset, False)
            assert _pair(prot_index(second, first, offset)) == (second, first, offset, True)

    def test_pairs_are_marked_by_the_features_they_are_made_of(self) -> None:
        features = PairFeatures(TwoFeatures())
        simulator = Atari("breakout")
        node = Lookahead(simulator, simulator.start(), base_policy=UNIFORM, termination_cost=0.0).root
        assert marks(features, features(node), node)["words"] == ["feature 7", "feature 300"]
        assert marks(features, features(node)[[1]], node)["words"] == ["feature 7", "feature 300"]

    def places(self, found: dict) -> list[int]:
        bits = np.frombuffer(base64.b64decode(found["places"]["bits"]), np.uint8)
        return np.flatnonzero(np.unpackbits(bits)).tolist()


class TestPictures:
    def test_frames_are_found_again_from_what_changes(self) -> None:
        simulator = Atari("breakout")
        frames = list(simulator.film(simulator.start(), 1))
        head, data = Painter()(frames)
        palette = np.frombuffer(bytes.fromhex(head["palette"]), np.uint8).reshape(-1, 3)
        changes = np.frombuffer(zlib.decompress(data), np.uint8).reshape(len(frames), 210, 160)
        assert np.array_equal(palette[np.bitwise_xor.accumulate(changes)], np.stack(frames))
        assert len(data) < 20_000

    def test_a_photograph_keeps_its_bytes(self) -> None:
        picture = np.arange(40 * 40 * 3, dtype=np.uint32).reshape(40, 40, 3).astype(np.uint8)
        picture[:, :, 0] = np.arange(40)[:, None]
        head, data = Painter()([picture])
        assert head["channels"] == 3
        assert np.array_equal(np.frombuffer(zlib.decompress(data), np.uint8).reshape(40, 40, 3), picture)

    def test_observations_that_are_no_images_have_no_picture(self) -> None:
        assert picture_of(np.zeros(4)) is None
        assert picture_of(np.zeros((3, 4), dtype=np.uint8)) is not None
        assert picture_of(np.zeros((10, 10, 6), dtype=np.bool_)) is not None


class TestMessages:
    def test_the_bytes_behind_the_json_begin_at_a_multiple_of_eight(self) -> None:
        for length in range(12):
            message = pack({"x": "y" * length, "nan": float("nan")}, b"abc")
            assert unpack(message) == ({"x": "y" * length, "nan": None}, b"abc")
            assert (len(message) - 3) % 8 == 0

    @pytest.mark.parametrize(
        "text",
        [
            *("", "[]", "null", "{}", '{"do": "rm"}', '{"do": "play", "more": 1}', '{"do": "seek", "t": -1}'),
            *('{"do": "seek", "t": 1e99}', '{"do": "seek", "t": "1"}', '{"do": "budget", "budget": 1000000000}'),
            *('{"do": "speed", "speed": NaN}', '{"do": "agent", "agent": ""}', '{"do": "node", "t": 0}', "{" * 900),
            '{"do": "agent", "agent": "' + "x" * LARGEST_COMMAND + '"}',
        ],
    )
    def test_nonsense_is_refused(self, text: str) -> None:
        with pytest.raises(InputError):
            parse_command(text)


class TestWatchedBudget:
    def test_time_that_a_planner_waited_is_not_spent(self) -> None:
        watched = Watched(Seconds(0.2), lambda lookahead: time.sleep(0.15))
        meter = watched.start()
        lookahead = lookahead_of()
        assert not meter.exhausted(lookahead)
        assert not meter.exhausted(lookahead)
        assert not meter.exhausted(lookahead)
        time.sleep(0.25)
        assert meter.exhausted(lookahead)

    def test_a_budget_can_be_changed_in_the_middle_of_a_decision(self) -> None:
        watched = Watched(Interactions(5), lambda lookahead: None)
        meter, lookahead = watched.start(), lookahead_of()
        lookahead.interactions = 5
        assert meter.exhausted(lookahead)
        watched.change(Interactions(6))
        assert not meter.exhausted(lookahead)


class TestStage:
    @pytest.mark.parametrize("agent", ["riw-c", "riw-d", "iw1", "uct"])
    def test_an_episode_that_is_watched_is_the_one_that_is_not(self, agent: str) -> None:
        protocol = make_protocol("corridor", agent=agent, budget=4, max_frames=12)
        stage = StageForTests(Watching(protocol, 5).spec())
        for _ in range(13):
            stage.obey(Go(do="decision"))
        assert stage.actions() == play_episode(protocol, seed=5).actions

    def test_a_decision_is_told_with_its_values_and_its_film(self) -> None:
        stage = StageForTests(spec_of("breakout", budget=10))
        stage.obey(Go(do="decision"))
        head, columns = stage.tree(0)
        assert head["done"]
        assert len(head["values"]) == 4
        assert head["interactions"] == 10
        assert len(columns) == 11
        sent = stage.obey(Go(do="decision"))
        (film,) = [head for head, _ in sent if head["kind"] == "film"]
        assert (film["t"], film["frames"], film["width"], film["height"]) == (0, 15, 160, 210)
        (decision,) = [head for head, _ in sent if head["kind"] == "decision"]
        assert (decision["t"], decision["action"], decision["lives"]) == (0, head["chosen"], 5)

    def test_one_rollout_ends_where_nothing_is_novel(self) -> None:
        stage = StageForTests(spec_of("breakout", budget=50))
        stage.obey(Go(do="rollout"))
        head, columns = stage.tree(0)
        assert not head["done"]
        parents, labels = columns.arrays["parent"], columns.arrays["label"]
        assert parents.tolist() == list(range(-1, len(columns) - 1))  # a single path
        assert not labels[-1] & 1
        assert (labels[:-1] & 1).all()

    def test_somebody_may_act_and_the_agent_goes_on_from_there(self) -> None:
        stage = StageForTests(spec_of(budget=3))
        sent = stage.obey(Act(do="act", action=1), Act(do="act", action=1))
        assert [(head["action"], head["by"]) for head, _ in sent if head["kind"] == "decision"] == [
            (1, "human")
        ] * 2
        stage.obey(Go(do="decision"), Go(do="decision"))
        stage.obey(Go(do="decision"))
        assert [head["by"] for head in stage.of_kind("decision")] == ["human", "human", "agent"]
        assert stage.stage.t == 3

    def test_an_action_that_does_not_exist_is_not_executed(self) -> None:
        stage = StageForTests(spec_of())
        stage.obey(Act(do="act", action=17))
        assert stage.stage.t == 0

    def test_the_agent_and_the_budget_change_on_the_fly(self) -> None:
        stage = StageForTests(spec_of(budget=3))
        stage.obey(Act(do="act", action=1), Agent(do="agent", agent="bfs"), Spend(do="budget", budget=6))
        stage.obey(Go(do="decision"))
        head, _ = stage.tree(1)
        assert (head["agent"], head["interactions"]) == ("bfs", 6)

    def test_an_agent_that_does_not_exist_is_an_answer_and_no_end(self) -> None:
        stage = StageForTests(spec_of())
        sent = stage.obey(Agent(do="agent", agent="alphago"))
        assert "alphago" in next(head["error"] for head, _ in sent if head["kind"] == "state" and head["error"])
        stage.obey(Go(do="decision"))
        assert stage.tree(0)[0]["done"]

    def test_two_agents_look_ahead_from_the_same_state(self) -> None:
        stage = StageForTests(spec_of("breakout", budget=8))
        stage.obey(Act(do="act", action=1), Compare(do="compare", agent="bfs"))
        stage.obey(Go(do="decision"))
        (one, _), (other, columns) = stage.tree(1, "a"), stage.tree(1, "b")
        assert (one["agent"], other["agent"]) == ("riw-c", "bfs")
        assert other["done"]
        assert len(columns) == 9

    def test_an_agent_that_is_compared_looks_ahead_at_once_where_a_decision_is_made(self) -> None:
        stage = StageForTests(spec_of("breakout", budget=8))
        stage.obey(Go(do="decision"))
        stage.obey(Compare(do="compare", agent="uct"))
        assert stage.tree(0, "b")[0]["done"]

    def test_comparing_changes_nothing_for_the_agent_that_plays(self) -> None:
        protocol = make_protocol("breakout", budget=8, max_frames=150)
        alone, compared = (StageForTests(Watching(protocol, 1).spec()) for _ in range(2))
        compared.obey(Compare(do="compare", agent="riw-d"))
        for stage in (alone, compared):
            for _ in range(5):
                stage.obey(Go(do="decision"))
        assert alone.actions() == compared.actions()

    def test_what_was_decided_can_be_taken_back(self) -> None:
        stage = StageForTests(spec_of(budget=3))
        stage.obey(*[Act(do="act", action=1)] * 4, Rewind(do="rewind", t=2))
        assert stage.stage.t == 2
        stage.obey(Act(do="act", action=0))
        assert stage.stage.t == 3

    def test_a_node_of_a_decision_before_tells_what_it_told_then(self) -> None:
        stage = StageForTests(spec_of("breakout", budget=20))
        stage.obey(Go(do="decision"))
        _, columns = stage.tree(0)
        number = int(columns.arrays["number"][-1])
        stage.obey(LookAt(do="node", t=0, number=number))
        (now, screen) = stage.sent[-1]
        stage.obey(Go(do="decision"), Go(do="decision"))
        stage.obey(LookAt(do="node", t=0, number=number), lookahead=columns.to_bytes())
        (later, same_screen) = stage.sent[-1]
        assert later == now
        assert screen == same_screen

    def test_the_end_of_the_game_is_the_end(self) -> None:
        stage = StageForTests(spec_of())
        stage.obey(*[Act(do="act", action=1)] * 12)
        assert stage.stage.t == 9
        assert list(stage.of_kind("state"))[-1]["over"]
        stage.obey(Go(do="restart"), Go(do="pause"))
        assert stage.stage.t == 0


class TestRecorded:
    def test_an_episode_is_planned_again_exactly(self, tmp_path: Path) -> None:
        protocol = make_protocol("breakout", budget=10, max_frames=120)
        watching = watch_recorded(recorded(tmp_path, protocol))
        stage = StageForTests(watching.spec())
        stage.obey(Seek(do="seek", t=7))
        assert stage.stage.t == 7
        assert stage.tree(7)[0]["done"]
        assert watching.record is not None
        assert stage.actions() == watching.record.episode.actions[:7]
        assert not any(head["differs"] for head in stage.of_kind("tree"))
        assert [head["seek_to"] for head in stage.of_kind("state")][-1] is None

    def test_a_decision_that_does_not_agree_is_named_and_the_record_is_followed(self, tmp_path: Path) -> None:
        protocol = make_protocol("breakout", budget=10, max_frames=120)
        watching = watch_recorded(recorded(tmp_path, protocol, wrong=3))
        assert watching.record is not None
        stage = StageForTests(watching.spec())
        stage.obey(Seek(do="seek", t=6))
        assert [stage.tree(t)[0]["differs"] for t in range(6)] == [False, False, False, True, False, False]
        assert stage.tree(3)[0]["note"].startswith("The record has ")
        assert stage.actions() == watching.record.episode.actions[:6]

    def test_a_run_is_watched_with_its_networks(self, tmp_path: Path) -> None:
        """The episode of its evaluation is planned again exactly; with other networks it is only shown."""
        pytest.importorskip("onnxruntime")
        run = tmp_path / "run"
        train(run, small_protocol(interactions=2_000))
        watching = watch_recorded(run)
        assert watching.record is not None
        assert watching.record.weights is not None
        steps = min(4, watching.record.episode.steps - 1)
        stage = StageForTests(watching.spec())
        stage.obey(Seek(do="seek", t=steps))
        assert not any(head["differs"] for head in stage.of_kind("tree"))
        head, columns = stage.tree(steps)
        assert head["done"]
        stage.obey(LookAt(do="node", t=steps, number=int(columns.arrays["number"][0])))
        told, _ = stage.sent[-1]
        assert not told["uniform"]
        assert sum(told["policy"]) == pytest.approx(1, abs=1e-3)
        without = StageForTests(watching.spec().model_copy(update={"run": None}))
        without.obey(Go(do="decision"))
        assert "are not there" in without.tree(0)[0]["note"]

    def test_going_back_plans_again_from_the_start(self, tmp_path: Path) -> None:
        stage = StageForTests(watch_recorded(recorded(tmp_path, make_protocol("corridor", budget=3))).spec())
        stage.obey(Seek(do="seek", t=5))
        first = stage.tree(2)[1].to_bytes()
        stage.obey(Seek(do="seek", t=2))
        assert stage.stage.t == 2
        assert stage.tree(2)[1].to_bytes() == first


class TestWorlds:
    @pytest.mark.parametrize(
        ("game", "choices", "needs"),
        [
            ("breakout", {"sticky_actions": 0.25}, None),
            ("FrozenLake-v1", {}, None),
            ("CartPole-v1", {}, None),
            ("MiniGrid-Empty-5x5-v0", {}, "minigrid"),
            ("MinAtar/Breakout-v1", {}, "minatar"),
            ("CliffWalking-v1", {"agent": "graph"}, None),
        ],
    )
    def test_every_simulator_can_be_watched(self, game: str, choices: dict[str, Any], needs: str | None) -> None:
        """With pictures where it has any, and with all that is told about a node, where chance decides too."""
        if needs is not None:
            pytest.importorskip(needs)
        stage = StageForTests(spec_of(game, budget=12, **choices))
        stage.obey(Go(do="decision"))
        stage.obey(Go(do="decision"))
        head, columns = stage.tree(1)
        assert head["done"]
        stage.obey(LookAt(do="node", t=1, number=int(columns.arrays["number"][-1])))
        told, picture = stage.sent[-1]
        assert told["kind"] == "node"
        assert told["screen"]["frames"] == 1
        assert picture
        assert next(stage.of_kind("film"))["frames"] == 1
        assert not any(state["error"] for state in stage.of_kind("state"))

    @pytest.mark.parametrize(
        ("game", "choices"),
        [("breakout", {"sticky_actions": 0.25}), ("FrozenLake-v1", {"agent": "uct"}), ("FrozenLake-v1", {})],
    )
    def test_where_chance_decides_nodes_of_decisions_before_tell_what_they_told_then(
        self, game: str, choices: dict[str, Any]
    ) -> None:
        stage = StageForTests(spec_of(game, budget=20, **choices))
        stage.obey(Go(do="decision"), Go(do="decision"))
        t = stage.stage.t
        _, columns = stage.tree(t)
        numbers = columns.arrays["number"].tolist()
        told = [stage.obey(LookAt(do="node", t=t, number=number))[-1] for number in numbers]
        stage.obey(Act(do="act", action=0), Agent(do="agent", agent="bfs"))
        stage.obey(Go(do="decision"), Agent(do="agent", agent=str(choices.get("agent", "riw-c"))))
        again = [
            stage.obey(LookAt(do="node", t=t, number=number), lookahead=columns.to_bytes())[-1]
            for number in numbers
        ]
        for head, _ in (*told, *again):
            head.pop("screen")  # whose palette has grown in the meantime
        assert len(numbers) > 3
        assert again[1:] == told[1:]

    def test_what_chance_decided_is_forgotten_when_there_is_too_much(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(past, "MOST_OUTCOMES", 30)
        stage = StageForTests(spec_of("FrozenLake-v1", budget=12))
        for _ in range(4):
            stage.obey(Go(do="decision"))
        _, columns = stage.tree(0)
        sent = stage.obey(LookAt(do="node", t=0, number=1), lookahead=columns.to_bytes())
        assert "not kept any more" in sent[-1][0]["error"]

    def test_what_a_decision_took_is_told_without_what_it_waited(self) -> None:
        stage = StageForTests(spec_of("breakout", budget=10, seed=1))
        begun = time.perf_counter()
        stage.obey(Go(do="play"), Go(do="pause"))
        stage.obey(Go(do="decision"))
        assert 0 < stage.tree(stage.stage.t)[0]["seconds"] < time.perf_counter() - begun


def frames_of(path: Path) -> np.ndarray:
    """All frames of a video."""
    video, frames = cv2.VideoCapture(str(path)), []
    while (read := video.read())[0]:
        frames.append(read[1])
    return np.stack(frames)


class TestFiles:
    def test_a_page_of_a_hundred_decisions_is_below_5_MB(self, tmp_path: Path) -> None:
        """Ten of a hundred interactions each, measured; a hundred of them are below five megabytes."""
        export_page(Watching(make_protocol("breakout"), 0), tmp_path / "page.html", steps=range(10))
        size = (tmp_path / "page.html").stat().st_size
        page = sum(file.stat().st_size for file in PAGE.glob("assets/*"))
        assert (size - page) * 10 + page < 5_000_000
        text = (tmp_path / "page.html").read_text()
        assert 'src="' not in text
        assert not re.search(r"https?://(?!www\.w3\.org)", text)

    def test_an_episode_is_filmed_with_its_lookaheads(self, tmp_path: Path) -> None:
        file = recorded(tmp_path, make_protocol("breakout", budget=5, max_frames=60))
        render_with_tree(watch_recorded(file), tmp_path / "tree.mp4", scale=1, steps=range(1, 3))
        assert frames_of(tmp_path / "tree.mp4").shape == (30, 210, 160 + 314, 3)

    def test_what_a_session_keeps_is_filmed_as_an_episode_is(self, tmp_path: Path) -> None:
        """The same frames, made of what a page was sent and of what is planned again."""
        file = recorded(tmp_path, make_protocol("breakout", budget=5, max_frames=60))
        render_with_tree(watch_recorded(file), tmp_path / "planned.mp4")
        stage = StageForTests(watch_recorded(file).spec())
        for _ in range(5):
            stage.obey(Go(do="decision"))
        films = {head["t"]: pack(head, data) for head, data in stage.sent if head["kind"] == "film"}
        trees = {
            head["t"]: pack(head, data) for head, data in stage.sent if head["kind"] == "tree" and head["done"]
        }
        kept = pack_all(message for t in range(4) for message in (trees[t], films[t]))
        world = next(stage.of_kind("world"))
        film_kept(kept, tmp_path / "kept.mp4", rate=world["rate"], discount=world["discount"])
        planned, seen = (frames_of(tmp_path / name) for name in ("planned.mp4", "kept.mp4"))
        assert planned.shape == seen.shape == (60, 630, 480 + 944, 3)
        assert np.array_equal(planned, seen)

    def test_the_python_of_the_documentation_runs(self, capsys: pytest.CaptureFixture[str]) -> None:
        text = (Path(__file__).parent.parent / "docs" / "watch.md").read_text()
        (code,) = re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL)
        exec(compile(code, "watch.md", "exec"), {})
        assert capsys.readouterr().out.startswith("<svg")

    def test_a_lookahead_draws_itself(self) -> None:
        """Five nodes, one of them pruned and one kept; the drawing is valid XML and says what each is."""
        lookahead, pruning = lookahead_of(), NoveltyPruning(Cells(), ClassicTable())
        nodes = grown(lookahead, pruning, (0, 0), (0, 1), (2, 1), (3, 1))
        nodes[2].cached, nodes[3].reward = True, 2.0
        drawing = ElementTree.fromstring(lookahead.to_svg())
        titles = [title.text or "" for title in drawing.iter("{http://www.w3.org/2000/svg}title")]
        assert sum("pruned" in title for title in titles[1:]) == 1
        assert sum("kept" in title for title in titles[1:]) == 1
        assert "node 4, by RIGHT: novel, V = 0" in titles
        assert "▲ +2" in lookahead.to_svg()
        html = lookahead._repr_html_()
        assert "<svg" in html
        assert not re.search(r"https?://(?!www\.w3\.org)|src=", html)
