"""pi-IW and pi-IW(1)+: what they learn towards and choose by, by hand, and that training goes on to the bit."""

from __future__ import annotations

import contextlib
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from noveltree.agents import get_agent
from noveltree.errors import InputError
from noveltree.features import UnitFeatures
from noveltree.heuristics import Heuristics
from noveltree.learning import PiSettings
from noveltree.learning.architecture import MNIH_2013, Architecture, Dense, Head
from noveltree.learning.experience import CriticalPath, joined
from noveltree.learning.inference import make_inference
from noveltree.learning.inputs import InputShape
from noveltree.learning.networks import Network
from noveltree.learning.pi import PI, PiLearner, architecture_for, initial_snapshot, on_supports
from noveltree.learning.pi_settings import ReturnSettings
from noveltree.learning.policy_targets import SoftmaxOfValues, VisitShares
from noveltree.learning.renormalisation import Renormalisation, folded
from noveltree.learning.retention import Replay
from noveltree.learning.settings import IntervalsSettings, LockstepSettings, ScheduleSettings
from noveltree.lookahead import GreatestValues, Interactions, NoveltyPruning, Rollouts, TestedFirst, softmax_action
from noveltree.novelty import DepthTable
from noveltree.protocol import Protocol, make_protocol, training_by
from noveltree.records import read_episode
from noveltree.records.run_directory import RunDirectory
from noveltree.replay import verify_episode
from noveltree.simulators import State
from noveltree.tree import UNIFORM, Lookahead, Node
from noveltree.trial import Watcher, train
from tests.support.cutting import train_in_pieces
from tests.support.killing import killed_protocol
from tests.support.runs import contents
from tests.support.torture import TRIALS
from tests.test_kill_and_resume import assert_kills_leave_no_trace

VECTOR = InputShape.of(np.zeros(1, dtype=np.int64))
NAN = float("nan")


def path(rewards: list[float], values: Any = None, *, roots: Any = None, terminal: bool = True) -> CriticalPath:
    """A path whose observation at time t is the vector (t)."""
    count = len(rewards)
    return CriticalPath(
        observations=np.arange(count + 1, dtype=np.int64)[:, None],
        actions=np.zeros(count, dtype=np.int64),
        rewards=np.array(rewards),
        terminal=terminal,
        action_values=np.array([[0.0, 1.0]] * count if values is None else values, dtype=np.float64),
        root_values=None if roots is None else np.array(roots, dtype=np.float64),
    )


class TestPolicyTargets:
    def test_a_softmax_over_the_actions_that_were_tried(self) -> None:
        """Values 0.01 apart at a temperature of 0.01: one is e times as likely as the other."""
        (row,) = SoftmaxOfValues().targets([path([0.0], [[0.99, 1.0, NAN]])], 3).tolist()
        assert row == pytest.approx([1 / (1 + math.e), math.e / (1 + math.e), 0.0])

    def test_at_a_temperature_of_zero_the_best_share_it_equally(self) -> None:
        rows = SoftmaxOfValues(temperature=0.0).targets([path([0.0] * 2, [[1.0, 1.0, 0.9], [NAN, -1.0, -2.0]])], 3)
        assert rows.tolist() == [[0.5, 0.5, 0.0], [0.0, 1.0, 0.0]]

    def test_as_released_an_untried_action_is_worth_what_the_network_says_of_the_root(self) -> None:
        """V~(root) = 5 is more than what was found: all goes to the action that was never tried."""
        released = SoftmaxOfValues(untried="root-value")
        rows = released.targets([path([0.0] * 2, [[1.0, NAN], [1.0, NAN]], roots=[5.0, NAN])], 2)
        assert rows.tolist() == [[0.0, 1.0], [1.0, 0.0]]

    def test_where_nothing_was_tried_all_are_alike(self) -> None:
        assert SoftmaxOfValues().targets([path([0.0], [[NAN, NAN]])], 2).tolist() == [[0.5, 0.5]]


