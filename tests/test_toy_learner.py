"""A learner of one's own in one file: settings, target, head, learner, loop and agent, as CONTRIBUTING.md says.

The toy learns how many time steps are left until an episode ends. It looks one action ahead and prefers states from
which few are left, so that its episodes in a corridor become shorter.
"""

from __future__ import annotations

import contextlib
import json
import signal
import statistics
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest
import torch

from noveltree.agents import AGENTS, Agent, Settings
from noveltree.collection import Listener, Order, collect_all
from noveltree.declarations import SettingsModel, setting
from noveltree.episodes import Episode
from noveltree.learning.architecture import Architecture, Head
from noveltree.learning.experience import CriticalPath
from noveltree.learning.inputs import InputShape
from noveltree.learning.learner import Learner, Losses
from noveltree.learning.networks import Network
from noveltree.learning.settings import LearnerSettings, ScheduleSettings
from noveltree.learning.snapshot import Snapshot
from noveltree.lookahead import ActionSelection, ActionValues, Meter, Planner, Planning, ask
from noveltree.protocol import Protocol, make_protocol, parse_protocol
from noveltree.records import read_episode
from noveltree.records.run_directory import RunDirectory
from noveltree.replay import verify_episode
from noveltree.simulators import State
from noveltree.tree import Lookahead, Node
from noveltree.trial import Progress, Watcher, evaluate, read_deployment, train
from noveltree.trial.checkpoint_state import CURRENT, pack, unpack
from noveltree.trial.start import LOOPS
from noveltree.trial.trial import Trial, check_finite, rounded
from tests.support.runs import contents

#: The toy's head, its network, and the slot in which nodes keep what it answers.
STEPS_LEFT = "steps_left"


class StepsLeft(SettingsModel):
    """The target: how many time steps follow, at most `limit`, which also stands for episodes without an end."""

    limit: int = setting("what is learnt of states from which the end is far", default=20, ge=1)

    def targets(self, path: CriticalPath) -> np.ndarray:
        left = np.arange(len(path), 0, -1) if path.terminal else np.full(len(path), self.limit)
        return np.minimum(left, self.limit).astype(np.float32)


class GenerationsSettings(SettingsModel):
    """Generations of episodes, each played with what was learnt from the one before."""

    kind: Literal["generations"] = "generations"
    episodes: int = setting("episodes of a generation", default=8, ge=1)


class ToySettings(LearnerSettings):
    """How the toy learns."""

    kind: Literal["toy"] = "toy"
    loop: GenerationsSettings = setting(
        "how episodes and learning take turns", option="loop", default=GenerationsSettings()
    )
    learning_rate: float = setting("of Adam, which starts anew every time", default=0.01, gt=0)
    epochs: int = setting("passes over all transitions", default=100, ge=1)
    targets: StepsLeft = setting("what the network is trained towards", default=StepsLeft())

    def initial_snapshot(self, shape: InputShape, actions: int, *, rng: np.random.Generator) -> Snapshot:
        architecture = Architecture.usual(shape, Head(STEPS_LEFT, "scalar"))
        # Deployed from the beginning, since the planner cannot do without its head.
        return Snapshot({STEPS_LEFT: architecture}, True, {STEPS_LEFT: architecture.initial_weights(rng=rng)}, {})

    def make_learner(self, snapshot: Snapshot, *, device: str = "cpu") -> ToyLearner:
        return ToyLearner(snapshot, self, device=device)


class ToyLearner(Learner):
    """Learns at the end of a generation, from all its transitions at once."""

    def __init__(self, snapshot: Snapshot, settings: ToySettings, *, device: str) -> None:
        super().__init__(snapshot.networks[STEPS_LEFT].input)
        self._settings = settings
        self._device = device
        self._architecture = snapshot.networks[STEPS_LEFT]
        self.restore(snapshot)

    def restore(self, snapshot: Snapshot) -> None:
        self._network = Network(self._architecture, snapshot.weights[STEPS_LEFT], device=self._device)

    def close_interval(self, *, rng: np.random.Generator) -> Losses:
        inputs = torch.from_numpy(self.experience.inputs(np.arange(len(self.experience))))
        paths = self.experience.paths
        targets = torch.from_numpy(np.concatenate([self._settings.targets.targets(path) for path in paths]))
        optimiser = torch.optim.Adam(self._network.parameters(), lr=self._settings.learning_rate)
        losses = []
        for _ in range(self._settings.epochs):
            loss = torch.nn.functional.huber_loss(self._network(inputs)[STEPS_LEFT].squeeze(1), targets)
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            losses.append(float(loss.detach()))
        return {STEPS_LEFT: losses}

    def snapshot(self) -> Snapshot:
        return Snapshot({STEPS_LEFT: self._architecture}, True, {STEPS_LEFT: self._network.weights()}, {})


