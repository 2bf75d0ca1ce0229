"""`noveltree train`: train an agent, or resume its training."""

from __future__ import annotations

import contextlib
import importlib.util
import shlex
import statistics
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

from noveltree.agents import AGENTS, get_agent
from noveltree.cli.common import CLAIRVOYANT, FORESEEN, Import, apart_from_results, check_executor, need_extra
from noveltree.cli.console import LiveLine, completion, counted, duration, err, out, print_json
from noveltree.cli.options import CONDITIONS, PLANNING, chosen_learning, learning_options, protocol_options, takes
from noveltree.errors import INTERRUPTED, InputError
from noveltree.learning.foresight import FORESIGHT_LOSSES, foreseen
from noveltree.protocol import TRAINING_PRESETS, Protocol, flat_settings, make_protocol, training_by
from noveltree.simulators import all_names

if TYPE_CHECKING:
    from noveltree.collection import Placement
    from noveltree.records.tensorboard import TensorBoard
    from noveltree.trial import Progress, Watcher

_MACHINE = "This machine"
_LEARNERS = [name for name, agent in AGENTS.items() if agent.heads]
#: Intervals over which the live line has the mean of what decisions pay, and of what the policy foresees.
_LATEST = 10
#: What may be chosen again when a run is resumed; everything else is part of the run.
_NOT_OF_THE_RUN = ("resume", "imports", "json", "workers", "episodes_at_once", "device", "executor", "address")


@takes(learning_options() | protocol_options((*CONDITIONS, *PLANNING)))
def train(
    context: typer.Context,
    game: Annotated[
        str | None,
        typer.Argument(
            help="An Atari game in any spelling, a Gymnasium id, 'corridor', or your own: path/to/file.py:Factory.",
            autocompletion=completion(all_names()),
        ),
    ] = None,
    agent: Annotated[
        str,
        typer.Option(
            help=f"{', '.join(_LEARNERS)}.",
            autocompletion=completion(_LEARNERS),
        ),
    ] = "n-cpl",
    seed: Annotated[int, typer.Option(help="Seed of the trial.", min=0, max=2**64 - 1)] = 0,
    out_dir: Annotated[
        Path | None, typer.Option("--out", help="The run's directory.", show_default="runs/GAME-AGENT-seedN")
    ] = None,
    resume: Annotated[Path | None, typer.Option(help="Resume the run in this directory.")] = None,
    imports: Import = False,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")] = False,
    workers: Annotated[
        int, typer.Option(help="Processes that play; with 1, this one does.", min=1, rich_help_panel=_MACHINE)
    ] = 1,
    episodes_at_once: Annotated[
        int, typer.Option(help="Episodes that a process plays at once.", min=1, rich_help_panel=_MACHINE)
    ] = 32,
    device: Annotated[str, typer.Option(help="cpu or cuda.", rich_help_panel=_MACHINE)] = "cpu",
    executor: Annotated[
        str, typer.Option(help="Where the workers are: local, or ray for a cluster.", rich_help_panel=_MACHINE)
    ] = "local",
    address: Annotated[
        str | None,
        typer.Option(
            help="The Ray cluster's address.",
            show_default="$RAY_ADDRESS, or a local one",
            rich_help_panel=_MACHINE,
        ),
    ] = None,
    budget: Annotated[
        int | None, typer.Option(help="Interactions per decision.", show_default="100", min=1)
    ] = None,
    preset: Annotated[
        str,
        typer.Option(
            help="; ".join(f"{name}: {each.summary}" for name, each in TRAINING_PRESETS.items()) + ".",
            autocompletion=completion(TRAINING_PRESETS),
            rich_help_panel="Learning",
        ),
    ] = "paper",
    more: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="NAME=VALUE",
            help="Any setting of learning, such as learning.value.batch=64; docs/settings.md lists them.",
            rich_help_panel="Learning",
        ),
    ] = None,
    **choices: Any,
) -> None:
    """Train an agent, then evaluate it. To resume after a crash or Ctrl-C, run the same command again.

    [bold]Examples[/]

      noveltree train breakout --preset quick

      noveltree train qbert --interactions 2000000

      noveltree train breakout --agent n-cpl-d --workers 2 --seed 1

      noveltree train qbert --value-targets lambda-returns --set learning.value.targets.lambda_=0.8

      noveltree train --resume runs/qbert-n-cpl-seed0

      noveltree train qbert --executor ray --address 10.0.0.1:6379 --workers 32
    """
    need_extra("Training")
    check_executor(executor, address)
    if resume is not None:
        _check_nothing_chosen(context)
        from noveltree.records.run_directory import RunDirectory

        run = RunDirectory.open(resume)
        session = _Session(resume, run.protocol, run.seed)
    else:
        if game is None:
            raise InputError("Which game? Give its name, or --resume DIR to resume a run.")
        learning = chosen_learning(agent, preset, choices, more or ())
        _, usual = training_by(preset, get_agent(agent))
        given = {name: choices[name] for name in (*CONDITIONS, *PLANNING) if choices[name] is not None}
        chosen = {**usual, **given}
        protocol = make_protocol(game, agent=agent, budget=budget, learning=learning, **chosen)
        name = f"{protocol.stem}-{protocol.agent}-seed{seed}"
        session = _Session(out_dir or Path("runs") / name, protocol, seed)
    with apart_from_results(executor), _placement(executor, address, workers) as placement:
        result = session.run(workers, episodes_at_once, device, placement, json=json)
    session.report(result, json=json)


