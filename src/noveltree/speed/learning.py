"""How much learning costs beside the emulator: CPU seconds per interaction, as a ratio to raw emulation.

After every decision some raw `act` calls are timed from the state it led to, so that whatever slows the machine
down slows both; their time is taken out. Networks are hardly trained, and cost as much as others.
Measured are (a) one episode, (b) several at once in one process, (c) the same with all that is learnt from them:
what their transitions bring about on the way, and what is learnt when a round or an interval is closed, and (d) the
lockstep loop. Of a run, (a) and (b) are measured with the networks that it has deployed.
"""

from __future__ import annotations

import contextlib
import dataclasses
import resource
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from noveltree.agents import Agent, Settings, get_agent
from noveltree.collection import Order, Workers, collect_all
from noveltree.collection.orders import PathRecorder, Seen, make_path
from noveltree.collection.tuning import prepare_process
from noveltree.episodes import Decision, End, Episode, Play, drive, episode_rng
from noveltree.errors import InputError
from noveltree.features import FeatureSet, Indices
from noveltree.heuristics import Heuristics
from noveltree.learning.experience import CriticalPath
from noveltree.learning.inputs import InputShape
from noveltree.learning.learner import Learner
from noveltree.learning.retention import Replay
from noveltree.learning.snapshot import Snapshot
from noveltree.learning.vae_settings import VaeSettings
from noveltree.lookahead import Hierarchical, NoveltyPruning, Planner
from noveltree.protocol import Protocol, make_protocol
from noveltree.records.run_directory import RunDirectory
from noveltree.simulators import Atari, AtariState, State, Transition
from noveltree.speed.emulator import time_raw_calls
from noveltree.speed.lockstep import in_the_middle, measure_lockstep
from noveltree.tree import Node
from noveltree.trial import read_deployment
from noveltree.wording import counted

#: Raw calls that are timed after every decision.
_RAW_CALLS = 25
_WARM_UP_DECISIONS = 2
#: Decisions of random play that networks see before they are measured.
_RANDOM_DECISIONS = 64
#: Decisions of an episode in the measurement of the workers, which is in wall-clock time.
_WORKERS_DECISIONS = 10
#: Transitions of an interval of the paper: 1,000,000 interactions, 100 per decision.
_INTERVAL_TRANSITIONS = 10_000
_SIMULATING, _NOVELTY, _ABSTRACT = "simulating", "novelty", "abstract states"


@dataclass(frozen=True, slots=True)
class LearningCost:
    """The cost of playing with networks, and of learning, in one game."""

    game: str
    agent: str
    episodes_at_once: int
    latency_ratio: float
    """(a): one episode, to raw calls."""
    decision_seconds: float
    """(a): CPU seconds of one decision."""
    collecting_ratio: float
    """(b): several episodes at once."""
    learning_ratio: float
    """(c): several episodes at once, and learning from them."""
    lockstep_ratio: float
    """(d): training in lockstep, checkpoints included."""
    raw_us: float
    """CPU microseconds of a raw call."""
    split: dict[str, float]
    """What (c) is made of, each as a ratio to raw calls."""


def measure_learning(
    games: Sequence[str],
    *,
    agent: str = "n-cpl",
    episodes_at_once: int = 32,
    decisions: int = 8,
    lanes: int = 8,
    workers: bool = True,
    on_cost: Callable[[LearningCost], None] | None = None,
) -> dict[str, Any]:
    """Measure all games; `decisions` decisions of each of the episodes played at once, and a round of `lanes`."""
    if not games or min(episodes_at_once, decisions, lanes) < 1:
        raise InputError("At least 1 decision must be measured, in at least 1 game, episode and lane.")
    prepare_process()
    costs = []
    for game in games:
        cost = _measure(_protocol(game, agent), episodes_at_once, decisions, lanes)
        costs.append(cost)
        if on_cost is not None:
            on_cost(cost)
    result: dict[str, Any] = {
        "agent": agent,
        "games": [asdict(cost) for cost in costs],
        "median_latency_ratio": statistics.median(cost.latency_ratio for cost in costs),
        "median_collecting_ratio": statistics.median(cost.collecting_ratio for cost in costs),
        "median_lockstep_ratio": statistics.median(cost.lockstep_ratio for cost in costs),
        "median_learning_ratio": statistics.median(cost.learning_ratio for cost in costs),
        "peak_memory_mb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024),
    }
    if workers:
        result["two_workers"] = round(_measure_workers(_protocol(games[0], agent), episodes_at_once), 3)
    return result


