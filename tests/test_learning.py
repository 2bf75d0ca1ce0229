"""Networks, what they see, what they are trained towards, and the schedule, computed by hand where possible."""

from __future__ import annotations

import dataclasses
import json
import math
from typing import Any

import numpy as np
import pytest
import torch
from scipy import stats

from noveltree.errors import InputError, LearningError
from noveltree.heuristics import Heuristics
from noveltree.learning.architecture import Architecture, Head
from noveltree.learning.cpl import CplLearner, initial_snapshot
from noveltree.learning.deployment import Deployment
from noveltree.learning.experience import CriticalPath, Experience
from noveltree.learning.inference import make_inference
from noveltree.learning.inputs import InputShape, batch_of_nodes
from noveltree.learning.networks import Network
from noveltree.learning.policy import train_policy
from noveltree.learning.retention import DropAll, KeepLatest
from noveltree.learning.schedule import Interval, Schedule, Verdict, judge
from noveltree.learning.settings import LearningSettings, PolicySettings, ScheduleSettings, ValueSettings
from noveltree.learning.snapshot import Snapshot
from noveltree.learning.value import ValueLearner
from noveltree.learning.value_targets import LambdaReturns, MonteCarlo, OneStep
from noveltree.lookahead import Question
from noveltree.simulators import Atari, Corridor, State
from noveltree.tree import Lookahead, Node
from tests.support.worlds import node_of

SCREEN = InputShape.of(np.zeros((84, 84), dtype=np.uint8))
VECTOR = InputShape.of(np.zeros(1, dtype=np.int64))


def policy_of(shape: InputShape, actions: int) -> Architecture:
    return Architecture.usual(shape, Head("policy", "softmax", actions))


def value_of(shape: InputShape) -> Architecture:
    return Architecture.usual(shape, Head("value", "scalar"))


def make_network(shape: InputShape, outputs: int, *, seed: int = 0) -> Network:
    architecture = value_of(shape) if outputs == 1 else policy_of(shape, outputs)
    return Network(architecture, architecture.initial_weights(rng=np.random.default_rng(seed)))


def make_value_learner(**settings: Any) -> ValueLearner:
    architecture = value_of(VECTOR)
    weights = architecture.initial_weights(rng=np.random.default_rng(0))
    return ValueLearner(architecture, weights, ValueSettings(**settings))


def test_glorots_start_by_hand() -> None:
    """A convolution's inputs and outputs count its window: (4 + 32) * 64 in the first layer of Mnih et al."""
    architecture = value_of(SCREEN)
    weights = architecture.initial_weights(rng=np.random.default_rng(0), start="glorot")
    sides = {"0": (4 + 32) * 64, "1": (32 + 64) * 16, "2": (64 + 64) * 9, "3": weights["3.weight"].shape[1] + 512}
    for layer, total in {**sides, "4": 512 + 1}.items():
        bound = math.sqrt(6.0 / total)
        assert 0.98 * bound < np.abs(weights[f"{layer}.weight"]).max() <= bound
        assert not weights[f"{layer}.bias"].any()


def test_from_glorots_start_the_target_network_has_weights_of_its_own_until_it_is_refreshed() -> None:
    snapshot = initial_snapshot(VECTOR, 2, rng=np.random.default_rng(0), start="glorot")
    assert not np.array_equal(snapshot.weights["target"]["0.weight"], snapshot.weights["value"]["0.weight"])
    learner = CplLearner(snapshot, LearningSettings(start="glorot", value=ValueSettings(at_least=0, refresh=40)))
    rng = np.random.default_rng(0)
    learner.take_in(path([1.0] * 39, terminal=False), rng=rng)
    assert np.array_equal(learner.value.target["0.weight"], snapshot.weights["target"]["0.weight"])
    learner.take_in(path([1.0], terminal=False), rng=rng)
    assert np.array_equal(learner.value.target["0.weight"], learner.value.network.weights()["0.weight"])