@contextlib.contextmanager
def _placement(executor: str, address: str | None, workers: int) -> Iterator[Placement | None]:
    """Where the workers are: None for this machine."""
    if executor == "local":
        yield None
        return
    from noveltree.collection.ray_placement import RayPlacement

    with contextlib.closing(RayPlacement(address, cores=workers)) as placement:
        yield placement


def _check_nothing_chosen(context: typer.Context) -> None:
    """Raise InputError if options were given with `--resume` that would have no effect."""
    given = [
        parameter.opts[0]
        for parameter in context.command.params
        if (source := context.get_parameter_source(str(parameter.name))) and source.name == "COMMANDLINE"
        if parameter.name not in _NOT_OF_THE_RUN
    ]
    if given:
        raise InputError(f"With --resume everything about the run is known: leave out {', '.join(given)}.")


def _foresees(losses: Sequence[float]) -> str:
    """How well the policy foresees what is chosen now, and did at first: there long before an episode ends."""
    now = foreseen(losses[-_LATEST:])
    return f"foresees {now:.0%}, at first {foreseen(losses[:1]):.0%}" if len(losses) > 1 else f"foresees {now:.0%}"


def _pays(pays: Sequence[float]) -> str:
    """What decisions pay now."""
    return f"{statistics.fmean(pays[-_LATEST:]):,.4g} per decision"


def _word(accepted: bool) -> str:
    return "accepted" if accepted else "rejected"


