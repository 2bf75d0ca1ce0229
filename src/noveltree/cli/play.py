"""`noveltree play`: play episodes and record them."""

from __future__ import annotations

import contextlib
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

from noveltree.agents import AGENTS, get_agent
from noveltree.cli.common import need_extra
from noveltree.cli.console import LiveLine, completion, counted, duration, err, out, print_json
from noveltree.cli.options import CONDITIONS, PLANNING, protocol_options, takes
from noveltree.episodes import Decision, End, Play, drive
from noveltree.errors import INTERRUPTED, InputError
from noveltree.heuristics import UNINFORMED, Heuristics
from noveltree.protocol import DEFAULT_PRESET, PRESETS, Protocol, default_learning, make_protocol
from noveltree.records import EpisodeRecord, check_writable, unused, write_episode
from noveltree.replay import check_video, render_episode
from noveltree.signals import held_back
from noveltree.simulators import Simulator, SimulatorSettings, all_names

if TYPE_CHECKING:
    from noveltree.records.run_directory import RunDirectory

_CONDITIONS = "Conditions"


@takes(protocol_options((*CONDITIONS, *PLANNING)))
def play(
    game: Annotated[
        str,
        typer.Argument(
            help="An Atari game in any spelling, a Gymnasium id, or 'corridor'.",
            autocompletion=completion(all_names()),
        ),
    ],
    agent: Annotated[
        str | None,
        typer.Option(
            help="The agent; `noveltree agents` lists them.",
            show_default="riw-c",
            autocompletion=completion(AGENTS),
        ),
    ] = None,
    preset: Annotated[
        str, typer.Option(help="The experimental settings of a paper.", autocompletion=completion(PRESETS))
    ] = DEFAULT_PRESET,
    budget: Annotated[
        int | None,
        typer.Option(help="Interactions per decision.", show_default="100", rich_help_panel=_CONDITIONS, min=1),
    ] = None,
    seconds: Annotated[
        float | None,
        typer.Option(help="Seconds per decision, instead of interactions.", rich_help_panel=_CONDITIONS),
    ] = None,
    frames: Annotated[
        int | None,
        typer.Option(help="Emulated frames per decision, instead of interactions.", rich_help_panel=_CONDITIONS),
    ] = None,
    weights: Annotated[
        Path | None, typer.Option(help="The run whose networks an agent that learns plays with.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of the agent's random choices.", min=0, max=2**64 - 1)] = 0,
    episodes: Annotated[int, typer.Option(help="How many episodes to play.", min=1)] = 1,
    max_steps: Annotated[int | None, typer.Option(help="Stop each episode after so many decisions.", min=1)] = None,
    video: Annotated[Path | None, typer.Option(help="Write a video too (.mp4 or .gif).", dir_okay=False)] = None,
    out_dir: Annotated[Path, typer.Option("--out", help="Directory for the episode files.")] = Path("episodes"),
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")] = False,
    **choices: Any,
) -> None:
    """Play a game, print the score, and record the episodes so that anyone can verify them.

    [bold]Examples[/]

      noveltree play breakout --video breakout.mp4

      noveltree play MsPacman --agent riw-d --features bprost --seconds 0.5

      noveltree play qbert --preset lipovetzky-2015 --max-steps 20

      noveltree play FrozenLake-v1 --agent iw1 --json

      noveltree play qbert --weights runs/qbert-n-cpl-seed0
    """
    learnt = _Learnt.by(weights, agent)
    choices |= {"agent": agent, **_chosen_budget(budget, seconds, frames)}
    if learnt is not None:
        choices = learnt.complete(choices, game)
    protocol = make_protocol(game, preset=preset, **choices)
    if video is not None:
        check_video(video, protocol)
        check_writable(video.parent)
    check_writable(out_dir)
    results: list[dict[str, Any]] = []
    with contextlib.closing(protocol.make_simulator()) as simulator:
        heuristics, digest = (UNINFORMED, None) if learnt is None else learnt.heuristics(protocol, simulator)
        for index in range(episodes):
            session = _Session(protocol, simulator, seed, index, episodes, out_dir, heuristics, digest)
            interrupted = session.run(max_steps, quiet=json)
            results.append(session.result())
            if not json:
                session.report()
            if video is not None and not interrupted:
                interrupted = session.film(video, quiet=json)
            if interrupted:
                break
    if json:
        print_json(results[0] if episodes == 1 else _summary(protocol, seed, results))
    elif episodes > 1:
        scores = [result["score"] for result in results]
        out.print(f"Mean score of {counted(len(scores), 'episode')}: {sum(scores) / len(scores):,.2f}")
    if interrupted:
        raise typer.Exit(INTERRUPTED)