class TestReturns:
    SETTINGS = ReturnSettings(supports=5, largest=2.0)  # -2, -1, 0, 1, 2

    def test_a_return_lies_between_its_two_supports(self) -> None:
        rows = on_supports(np.array([0.25, -1.0, 2.0, 9.0, -9.0]), self.SETTINGS)
        assert rows.tolist() == [
            [0.0, 0.0, 0.75, 0.25, 0.0],
            [0.0, 1.0, 0.0, 0.0, 0.0],
            [0.0, 0.0, 0.0, 0.0, 1.0],
            [0.0, 0.0, 0.0, 0.0, 1.0],
            [1.0, 0.0, 0.0, 0.0, 0.0],
        ]

    def test_the_supports_of_the_release(self) -> None:
        supports = Head("value", "expected", 301, 300.0).supports
        assert supports[[0, 1, 150, 300]].tolist() == [-300.0, -298.0, 0.0, 300.0]

    def test_between_the_supports_of_the_release(self) -> None:
        """1 is halfway from 0 to 2, and -299.5 has a quarter of its way to -298 behind it."""
        rows = on_supports(np.array([1.0, -299.5, 301.0]), ReturnSettings())
        assert [{int(i): float(row[i]) for i in row.nonzero()[0]} for row in rows] == [
            {150: 0.5, 151: 0.5},
            {0: 0.75, 1: 0.25},
            {300: 1.0},
        ]

    def test_a_head_answers_with_the_mean_of_its_supports(self) -> None:
        """The logits of 0 and 2 are ln 3 and 0, those of the others far below: 0 * 3/4 + 2 * 1/4."""
        architecture = Architecture(VECTOR, (Head("value", "expected", 5, 2.0),), ())
        weights = {
            "0.weight": np.zeros((5, 1), dtype=np.float32),
            "0.bias": np.array([-99, -99, math.log(3), -99, 0], dtype=np.float32),
        }
        answers = make_inference(architecture, weights)(np.zeros((2, 1), dtype=np.float32), ("value",))
        assert answers["value"] == pytest.approx([0.5, 0.5])

    def test_beyond_the_supports_is_told_once(self) -> None:
        learner = PiLearner(*snapshot_and_settings(returns=ReturnSettings(largest=10.0)))
        rng = np.random.default_rng(0)
        for _ in range(2):  # the returns are 19.9 and 10: one of two is beyond
            learner.take_in(path([10.0, 10.0]), rng=rng)
        (notice,) = learner.notices
        assert "50% of the returns of an episode are beyond" in notice
        assert "-10 to 10" in notice

    def test_however_few_are_beyond_it_is_not_none(self) -> None:
        learner = PiLearner(*snapshot_and_settings(returns=ReturnSettings(largest=10.0)))
        learner.take_in(path([0.0] * 2_000 + [11.0]), rng=np.random.default_rng(0))
        (notice,) = learner.notices
        assert notice.startswith("Less than 1% of the returns of an episode are beyond")


class TestStart:
    """Units of the first layer have 4 x 8 x 8 inputs, those of the others 16 x 4 x 4, 32 x 9 x 9 and 256."""

    def largest(self, settings: PiSettings) -> dict[str, float]:
        shape = InputShape.of(np.zeros((84, 84), dtype=np.uint8))
        trained = initial_snapshot(shape, 18, settings, rng=np.random.default_rng(0)).weights["trained"]
        return {
            name.removeprefix("layers."): float(np.abs(array).max())
            for name, array in trained.items()
            if name.startswith("layers.")
        }

    def test_by_inputs_weights_and_biases_have_the_same_bounds(self) -> None:
        largest = self.largest(PiSettings(start="fan-in"))
        bounds = {"0": 1 / 16, "1": 1 / 16, "2": 1 / math.sqrt(2592), "3": 1 / 16}
        assert largest.keys() == {f"{layer}.{array}" for layer in bounds for array in ("weight", "bias")}
        for layer, bound in bounds.items():
            assert 0.99 * bound < largest[f"{layer}.weight"] <= np.float32(bound)
            assert 0.8 * bound < largest[f"{layer}.bias"] <= np.float32(bound)

    def test_unless_chosen_it_is_glorots(self) -> None:
        """The first layer has 4 x 8 x 8 inputs and 16 x 8 x 8 outputs."""
        largest = self.largest(PiSettings())
        bound = math.sqrt(6 / (256 + 1024))
        assert 0.99 * bound < largest["0.weight"] <= np.float32(bound)
        assert not any(value for name, value in largest.items() if name.endswith("bias"))

    def test_the_preset_of_the_first_release_begins_by_inputs_and_that_of_2021_as_glorot_does(self) -> None:
        starts = [
            training_by(preset, get_agent("pi-iw"))[0] for preset in ("junyent-2019", "junyent-2021", "paper")
        ]
        assert [each.start for each in starts if isinstance(each, PiSettings)] == ["fan-in", "glorot", "glorot"]

    @pytest.mark.parametrize("agent", ["pi-iw", "pi-iw-plus", "pi-hiw"])
    def test_by_that_of_2021_sizes_of_subtrees_outweigh_small_rewards(self, agent: str) -> None:
        assert training_by("junyent-2021", get_agent(agent))[1] == {"tie_breaking": "product"}