@pytest.mark.parametrize("clipping", ["together", "each"])
def test_gradients_are_shortened_together_or_each_by_itself(clipping: str) -> None:
    learner = make_value_learner(at_least=0, every=1, batches=1, batch=4, gradient_norm=1e-3, clipping=clipping)
    learner.take_in(path([50.0], terminal=True), Experience(VECTOR), rng=np.random.default_rng(0))
    gradients = [parameter.grad for parameter in learner.network.parameters()]
    norms = [float(gradient.norm()) for gradient in gradients if gradient is not None]
    if clipping == "together":
        assert math.sqrt(sum(norm**2 for norm in norms)) == pytest.approx(1e-3, rel=1e-2)
    else:  # the last bias is 1 away from its target in Huber's loss, the others are not short either
        assert norms[-1] == pytest.approx(1e-3, rel=1e-2)
        assert sum(norm == pytest.approx(1e-3, rel=1e-2) for norm in norms) > 1


def path(rewards: list[float], *, terminal: bool, actions: list[int] | None = None) -> CriticalPath:
    """A path whose observation at time t is the vector (t)."""
    length = len(rewards)
    return CriticalPath(
        observations=np.arange(length + 1, dtype=np.int64)[:, None],
        actions=np.array(actions or [0] * length, dtype=np.int64),
        rewards=np.array(rewards, dtype=np.float64),
        terminal=terminal,
    )


def experience(*paths: CriticalPath, shape: InputShape = VECTOR) -> Experience:
    held = Experience(shape)
    for one in paths:
        held.add(one)
    return held


class TestNetworks:
    def test_have_the_size_of_mnih_et_al(self) -> None:
        parameters = sum(p.numel() for p in make_network(SCREEN, 6).parameters())
        convolutions = (4 * 8 * 8 + 1) * 32 + (32 * 4 * 4 + 1) * 64 + (64 * 3 * 3 + 1) * 64
        assert parameters == convolutions + (7 * 7 * 64 + 1) * 512 + (512 + 1) * 6

    def test_bytes_are_scaled_to_one(self) -> None:
        network = make_network(SCREEN, 1)
        white = torch.full((1, 4, 84, 84), 255, dtype=torch.uint8)
        unscaled = value_of(InputShape((84, 84), image=True))
        with torch.no_grad():
            first = network.layers[0](torch.ones(1, 4, 84, 84))
            network_first = network.layers[0](white * unscaled.scale)
        assert torch.equal(first, network_first)

    def test_small_images_and_vectors_go_through_dense_layers(self) -> None:
        small = InputShape.of(np.zeros((7, 7, 3), dtype=np.uint8))
        assert not small.image
        assert make_network(small, 3)(torch.zeros(2, 147))["policy"].shape == (2, 3)


class TestInputs:
    def test_a_stack_is_the_node_and_its_three_ancestors_oldest_first(self) -> None:
        simulator = Atari("pong")
        lookahead = Lookahead(simulator, simulator.start(), base_policy=None, termination_cost=None)
        nodes = [lookahead.root]
        for action in (2, 3, 2, 3, 2):
            nodes.append(lookahead.expand(nodes[-1], action))
        batch = batch_of_nodes([nodes[5]], SCREEN)
        assert (batch[0] == np.stack([node.state.observation for node in nodes[2:6]])).all()

    def test_the_first_screen_is_repeated_before_the_start(self) -> None:
        simulator = Atari("pong")
        lookahead = Lookahead(simulator, simulator.start(), base_policy=None, termination_cost=None)
        child = lookahead.expand(lookahead.root, 2)
        first, second = lookahead.root.state.observation, child.state.observation
        assert (batch_of_nodes([child], SCREEN)[0] == np.stack([first, first, first, second])).all()

    def test_stacks_of_the_critical_path_are_those_of_the_nodes_played(self) -> None:
        simulator = Atari("pong")
        lookahead = Lookahead(simulator, simulator.start(), base_policy=None, termination_cost=None)
        screens, stacks = [lookahead.root.state.observation], []
        for action in (2, 3, 2, 3, 2, 2):
            stacks.append(batch_of_nodes([lookahead.root], SCREEN)[0])
            lookahead.expand(lookahead.root, action)
            lookahead.advance(action, keep=True)
            screens.append(lookahead.root.state.observation)
        played = CriticalPath(np.stack(screens), np.zeros(6, dtype=np.int64), np.zeros(6), terminal=False)
        assert (experience(played, shape=SCREEN).inputs(np.arange(6)) == np.stack(stacks)).all()


