"""How a benchmark looks: the live table while it runs, and the listing of its trials."""

from __future__ import annotations

import contextlib
import shlex
import time
from collections import Counter
from collections.abc import Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.live import Live
from rich.text import Text

from noveltree.benchmark.directory import BenchmarkDirectory, State, TrialStatus
from noveltree.benchmark.plan import PlannedTrial
from noveltree.benchmark.progress import Work
from noveltree.benchmark.scheduler import Benchmark, pause_after
from noveltree.cli.console import counted, duration, out, table
from noveltree.errors import RecordError
from noveltree.records.run_directory import RunDirectory

#: In the order in which they are listed: what needs attention comes first.
_STATES: tuple[State, ...] = ("failed", "running", "interrupted", "waiting", "finished")
_STYLES = {"failed": "bold red", "running": "green", "finished": "", "interrupted": "yellow", "waiting": "dim"}
#: Trials that are listed per state, at most; and notices.
_MOST_LISTED = 20


class View:
    """A benchmark on the terminal."""

    def __init__(self, directory: BenchmarkDirectory, *, quiet: bool) -> None:
        self._directory = directory
        self._quiet = quiet
        self._live = Live(console=out, transient=True, auto_refresh=False)
        self._shows = out.is_terminal and not quiet
        self._work: Work | None = None
        self._told: Counter[str] = Counter()
        """How many notices of each trial were printed."""

    def __enter__(self) -> View:
        if self._shows:
            self._live.__enter__()
        return self

    def __exit__(self, *exception: Any) -> None:
        if self._shows:
            self._live.__exit__(*exception)

    def show(self, benchmark: Benchmark, ended: TrialStatus | None) -> None:
        """Print what trials have to say and how one ended, and redraw the table."""
        if not self._quiet:
            heard = [benchmark.statuses[name] for name in benchmark.running] if ended is None else [ended]
            lines = [line for status in heard for line in self._news(status)]
            if ended is not None and (ending := self._ending(ended)) is not None:
                lines.append(ending)
            try:
                for line in lines:
                    out.print(line, soft_wrap=True)
            except SystemExit:  # from rich, when the reader has left, as in `| head`: no reason to stop
                self._quiet = True
        if self._shows:
            self._work = self._work or Work(benchmark)
            self._live.update(self._picture(benchmark, self._work), refresh=True)

    def print_status(self, statuses: Sequence[TrialStatus], *, running: bool) -> None:
        """List the trials, or those that matter, and count those in each state."""
        counts = Counter(status.state for status in statuses)
        self.print_failures(statuses)
        news = [line for status in statuses for line in self._news(status)]
        for line in news[:_MOST_LISTED]:
            out.print(line, soft_wrap=True)
        if len(news) > _MOST_LISTED:
            out.print(
                f"... and {counted(len(news) - _MOST_LISTED, 'notice')} more in {self._directory.log_directory}",
                soft_wrap=True,
            )
        listing = table(
            *("state", "game", "agent", "trial", "episodes", "mean", "time"),
            right=("trial", "episodes", "mean", "time"),
        )
        for state in _STATES:
            chosen = [status for status in statuses if status.state == state]
            for status in chosen[:_MOST_LISTED]:
                listing.add_row(*self._cells(status, time.time()))
            if len(chosen) > _MOST_LISTED:
                listing.add_row(Text(state, _STYLES[state]), f"... and {len(chosen) - _MOST_LISTED:,} more")
        out.print(listing)
        parts = [f"{counts[state]:,} {state}" for state in _STATES if counts[state]]
        out.print(f"{counted(len(statuses), 'trial')}: {', '.join(parts)}", soft_wrap=True)
        if not running and counts["failed"]:
            out.print(f"To retry what failed: {self._command('retry-failed')}", soft_wrap=True)
        if not running and counts.keys() & {"interrupted", "waiting", "running"}:
            out.print(f"To resume: {self._command('resume')}", soft_wrap=True)
        if counts["finished"] == len(statuses):
            out.print(f"To make a table: {self._command('collect')}", soft_wrap=True)

    def print_failures(self, statuses: Sequence[TrialStatus]) -> None:
        """List the trials that failed, with their errors and their logs."""
        for status in statuses:
            if status.state == "failed":
                out.print(_failure(status), soft_wrap=True)
                if (log := self._directory.log_path(status.trial)).exists():
                    out.print(f"  log: {log}", soft_wrap=True)

    def _news(self, status: TrialStatus) -> list[Text]:
        """The notices of a trial that were not printed yet."""
        trial = status.trial
        notices = self._directory.notices(trial)
        new, self._told[trial.name] = notices[self._told[trial.name] :], len(notices)
        return [Text(f"notice    {_where(trial)}: {notice}") for notice in new]

    def _command(self, name: str) -> str:
        return shlex.join(["noveltree", "benchmark", name, str(self._directory.path)])

    def _picture(self, benchmark: Benchmark, work: Work) -> RenderableType:
        """What fits on the screen: failures, then what is running, then the totals."""
        room = max(3, out.height - 4)
        failed = benchmark.in_state("failed")
        lines: list[RenderableType] = [_failure(status, width=out.width) for status in failed[: room // 3]]
        listing = table("game", "agent", "trial", "doing", "mean", "time", right=("trial", "mean", "time"))
        for column in listing.columns:
            column.no_wrap = True
        running = list(benchmark.running.items())
        shown = room - len(lines) - 1
        for name, since in running[:shown]:
            status = benchmark.statuses[name]
            doing, mean = self._doing(status)
            trial, took = status.trial, duration(time.monotonic() - since)
            listing.add_row(trial.game, trial.label, str(trial.trial), doing, mean, took)
        lines.append(listing)
        if len(running) > shown:
            lines.append(Text(f"... and {len(running) - shown} more"))
        lines.append(_totals(benchmark, work))
        return Group(*lines)

    def _doing(self, status: TrialStatus) -> tuple[str, str]:
        """What a trial is doing, and its mean return so far."""
        progress = self._directory.read_progress(status.trial)
        if progress is None:
            return "starting", ""
        with contextlib.suppress(KeyError, TypeError, ValueError, ZeroDivisionError):
            mean = "" if progress["mean_return"] is None else f"{progress['mean_return']:,.5g}"
            if progress["stage"] == "evaluating":
                return f"episode {progress['episodes'] + 1} of {status.trial.episodes}", mean
            share = progress["interactions"] / status.trial.protocol.training_interactions
            return f"{progress['stage']}, interval {progress['interval']}, {min(1.0, share):.0%}", mean
        return "running", ""

    def _ending(self, status: TrialStatus) -> Text | None:
        where = _where(status.trial)
        if status.state == "finished":
            episodes, mean = self._result(status)
            took = duration(status.seconds)
            return Text(f"finished  {where}: mean score {mean} of {counted(int(episodes), 'episode')} in {took}")
        if status.state == "failed":
            return _failure(status)
        if status.kills:
            pause = duration(pause_after(status.kills))
            return Text(f"killed    {where}, will go on in {pause}, as it was not its failure: {status.error}")
        if status.failures:
            return Text(f"failed    {where}, will be retried: {status.error}")
        return None

    def _result(self, status: TrialStatus) -> tuple[str, str]:
        """Episodes and mean score of a finished trial."""
        with contextlib.suppress(RecordError, KeyError, TypeError):
            result = RunDirectory.open(self._directory.run_path(status.trial)).read_result()
            if result is not None:
                return str(len(result["scores"])), f"{result['score']:,.10g}"
        return "0", "?"

    def _cells(self, status: TrialStatus, now: float) -> tuple[str | Text, ...]:
        trial = status.trial
        if status.state == "finished":
            episodes, mean = self._result(status)
        elif status.state == "waiting":
            episodes, mean = "", ""
        else:
            episodes, mean = self._doing(status)
            if status.state != "running":
                episodes = f"{self._directory.recorded(trial)} recorded"
        seconds = status.seconds + (now - status.began if status.state == "running" and status.began else 0.0)
        state = Text(status.state, _STYLES[status.state])
        took = duration(seconds) if seconds else ""
        return state, trial.game, trial.label, str(trial.trial), episodes, mean, took


def _totals(benchmark: Benchmark, work: Work) -> Text:
    """How many trials are in each state, and how long the rest will take."""
    done, failed = len(benchmark.in_state("finished")), len(benchmark.in_state("failed"))
    elapsed = time.monotonic() - benchmark.started
    since, to_do = work.measure(benchmark)
    rate = since / elapsed if elapsed else 0.0
    left = f"about {duration(to_do / rate)} left" if rate > 0 else "time left not known yet"
    return Text.assemble(
        (f"{len(benchmark.running)} running", "green"),
        f", {done} of {len(benchmark.statuses)} done, ",
        (f"{failed} failed", "bold red" if failed else ""),
        f"; {duration(elapsed)} so far, {left}",
    )


def _where(trial: PlannedTrial) -> str:
    return f"{trial.game}, {trial.label}, trial {trial.trial}"


def _failure(status: TrialStatus, *, width: int | None = None) -> Text:
    text = Text.assemble(("FAILED", "bold red"), f"  {_where(status.trial)}: {status.error}")
    if width is not None:
        text.truncate(width - 1, overflow="ellipsis")
    return text


def summary(directory: BenchmarkDirectory, statuses: Sequence[TrialStatus]) -> dict[str, Any]:
    """A benchmark as a JSON object; failed trials first."""
    counts = Counter(status.state for status in statuses)
    order = {state: number for number, state in enumerate(_STATES)}
    return {
        "benchmark": str(directory.path),
        "suite": directory.suite.name,
        **{state: counts[state] for state in _STATES},
        "trials": [
            {
                "trial": status.trial.name,
                "agent": status.trial.label,
                "game": status.trial.game,
                "seed": status.trial.seed,
                "state": status.state,
                "failures": status.failures,
                "kills": status.kills,
                "error": status.error,
                "notices": directory.notices(status.trial),
                "seconds": round(status.seconds, 3),
            }
            for status in sorted(statuses, key=lambda status: order[status.state])
        ],
    }
