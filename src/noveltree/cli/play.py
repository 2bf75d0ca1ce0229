"""`noveltree play`: play episodes and record them."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.text import Text

from noveltree.agents import AGENTS, get_agent
from noveltree.cli.common import CLAIRVOYANT, FORESEEN, need_extra
from noveltree.cli.console import LiveLine, completion, counted, duration, err, out, print_json
from noveltree.cli.options import CONDITIONS, PLANNING, protocol_options, takes
from noveltree.episodes import Decision, End, Play
from noveltree.errors import INTERRUPTED, InputError
from noveltree.protocol import AUTO, DEFAULT_PRESET, PRESETS, AutoChoice, make_protocol
from noveltree.records import EpisodeRecord, check_writable
from noveltree.replay import check_camera, check_video, render_episode
from noveltree.simulators import all_names
from noveltree.trial.playing import Played, Player, choices_of_run, run_to_play

_CONDITIONS = "Conditions"
#: The option that gives a budget, by its unit.
_BUDGETS = {"interactions": "--budget", "seconds": "--seconds", "frames": "--frames"}


@takes(protocol_options((*CONDITIONS, *PLANNING)))
def play(
    game: Annotated[
        str,
        typer.Argument(
            help="An Atari game in any spelling, a Gymnasium id, 'corridor', or your own: path/to/file.py:Factory.",
            autocompletion=completion(all_names()),
        ),
    ],
    agent: Annotated[
        str | None,
        typer.Option(
            help="The agent; `noveltree agents` lists them, `auto` chooses one.",
            show_default="riw-c",
            autocompletion=completion([*AGENTS, AUTO]),
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
    max_steps: Annotated[int | None, typer.Option(help="Stop each episode after N decisions.", min=1)] = None,
    action_values: Annotated[
        bool, typer.Option("--action-values", help="Also record the values by which actions were chosen.")
    ] = False,
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

      noveltree play FrozenLake-v1 --agent iw1 --option is_slippery=false --json

      noveltree play worlds/maze.py:Maze --option size=9 --levels 0-9 --episodes 10

      noveltree play CliffWalking-v1 --agent auto --budget 500

      noveltree play qbert --weights runs/qbert-n-cpl-seed0
    """
    if weights is not None:
        need_extra("Playing with networks", ("onnx", "onnxruntime", "safetensors"))
        if agent == AUTO:
            raise InputError("Weights are those of one agent: leave out --agent auto.")
        if preset != DEFAULT_PRESET:
            raise InputError("Weights are played with under the conditions of their run: leave out --preset.")
    run = run_to_play(weights, None if agent == AUTO else agent)
    choices |= {"agent": agent, **_chosen_budget(budget, seconds, frames)}
    if run is not None:
        choices = choices_of_run(run, game, choices)
    with LiveLine(quiet=json) as line:
        line.update(f"Making {game}")
        protocol = make_protocol(game, preset=preset, on_auto=None if json else _report_choice, **choices)
    if video is not None:
        check_video(video)
    steps = min(max_steps or protocol.max_steps, protocol.max_steps)
    results: list[dict[str, Any]] = []
    records: list[EpisodeRecord] = []
    with contextlib.closing(protocol.make_simulator()) as simulator:
        if video is not None:
            check_camera(simulator, protocol.game)
            check_writable(video.parent)
        check_writable(out_dir)
        player = Player(protocol, simulator, out_dir, seed=seed, run=run, action_values=action_values)
        for index in range(episodes):
            which = f", episode {index + 1} of {episodes}" if episodes > 1 else ""
            with LiveLine(quiet=json) as line:
                show = _Progress(line, steps, f"{protocol.game}{which}")
                played = player.play(index, max_steps=steps, on_decision=show, on_failure=_report_failure)
            results.append(_result(played))
            interrupted = played.interrupted
            records.append(played.record)
            if not json:
                _report(played, f", episode {index}" if episodes > 1 else "")
            if video is not None and not interrupted:
                numbered = video.with_name(f"{video.stem}-{index}{video.suffix}") if episodes > 1 else video
                interrupted = _film(played, numbered, quiet=json)
            if interrupted:
                break
    if json:
        print_json(results[0] if episodes == 1 else _summary(results))
    elif episodes > 1:
        scores = [result["score"] for result in results]
        out.print(f"Mean score of {counted(len(scores), 'episode')}: {sum(scores) / len(scores):,.2f}")
    if interrupted:
        raise typer.Exit(INTERRUPTED)
    if not json and (advice := _advice(records, trained=run is not None)):
        out.print(advice, soft_wrap=True)


class _Progress:
    """How far an episode is, on the live line."""

    def __init__(self, line: LiveLine, steps: int, what: str) -> None:
        self._line, self._steps, self._what = line, steps, what
        self._started = time.perf_counter()
        self._score, self._interactions = 0.0, 0

    def __call__(self, play: Play, decision: Decision) -> None:
        self._score += decision.reward
        self._interactions += decision.interactions
        done, elapsed = len(play.decisions), time.perf_counter() - self._started
        left = elapsed / done * (self._steps - done)
        # What matters less stands last, where a narrow terminal cuts it off.
        self._line.update(
            f"score {self._score:,.10g}  step {done:,} of {self._steps:,}  "
            f"{self._interactions / elapsed:,.0f} interactions/s  at most {duration(left)} left  {self._what}"
        )