def deployed(policy: Network, value: Network) -> Deployment:
    networks = {"policy": policy, "value": value}
    return Deployment(
        {name: network.architecture for name, network in networks.items()},
        {name: network.weights() for name, network in networks.items()},
    )


class TestInference:
    def test_agrees_with_torch(self) -> None:
        policy, value = make_network(SCREEN, 6), make_network(SCREEN, 1, seed=1)
        nodes = _nodes_with_screens(17)
        heuristics = deployed(policy, value).heuristics()
        with torch.no_grad():
            inputs = torch.from_numpy(batch_of_nodes(nodes, SCREEN))
            expected_policy = policy(inputs)["policy"].softmax(1).numpy()
            expected_value = value(inputs)["value"][:, 0].numpy()
        answers = heuristics.answer([Question(nodes, ("policy", "value"))])[0]
        assert np.abs(answers["policy"] - expected_policy).max() < 1e-5
        assert np.abs(answers["value"] - expected_value).max() < 1e-4

    def test_an_answer_does_not_depend_on_what_else_is_in_the_batch(self) -> None:
        architecture = policy_of(SCREEN, 6)
        network = make_inference(architecture, architecture.initial_weights(rng=np.random.default_rng(0)))

        def infer(inputs: np.ndarray) -> np.ndarray:
            return network(inputs, ("policy",))["policy"]

        inputs = np.random.default_rng(1).integers(0, 256, (70, 4, 84, 84)).astype(np.uint8)
        together = infer(inputs)
        for size in (1, 2, 3, 5, 8, 16, 33, 64):
            apart = np.concatenate([infer(inputs[i : i + size]) for i in range(0, 70, size)])
            assert (apart == together).all(), size

    def test_vectors_are_answered_too(self) -> None:
        policy, value = make_network(VECTOR, 2), make_network(VECTOR, 1)
        heuristics = deployed(policy, value).heuristics()
        corridor = Corridor(5)
        root = Lookahead(corridor, corridor.start(), base_policy=None, termination_cost=None).root
        assert np.isclose(heuristics.answer([Question([root], ("policy",))])[0]["policy"].sum(), 1.0)

    def test_a_gpu_is_used_if_it_is_there_and_missed_if_it_is_not(self) -> None:
        deployment = deployed(make_network(VECTOR, 2), make_network(VECTOR, 1))
        if torch.cuda.is_available():
            assert isinstance(deployment.heuristics(device="cuda"), Heuristics)
            return
        with pytest.raises(InputError, match="no GPU"):
            deployment.heuristics(device="cuda")

    def test_weights_have_a_digest_of_every_bit(self) -> None:
        before = deployed(make_network(VECTOR, 2), make_network(VECTOR, 1))
        changed = {**before.weights["value"]}
        changed["2.bias"] = np.nextafter(changed["2.bias"], np.float32(9))
        after = Deployment(before.architectures, {**before.weights, "value": changed})
        assert after.digest != before.digest

    def test_one_pass_through_a_trunk_serves_all_its_heads(self) -> None:
        heads = (Head("policy", "softmax", 6), Head("value", "scalar"), Head("units", "hidden"))
        architecture = Architecture.usual(SCREEN, *heads)
        network = Network(architecture, architecture.initial_weights(rng=np.random.default_rng(0)))
        nodes = _nodes_with_screens(3)
        heuristics = Deployment({"both": architecture}, {"both": network.weights()}).heuristics()
        assert len(heuristics.parts) == 1
        answers = heuristics.answer([Question(nodes, ("value", "policy", "units"))])[0]
        with torch.no_grad():
            outputs = network(torch.from_numpy(batch_of_nodes(nodes, SCREEN)))
        assert np.abs(answers["policy"] - outputs["policy"].softmax(1).numpy()).max() < 1e-5
        assert np.abs(answers["value"] - outputs["value"][:, 0].numpy()).max() < 1e-4
        assert np.abs(answers["units"] - outputs["units"].numpy()).max() < 1e-4
        assert answers["units"].shape == (3, 512)
        alone = heuristics.answer([Question(nodes, ("value",))])[0]
        assert (alone["value"] == answers["value"]).all()

    def test_a_session_with_new_weights_leaves_the_old_one_as_it_was(self) -> None:
        architecture = policy_of(SCREEN, 6)
        inputs = batch_of_nodes(_nodes_with_screens(2), SCREEN)
        first, second = (architecture.initial_weights(rng=np.random.default_rng(seed)) for seed in (0, 1))
        infer = make_inference(architecture, first)
        before = infer(inputs, ("policy",))["policy"].copy()
        other = make_inference(architecture, second)(inputs, ("policy",))["policy"]
        assert (infer(inputs, ("policy",))["policy"] == before).all()
        assert np.abs(other - before).max() > 1e-3

    def test_an_architecture_survives_being_written_as_json(self) -> None:
        for shape in (SCREEN, VECTOR):
            architecture = Architecture.usual(shape, Head("policy", "softmax", 6), Head("units", "hidden"))
            assert Architecture.from_json(json.loads(json.dumps(architecture.to_json()))) == architecture


