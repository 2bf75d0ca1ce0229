"""What a run says of its learning, against its episodes: nothing is planned or learnt again.

Its schedule is followed once more through the recorded episodes. So it is known which of them there must be, what
they sum up to, what the curve is, which updates were accepted, and which networks each episode was played with.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from noveltree.errors import RecordError
from noveltree.learning.settings import LockstepSettings
from noveltree.records import EpisodeRecord
from noveltree.records.checkpoint import Checkpoint, checkpoint_paths, read_checkpoint
from noveltree.records.parsing import parse_json
from noveltree.records.run_directory import CHECKPOINTS, RESULT, RunDirectory, is_number
from noveltree.trial.trial import training_tail
from noveltree.wording import counted

#: Interval and index of an episode.
Place = tuple[int, int]
#: What metrics tell of; epochs are those of networks that are trained once.
_EVENTS = ("episode", "epoch", "interval", "evaluation")
#: What only learning again can tell.
_LEARNT = ("_loss", "_losses", "seconds", "weights")
#: What the first runs did not write, and what is rounded to six digits.
_LATER = _, _ROUNDED = "at", "reward_per_decision"


@dataclass(slots=True)
class Ledger:
    """What follows from the episodes of a run, and what does not fit."""

    run: RunDirectory
    over: bool
    """Whether the run has a result."""
    training: Mapping[Place, EpisodeRecord]
    weights: list[str | None]
    """The networks that each interval ended with, as the metrics have them; before the first interval is closed
    there are those that learning begins with."""
    lines: list[dict[str, Any]] = field(default_factory=list)
    """The metrics as they must be, but for what only learning again can tell."""
    ordered: bool = True
    """Whether episodes come in this order; otherwise in that of their index."""
    schedules: dict[int, dict[str, Any]] = field(default_factory=dict)
    """What checkpoints must say of the schedule, by their number."""
    taken: set[Place] = field(default_factory=set)
    """The episodes that training used."""
    wrong: list[tuple[Path, str]] = field(default_factory=list)
    """Files, and what does not fit in them."""
    missing: str = ""
    """Which episode is not there, if training cannot be followed to its end."""
    tail: bool = False
    """Whether that may be what a lane was playing when training was over, which the first runs did not record."""

    def take(self, place: Place) -> EpisodeRecord | None:
        record = self.training.get(place)
        if record is not None:
            self.taken.add(place)
        return record

    def played_with(self, interval: int) -> str | None:
        """The networks with which an interval begins."""
        return self.weights[interval - 1] if interval <= len(self.weights) else None

    def check_weights(self, place: Place, said: object, due: object) -> None:
        if said != due:
            self.wrong.append(
                (
                    self.run.episode_path(*place),
                    f"it says that it was played with the networks {said}, but {due} were deployed then",
                )
            )


def episode_line(record: EpisodeRecord, **more: Any) -> dict[str, Any]:
    """The line of an episode in the metrics."""
    episode = record.episode
    return {
        "event": "episode",
        "interval": record.interval,
        "index": record.index,
        "return": episode.score,
        "steps": episode.steps,
        "interactions": episode.interactions,
        "end": str(episode.end),
        **more,
    }


def read_lines(run: RunDirectory, *, over: bool) -> tuple[list[dict[str, Any]], str]:
    """All lines of a run's metrics, and what is wrong with them; the last one of a run may be cut off."""
    try:
        data = run.metrics_path.read_bytes()
    except OSError as error:
        return [], f"cannot be read: {error.strerror or error}"
    *whole, rest = data.split(b"\n")
    lines: list[dict[str, Any]] = []
    for number, text in enumerate(whole, start=1):
        try:
            line = parse_json(text)
        except ValueError:
            return lines, f"line {number} is damaged"
        if not isinstance(line, dict) or line.get("event") not in _EVENTS:
            return lines, f"line {number} is none that noveltree writes"
        line.pop("checksum", None)
        lines.append(line)
    try:
        run.read_metrics()
    except RecordError:
        return lines, "its checksums do not fit: lines were changed, dropped or moved"
    return lines, "its last line is cut off" if rest and over else ""