class _Session:
    """Training on the command line: its progress and its result."""

    def __init__(self, directory: Path, protocol: Protocol, seed: int) -> None:
        self._directory, self._protocol, self._seed = directory, protocol, seed
        self._budget = protocol.training_interactions
        settings = flat_settings(protocol)
        self._evaluated = settings.get("learning.evaluation_episodes")
        in_turn = settings.get("learning.loop.kind") != "pretraining"
        self._tests = in_turn and settings["learning.schedule.p_value"] > 0
        """Whether changes of networks are accepted or rejected."""
        self._started: tuple[float, int] | None = None
        """When the first interactions were reported, and how many of them were played in this life of the run."""
        self._training_since: tuple[float, int] | None = None
        """The same of batches."""

    def run(
        self, workers: int, at_once: int, device: str, placement: Placement | None, *, json: bool
    ) -> dict[str, Any]:
        from noveltree.trial import train as train_in

        try:
            with LiveLine(quiet=json) as self._line:
                return train_in(
                    self._directory,
                    self._protocol,
                    seed=self._seed,
                    workers=workers,
                    episodes_at_once=at_once,
                    device=device,
                    placement=placement,
                    watcher=self._watcher(self._tensorboard(), json=json),
                )
        except KeyboardInterrupt:
            command = shlex.join(["noveltree", "train", "--resume", str(self._directory)])
            err.print(f"Interrupted. To resume: {command}", soft_wrap=True)
            raise typer.Exit(INTERRUPTED) from None

    def report(self, result: dict[str, Any], *, json: bool) -> None:
        if json:
            print_json({**result, "run": str(self._directory)})
        else:
            self._report(result)

    def _watcher(self, tensorboard: TensorBoard | None, *, json: bool) -> Watcher:
        from noveltree.trial import Watcher

        def add_metrics(line: dict[str, Any]) -> None:
            if line["event"] == "interval" and not json:
                self._report_interval(line)
            if line["event"] == "epoch" and not json:
                self._report_epoch(line)
            if tensorboard is not None:
                tensorboard.add(line)

        return Watcher(progress=self._show, metrics=add_metrics, notice=self._line.warn)

    def _tensorboard(self) -> TensorBoard | None:
        """Writes for TensorBoard, if that is installed."""
        if importlib.util.find_spec("tensorboard") is None:
            return None
        from noveltree.records.tensorboard import TensorBoard

        return TensorBoard(self._directory / "tensorboard")

    def _show(self, progress: Progress) -> None:
        now, played = time.monotonic(), progress.interactions - progress.replayed
        since, before_that = self._started = self._started or (now, played)
        rate = max(0, played - before_that) / (now - since) if now > since else 0.0
        mean = f"{sum(progress.returns) / len(progress.returns):,.5g}" if progress.returns else "-"
        before = ""
        if progress.last_return is not None and progress.verdict is not None:
            word = f", {_word(progress.verdict.accepted)}" if self._tests else ""
            before = f" (before: {progress.last_return:,.5g}{word})"
        episodes = len(progress.returns)
        if progress.stage == "evaluating":
            self._line.update(
                f"evaluation: {episodes} of {self._evaluated} episodes, mean {mean}{before}  {rate:,.0f}/s"
            )
            return
        if progress.trained is not None:
            self._show_training(*progress.trained)
            return
        done = f"{progress.interactions:,} of {self._budget:,}"
        left = f"{duration((self._budget - progress.interactions) / rate)} left" if rate else "? left"
        if progress.interactions >= self._budget:  # the last interval's episodes are played to their end
            done, left = f"{self._budget:,} spent", "last episodes"
        learning = ", learning" if progress.stage == "learning" else ""
        told = [f"mean {mean} of {episodes}{before}"] if episodes or not progress.pays else []
        told += [_foresees(progress.foresight)] if progress.foresight else []
        told += [_pays(progress.pays)] if progress.pays else []
        # What matters less stands last, where a narrow terminal cuts it off.
        self._line.update(
            f"{done}  {rate:,.0f}/s  {left}  interval {progress.interval}{learning}: {'; '.join(told)}"
        )

    def _show_training(self, done: int, of: int) -> None:
        """Networks that are trained once, before the agent plays with them."""
        now = time.monotonic()
        since, before_that = self._training_since = self._training_since or (now, done)
        rate = (done - before_that) / (now - since) if now > since else 0.0
        left = f"{duration((of - done) / rate)} left" if rate else "? left"
        self._line.update(f"training: batch {done:,} of {of:,}  {left}")

    def _report_epoch(self, line: dict[str, Any]) -> None:
        out.print(
            f"Epoch {line['epoch']}: reconstruction {line['reconstruction']:,.1f}, of screens held out "
            f"{line['held_out_reconstruction']:,.1f}",
            soft_wrap=True,
        )

    def _report_interval(self, line: dict[str, Any]) -> None:
        mean = "no episode ended"
        if line["episodes"]:
            mean = f"mean return {line['mean_return']:,.10g} of {counted(line['episodes'], 'episode')}"
            mean += f", {_word(line['accepted'])}" if self._tests else ""
            mean += f" (p = {line['p_value']:.3f})" if line["p_value"] is not None else ""
        if "reward_per_decision" in line:
            mean = f"{line['reward_per_decision']:,.4g} per decision, {mean}"
        foresight = line.get(FORESIGHT_LOSSES)
        if foresight:
            mean = f"the policy foresaw {foreseen(foresight):.0%} of what was chosen, {mean}"
        losses = "".join(
            f"; {name.removesuffix('_losses')} loss {values[-1]:.4g}"
            for name, values in line.items()
            if name.endswith("_losses") and name != FORESIGHT_LOSSES and values
        )
        out.print(
            f"Interval {line['interval']}: {mean}; {counted(line['interactions'], 'interaction')} so far{losses}",
            soft_wrap=True,
        )

    def _report(self, result: dict[str, Any]) -> None:
        out.print(
            Text.assemble(
                (self._protocol.title, "bold"),
                f", {self._protocol.agent}, seed {self._seed}: mean score ",
                (f"{result['score']:,.10g}", "bold"),
                f" of {counted(len(result['scores']), 'episode')} after "
                f"{counted(result['interactions'], 'interaction')}",
            ),
            soft_wrap=True,
        )
        if self._protocol.chance == FORESEEN:
            out.print(CLAIRVOYANT, soft_wrap=True)
        out.print(f"Run: {self._directory}", soft_wrap=True)