def _nodes_with_screens(count: int) -> list[Node]:
    """Nodes with random screens; without ancestors these fill the stack."""
    screens = np.random.default_rng(0).integers(0, 256, (count, 84, 84)).astype(np.uint8)
    return [node_of(State(screen), actions=6) for screen in screens]


#: What a target network says of the four states of a path with three transitions.
VALUES = np.array([0, 10, 20, 30], dtype=np.float32)


class TestValueTargets:
    def test_one_step_bootstraps_from_the_next_state(self) -> None:
        targets = OneStep(discount=0.5).targets(path([1, 2, 3], terminal=True), VALUES)
        # r + 0.5 V(s'), and the reward alone where the next state is terminal: the reward itself counts.
        assert targets.tolist() == [1 + 5, 2 + 10, 3]

    def test_a_truncated_episode_goes_on_behind_its_end(self) -> None:
        targets = OneStep(discount=0.5).targets(path([1, 2, 3], terminal=False), VALUES)
        assert targets.tolist() == [1 + 5, 2 + 10, 3 + 15]

    @pytest.mark.parametrize("terminal", [True, False])
    def test_lambda_returns_by_hand(self, terminal: bool) -> None:
        behind = 0.0 if terminal else 30.0
        last = 3 + 0.5 * behind
        middle = 2 + 0.5 * (0.25 * 20 + 0.75 * last)
        first = 1 + 0.5 * (0.25 * 10 + 0.75 * middle)
        targets = LambdaReturns(discount=0.5, lambda_=0.75).targets(path([1, 2, 3], terminal=terminal), VALUES)
        assert targets.tolist() == pytest.approx([first, middle, last])

    def test_lambda_zero_is_one_step(self) -> None:
        held = path([1, 2, 3], terminal=True)
        one_step = OneStep(discount=0.5).targets(held, VALUES)
        assert LambdaReturns(discount=0.5, lambda_=0.0).targets(held, VALUES).tolist() == one_step.tolist()

    def test_monte_carlo_sums_what_follows(self) -> None:
        assert MonteCarlo(discount=0.5).targets(path([1, 2, 3], terminal=True), VALUES).tolist() == [
            1 + 0.5 * 2 + 0.25 * 3,
            2 + 0.5 * 3,
            3,
        ]

    def test_with_one_life_nothing_follows_its_loss(self) -> None:
        """A life is lost in the second of three transitions; another is won in the third."""
        held = dataclasses.replace(path([1, 2, 3], terminal=False), lives=np.array([3, 3, 2, 3]))
        assert OneStep(discount=0.5, lives="one").targets(held, VALUES).tolist() == [1 + 5, 2, 3 + 15]
        assert OneStep(discount=0.5).targets(held, VALUES).tolist() == [1 + 5, 2 + 10, 3 + 15]
        returns = MonteCarlo(discount=0.5, lives="one").targets(held, VALUES, after=8.0)
        assert returns.tolist() == [1 + 0.5 * 2, 2, 3 + 0.5 * 8]
        mixed = LambdaReturns(discount=0.5, lambda_=0.75, lives="one").targets(held, VALUES)
        assert mixed.tolist() == [1 + 0.5 * (0.25 * 10 + 0.75 * 2), 2, 3 + 15]


