"""The suites in `experiments/` still plan what was played, whatever has become a default since."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from noveltree.agents import retired_among
from noveltree.benchmark.directory import BenchmarkDirectory
from noveltree.benchmark.plan import PlannedTrial, plan_suite
from noveltree.benchmark.suite import read_suite, read_suite_file
from noveltree.errors import InputError

EXPERIMENTS = Path(__file__).parent.parent / "experiments"


def results_of(suite: Path) -> Path:
    """Where the results of a suite are: under its name beside it, or in `results` if it is called `suite`."""
    return suite.parent / "results" if suite.name == "suite.yaml" else suite.with_suffix("")


SUITES = [
    suite
    for folder in sorted(EXPERIMENTS.iterdir())
    for suite in sorted(folder.glob("*.yaml"))
    if (results_of(suite) / "plan.json").exists()
]


def names_and_hashes(trials: Sequence[PlannedTrial]) -> set[tuple[str, str, int]]:
    return {(trial.name, trial.protocol.hash, trial.seed) for trial in trials}


def test_most_suites_have_results() -> None:
    assert len(SUITES) > 20


@pytest.mark.parametrize("suite", SUITES, ids=lambda suite: str(suite.relative_to(EXPERIMENTS)))
def test_a_suite_plans_what_was_played(suite: Path) -> None:
    played = BenchmarkDirectory.open(results_of(suite)).trials
    assert names_and_hashes(played) <= names_and_hashes(plan_suite(read_suite_file(suite)))
    if any(retired_among(trial.protocol) for trial in played):
        with pytest.raises(InputError, match="which noveltree no longer has"):
            read_suite(str(suite))