@dataclass(frozen=True)
class _Learnt:
    """What a run has learnt."""

    run: RunDirectory

    @classmethod
    def by(cls, weights: Path | None, agent: str | None) -> _Learnt | None:
        """The run in `weights`; None if there is none, and the agent needs none."""
        if weights is None:
            if agent is not None and default_learning(get_agent(agent)) is not None:
                raise InputError(
                    f"{agent} plays with networks that it has learnt: train it with `noveltree train`, and give "
                    "the run's directory with --weights."
                )
            return None
        need_extra("Playing with networks", ("onnx", "onnxruntime", "safetensors"))
        from noveltree.records.run_directory import RunDirectory

        learnt = cls(RunDirectory.open(weights))
        if agent is not None and get_agent(agent).name != learnt.agent:
            raise InputError(f"The weights in {weights} are of another agent: {learnt.agent}, not {agent}.")
        return learnt

    @property
    def agent(self) -> str:
        return self.run.protocol.agent

    def complete(self, choices: dict[str, Any], game: str) -> dict[str, Any]:
        """The settings under which it was learnt, but for those that are chosen."""
        learnt = self.run.protocol
        if make_protocol(game).game != learnt.game:
            raise InputError(f"The weights in {self.run.path} are of another game: {learnt.game}, not {game}.")
        if choices["budget"] is None:
            choices = {**choices, "budget": learnt.budget, "budget_unit": learnt.budget_unit}
        # What cannot be chosen for such a game is not chosen.
        kept = {*SimulatorSettings.model_fields} - {*learnt.simulator_kind.takes}
        own = {name: getattr(learnt, name) for name, value in choices.items() if value is None and name not in kept}
        return {**choices, **own, "learning": learnt.learning}

    def heuristics(self, protocol: Protocol, simulator: Simulator) -> tuple[Heuristics, str]:
        """The networks, and the digest of their weights."""
        from noveltree.trial import read_weights

        deployment = read_weights(self.run, protocol, simulator)
        return deployment.heuristics(), deployment.digest