class TestValueLearning:
    def test_updates_come_every_32_transitions_once_more_than_256_are_held(self) -> None:
        learner = make_value_learner()
        held = Experience(VECTOR)
        rng = np.random.default_rng(0)
        assert learner.take_in(path([0.0] * 256, terminal=False), held, rng=rng) == []
        assert len(learner.take_in(path([0.0], terminal=False), held, rng=rng)) == 2
        assert len(learner.take_in(path([0.0] * 31, terminal=False), held, rng=rng)) == 0
        assert len(learner.take_in(path([0.0] * 65, terminal=False), held, rng=rng)) == 6

    def test_the_target_network_is_refreshed_every_so_many_time_steps(self) -> None:
        learner = make_value_learner(refresh=300, at_least=10, every=10)
        before = learner.target
        rng = np.random.default_rng(0)
        held = Experience(VECTOR)
        learner.take_in(path([1.0] * 299, terminal=False), held, rng=rng)
        assert learner.target is before
        learner.take_in(path([1.0], terminal=False), held, rng=rng)
        now = learner.network.weights()
        assert all((learner.target[name] == now[name]).all() for name in now)
        assert any((before[name] != now[name]).any() for name in now)

    def test_targets_are_those_of_the_target_network(self) -> None:
        learner = make_value_learner(at_least=0, every=1, batches=1, batch=1, learning_rate=1e-9)
        held = Experience(VECTOR)
        loss = learner.take_in(path([3.0], terminal=False), held, rng=np.random.default_rng(0))
        with torch.no_grad():
            here, there = learner.network(torch.tensor([[0.0], [1.0]]))["value"][:, 0].tolist()
        error = abs(here - (3.0 + 0.99 * there))
        assert error > 1  # where Huber's loss is linear
        assert loss == pytest.approx([error - 0.5], abs=1e-5)

    def test_values_of_a_short_path_are_learnt(self) -> None:
        learner = make_value_learner(
            at_least=0, every=1, refresh=50, learning_rate=3e-3, targets=OneStep(discount=0.5)
        )
        held, rng = Experience(VECTOR), np.random.default_rng(0)
        for _ in range(150):
            learner.take_in(path([0.0, 0.0, 8.0], terminal=True), held, rng=rng)
        with torch.no_grad():
            values = learner.network(torch.tensor([[0.0], [1.0], [2.0]]))["value"][:, 0].tolist()
        assert values == pytest.approx([2.0, 4.0, 8.0], abs=0.5)

    def test_a_loss_that_is_no_number_stops_learning(self) -> None:
        learner = make_value_learner(at_least=0, every=1)
        with pytest.raises(LearningError, match="not a finite number"):
            learner.take_in(path([float("nan")], terminal=True), Experience(VECTOR), rng=np.random.default_rng(0))