def snapshot_and_settings(**choices: Any) -> tuple[Any, PiSettings]:
    settings = PiSettings(loop=LockstepSettings(decisions=1, refresh="round"), **choices)
    return initial_snapshot(VECTOR, 2, settings, rng=np.random.default_rng(0)), settings


def test_a_step_goes_down_the_loss_and_half_the_squares_of_all_parameters() -> None:
    """Beside the loss of the definition, with the squares in it, under an optimiser of its own."""
    snapshot, settings = snapshot_and_settings(
        regularisation=0.5, gradient_norm=0.3, normalisation="none", batch=2, warm_up=1
    )
    learner, reference = (PiLearner(snapshot, settings) for _ in range(2))
    rng = np.random.default_rng(0)
    learner.take_in(path([0.0] * 2, [[0.99, 1.0]] * 2), rng=rng)
    learner.close_round(1, rng=rng)

    network = reference.network
    optimiser = torch.optim.RMSprop(network.parameters(), lr=7e-4, alpha=0.99, eps=0.1)
    logs = torch.log_softmax(network(torch.tensor([[0.0], [1.0]]))["policy"], dim=1)
    likely = torch.tensor([1 / (1 + math.e), math.e / (1 + math.e)])
    squares = sum(parameter.square().sum() for parameter in network.parameters())
    (0.5 * 0.5 * squares - (likely * logs).sum(dim=1).mean()).backward()
    torch.nn.utils.clip_grad_norm_(network.parameters(), 0.3)
    optimiser.step()
    for found, expected in zip(learner.network.parameters(), network.parameters(), strict=True):
        torch.testing.assert_close(found, expected)


