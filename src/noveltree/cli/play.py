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
from noveltree.episodes import Decision, End, Play, drive
from noveltree.errors import INTERRUPTED, InputError
from noveltree.evaluation import UNINFORMED, Evaluation
from noveltree.protocol import DEFAULT_PRESET, PRESETS, Protocol, make_protocol
from noveltree.records import EpisodeRecord, check_writable, unused, write_episode
from noveltree.replay import check_video, render_episode
from noveltree.signals import held_back
from noveltree.simulators import Simulator
from noveltree.simulators.games import all_games, game_title

if TYPE_CHECKING:
    from noveltree.records.run_directory import RunDirectory

_PLAN = "Planning"
_CONDITIONS = "Conditions"


def play(
    game: Annotated[
        str,
        typer.Argument(
            help="An Atari game in any spelling, a Gymnasium id, or 'corridor'.",
            autocompletion=completion((*all_games(), "corridor")),
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
        typer.Option(help="Interactions per decision.", show_default="100", rich_help_panel=_CONDITIONS),
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
    action_set: Annotated[
        str | None, typer.Option(help="minimal or full.", show_default="minimal", rich_help_panel=_CONDITIONS)
    ] = None,
    frame_skip: Annotated[
        int | None,
        typer.Option(help="Frames an action is held.", show_default="15", rich_help_panel=_CONDITIONS),
    ] = None,
    max_frames: Annotated[
        int | None,
        typer.Option(help="Frames per episode at most.", show_default="18000", rich_help_panel=_CONDITIONS),
    ] = None,
    mode: Annotated[int | None, typer.Option(help="Mode of the game.", rich_help_panel=_CONDITIONS)] = None,
    difficulty: Annotated[
        int | None, typer.Option(help="Difficulty of the game.", rich_help_panel=_CONDITIONS)
    ] = None,
    cache: Annotated[
        bool | None,
        typer.Option(
            "--cache/--no-cache",
            help="Keep the subtree of the executed action.",
            show_default="cache",
            rich_help_panel=_CONDITIONS,
        ),
    ] = None,
    features: Annotated[
        str | None,
        typer.Option(help="pixels, ram, bprost or atoms.", show_default="pixels", rich_help_panel=_PLAN),
    ] = None,
    horizon: Annotated[
        int | None, typer.Option(help="Depth of the lookahead.", show_default="100", rich_help_panel=_PLAN)
    ] = None,
    discount: Annotated[
        float | None, typer.Option(help="Discount in the backup.", show_default="1", rich_help_panel=_PLAN)
    ] = None,
    tie_breaking: Annotated[
        str | None,
        typer.Option(help="random or larger-subtree.", show_default="random", rich_help_panel=_PLAN),
    ] = None,
    rollout_depth: Annotated[
        int | None, typer.Option(help="Length of random rollouts (uct, rtdp).", rich_help_panel=_PLAN)
    ] = None,
    exploration: Annotated[
        float | None, typer.Option(help="Constant of UCB1 (uct).", rich_help_panel=_PLAN)
    ] = None,
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
    amount, unit = _chosen_budget(budget, seconds, frames)
    choices = {
        "agent": agent,
        "budget": amount,
        "budget_unit": unit,
        "action_set": action_set,
        "frame_skip": frame_skip,
        "max_frames": max_frames,
        "mode": mode,
        "difficulty": difficulty,
        "cache": cache,
        "features": features,
        "horizon": horizon,
        "discount": discount,
        "tie_breaking": tie_breaking,
        "rollout_depth": rollout_depth,
        "exploration": exploration,
    }
    protocol = make_protocol(game, preset=preset, **(choices if learnt is None else learnt.complete(choices, game)))
    if video is not None:
        check_video(video, protocol)
        check_writable(video.parent)
    check_writable(out_dir)
    results: list[dict[str, Any]] = []
    with contextlib.closing(protocol.make_simulator()) as simulator:
        evaluation, digest = (UNINFORMED, None) if learnt is None else learnt.evaluation(protocol, simulator)
        for index in range(episodes):
            session = _Session(protocol, simulator, seed, index, episodes, out_dir, evaluation, digest)
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
            if agent is not None and get_agent(agent).learns:
                raise InputError(
                    f"{agent} plays with networks that it has learnt: train it with `noveltree train`, and give "
                    "the run's directory with --weights."
                )
            return None
        if agent is not None and not get_agent(agent).learns:
            raise InputError(f"{agent} learns nothing, so it cannot play with the networks in {weights}.")
        need_extra("Playing with networks", ("onnx", "onnxruntime", "safetensors"))
        from noveltree.records.run_directory import RunDirectory

        return cls(RunDirectory.open(weights)).of(agent)

    def of(self, agent: str | None) -> _Learnt:
        if agent is not None and get_agent(agent).name != self.agent:
            raise InputError(f"The weights in {self.run.path} are of another agent: {self.agent}, not {agent}.")
        return self

    @property
    def agent(self) -> str:
        return self.run.protocol.agent

    def complete(self, choices: dict[str, Any], game: str) -> dict[str, Any]:
        """The settings under which it was learnt, except those that are chosen."""
        learnt = self.run.protocol
        if make_protocol(game).game != learnt.game:
            raise InputError(f"The weights in {self.run.path} are of another game: {learnt.game}, not {game}.")
        if choices["budget"] is None:
            choices = {**choices, "budget": learnt.budget, "budget_unit": learnt.budget_unit}
        emulator = () if learnt.simulator == "atari" else ("frame_skip",)  # not to be chosen elsewhere
        for name, value in choices.items():
            if value is None and name not in emulator:
                choices = {**choices, name: getattr(learnt, name)}
        return {**choices, "learning": learnt.learning}

    def evaluation(self, protocol: Protocol, simulator: Simulator) -> tuple[Evaluation, str]:
        """The networks, and the digest of their weights."""
        from noveltree.trial import read_weights

        deployment = read_weights(self.run, protocol, simulator)
        return deployment.evaluation(), deployment.digest


class _Session:
    """Playing one episode on the command line: its progress, its record and its result."""

    def __init__(
        self,
        protocol: Protocol,
        simulator: Simulator,
        seed: int,
        index: int,
        episodes: int,
        out_dir: Path,
        evaluation: Evaluation,
        weights: str | None,
    ) -> None:
        self._protocol = protocol
        self._evaluation, self._weights = evaluation, weights
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
                drive([self._play], self._evaluation, decisions=steps, on_decision=self._decided)
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
        title = game_title(self._protocol.game) if self._protocol.simulator == "atari" else self._protocol.game
        rate = episode.interactions / episode.seconds if episode.seconds else 0.0
        which = f", episode {self._index}" if self._episodes > 1 else ""
        line = Text.assemble(
            (title, "bold"),
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


def _chosen_budget(
    interactions: int | None, seconds: float | None, frames: int | None
) -> tuple[float | None, str | None]:
    chosen = [
        (float(amount), unit)
        for amount, unit in ((interactions, "interactions"), (seconds, "seconds"), (frames, "frames"))
        if amount is not None
    ]
    if len(chosen) > 1:
        raise InputError("Choose one of --budget, --seconds and --frames.")
    if not chosen:
        return None, None
    if not chosen[0][0] > 0:
        raise InputError(f"A budget must be more than 0 {chosen[0][1]}, not {chosen[0][0]:g}.")
    return chosen[0]


def _summary(protocol: Protocol, seed: int, results: list[dict[str, Any]]) -> dict[str, Any]:
    """Several episodes as one object: their mean score, their totals, and each of them."""
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