class TestPolicyLearning:
    def test_learns_the_executed_actions(self) -> None:
        network = make_network(VECTOR, 3)
        held = experience(*(path([0.0] * 3, terminal=True, actions=[0, 1, 2]) for _ in range(100)))
        settings = PolicySettings(learning_rate=5e-3, epochs=30)
        losses = train_policy(network, held, settings, rng=np.random.default_rng(0))
        assert losses[-1] < 0.2 < losses[0]
        with torch.no_grad():
            assert network(torch.tensor([[0.0], [1.0], [2.0]]))["policy"].argmax(1).tolist() == [0, 1, 2]

    def test_the_first_loss_is_the_cross_entropy_with_the_executed_actions(self) -> None:
        network = make_network(VECTOR, 3)
        held = experience(path([0.0] * 2, terminal=True, actions=[2, 0]))
        with torch.no_grad():
            logarithms = network(torch.tensor([[0.0], [1.0]]))["policy"].log_softmax(1)
        expected = -float(logarithms[0, 2] + logarithms[1, 0]) / 2
        losses = train_policy(network, held, PolicySettings(epochs=1), rng=np.random.default_rng(0))
        assert losses == pytest.approx([expected], rel=1e-5)

    def test_the_same_seed_gives_the_same_network(self) -> None:
        networks = []
        for _ in range(2):
            network = make_network(VECTOR, 2)
            held = experience(path([0.0] * 50, terminal=True, actions=[0, 1] * 25))
            train_policy(network, held, PolicySettings(), rng=np.random.default_rng(0))
            networks.append(network.weights())
        assert all((networks[0][name] == networks[1][name]).all() for name in networks[0])


class TestLearner:
    def trained(self, settings: LearningSettings, paths: int) -> CplLearner:
        learner = CplLearner(initial_snapshot(VECTOR, 2, rng=np.random.default_rng(0)), settings)
        self.train(learner, paths)
        return learner

    def train(self, learner: CplLearner, paths: int) -> None:
        for number in range(paths):
            learner.take_in(path([float(number)] * 40, terminal=True), rng=np.random.default_rng(number))
        learner.close_interval(rng=np.random.default_rng(0))

    def test_the_first_snapshot_is_not_deployed_and_later_ones_are(self) -> None:
        first = initial_snapshot(VECTOR, 2, rng=np.random.default_rng(0))
        assert first.deployment is None
        assert self.trained(LearningSettings(), 1).snapshot().deployment is not None

    def test_learning_goes_on_from_a_snapshot_as_if_it_had_never_stopped(self) -> None:
        settings = LearningSettings(value=ValueSettings(at_least=10, refresh=70))
        learner = self.trained(settings, 5)
        resumed = CplLearner(learner.snapshot(), settings)
        learner.keep(0)
        self.train(learner, 5)
        self.train(resumed, 5)
        assert _same(learner.snapshot(), resumed.snapshot())

    def test_a_snapshot_of_convolutions_goes_on_as_well(self) -> None:
        settings = LearningSettings(value=ValueSettings(at_least=0, every=4, batch=4, batches=1))
        learner = CplLearner(initial_snapshot(SCREEN, 2, rng=np.random.default_rng(0)), settings)
        rng = np.random.default_rng(0)
        screens = rng.integers(0, 256, (9, 84, 84)).astype(np.uint8)
        seen = CriticalPath(screens, rng.integers(2, size=8), rng.normal(size=8), terminal=True)
        learner.take_in(seen, rng=np.random.default_rng(1))
        resumed = CplLearner(learner.snapshot(), settings)
        learner.keep(0)
        for one in (learner, resumed):
            one.take_in(seen, rng=np.random.default_rng(2))
            one.close_interval(rng=np.random.default_rng(3))
        assert _same(learner.snapshot(), resumed.snapshot())

    def test_going_back_brings_back_everything_in_training(self) -> None:
        learner = self.trained(LearningSettings(value=ValueSettings(at_least=10, refresh=70)), 5)
        before = learner.snapshot()
        learner.keep(0)
        self.train(learner, 5)
        assert not _same(before, learner.snapshot())
        learner.restore(before)
        assert _same(before, learner.snapshot())