class TestRenormalisation:
    def test_a_batch_is_moved_to_where_the_averages_put_it(self) -> None:
        """(1, 3) has mean 2 and deviation 1 (but for the smallest of numbers). With averages 1 and 2 as before, the
        normalised (-1, 1) becomes (-1, 1) * 1/2 + (2 - 1)/2, as if by the averages alone; then times 3, plus 4.
        """
        norm = Renormalisation(1)
        with torch.no_grad():
            for name, value in (("mean", 1.0), ("deviation", 2.0), ("scale", 3.0), ("shift", 4.0)):
                getattr(norm, name).fill_(value)
        out = norm(torch.tensor([[1.0], [3.0]]))
        assert out.detach().numpy().ravel() == pytest.approx([4.0, 3.0 + 4.0])
        assert float(norm.mean) == pytest.approx(1.0 + 0.01 * (2.0 - 1.0))
        assert float(norm.deviation) == pytest.approx(2.0 + 0.01 * (math.sqrt(1.001) - 2.0))

    def test_the_gradient_takes_the_correction_for_a_constant(self) -> None:
        """Beside the definition written out: only the normalised batch and the parameters have gradients."""
        rng = torch.Generator().manual_seed(0)
        x, weights = (torch.randn((6, 3, 2, 2), generator=rng) for _ in range(2))
        norm = Renormalisation(3)
        with torch.no_grad():
            for parameter in (norm.mean, norm.deviation, norm.scale, norm.shift):
                parameter.uniform_(0.5, 2.0, generator=rng)
        averages, deviations = norm.mean.clone(), norm.deviation.clone()

        def written_out(x: torch.Tensor) -> torch.Tensor:
            planes = (1, 3, 1, 1)
            mean, deviation = x.mean((0, 2, 3)), (x.var((0, 2, 3), unbiased=False) + 1e-3).sqrt()
            normal = (x - mean.view(planes)) / deviation.view(planes)
            stretch, move = (deviation / deviations).detach(), ((mean - averages) / deviations).detach()
            moved = normal * stretch.view(planes) + move.view(planes)
            return moved * norm.scale.view(planes) + norm.shift.view(planes)

        gradients = []
        for function in (written_out, norm):
            norm.zero_grad()
            given = x.clone().requires_grad_()
            (function(given) * weights).sum().backward()
            assert given.grad is not None
            gradients.append([given.grad, norm.scale.grad, norm.shift.grad])
        for expected, found in zip(*gradients, strict=True):
            torch.testing.assert_close(found, expected)

    def test_a_network_plays_as_it_trains_with_the_norms_folded_into_its_weights(self) -> None:
        """The correction makes training independent of the batch, so that both must agree."""
        shape = InputShape.of(np.zeros((84, 84), dtype=np.uint8))
        heads = (Head("policy", "softmax", 3), Head("units", "hidden"))
        architecture = Architecture(shape, heads, MNIH_2013, bytes_as_they_are=True)
        rng = np.random.default_rng(0)
        norms = [Renormalisation(units) for units in (16, 32, 256)]
        with torch.no_grad():
            for norm in norms:
                for name in ("scale", "deviation"):
                    getattr(norm, name).copy_(torch.from_numpy(rng.uniform(0.5, 2.0, len(norm.scale))))
                for name in ("shift", "mean"):
                    getattr(norm, name).copy_(torch.from_numpy(rng.normal(size=len(norm.scale))))
        network = Network(architecture, architecture.initial_weights(rng=rng, start="glorot"), norms=norms)
        weights = folded(network.weights(), norms)
        batch = rng.integers(256, size=(4, 4, 84, 84), dtype=np.uint8)
        played = make_inference(architecture, weights)(batch, ("policy", "units"))
        trained = network(torch.from_numpy(batch))
        assert played["policy"] == pytest.approx(trained["policy"].softmax(1).detach().numpy(), rel=1e-3, abs=1e-6)
        assert played["units"] == pytest.approx(trained["units"].detach().numpy(), rel=1e-3, abs=1e-3)


class TestActionSelection:
    """A root with two actions: one child with `size` nodes in all, and one with ten."""

    def share(self, values: list[float | None], size: int, *, times_sizes: bool, draws: int = 4_000) -> float:
        rng = np.random.default_rng(0)
        root = node()
        for action, count in enumerate((size, 10)):
            below = root
            for depth in range(count):
                child = node(below, action if not depth else 0)
                below.children[child.action] = child
                below = child
        select = softmax_action(0.01, times_sizes=times_sizes)
        return sum(select(root, values, rng) for _ in range(draws)) / draws

    def test_it_is_drawn_from_a_softmax(self) -> None:
        assert self.share([0.99, 1.0], 10, times_sizes=False) == pytest.approx(math.e / (1 + math.e), abs=0.03)
        assert self.share([None, -3.0], 10, times_sizes=False) == 1.0

    def test_the_released_product_lets_the_larger_subtree_win_over_a_small_reward(self) -> None:
        """Better by 1.0, that is by 100 in units of the temperature; the other has 110 nodes more."""
        assert self.share([0.0, 1.0], 120, times_sizes=True, draws=50) == 0.0
        assert self.share([0.0, 1.0], 90, times_sizes=True, draws=50) == 1.0

    def test_it_never_wins_over_more_than_single_precision_can_tell(self) -> None:
        assert self.share([0.0, 1.1], 500, times_sizes=True, draws=50) == 1.0


def node(parent: Node | None = None, action: int | None = None) -> Node:
    time = 0 if parent is None else parent.time + 1
    return Node(State(np.zeros(1)), parent, action, 0.0, False, time, time, 2, UNIFORM, 0.0)


