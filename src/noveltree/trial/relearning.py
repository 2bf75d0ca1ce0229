"""Learning again what a run has learnt, from its recorded episodes: networks and curve must come out.

The same loop runs in a directory that is thrown away, with a collector that replays records instead of planning.
"""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path
from typing import Any

from noveltree.collection import InProcess
from noveltree.episodes import Episode
from noveltree.errors import RecordError
from noveltree.learning.deployment import Deployment
from noveltree.records import read_episode
from noveltree.records.run_directory import RunDirectory, place_of_episode
from noveltree.replay.collecting import EndOfRecords, FromRecords
from noveltree.replay.planned_again import why_never_again
from noveltree.trial.checkpoint_state import CURRENT, lanes_of, unpack
from noveltree.trial.start import EPISODES_AT_ONCE, LOOPS
from noveltree.trial.trial import Loop, Trial
from noveltree.trial.watcher import Watcher

#: Interval and index of an episode of training.
Place = tuple[int, int]


@dataclass(slots=True)
class Relearnt:
    """What came of learning again."""

    difference: str = ""
    """The first thing that came out otherwise than it was recorded, if anything did."""
    intervals: int = 0
    """Intervals whose networks came out as recorded."""
    planned: dict[Place, str] = field(default_factory=dict)
    """Episodes that were planned again, since they were to be or have no record; and what came out differently."""
    networks: dict[str, Deployment] = field(default_factory=dict)
    """Those that were wanted, by their digests."""


class _Differs(Exception):
    """Something came out otherwise than it was recorded, and all that follows would."""


def relearn(
    run: RunDirectory,
    *,
    planned: frozenset[Place] = frozenset(),
    wanted: frozenset[str] = frozenset(),
    on_interval: Callable[[int], None] = lambda interval: None,
) -> Relearnt:
    """Learn again, and compare all that comes out with what is recorded: metrics, episodes, the last checkpoint.

    Episodes of training that are `planned` are planned again on the way, as is whatever a run that is over has no
    records of. Networks whose digests are `wanted` are handed out. What cannot be planned any more is learnt again
    as far as there are records.
    """
    made = Relearnt()
    over = run.read_result() is not None and not why_never_again(run.protocol)
    player = InProcess(run.protocol, seed=run.seed, at_once=EPISODES_AT_ONCE) if over or planned else None

    def deployed(deployment: Deployment | None) -> None:
        if deployment is not None and deployment.digest in wanted:
            made.networks[deployment.digest] = deployment

    collector = FromRecords(
        run.protocol, run.seed, _Records(run).find, player=player, planned=planned, on_deploy=deployed
    )
    with (
        contextlib.closing(collector),
        tempfile.TemporaryDirectory(prefix="noveltree-relearn-") as place,
    ):
        again = RunDirectory.create(Path(place) / "run", run.protocol, run.seed)
        metrics = _Metrics(run, made, on_interval)
        trial = Trial(again, collector, Watcher(metrics=metrics.compare), milestones=False)
        try:
            assert run.protocol.learning is not None
            _learn(LOOPS[run.protocol.learning.loop.kind](trial), trial)
            metrics.end(over=over)
        except EndOfRecords:
            if over:
                made.difference = "an episode that it learnt from is not there"
            else:
                metrics.end(over=False)
        except (_Differs, RecordError) as difference:
            made.difference = str(difference)
        made.planned = {place: collector.differences.get(place, "") for place in sorted(collector.played)}
        made.difference = made.difference or _difference_in_episodes(run, again)
        made.difference = made.difference or _difference_in_checkpoints(run, again)
    return made


def _learn(loop: Loop, trial: Trial) -> None:
    """Train; and where learning goes on while it is evaluated, until that is over."""
    loop.train()
    if trial.settings.evaluation == "continuing":
        loop.evaluate()
    else:
        trial.collector.deploy(_deployed(trial.run))


def _deployed(run: RunDirectory) -> Deployment | None:
    """What a run has deployed in the end, which nothing was played with yet."""
    checkpoint, _ = run.read_checkpoint()
    current = None if checkpoint is None else unpack(checkpoint)[CURRENT]
    return None if current is None else current.deployment


class _Records:
    """The episodes that a run learnt from: those that were recorded, and those that lanes are playing."""

    def __init__(self, run: RunDirectory) -> None:
        self._run = run
        self._playing: dict[Place, Episode] = {}
        if run.read_result() is None:
            self._playing = {(record.interval, record.index): record.episode for record in lanes_of(run)}

    def find(self, interval: int, index: int) -> Episode | None:
        if (interval, index) in self._playing:
            return self._playing[interval, index]
        if not self._run.episode_path(interval, index).exists():
            return None
        return self._run.read_learnt(interval, index).episode


class _Metrics:
    """The recorded metrics, with which those that come out are compared line by line."""

    def __init__(self, run: RunDirectory, made: Relearnt, on_interval: Callable[[int], None]) -> None:
        self._lines = [line for line in run.read_metrics() if line["event"] != "evaluation"]
        self._count = 0
        self._made, self._on_interval = made, on_interval

    def compare(self, line: dict[str, Any]) -> None:
        if line["event"] == "evaluation" or self._count == len(self._lines):
            return
        recorded = self._lines[self._count]
        self._count += 1
        for name in {**recorded, **line}:
            if name != "seconds" and recorded.get(name) != line.get(name):
                where = ", ".join(f"{key} {line[key]}" for key in ("interval", "index", "epoch") if key in line)
                raise _Differs(
                    f"learnt again, {name} of {line['event']} ({where}) is {line.get(name)}, not "
                    f"{recorded.get(name)} as in its metrics"
                )
        if line["event"] == "interval":
            self._made.intervals += 1
            self._on_interval(self._made.intervals)

    def end(self, *, over: bool) -> None:
        if over and self._count < len(self._lines):
            raise _Differs(f"its metrics have {len(self._lines) - self._count} lines more than come out")


def _difference_in_episodes(run: RunDirectory, again: RunDirectory) -> str:
    """What recorded episodes say of their networks, and does not come out."""
    for path in again.learnt_paths():
        place = place_of_episode(path)
        assert place is not None
        recorded = run.episode_path(*place)
        if not recorded.exists():
            continue
        now, then = read_episode(path), read_episode(recorded)
        for first, second in zip_longest(
            ((0, now.weights), *now.refreshed), ((0, then.weights), *then.refreshed), fillvalue=(-1, None)
        ):
            if first != second:
                return (
                    f"learnt again, episode {place[1]} of interval {place[0]} was played with the networks "
                    f"{first[1]} from step {first[0]} on, not with {second[1]} from {second[0]} on"
                )
    return ""


def _difference_in_checkpoints(run: RunDirectory, again: RunDirectory) -> str:
    """Whether the last checkpoint has another content than the one that comes out at the same place."""
    try:
        (then, _), (now, _) = run.read_checkpoint(), again.read_checkpoint()
    except RecordError as error:
        return str(error)
    if then is None or now is None or run.read_result() is None:
        return ""
    if then.arrays.keys() != now.arrays.keys():
        return "learnt again, its last checkpoint has other arrays"
    for name, array in then.arrays.items():
        if array.tobytes() != now.arrays[name].tobytes():
            return f"learnt again, {name} in its last checkpoint has other numbers"
    return ""