def measure_playing(
    run: RunDirectory, *, episodes_at_once: int = 32, decisions: int = 8, warm_up: int = 20
) -> dict[str, Any]:
    """Measure what playing with a run's networks costs, alone and at once, after `warm_up` decisions.

    Until then episodes are much alike, and networks that remember what they have seen would have less to do.
    """
    if min(episodes_at_once, decisions) < 1 or warm_up < 0:
        raise InputError("At least 1 decision must be measured, in at least 1 episode.")
    deployment, _ = read_deployment(run)
    prepare_process()
    with contextlib.closing(run.protocol.make_simulator()) as simulator:
        if not isinstance(simulator, Atari):
            raise InputError(
                f"Playing is compared with raw emulation, and {run.protocol.game} is not an Atari game."
            )
        one, many = (
            _Measurement(run.protocol, simulator, deployment.heuristics(), at_once, decisions, warm_up)
            for at_once in (1, episodes_at_once)
        )
    return {
        "game": run.protocol.game,
        "agent": run.protocol.agent,
        "weights": deployment.digest,
        "episodes_at_once": episodes_at_once,
        "latency_ratio": round(one.ratio, 4),
        "collecting_ratio": round(many.ratio, 4),
        "raw_us": round(many.raw * 1e6, 1),
        "split": {part: round(ratio, 4) for part, ratio in many.split.items()},
        "peak_memory_mb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024),
    }


def _protocol(game: str, agent: str, **choices: Any) -> Protocol:
    protocol = make_protocol(game, agent=agent, **choices)
    if protocol.simulator != "atari":
        raise InputError(f"Learning is compared with raw emulation, and {game} is not an Atari game.")
    if protocol.learning is None:
        raise InputError(f"{agent} learns nothing.")
    if isinstance(protocol.learning, VaeSettings):
        raise InputError(
            f"{agent} is trained before it plays, and what playing costs depends on what it has learnt: measure a "
            "run of it with `noveltree bench playing`."
        )
    return protocol


def _measure(protocol: Protocol, at_once: int, decisions: int, lanes: int) -> LearningCost:
    with contextlib.closing(protocol.make_simulator()) as simulator:
        assert isinstance(simulator, Atari)
        snapshot = _snapshot(protocol, simulator)
        assert snapshot.deployment is not None
        heuristics = snapshot.deployment.heuristics()
        one = _Measurement(protocol, simulator, heuristics, 1, decisions)
        many = _Measurement(protocol, simulator, heuristics, at_once, decisions)
        learning = _measure_learning(protocol, snapshot, many.paths)
        learnt = {part: seconds / many.interactions / many.raw for part, seconds in learning.items()}
        split = many.split | learnt
        return LearningCost(
            game=protocol.game,
            agent=protocol.agent,
            episodes_at_once=at_once,
            latency_ratio=round(one.ratio, 4),
            decision_seconds=round(one.seconds / one.decisions, 4),
            collecting_ratio=round(many.ratio, 4),
            learning_ratio=round(many.ratio + sum(learnt.values()), 4),
            lockstep_ratio=round(measure_lockstep(protocol, lanes=lanes), 4),
            raw_us=round(many.raw * 1e6, 1),
            split={part: round(ratio, 4) for part, ratio in split.items()},
        )


def _snapshot(protocol: Protocol, simulator: Atari) -> Snapshot:
    """Networks that have seen one path of random play, so that agents play with all their heads."""
    assert protocol.learning is not None
    shape, rng = InputShape.of(simulator.start().observation), np.random.default_rng(0)
    initial = protocol.learning.initial_snapshot(shape, len(simulator.actions), rng=rng)
    learner = protocol.learning.make_learner(initial)
    learner.take_in(_random_path(simulator, rng), rng=rng)
    learner.close_round(1, rng=rng)
    return dataclasses.replace(learner.snapshot(), deployed=True)