class TestLearner:
    def test_while_it_warms_up_only_its_hidden_units_are_asked(self) -> None:
        snapshot, settings = snapshot_and_settings(batch=4, warm_up=6)
        learner = settings.make_learner(snapshot)
        assert snapshot.deployed
        rng = np.random.default_rng(0)
        learner.take_in(path([0.0] * 5), rng=rng)
        assert learner.close_round(3, rng=rng) == {}
        assert [head.name for head in learner.snapshot().networks[PI].heads] == ["units"]
        learner.take_in(path([0.0]), rng=rng)
        assert [len(losses) for losses in learner.close_round(3, rng=rng).values()] == [3]
        assert [head.name for head in learner.snapshot().networks[PI].heads] == ["policy", "units"]

    def test_it_learns_the_better_action_and_what_follows(self) -> None:
        snapshot, settings = snapshot_and_settings(
            batch=8, warm_up=8, learning_rate=0.003, normalisation="none", returns=ReturnSettings(largest=30.0)
        )
        learner = settings.make_learner(snapshot)
        rng = np.random.default_rng(1)
        learner.take_in(path([0.0] * 9 + [20.0], [[0.0, 1.0]] * 5 + [[1.0, 0.0]] * 5), rng=rng)
        for _ in range(40):
            learner.close_round(20, rng=rng)
        deployed = learner.snapshot()
        infer = make_inference(deployed.networks[PI], deployed.weights[PI])
        answers = infer(np.array([[1.0], [8.0]], dtype=np.float32), ("policy", "value"))
        assert answers["policy"][0, 1] > 0.8
        assert answers["policy"][1, 0] > 0.8
        assert answers["value"] == pytest.approx([20 * 0.99**8, 20 * 0.99], rel=0.1)

    def test_the_replay_is_of_the_newest_transitions(self) -> None:
        """Three of the newest four: the oldest path is gone, and of the middle one a transition is not drawn."""
        replay = Replay(transitions=4)
        assert replay.keep([5, 3, 2]) == 2
        assert replay.keep([1, 1]) == 2
        snapshot, settings = snapshot_and_settings(batch=3, warm_up=3, retention=replay)
        learner = settings.make_learner(snapshot)
        rng = np.random.default_rng(0)
        for count in (5, 3, 2):
            learner.take_in(path([0.0] * count), rng=rng)
        drawn: set[int] = set()
        step = learner._step
        learner._step = lambda numbers: (drawn.update(numbers.tolist()), step(numbers))[1]
        learner.close_round(30, rng=rng)
        assert drawn == {6, 7, 8, 9}

    def test_pieces_are_joined_to_what_the_whole_episode_is(self) -> None:
        whole = path([1.0, 2.0, 3.0], [[0, 1], [2, 3], [4, 5]], roots=[7.0, NAN, 9.0])
        assert whole.action_values is not None
        assert whole.root_values is not None
        pieces = [
            CriticalPath(
                observations=whole.observations[max(0, first - 1) : first + 2],
                actions=whole.actions[first : first + 1],
                rewards=whole.rewards[first : first + 1],
                terminal=first == 2,
                before=min(first, 1),
                first=first,
                action_values=whole.action_values[first : first + 1],
                root_values=whole.root_values[first : first + 1],
            )
            for first in range(3)
        ]
        again = joined(pieces)
        for name in ("observations", "actions", "rewards", "action_values", "root_values"):
            np.testing.assert_array_equal(getattr(again, name), getattr(whole, name))
        assert again.terminal
        assert (again.before, again.first) == (0, 0)


def test_before_anything_is_learnt_values_are_those_of_definition_2() -> None:
    """A step that costs 1, and nothing behind it: worth -1, and not the 0 of a value that nobody has learnt."""

    class Costly:
        actions = ("STEP",)

        def start(self) -> State:
            return State(np.zeros(1, dtype=np.int64))

        def step(self, state: State, action: int) -> Any:
            return State(state.observation + 1), -1.0, False

    lookahead = Lookahead(Costly(), Costly().start(), base_policy=UNIFORM, termination_cost=0.0)  # type: ignore[arg-type]
    lookahead.expand(lookahead.expand(lookahead.root, 0), 0)
    assert GreatestValues(discount=0.5).action_values(lookahead) == [-1.5]


