r"""What each part of how n-cpl-plus learns is good for: how well policies foresee what recorded lookaheads chose.

    python scripts/foresight.py experiments/faster-learning/short-3/trials/*/if-safe-policy/trial-0 \
        --variant "executed action=policy_targets={'kind':'paper'}" --variant "no shift=shift=0" \
        --out experiments/faster-learning/foresight.csv

A run's episodes are learnt from once more, round after round, by the learner as it is and with one setting changed;
nothing is planned, so that all of them see the same. Before a round is learnt from, the policy that is deployed is
asked about it: the probability that it gives to what the lookaheads chose, in the geometric mean, each decision
weighted by how sure the lookahead was. That is what a policy knows of states that it was not trained on.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import csv
import math
import statistics
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from noveltree.collection import Collected
from noveltree.collection.tuning import prepare_process
from noveltree.learning.architecture import Architecture
from noveltree.learning.deployment import Deployment
from noveltree.learning.experience import CriticalPath, inputs_of_path
from noveltree.learning.inference import Inference, make_inference
from noveltree.learning.joint import JOINT
from noveltree.learning.policy_targets import SoftActions
from noveltree.learning.settings import JointSettings
from noveltree.lookahead import POLICY
from noveltree.reading import with_choices
from noveltree.records.run_directory import RunDirectory
from noveltree.replay.collecting import EndOfRecords, FromRecords
from noveltree.trial.start import LOOPS
from noveltree.trial.trial import Trial
from noveltree.trial.watcher import Watcher

#: By which all variants are measured, whatever they are trained towards.
_CHOSEN = SoftActions(uniform=0.0)
#: The name of the learner without a change.
AS_IT_IS = "as it is"


class _Asked(FromRecords):
    """Replays episodes, and asks the policy that is deployed about every piece before it is handed out."""

    def __init__(self, run: RunDirectory) -> None:
        super().__init__(run.protocol, run.seed, _finder(run), on_deploy=self._use)
        self.paths: list[CriticalPath] = []
        self.logs: list[np.ndarray] = []
        self._architecture: Architecture | None = None
        self._policy: Inference | None = None

    @property
    def decisions(self) -> int:
        """About how many the policy was asked."""
        return sum(map(len, self.paths))

    def _use(self, deployment: Deployment | None) -> None:
        if deployment is not None:
            self._architecture = deployment.architectures[JOINT]
            self._policy = make_inference(self._architecture, deployment.weights[JOINT], device="cpu")

    def collect(self) -> Collected:
        collected = super().collect()
        if self._policy is not None and self._architecture is not None:
            inputs = inputs_of_path(collected.path, self._architecture.input)[:-1]
            self.logs.append(np.log(np.maximum(self._policy(inputs, (POLICY,))[POLICY], 1e-12)))
            self.paths.append(collected.path)
        return collected

    def foresight(self, actions: int, first: float, last: float) -> float:
        """The probability of what was chosen, from one share of the decisions to another."""
        targets, logs = _CHOSEN.targets(self.paths, actions), np.concatenate(self.logs)
        part = slice(int(len(logs) * first), int(len(logs) * last))
        return math.exp(float((targets[part] * logs[part]).sum() / targets[part].sum()))


def _finder(run: RunDirectory) -> Any:
    def find(interval: int, index: int) -> Any:
        path = run.episode_path(interval, index)
        return run.read_learnt(interval, index).episode if path.exists() else None

    return find


def learn(run: RunDirectory, changes: dict[str, Any]) -> _Asked:
    """Learn from a run's episodes with some settings of learning changed."""
    learning = run.protocol.learning
    assert isinstance(learning, JointSettings)
    changed = with_choices(learning, changes, called=lambda name: name) if changes else learning
    collector = _Asked(run)
    with contextlib.closing(collector), tempfile.TemporaryDirectory() as place:
        protocol = run.protocol.model_copy(update={"learning": changed})
        again = RunDirectory.create(Path(place) / "run", protocol, run.seed)
        trial = Trial(again, collector, Watcher(), milestones=False)
        with contextlib.suppress(EndOfRecords):
            LOOPS[learning.loop.kind](trial).train()
    return collector


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", type=Path, nargs="+")
    parser.add_argument("--variant", action="append", default=[], help="NAME=SETTING=VALUE[;SETTING=VALUE]")
    parser.add_argument("--out", type=Path, required=True, help="a CSV file, to which rows are added")
    options = parser.parse_args()
    variants = {AS_IT_IS: {}, **dict(map(_variant, options.variant))}
    prepare_process()
    for path in options.runs:
        run = RunDirectory.open(path)
        name_of_run = f"{run.protocol.game} {run.protocol.hash} {run.seed}"
        with contextlib.closing(run.protocol.make_simulator()) as simulator:
            actions = len(simulator.actions)
        for name, changes in variants.items():
            known = {(row["run"], row["variant"]): row for row in _rows(options.out)}
            if (name_of_run, name) in known:
                if known[name_of_run, name]["changes"] != repr(changes):
                    parser.error(f"{options.out} has another {name!r}: give this one another name.")
                continue
            asked = learn(run, changes)
            usual = known.get((name_of_run, AS_IT_IS))
            if usual is not None and int(usual["decisions"]) != asked.decisions:
                parser.error(f"{name!r} was not asked about the same decisions.")
            halves = asked.foresight(actions, 0.0, 0.5), asked.foresight(actions, 0.5, 1.0)
            shown = [f"{half:.5f}" for half in halves]
            _add(options.out, [name_of_run, name, repr(changes), asked.decisions, actions, *shown])
    print(table(_rows(options.out)))


def table(rows: Iterable[dict[str, str]]) -> str:
    """One row per variant: foresight relative to the learner as it is, in both halves of training."""
    found = {(row["run"], row["variant"]): row for row in rows}
    lines = ["| learner | first half | second half | runs better |", "| --- | ---: | ---: | ---: |"]
    for name in dict.fromkeys(variant for _, variant in found):
        ratios = [
            tuple(float(row[half]) / float(found[run, AS_IT_IS][half]) for half in ("first", "second"))
            for (run, variant), row in found.items()
            if variant == name
        ]
        means = [statistics.geometric_mean(column) for column in zip(*ratios, strict=True)]
        better = f"{sum(second > 1.0 for _, second in ratios)} of {len(ratios)}" if name != AS_IT_IS else "-"
        lines.append(f"| {name} | {means[0]:.3f} | {means[1]:.3f} | {better} |")
    return "\n".join(lines)


def _variant(text: str) -> tuple[str, dict[str, Any]]:
    name, given, changes = text.partition("=")
    if not given:
        raise SystemExit(f"{text!r} is not NAME=SETTING=VALUE.")
    made = {}
    for change in changes.split(";"):
        setting, _, value = change.partition("=")
        made[setting] = ast.literal_eval(value)
    return name, made


def _rows(file: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(file.read_text().splitlines())) if file.exists() else []


def _add(file: Path, row: list[Any]) -> None:
    new = not file.exists()
    with file.open("a", newline="") as out:
        writer = csv.writer(out, lineterminator="\n")
        if new:
            writer.writerow(["run", "variant", "changes", "decisions", "actions", "first", "second"])
        writer.writerow(row)


if __name__ == "__main__":
    main()