def _same(first: Snapshot, second: Snapshot) -> bool:
    return (
        all(
            (array == second.weights[part][name]).all()
            for part, weights in first.weights.items()
            for name, array in weights.items()
        )
        and first.counters == second.counters
    )


class TestRetention:
    def test_the_paper_keeps_nothing(self) -> None:
        assert DropAll().keep([3, 4, 5]) == 0

    @pytest.mark.parametrize(("transitions", "kept"), [(4, 0), (5, 1), (8, 1), (9, 2), (12, 3), (99, 3)])
    def test_the_newest_whole_paths_are_kept(self, transitions: int, kept: int) -> None:
        assert KeepLatest(transitions=transitions).keep([3, 4, 5]) == kept

    def test_kept_paths_are_learnt_from_again(self) -> None:
        learner = CplLearner(initial_snapshot(VECTOR, 2, rng=np.random.default_rng(0)), LearningSettings())
        paths = [path([float(i)] * 3, terminal=True) for i in range(4)]
        for one in paths:
            learner.take_in(one, rng=np.random.default_rng(0))
        learner.keep(2, drop_newest=1)  # the newest belongs to a rejected interval
        assert learner.experience.paths == [paths[1], paths[2]]
        assert len(learner.experience) == 6
        assert learner.experience.locate(3) == (paths[2], 0)