def test_terminal_nodes_are_neither_asked_nor_entered_where_cached_nodes_are_tested_first() -> None:
    """The world ends after two steps; what is there to see would be new."""

    class Short:
        actions = ("STEP",)

        def start(self) -> State:
            return State(np.zeros(1, dtype=np.int64))

        def step(self, state: State, action: int) -> Any:
            return State(state.observation + 1), 0.0, bool(state.observation[0] == 1)

    asked: list[int] = []

    def units(nodes: Any) -> np.ndarray:
        asked.extend(int(node.state.observation[0]) for node in nodes)
        return np.array([[node.state.observation[0] == place for place in range(3)] for node in nodes], dtype=float)

    lookahead = Lookahead(Short(), Short().start(), base_policy=UNIFORM, termination_cost=0.0)  # type: ignore[arg-type]
    pruning = NoveltyPruning(UnitFeatures(heads=("units", "policy")), DepthTable(), TestedFirst())
    planner = Rollouts(pruning, 100, GreatestValues())
    heuristics = Heuristics.of(units=units)  # a policy is known: it is not asked for
    lookahead.begin_time_step()
    planning = planner.plan(lookahead, Interactions(10), rng=np.random.default_rng(0))
    question = next(planning)
    with contextlib.suppress(StopIteration):
        while True:
            (answers,) = heuristics.answer([question])
            question = planning.send(answers)
    assert asked == [0, 1]
    assert lookahead.root.solved


TARGETS = {
    "pi-iw": SoftmaxOfValues(),
    "pi-iw-plus": SoftmaxOfValues(untried="root-value"),
    "pi-hiw": SoftmaxOfValues(),
    "alphazero": VisitShares(),
}