class _Session:
    """Playing one episode on the command line, and what is to be said of it."""

    def __init__(
        self,
        protocol: Protocol,
        simulator: Simulator,
        seed: int,
        index: int,
        episodes: int,
        out_dir: Path,
        heuristics: Heuristics,
        weights: str | None,
    ) -> None:
        self._protocol = protocol
        self._heuristics, self._weights = heuristics, weights
        self._seed, self._index, self._episodes = seed, index, episodes
        self._out_dir = out_dir
        self._play = protocol.make_play(simulator, seed=seed, index=index)
        self._score = 0.0
        self._interactions = 0
        self.record: EpisodeRecord
        self.file: Path

    def run(self, max_steps: int | None, *, quiet: bool) -> bool:
        """Play and write the episode file; True if the user interrupted it."""
        steps = self._protocol.max_steps if max_steps is None else min(max_steps, self._protocol.max_steps)
        self._steps, self._started = steps, time.perf_counter()
        interrupted = False
        try:
            with LiveLine(quiet=quiet) as self._line:
                drive([self._play], self._heuristics, decisions=steps, on_decision=self._decided)
        except KeyboardInterrupt:
            interrupted = True
        except Exception:
            if self._play.decisions:
                self._write(interrupted=True)
                err.print(f"What was played so far is in {self.file}.", soft_wrap=True)
            raise
        try:
            self._write(interrupted=interrupted)
        except KeyboardInterrupt:  # which came while it was written
            interrupted = True
        return interrupted

    def result(self) -> dict[str, Any]:
        episode = self.record.episode
        return {
            "game": self._protocol.game,
            "agent": self._protocol.agent,
            "seed": self._seed,
            "index": self._index,
            "score": episode.score,
            "steps": episode.steps,
            "interactions": episode.interactions,
            "seconds": round(episode.seconds, 3),
            "protocol_hash": self._protocol.hash,
            "episode_file": str(self.file),
            "terminal": episode.end is End.TERMINAL,
            "end": str(episode.end),
        }

    def report(self) -> None:
        episode = self.record.episode
        rate = episode.interactions / episode.seconds if episode.seconds else 0.0
        which = f", episode {self._index}" if self._episodes > 1 else ""
        line = Text.assemble(
            (self._protocol.title, "bold"),
            f", {self._protocol.agent}, seed {self._seed}{which}: score ",
            (f"{episode.score:,.10g}", "bold"),
            f" in {counted(episode.steps, 'step')} ({episode.end}), "
            f"{counted(episode.interactions, 'interaction')} in {duration(episode.seconds)} ({rate:,.0f}/s)",
        )
        out.print(line, soft_wrap=True)
        out.print(f"Episode: {self.file}", soft_wrap=True)

    def film(self, path: Path, *, quiet: bool) -> bool:
        """Make the video; True if the user interrupted it."""
        if self._episodes > 1:
            path = path.with_name(f"{path.stem}-{self._index}{path.suffix}")
        try:
            with LiveLine(quiet=quiet) as line:
                render_episode(
                    self.record, path, progress=lambda done, total: line.update(f"Filming: step {done} of {total}")
                )
        except KeyboardInterrupt:
            return True
        if not quiet:
            out.print(f"Video: {path}", soft_wrap=True)
        return False

    def _decided(self, play: Play, decision: Decision) -> None:
        self._score += decision.reward
        self._interactions += decision.interactions
        done, elapsed = len(play.decisions), time.perf_counter() - self._started
        left = elapsed / done * (self._steps - done)
        which = f", episode {self._index + 1} of {self._episodes}" if self._episodes > 1 else ""
        # What matters less stands last, where a narrow terminal cuts it off.
        self._line.update(
            f"score {self._score:,.10g}  step {done:,} of {self._steps:,}  "
            f"{self._interactions / elapsed:,.0f} interactions/s  at most {duration(left)} left  "
            f"{self._protocol.game}{which}"
        )

    def _write(self, *, interrupted: bool) -> None:
        with held_back():
            episode = self._play.episode(interrupted=interrupted)
            self.record = EpisodeRecord(episode, self._protocol, self._seed, self._index, weights=self._weights)
            self.file = unused(self._out_dir / self.record.file_name())
            write_episode(self.file, self.record)


def _chosen_budget(interactions: int | None, seconds: float | None, frames: int | None) -> dict[str, Any]:
    given = {"interactions": interactions, "seconds": seconds, "frames": frames}
    chosen = [(unit, amount) for unit, amount in given.items() if amount is not None]
    if len(chosen) > 1:
        raise InputError("Choose one of --budget, --seconds and --frames.")
    unit, amount = chosen[0] if chosen else (None, None)
    return {"budget": amount, "budget_unit": unit}


def _summary(protocol: Protocol, seed: int, results: list[dict[str, Any]]) -> dict[str, Any]:
    """One object of several episodes: their mean score and totals, and each of them."""
    scores = [result["score"] for result in results]
    return {
        "game": protocol.game,
        "agent": protocol.agent,
        "seed": seed,
        "score": sum(scores) / len(scores),
        "steps": sum(result["steps"] for result in results),
        "interactions": sum(result["interactions"] for result in results),
        "seconds": round(sum(result["seconds"] for result in results), 3),
        "protocol_hash": protocol.hash,
        "episode_file": [result["episode_file"] for result in results],
        "terminal": all(result["terminal"] for result in results),
        "episodes": results,
    }
