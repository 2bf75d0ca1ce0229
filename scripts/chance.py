"""Measure agents where chance decides, and write the table of docs/chance.md.

    python scripts/chance.py --write docs/chance.md              everything
    python scripts/chance.py taxi breakout --write docs/chance.md   some worlds; the rows of others stay as they are

Scores are means over episodes with their standard errors. It takes about half an hour on one core.
"""

from __future__ import annotations

import argparse
import dataclasses
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import gymnasium
import numpy as np

from noveltree.agents import Agent, get_agent
from noveltree.episodes import Episode, EpisodeChance, Play, drive, episode_rng
from noveltree.learning.settings import LearningSettings, ScheduleSettings
from noveltree.lookahead import ActionValues, Interactions, NoLookahead
from noveltree.protocol import make_protocol
from noveltree.simulators import Atari, GymnasiumSimulator, Simulator, StickyAtari
from noveltree.tree import Lookahead
from noveltree.trial import train
from reproduction import print_or_write

#: Steps of FrozenLake-v1, and for how many decisions Breakout is played.
_LAKE_STEPS = 100
_BREAKOUT_STEPS = 100
HEADER = (
    "| world | chance | agent | interactions per decision | episodes | mean | standard error | CPU seconds |",
    "| --- | --- | --- | ---: | ---: | ---: | ---: | ---: |",
)