def _random_path(simulator: Atari, rng: np.random.Generator) -> CriticalPath:
    state: State = simulator.start()
    seen, decisions = [Seen.of(state)], []
    actions = len(simulator.actions)
    for action in rng.integers(actions, size=_RANDOM_DECISIONS).tolist():
        state, reward, terminal = simulator.step(state, action)
        seen.append(Seen.of(state))
        # Equal values, which may also be visits.
        decisions.append(Decision(action, reward, 0, 0, 0, False, 0, 0.0, action_values=(1.0,) * actions))
        if terminal:
            break
    return make_path(seen, Episode(tuple(decisions), End.STOPPED, ""))


class _Measurement:
    """Episodes played at once, and where their CPU seconds went."""

    def __init__(
        self,
        protocol: Protocol,
        simulator: Atari,
        heuristics: Heuristics,
        at_once: int,
        decisions: int,
        warm_up: int = _WARM_UP_DECISIONS,
    ) -> None:
        #: CPU seconds by what they were spent on.
        self.parts: dict[str, float] = {}
        self._simulator = simulator
        self._timed = _TimedSimulator(simulator, self)
        self._rng = np.random.default_rng(0)
        self._raw_seconds = 0.0
        self._raw_calls = 0
        self._interrupted = 0.0
        self._recorders: dict[Play, PathRecorder] = {}
        timed = Heuristics(
            tuple(
                dataclasses.replace(
                    part, evaluate=self.timed(f"{'+'.join(sorted(part.heads))} network", part.evaluate)
                )
                for part in heuristics.parts
            )
        )
        plays = [self._play(protocol, index) for index in range(at_once)]
        drive(plays, timed, decisions=warm_up)
        self.parts.clear()
        self._timed.calls = 0
        self._recorders = {play: PathRecorder(play) for play in plays}
        before = time.process_time()
        drive(plays, timed, decisions=decisions, on_decision=self._decided)
        self.seconds = time.process_time() - before - self._interrupted
        played = [play.decisions[warm_up:] for play in plays]
        self.decisions = sum(len(decisions) for decisions in played)
        self.interactions = sum(decision.interactions for decisions in played for decision in decisions)
        if not self.decisions:
            raise InputError(f"All episodes are over after {warm_up} decisions, so that none is left to measure.")
        if not self.interactions:
            raise InputError(
                f"All that {counted(self.decisions, 'decision')} looked at was known from the decisions before, so "
                "that there is nothing to measure: choose more --decisions."
            )
        #: CPU seconds of a raw call.
        self.raw = self._raw_seconds / self._raw_calls
        self.ratio = self.seconds / self.interactions / self.raw
        self.parts["tree and driver"] = self.seconds - sum(self.parts.values())
        #: What the ratio is made of.
        emulator = self._timed.calls / self.interactions
        self.split = {
            "emulator": emulator,
            **{part: seconds / self.interactions / self.raw for part, seconds in self.parts.items()},
        }
        self.split["screens and snapshots"] = self.split.pop(_SIMULATING) - emulator
        self.paths = [
            recorder.path(Episode(tuple(play.decisions), End.STOPPED, ""))
            for play, recorder in self._recorders.items()
        ]

    def _play(self, protocol: Protocol, index: int) -> Play:
        agent = get_agent(protocol.agent)
        return Play(
            self._timed,
            dataclasses.replace(agent, assemble=self._timed_assembly(agent)),
            settings=protocol.settings(),
            budget=protocol.make_budget(),
            rng=episode_rng(0, index),
        )

    def _decided(self, play: Play, decision: Decision) -> None:
        started = time.process_time()
        self._recorders[play].decided(play, decision)
        state = play.lookahead.root.state
        assert isinstance(state, AtariState)
        actions = self._rng.integers(len(self._simulator.actions), size=_RAW_CALLS).tolist()
        self._raw_seconds += time_raw_calls(self._simulator, state, actions)
        self._raw_calls += _RAW_CALLS
        self._interrupted += time.process_time() - started

    def timed(self, part: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def timed(*arguments: Any) -> Any:
            before = time.process_time()
            result = function(*arguments)
            self.parts[part] = self.parts.get(part, 0.0) + time.process_time() - before
            return result

        return timed

    def _timed_assembly(self, agent: Agent) -> Callable[[State, Settings], Planner]:
        def assemble(start: State, settings: Settings) -> Planner:
            planner = agent.assemble(start, settings)
            pruning = getattr(planner, "pruning", None)
            if isinstance(pruning, NoveltyPruning):
                features, table = _TimedFeatures(pruning.features, self), pruning.table
                for name in ("clear", "enter", "holds", "holder"):
                    setattr(table, name, self.timed(_NOVELTY, getattr(table, name)))
                pruning.features = features
            elif isinstance(planner, Hierarchical):
                low_level = planner.low_level
                low_level.features = _TimedFeatures(low_level.features, self)
                low_level.states.number = self.timed(_ABSTRACT, low_level.states.number)  # type: ignore[method-assign]
            return planner

        return assemble


class _TimedFeatures(FeatureSet):
    """A feature set, timed."""

    def __init__(self, features: FeatureSet, measurement: _Measurement) -> None:
        self._features = features
        self.heads = features.heads
        self._compute = measurement.timed(_NOVELTY, features)

    @property
    def size(self) -> int:  # type: ignore[override]
        return self._features.size

    def __call__(self, node: Node) -> Indices:
        indices: Indices = self._compute(node)
        return indices


class _TimedSimulator:
    """An Atari game, timed."""

    def __init__(self, simulator: Atari, measurement: _Measurement) -> None:
        self.actions = simulator.actions
        self.start = simulator.start
        self.identity = simulator.identity
        #: How often it was asked, of all interactions: what is known is not simulated.
        self.calls = 0
        self._step = measurement.timed(_SIMULATING, simulator.step)

    def step(self, state: State, action: int) -> Transition:
        self.calls += 1
        transition: Transition = self._step(state, action)
        return transition

    def close(self) -> None:
        pass


def _measure_learning(protocol: Protocol, snapshot: Snapshot, paths: Sequence[Any]) -> dict[str, float]:
    """CPU seconds of learning from these paths, as in the middle of an interval, and at its end."""
    assert protocol.learning is not None
    learner = in_the_middle(protocol.learning).make_learner(snapshot)
    rng = np.random.default_rng(0)
    for path in paths:  # warm up
        learner.take_in(path, rng=rng)
    learner.close_round(1, rng=rng)
    learner.close_interval(rng=rng)
    learner.keep(0)
    if isinstance(protocol.learning.retention, Replay):  # which is full for most of the training
        _fill(learner, paths)
    before = time.process_time()
    for path in paths:
        learner.take_in(path, rng=rng)
    learner.close_round(sum(map(len, paths)), rng=rng)
    on_the_way = time.process_time() - before
    before = time.process_time()
    learner.close_interval(rng=rng)
    at_the_end = time.process_time() - before
    _fill(learner, paths)  # an interval of the paper is held while it lasts: let the peak of memory show it
    return {"learning on the way": on_the_way, "learning at the end": at_the_end}


def _fill(learner: Learner, paths: Sequence[CriticalPath]) -> None:
    """Let a learner hold as many transitions as an interval of the paper has."""
    while len(learner.experience) < _INTERVAL_TRANSITIONS:
        for path in paths:
            learner.experience.add(dataclasses.replace(path, observations=path.observations.copy()))


def _measure_workers(protocol: Protocol, at_once: int) -> float:
    """Interactions per second of wall-clock time with two worker processes, to those with one."""
    short = protocol.model_copy(update={"max_frames": protocol.frame_skip * _WORKERS_DECISIONS})
    with contextlib.closing(protocol.make_simulator()) as simulator:
        assert isinstance(simulator, Atari)
        deployment = _snapshot(protocol, simulator).deployment
    seconds = []
    for workers in (1, 2):
        with contextlib.closing(Workers(short, seed=0, workers=workers, at_once=at_once)) as collector:
            collector.deploy(deployment)
            list(collect_all(collector, (Order(1, index) for index in range(workers))))  # warm up
            before = time.monotonic()
            list(collect_all(collector, (Order(2, index) for index in range(2 * at_once))))
            seconds.append(time.monotonic() - before)
    return seconds[0] / seconds[1]