class ToyNode(Node):
    """A node that keeps what the toy's head says of it."""

    __slots__ = (STEPS_LEFT,)

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.steps_left = 0.0  # of a terminal node, which nobody asks about


@dataclass(slots=True)
class OneStepAhead:
    """The planner: it tries every action once."""

    node_type: type[Node] = ToyNode

    def plan(self, lookahead: Lookahead, meter: Meter, *, rng: np.random.Generator) -> Planning:
        root = lookahead.root
        for action, child in enumerate(root.children):
            if child is None and not meter.exhausted(lookahead):
                lookahead.expand(root, action)
        if unknown := [child for child in root.children if child is not None and not child.terminal]:
            yield from ask(unknown, STEPS_LEFT)
            for child in unknown:
                child.steps_left = float(child.steps_left)  # so that nodes can be stored

    def action_values(self, lookahead: Lookahead) -> ActionValues:
        return [None if child is None else -child.steps_left for child in lookahead.root.children]


def assemble(start: State, settings: Settings) -> Planner:
    return OneStepAhead()


def draw_by_value(settings: Settings) -> ActionSelection:
    """An action is the more likely the greater its value is, so that an untrained toy explores."""

    def select(root: Node, values: ActionValues, rng: np.random.Generator) -> int:
        weights = np.exp(np.array([-np.inf if value is None else value for value in values]))
        return int(rng.choice(len(values), p=weights / weights.sum()))

    return select


TOY = Agent(
    name="toy",
    summary="One step ahead, towards the end of the episode",
    novelty="none",
    assemble=assemble,
    select=draw_by_value,
    uses=(),
    heads=(STEPS_LEFT,),
)


class Generations:
    """The loop: play a generation, learn from it, deploy, write a checkpoint.

    A generation follows from the checkpoint before it and from the seed. One that was cut off is played again.
    """

    def __init__(self, trial: Trial) -> None:
        self._trial, self._settings = trial, trial.settings
        assert isinstance(self._settings, ToySettings)
        checkpoint = trial.read_checkpoint()
        if checkpoint is None:
            self._current = trial.first_snapshot()
            self._generation, self._spent = 1, 0
        else:
            current = unpack(checkpoint)[CURRENT]
            assert current is not None
            self._current = current
            self._generation, self._spent = checkpoint.state["interval"], checkpoint.state["spent"]
        self._learner = self._settings.make_learner(self._current, device=trial.device)

    def train(self) -> None:
        trial = self._trial
        while self._spent < self._settings.schedule.interactions:
            for collected in self._play():
                trial.add_episode(collected, self._learner.take_in(collected.path, rng=trial.rng(0, 0, 2)))
                self._spent += collected.episode.interactions
            losses = self._learner.close_interval(rng=trial.rng(self._generation, 0, 3))
            self._learner.keep(0)
            self._current = self._learner.snapshot()
            check_finite(self._current)
            trial.add_metrics("generation", weights=self._current.digest, **rounded(losses))
            self._generation += 1
            # `interval` is the one that the deployed networks would play next, in every loop.
            state = {"interval": self._generation, "spent": self._spent}
            trial.write_checkpoint(self._generation - 1, pack({CURRENT: self._current}, state, {}))

    def _play(self) -> list[Any]:
        """The generation's episodes in the order of their index, whoever played them and when."""
        trial, generation, weights = self._trial, self._generation, self._current.digest
        trial.collector.listener = Listener(interactions=trial.add_interactions)
        trial.collector.deploy(self._current.deployment)
        orders = [Order(generation, index) for index in range(self._settings.loop.episodes)]
        played = sorted(collect_all(trial.collector, orders), key=lambda collected: collected.index)
        if not all(collected.over for collected in played):
            raise KeyboardInterrupt  # they were paused, for the trial is to stop
        for collected in played:
            path = trial.run.episode_path(generation, collected.index)
            trial.run.write_episode(
                path, collected.episode, interval=generation, index=collected.index, weights=weights
            )
        return played

    def evaluate(self) -> list[Episode]:
        count = self._settings.evaluation_episodes
        return self._trial.evaluate_frozen(self._current.deployment, self._generation, count)

    def outcome(self) -> dict[str, Any]:
        return {"interactions": self._spent, "evaluated_from": self._generation}