def difference_of_lines(recorded: Mapping[str, Any], due: Mapping[str, Any]) -> str:
    """What a line of the metrics says that does not follow from the episodes."""
    for name in {**due, **recorded}:
        if name.endswith(_LEARNT) or (name in _LATER and name not in recorded):
            continue
        said, is_due = recorded.get(name), due.get(name)
        if said != is_due and not _nearly(said, is_due, 2e-6 if name == _ROUNDED else 1e-12):
            return f"its {name} is {said}, not {is_due} as its episodes have it"
    return ""


def _nearly(one: object, other: object, tolerance: float) -> bool:
    """Whether two numbers are the same but for rounding, such as p-values of other versions of a library."""
    if not (is_number(one) and is_number(other)):
        return False
    assert isinstance(one, int | float)
    assert isinstance(other, int | float)
    return math.isclose(one, other, rel_tol=1e-9, abs_tol=tolerance)


def check_checkpoints(ledger: Ledger) -> Iterator[tuple[Path, str]]:
    """What is wrong with the checkpoints of a run: that they are whole, its own, and of where its episodes end."""
    run = ledger.run
    for path in checkpoint_paths(run.path / CHECKPOINTS):
        try:
            checkpoint = read_checkpoint(path)
        except RecordError as error:
            yield path, str(error)
            continue
        state = checkpoint.state
        if (state.get("protocol_hash"), state.get("seed")) != (run.protocol.hash, run.seed):
            yield path, "it is of another run"
            continue
        if checkpoint.number != int(path.name):
            yield path, f"it is the checkpoint {checkpoint.number}, by another name"
        yield from ((path, sentence) for sentence in _check_networks(ledger, checkpoint))
        for name, value in ledger.schedules.get(int(path.name), {}).items():
            if state.get(name) != value:
                yield path, f"its {name} is {state.get(name)}, not {value} as the episodes have it"
                break


def _check_networks(ledger: Ledger, checkpoint: Checkpoint) -> Iterator[str]:
    """What is wrong with what a checkpoint deploys."""
    from noveltree.trial.checkpoint_state import CURRENT, unpack

    learning = ledger.run.protocol.learning
    state = checkpoint.state
    try:
        current = unpack(checkpoint)[CURRENT]
        digest, interval = None if current is None else current.digest, int(state["interval"])
    except (KeyError, TypeError, ValueError, AttributeError):
        yield "it does not hold what noveltree writes"
        return
    in_mid_interval = isinstance(getattr(learning, "loop", None), LockstepSettings) and state.get("spent")
    known = 1 <= interval <= len(ledger.weights)
    if not known:
        yield f"it goes on with interval {interval}, of which the metrics know nothing"
    elif not in_mid_interval and digest != ledger.weights[interval - 1]:
        yield f"it deploys the networks {digest}, not {ledger.weights[interval - 1]} as the metrics say"
    size = state.get("metrics_size")
    if not isinstance(size, int) or size > ledger.run.metrics_path.stat().st_size:
        yield "it knows more metrics than there are"


def check_result(ledger: Ledger, result: Mapping[str, Any]) -> Iterator[tuple[Path, str]]:
    """What a result says of training that does not follow from the episodes."""
    learning = ledger.run.protocol.learning
    assert learning is not None
    closed = [line for line in ledger.lines if line["event"] == "interval"]
    due: dict[str, Any] = {"evaluation": learning.evaluation}
    if not ledger.missing:
        due |= {"interactions": closed[-1]["interactions"] if closed else 0, "intervals": len(closed)}
        if "tail" in result:  # the first runs in lockstep have none
            ended = [line for line in ledger.lines if "at" in line]
            due["tail"] = training_tail(ended, learning.schedule.interactions)
    for name, value in due.items():
        if result.get(name) != value:
            yield ledger.run.path / RESULT, f"its {name} is {result.get(name)}, not {value} as its episodes have it"
    if len(result["scores"]) != learning.evaluation_episodes:
        scores, episodes = counted(len(result["scores"]), "score"), learning.evaluation_episodes
        yield ledger.run.path / RESULT, f"it has {scores}, but its protocol has {episodes} episodes of evaluation"