def protocol(
    game: str, agent: str = "pi-iw-plus", *, interactions: int, lanes: int = 3, **conditions: Any
) -> Protocol:
    settings = PiSettings(
        schedule=ScheduleSettings(interactions=interactions, interval=interactions // 4, p_value=0.0),
        loop=LockstepSettings(lanes=lanes, decisions=1, refresh="round"),
        retention=Replay(transitions=100),
        returns=None if agent == "pi-iw" else ReturnSettings(),
        policy_targets=TARGETS[agent],
        batch=8,
        warm_up=8,
        evaluation_episodes=1,
    )
    return make_protocol(game, agent=agent, learning=settings, **conditions)


CORRIDOR = {"interactions": 2_000, "budget": 10, "max_frames": 100}


def test_a_checkpoint_may_have_more_heads_than_the_first_but_no_other_trunk_and_no_other_sizes() -> None:
    settings = PiSettings()
    rng = np.random.default_rng(0)
    first = initial_snapshot(VECTOR, 2, settings, rng=rng)
    architecture = architecture_for(VECTOR, 2, settings)
    assert len(architecture.heads) > len(first.networks[PI].heads)
    weights = {PI: architecture.initial_weights(rng=rng)}
    later = replace(first, networks={PI: architecture}, weights=weights)
    assert later.fits(first, 2)
    assert not later.fits(first, 3)
    assert not replace(later, weights={PI: {}}).fits(first, 2)
    huge = replace(architecture, trunk=(*architecture.trunk[:-1], Dense(10**9)))
    assert not replace(later, networks={PI: huge}).fits(first, 2)
    wide = replace(architecture, heads=(*architecture.heads, Head("more", "softmax", 10**9)))
    assert not replace(later, networks={PI: wide}).fits(first, 2)


def test_what_is_deployed_is_what_a_snapshot_has() -> None:
    """Before the first step, when it has no heads yet, and after it."""
    settings, rng = PiSettings(batch=2, warm_up=2), np.random.default_rng(0)
    learner = PiLearner(initial_snapshot(VECTOR, 2, settings, rng=rng), settings)
    deployed = []
    for _ in range(2):
        deployment, snapshot = learner.deployment(), learner.snapshot()
        assert deployment.digest == snapshot.digest
        assert deployment.architectures == snapshot.networks
        deployed.append(deployment.digest)
        learner.take_in(path([0.0] * 5), rng=rng)
        learner.close_round(1, rng=rng)
    assert deployed[0] != deployed[1]


@pytest.mark.parametrize("agent", TARGETS)
def test_training_that_is_cut_off_again_and_again_ends_with_the_same_networks(agent: str, tmp_path: Path) -> None:
    chosen = protocol("corridor", agent, **CORRIDOR)
    train(tmp_path / "whole", chosen)
    assert train_in_pieces(tmp_path / "run", chosen, workers=(1, 2)) > 2
    assert contents(tmp_path / "run") == contents(tmp_path / "whole")


@pytest.mark.parametrize("loop", ["rounds", "two levels"])
def test_kill_minus_nine_leaves_no_trace(tmp_path: Path, loop: str) -> None:
    """On two levels a planner goes on from more than its lookahead: from visits of abstract states."""
    train(tmp_path / "whole", killed_protocol(loop))
    whole = contents(tmp_path / "whole")
    assert_kills_leave_no_trace(tmp_path, loop, whole, kills=6, intervals=2, longest_life=2.0)


def test_it_may_be_cut_off_just_when_the_network_got_its_heads(tmp_path: Path) -> None:
    """What lanes were playing then was asked for no policy yet."""
    chosen = TRIALS["rounds"]
    train(tmp_path / "whole", chosen)
    assert train_in_pieces(tmp_path / "run", chosen, every=1, workers=(1,)) > 2
    assert contents(tmp_path / "run") == contents(tmp_path / "whole")


def test_with_convolutions_too(tmp_path: Path) -> None:
    chosen = protocol("pong", interactions=700, lanes=2, budget=10, max_frames=300)
    train(tmp_path / "whole", chosen)
    assert train_in_pieces(tmp_path / "run", chosen, every=1, workers=(1, 2)) > 2
    assert contents(tmp_path / "run") == contents(tmp_path / "whole")


def test_networks_change_with_every_round_and_episodes_say_so_and_verify(tmp_path: Path) -> None:
    result = train(tmp_path / "run", protocol("corridor", **CORRIDOR))
    run = RunDirectory.open(tmp_path / "run")
    records = [read_episode(file) for file in run.learnt_paths()]
    assert records
    last = max(records, key=lambda record: record.interval)
    steps = [step for step, _ in last.refreshed]
    assert steps == sorted(set(steps))
    assert len(steps) >= last.episode.steps - 1
    assert all(verify_episode(record).holds for record in records)
    ended = [line for line in run.read_metrics("episode") if line["at"] > 1_800]
    assert result["tail"]["episodes"] == len(ended)
    intervals = run.read_metrics("interval")
    assert not any(line["tested"] for line in intervals)
    assert all(len(line["policy_losses"]) == len(line["value_losses"]) == 1 for line in intervals[1:])


def test_a_notice_of_the_learner_reaches_whoever_watches(tmp_path: Path) -> None:
    told: list[str] = []
    chosen = protocol("corridor", **CORRIDOR)
    assert isinstance(chosen.learning, PiSettings)
    learning = chosen.learning.model_copy(update={"returns": ReturnSettings(largest=0.5)})
    train(tmp_path / "run", chosen.model_copy(update={"learning": learning}), watcher=Watcher(notice=told.append))
    assert len(told) == 1
    assert "learning.returns.largest" in told[0]


@pytest.mark.parametrize(
    ("choices", "message"),
    [
        ({"retention": Replay(transitions=31)}, "A replay of 31 transitions is smaller than a batch of 32"),
        ({"loop": IntervalsSettings()}, "in the loop 'lockstep' only"),
    ],
)
def test_settings_that_do_not_fit_are_refused_before_anything_is_played(
    choices: dict[str, Any], message: str, tmp_path: Path
) -> None:
    settings = PiSettings(**{"loop": LockstepSettings(decisions=1, refresh="round"), **choices})
    with pytest.raises(InputError, match=message):
        train(tmp_path / "run", make_protocol("corridor", agent="pi-iw", learning=settings))
    assert not (tmp_path / "run").exists()