class TestSchedule:
    @pytest.mark.parametrize(
        ("returns", "previous", "accepted"),
        [
            ([10, 11, 12, 10], [10, 11, 12, 11], True),  # no different
            ([20, 21, 22, 20], [10, 11, 12, 11], True),  # better
            ([1, 2, 1, 2], [10, 11, 12, 11], False),  # worse beyond doubt
            ([1, 2, 1, 2], [], True),  # nothing to compare with
            ([1], [10, 11], True),  # too few to tell
            ([1, 1, 1], [5, 5, 5], True),  # no variance at all is no evidence
            ([1, 1, 1], [5, 6, 5], False),  # variance on one side is
        ],
    )
    def test_an_update_is_rejected_only_on_evidence(
        self, returns: list[float], previous: list[float], accepted: bool
    ) -> None:
        assert judge(returns, previous).accepted is accepted

    def test_the_p_value_is_welchs(self) -> None:
        # By hand: means 2 and 4, variances 1 and 1, n = 3: t = -2 / sqrt(2/3), df = 4.
        verdict = judge([1, 2, 3], [3, 4, 5])
        assert verdict.p_value == pytest.approx(0.0705, abs=1e-4)
        assert not verdict.accepted
        assert judge([1, 2, 3], [3, 4, 5], p_value=0.05).accepted
        assert judge([1, 2, 3], [3, 4, 5], sides="one-sided").p_value == pytest.approx(0.0705 / 2, abs=1e-4)

    def test_agrees_with_scipy(self) -> None:
        rng = np.random.default_rng(0)
        for _ in range(20):
            a, b = rng.normal(0, 1, 7).tolist(), rng.normal(0.5, 3, 12).tolist()
            assert judge(a, b).p_value == pytest.approx(stats.ttest_ind(a, b, equal_var=False).pvalue)

    @pytest.mark.parametrize(
        ("interactions", "promised"),
        [
            ([], 4),  # nothing is known yet: a wave
            ([10], 5),  # nine more are expected, but not so far ahead
            ([10] * 5, 10),  # five more are expected, five are known
            ([10] * 9, 10),  # one is missing
            ([10] * 10, 10),  # full
            ([60], 2),  # much longer than those before: one more fills it
            ([60, 30], 3),
            ([60, 30, 30], 3),
            ([0, 0], 6),
        ],
    )
    def test_an_interval_is_promised_what_is_expected_to_fill_it_but_not_too_far_ahead(
        self, interactions: list[int], promised: int
    ) -> None:
        schedule = Schedule(ScheduleSettings(interactions=1000, interval=100, wave=4))
        assert schedule.episodes_to_start(interactions, longest=10**9) == promised

    def test_the_next_interval_begins_where_this_one_ended(self) -> None:
        schedule = Schedule(ScheduleSettings(interactions=1000, interval=100))
        following = schedule.after(Interval(120, (1.0, 2.0, 3.0, 4.0)), Verdict(True, None))
        assert (following.interval, following.interactions) == (2, 120)
        assert following.baseline == (1.0, 2.0, 3.0, 4.0)

    def test_returns_are_compared_with_those_before_the_last_update(self) -> None:
        good, bad = Interval(100, (10.0, 11.0, 12.0, 10.0)), Interval(100, (1.0, 2.0, 1.0, 2.0))
        first = Schedule(ScheduleSettings(interactions=1000, interval=100))
        assert first.judge(good) == Verdict(True, None)
        second = first.after(good, first.judge(good))
        assert not second.judge(bad).accepted
        third = second.after(bad, second.judge(bad))
        assert third.baseline is None  # after a rejection the next interval is not tested
        assert third.judge(bad).accepted

    def test_a_window_is_tested_when_it_is_full_by_the_returns_of_all_its_intervals(self) -> None:
        schedule = Schedule(ScheduleSettings(interactions=1000, interval=10, window=25))
        for returns in ((10.0,), (), (11.0,)):
            assert schedule.closes_window(Interval(10, returns)) == (returns == (11.0,))
            schedule = schedule.after(Interval(10, returns), schedule.judge(Interval(10, returns)))
        assert schedule.baseline == (10.0, 11.0)
        assert schedule.window == Interval(0, ())
        for returns in ((1.0,), (2.0, 1.0)):
            assert schedule.judge(Interval(10, returns)) == Verdict(True, None), "not yet"
            schedule = schedule.after(Interval(10, returns), Verdict(True, None))
        verdict = schedule.judge(Interval(10, (2.0,)))
        assert not verdict.accepted
        # Welch, by hand: 10, 11 against 1, 2, 1, 2.
        assert verdict.p_value == pytest.approx(
            float(stats.ttest_ind([1.0, 2.0, 1.0, 2.0], [10.0, 11.0], equal_var=False).pvalue)
        )
        assert schedule.after(Interval(10, (2.0,)), verdict).baseline is None

    def test_a_window_waits_until_enough_episodes_have_ended(self) -> None:
        schedule = Schedule(ScheduleSettings(interactions=1000, interval=10, window=20, window_episodes=2))
        for returns in ((10.0,), (), (), (11.0,)):
            assert schedule.closes_window(Interval(10, returns)) == (returns == (11.0,))
            schedule = schedule.after(Interval(10, returns), schedule.judge(Interval(10, returns)))
        assert schedule.baseline == (10.0, 11.0)
        assert not schedule.closes_window(Interval(10, (1.0, 2.0, 1.0))), "20 interactions are not there yet"
        schedule = schedule.after(Interval(10, (1.0, 2.0, 1.0)), Verdict(True, None))
        verdict = schedule.judge(Interval(10, ()))
        assert not verdict.accepted
        assert verdict.p_value == pytest.approx(
            float(stats.ttest_ind([1.0, 2.0, 1.0], [10.0, 11.0], equal_var=False).pvalue)
        )
        assert Schedule.from_json(schedule.settings, json.loads(json.dumps(schedule.to_json()))) == schedule

    def test_training_is_over_when_less_than_half_an_interval_is_left(self) -> None:
        settings = ScheduleSettings(interactions=1000, interval=100)
        assert not Schedule(settings, interval=10, interactions=950).finished
        assert Schedule(settings, interval=10, interactions=951).finished
        assert not Schedule(settings).finished