def _report_choice(choice: AutoChoice) -> None:
    budget = ""
    if choice.budget is not None:
        took = f"{1_000 * choice.seconds:.2g} ms" if choice.seconds < 1 else f"{choice.seconds:.3g} s"
        budget = f", {choice.budget} interactions per decision (--budget) where a step takes {took}"
    err.print(f"Agent: {choice.agent}{budget}. {choice.why}", soft_wrap=True)


def _report_failure(file: Path) -> None:
    err.print(f"What was played so far is in {file}.", soft_wrap=True)


def _report(played: Played, which: str) -> None:
    record, episode = played.record, played.record.episode
    rate = episode.interactions / episode.seconds if episode.seconds else 0.0
    line = Text.assemble(
        (record.protocol.title, "bold"),
        f", {record.protocol.agent}, seed {record.seed}{which}: score ",
        (f"{episode.score:,.10g}", "bold"),
        f" in {counted(episode.steps, 'step')} ({episode.end}), "
        f"{counted(episode.interactions, 'interaction')} in {duration(episode.seconds)} ({rate:,.0f}/s)",
    )
    out.print(line, soft_wrap=True)
    if record.protocol.chance == FORESEEN:
        out.print(CLAIRVOYANT, soft_wrap=True)
    again = " (it was there already: the same decisions)" if played.repeated else ""
    out.print(f"Episode: {played.file}{again}", soft_wrap=True)


def _advice(records: Sequence[EpisodeRecord], *, trained: bool) -> str:
    """What may help an agent that found no reward, or only costs and no end; nothing if it found more than that."""
    rewards = [reward for record in records for reward in record.episode.rewards]
    ends = {record.episode.end for record in records}
    if any(reward > 0 for reward in rewards) or (any(rewards) and End.TERMINAL in ends):
        return ""
    protocol = records[0].protocol
    found = "There was no reward." if not any(rewards) else "There were costs, and no end."
    more_steps = ["more steps"] if End.STOPPED in ends else []
    larger = f"a larger budget ({_BUDGETS[protocol.budget_unit]} {5 * protocol.budget:g})"
    more_budget = [] if get_agent(protocol.agent).sets_budget else [larger]
    # Which agent suits a simulator can be found out; of a screen there is nothing to be found out so quickly.
    other = "auto" if not protocol.simulator_kind.alike else "riw-c" if protocol.agent == "uct" else "uct"
    another = "more training" if trained else f"another agent (--agent {other}; `noveltree agents` lists them)"
    return f"{found} Try {' or '.join([*more_steps, *more_budget, another])}."


def _film(played: Played, path: Path, *, quiet: bool) -> bool:
    """Make the video; True if the user interrupted it."""
    try:
        with LiveLine(quiet=quiet) as line:
            render_episode(
                played.record,
                path,
                progress=lambda done, total: line.update(f"Filming: step {done} of {total}"),
            )
    except KeyboardInterrupt:
        return True
    if not quiet:
        out.print(f"Video: {path}", soft_wrap=True)
    return False


def _chosen_budget(interactions: int | None, seconds: float | None, frames: int | None) -> dict[str, Any]:
    given = {"interactions": interactions, "seconds": seconds, "frames": frames}
    chosen = [(unit, amount) for unit, amount in given.items() if amount is not None]
    if len(chosen) > 1:
        raise InputError("Choose one of --budget, --seconds and --frames.")
    unit, amount = chosen[0] if chosen else (None, None)
    return {"budget": amount, "budget_unit": unit}


def _result(played: Played) -> dict[str, Any]:
    record, episode = played.record, played.record.episode
    return {
        "game": record.protocol.game,
        "agent": record.protocol.agent,
        "seed": record.seed,
        "index": record.index,
        "score": episode.score,
        "steps": episode.steps,
        "interactions": episode.interactions,
        "seconds": round(episode.seconds, 3),
        "protocol_hash": record.protocol.hash,
        "chance": record.protocol.chance,
        "episode_file": str(played.file),
        "repeated": played.repeated,
        "terminal": episode.end is End.TERMINAL,
        "end": str(episode.end),
    }


def _summary(results: list[dict[str, Any]]) -> dict[str, Any]:
    """Several episodes as one object: their mean score, their totals, and each of them."""
    totals = {name: sum(result[name] for result in results) for name in ("steps", "interactions", "seconds")}
    return {
        **{name: results[0][name] for name in ("game", "agent", "seed", "protocol_hash", "chance")},
        **totals,
        "seconds": round(totals["seconds"], 3),
        "score": sum(result["score"] for result in results) / len(results),
        "episode_file": [result["episode_file"] for result in results],
        "terminal": all(result["terminal"] for result in results),
        "episodes": results,
    }