@pytest.fixture(scope="module", autouse=True)
def named() -> Iterator[None]:
    """Give the agent and the loop their names, in this process."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(AGENTS, TOY.name, TOY)
        patch.setitem(LOOPS, "generations", Generations)
        yield


def toy_protocol(**choices: Any) -> Protocol:
    learning = ToySettings(schedule=ScheduleSettings(interactions=3_000, interval=3_000), **choices)
    return make_protocol("corridor", agent="toy", budget=2, max_frames=200, learning=learning)


@pytest.fixture(scope="module")
def directory(named: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("toy") / "run"
    train(path, toy_protocol())
    return path


def test_the_toy_learns_the_way_to_the_exit(directory: Path) -> None:
    run = RunDirectory.open(directory)
    steps = [line["steps"] for line in run.read_metrics("episode") if line["interval"] == 1]
    result = run.read_result()
    assert result is not None
    after = [read_episode(path).episode.steps for path in run.evaluation_paths(result)]
    assert statistics.fmean(after) < 15 < 30 < statistics.fmean(steps), "nine actions lead to the exit"


def test_its_head_says_how_far_the_exit_is(directory: Path) -> None:
    run = RunDirectory.open(directory)
    (network,) = read_deployment(run)[0].heuristics().parts
    simulator = run.protocol.make_simulator()
    state = simulator.start()
    cells = [ToyNode(state, None, None, 0.0, False, 0, 0, 2, None, None)]
    for _ in range(8):
        state = simulator.step(state, 1).state
        cells.append(ToyNode(state, None, None, 0.0, False, 0, 0, 2, None, None))
    left = network.evaluate(cells, (STEPS_LEFT,))[STEPS_LEFT]
    assert (np.diff(left) < 0).all()
    assert left[-1] == pytest.approx(1, abs=1)


def test_its_episodes_verify(directory: Path) -> None:
    episodes = [*directory.glob("episodes/*/*.json"), *directory.glob("evaluation/*/*.json")]
    assert len(episodes) > 20
    assert all(verify_episode(read_episode(path)).holds for path in episodes)


def test_its_protocol_is_read_back_and_its_hash_never_changes() -> None:
    protocol = toy_protocol()
    read = parse_protocol(json.loads(json.dumps(protocol.model_dump(mode="json"))))
    assert read == protocol
    assert read.hash == protocol.hash
    assert toy_protocol(epochs=100, loop=GenerationsSettings(episodes=8)).hash == protocol.hash
    assert toy_protocol(epochs=99).hash != protocol.hash
    assert toy_protocol(loop=GenerationsSettings(episodes=9)).hash != protocol.hash
    assert toy_protocol(targets=StepsLeft(limit=21)).hash != protocol.hash
    of_any_version = protocol.model_copy(update={"simulator_version": "", "noveltree_version": ""})
    assert of_any_version.hash == "e824352b9a63e089"


def test_what_it_has_learnt_is_evaluated_without_training(directory: Path) -> None:
    result = RunDirectory.open(directory).read_result()
    assert result is not None
    assert evaluate(directory, episodes=10)["scores"] == result["scores"]


class _Cut(Exception):
    pass


def test_a_run_that_was_cut_off_anywhere_goes_on_to_the_bit(
    directory: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every life ends in the middle of the metrics of a generation, or right behind its checkpoint."""
    lines, lives = 0, 0
    add_metrics, write_checkpoint = Trial.add_metrics, Trial.write_checkpoint

    def cut_in_between(trial: Trial, event: str, **line: Any) -> None:
        nonlocal lines
        add_metrics(trial, event, **line)
        lines += 1
        if lines % 14 == 0:
            raise _Cut

    def cut_behind(trial: Trial, number: int, checkpoint: Any) -> None:
        write_checkpoint(trial, number, checkpoint)
        if number == 2:
            raise _Cut

    monkeypatch.setattr(Trial, "add_metrics", cut_in_between)
    monkeypatch.setattr(Trial, "write_checkpoint", cut_behind)
    while lives < 50 and not (tmp_path / "run" / "result.json").exists():
        lives += 1
        with contextlib.suppress(_Cut):
            train(tmp_path / "run", toy_protocol(), episodes_at_once=3)
    assert 3 < lives < 50
    assert contents(tmp_path / "run") == contents(directory)


def test_an_interrupt_in_the_middle_of_a_generation_ends_it_and_nothing_is_lost(
    directory: Path, tmp_path: Path
) -> None:
    def interrupt(progress: Progress) -> None:
        signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        train(tmp_path / "run", toy_protocol(), watcher=Watcher(progress=interrupt))
    assert not (tmp_path / "run" / "result.json").exists()
    train(tmp_path / "run", toy_protocol())
    assert contents(tmp_path / "run") == contents(directory)