class Row(NamedTuple):
    """What one agent got in one world."""

    world: str
    chance: str
    agent: str
    budget: int
    scores: Sequence[float]
    seconds: float

    def line(self) -> str:
        error = statistics.stdev(self.scores) / len(self.scores) ** 0.5 if len(self.scores) > 1 else 0.0
        return (
            f"| {self.world} | {self.chance} | {self.agent} | {self.budget:,} | {len(self.scores):,} "
            f"| {statistics.fmean(self.scores):,.3f} | {error:,.3f} | {self.seconds:,.0f} |"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("worlds", nargs="*", help=f"some of {', '.join(WORLDS)}; all of them if none is named")
    parser.add_argument("--write", type=Path)
    options = parser.parse_args()
    for name in options.worlds or WORLDS:
        rows = []
        for row in WORLDS[name]():
            print(row.line(), flush=True)
            rows.append(row)
        table = [*HEADER, *(row.line() for row in rows)]
        if options.write is not None:
            print_or_write("\n".join(table), options.write, name)


def _lake() -> Iterator[Row]:
    sampled = GymnasiumSimulator("FrozenLake-v1")
    foreseen = GymnasiumSimulator("FrozenLake-v1", chance="foreseen")
    lake = "FrozenLake-v1"
    yield _row(lake, sampled, _optimal(), 1, 1_000, _LAKE_STEPS)
    yield _row(lake, foreseen, get_agent("riw-c"), 100, 20, _LAKE_STEPS, features="atoms")
    yield _row(lake, sampled, get_agent("random"), 1, 1_000, _LAKE_STEPS)
    yield _row(lake, sampled, get_agent("riw-c"), 300, 100, _LAKE_STEPS, features="atoms")
    yield _row(lake, sampled, get_agent("uct"), 300, 100, _LAKE_STEPS, rollout_depth=_LAKE_STEPS)
    yield _row(lake, sampled, get_agent("r-max"), 300, 100, _LAKE_STEPS)
    yield _row(lake, sampled, get_agent("graph"), 300, 200, _LAKE_STEPS)
    yield _trained(lake, 50, 60_000, 100)


def _taxi() -> Iterator[Row]:
    taxi = GymnasiumSimulator("Taxi-v4", is_rainy=True)
    yield _row("Taxi-v4 with rain", taxi, get_agent("random"), 1, 20, 200)
    yield _row("Taxi-v4 with rain", taxi, get_agent("riw-c"), 100, 5, 200, features="atoms")
    yield _row("Taxi-v4 with rain", taxi, get_agent("uct"), 100, 5, 200)
    yield _row("Taxi-v4 with rain", taxi, get_agent("graph"), 500, 10, 200)
    yield _trained("Taxi-v4", 50, 60_000, 5, options={"is_rainy": True}, title="Taxi-v4 with rain")


def _breakout() -> Iterator[Row]:
    sticky, plain = StickyAtari("breakout", sticky_actions=0.25), Atari("breakout")
    name = f"Breakout, {_BREAKOUT_STEPS} decisions"
    yield _row(name, plain, get_agent("riw-c"), 100, 5, _BREAKOUT_STEPS)
    yield _row(f"{name}, sticky actions", sticky, get_agent("random"), 1, 5, _BREAKOUT_STEPS)
    yield _row(f"{name}, sticky actions", sticky, get_agent("riw-c"), 100, 5, _BREAKOUT_STEPS)
    yield _row(f"{name}, sticky actions", sticky, get_agent("uct"), 100, 5, _BREAKOUT_STEPS)
    length = _BREAKOUT_STEPS * sticky.frame_skip
    chosen = {"sticky_actions": 0.25, "max_frames": length}
    yield _trained("breakout", 100, 100_000, 5, title=f"{name}, sticky actions", **chosen)


#: What is measured, each world a table of its own.
WORLDS: dict[str, Callable[[], Iterator[Row]]] = {"lake": _lake, "taxi": _taxi, "breakout": _breakout}


def _row(
    world: str, simulator: Simulator, agent: Agent, budget: int, episodes: int, steps: int, **settings: Any
) -> Row:
    def play(index: int) -> Episode:
        play = Play(
            simulator,
            agent,
            budget=Interactions(budget),
            rng=episode_rng(0, index),
            settings=agent.settings(**settings),
            max_steps=steps,
            chance=EpisodeChance(0, index),
        )
        drive([play])
        return play.episode()

    return _timed(world, _chance(simulator), agent.name, budget, lambda: [play(i).score for i in range(episodes)])


def _timed(world: str, chance: str, agent: str, budget: int, played: Callable[[], Sequence[float]]) -> Row:
    started = time.process_time()
    scores = played()
    return Row(world, chance, agent, budget, scores, time.process_time() - started)


def _chance(simulator: Simulator) -> str:
    if isinstance(simulator, GymnasiumSimulator):
        return simulator.chance
    return "sampled" if isinstance(simulator, StickyAtari) else "none"


def _optimal() -> Agent:
    """An agent that knows the lake's table, and executes the actions that win the most often."""
    table = gymnasium.make("FrozenLake-v1").unwrapped.P  # type: ignore[attr-defined]
    values, actions = np.zeros(len(table)), np.zeros((len(table), 4))
    for _ in range(2_000):  # with a discount near one, so that it gets on
        for cell, action in np.ndindex(*actions.shape):
            outcomes = table[cell][action]
            actions[cell, action] = sum(
                p * (paid + 0.999 * values[to] * (not end)) for p, to, paid, end in outcomes
            )
        values = actions.max(axis=1)

    class Knowing(NoLookahead):
        def action_values(self, lookahead: Lookahead) -> ActionValues:
            return list(actions[lookahead.root.state.observation.item()])

    return dataclasses.replace(get_agent("random"), name="the optimal policy", assemble=lambda *_: Knowing())


def _trained(
    game: str, budget: int, interactions: int, episodes: int, *, title: str | None = None, **choices: Any
) -> Row:
    """N-CPL, trained for a short time, in the first episodes after it."""
    learning = LearningSettings(
        schedule=ScheduleSettings(interactions=interactions, interval=interactions // 10),
        evaluation_episodes=episodes,
    )
    protocol = make_protocol(game, agent="n-cpl", budget=budget, learning=learning, **choices)

    def played() -> Sequence[float]:
        with tempfile.TemporaryDirectory() as directory:
            result = train(Path(directory) / "run", protocol)
        scores: Sequence[float] = result["scores"]
        return scores

    return _timed(title or game, "sampled", f"n-cpl (trained for {interactions:,})", budget, played)


if __name__ == "__main__":
    main()
