"""The table of docs/simulators.md: what agents reach in small worlds with at most 500 interactions per decision.

python scripts/small_worlds.py            measure everything, and write the table
python scripts/small_worlds.py taxi line  measure some worlds, and write their rows
"""

from __future__ import annotations

import argparse
import contextlib
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from noveltree.agents import get_agent
from noveltree.episodes import Episode, EpisodeChance, Play, drive, episode_rng
from noveltree.lookahead import Interactions
from noveltree.protocol import choose_agent
from noveltree.protocol.make import settings_for
from noveltree.simulators import GymnasiumSimulator, RetroSimulator, Simulator, State, Transition

FILE = Path(__file__).parent.parent / "docs" / "simulators.md"
BUDGET = 500
AGENTS = ("random", "bfs", "uct", "riw-c", "auto")


class CellState(State):
    """Where the player stands, and which keys are taken."""

    __slots__ = ("keys", "place")

    def __init__(self, place: tuple[int, int], keys: frozenset[str]) -> None:
        held = [ord(key) for key in sorted(keys)]
        super().__init__(np.array([*place, *held, *[0] * (2 - len(held))], dtype=np.int64))
        self.place, self.keys = place, keys


class GridWorld:
    """A map of walls (#), a start (S), a goal (G), keys (a, b) and their doors (A, B). Every action costs 1."""

    actions = ("UP", "DOWN", "LEFT", "RIGHT")
    _MOVES = ((-1, 0), (1, 0), (0, -1), (0, 1))

    def __init__(self, rows: Sequence[str]) -> None:
        self._at = {(y, x): sign for y, row in enumerate(rows) for x, sign in enumerate(row)}
        (self._start,) = (place for place, sign in self._at.items() if sign == "S")

    def start(self) -> CellState:
        return CellState(self._start, frozenset())

    def step(self, state: State, action: int) -> Transition:
        assert isinstance(state, CellState)
        if self._at[state.place] == "G":
            return Transition(state, 0.0, True)
        place = state.place[0] + self._MOVES[action][0], state.place[1] + self._MOVES[action][1]
        sign = self._at.get(place, "#")
        if sign == "#" or (sign.isupper() and sign not in "SG" and sign.lower() not in state.keys):
            return Transition(CellState(state.place, state.keys), -1.0, False)
        keys = state.keys | {sign} if sign.islower() else state.keys
        return Transition(CellState(place, keys), -1.0, sign == "G")

    def close(self) -> None:
        pass


LINE = ("S....G",)
KEYS_AND_DOORS = (
    "#########",
    "#a..#..##",
    "#...#..##",
    "#..S#...#",
    "###.A...#",
    "#...#...#",
    "#...#..G#",
    "#...#...#",
    "#########",
)


@dataclass(frozen=True, slots=True)
class World:
    """A world, how long an episode is, and the starts over which scores are averaged."""

    title: str
    make: Callable[[int], Simulator]
    target: str = ""
    steps: int | None = None
    """Time steps after which an episode is truncated, if the simulator does not say."""
    levels: int = 1
    budget: int = BUDGET


def _gymnasium(name: str, **options: object) -> Callable[[int], Simulator]:
    return lambda level: GymnasiumSimulator(name, seed=level, **options)


def _slippery(level: int) -> Simulator:
    return GymnasiumSimulator("FrozenLake-v1")  # which begins in one place; what differs are the dice


WORLDS = {
    "cliff": World("CliffWalking-v1", _gymnasium("CliffWalking-v1"), "-13", 200),
    "taxi": World("Taxi-v4, mean of 20 starts", _gymnasium("Taxi-v4"), "at least 7", levels=20),
    "line": World("a line of 6 cells, -1 per step", lambda level: GridWorld(LINE), "-5", 50),
    "doors": World(
        "9 x 9 cells with a key and a door, -1 per step", lambda level: GridWorld(KEYS_AND_DOORS), "-15", 100
    ),
    "doorkey-5": World("MiniGrid-DoorKey-5x5-v0", _gymnasium("MiniGrid-DoorKey-5x5-v0"), "solved (above 0)"),
    "doorkey-6": World("MiniGrid-DoorKey-6x6-v0", _gymnasium("MiniGrid-DoorKey-6x6-v0"), "solved (above 0)"),
    "doorkey-8": World("MiniGrid-DoorKey-8x8-v0", _gymnasium("MiniGrid-DoorKey-8x8-v0"), "solved (above 0)"),
    "lake": World("FrozenLake8x8-v1, not slippery", _gymnasium("FrozenLake8x8-v1", is_slippery=False), "1"),
    "slippery": World("FrozenLake-v1, slippery, mean of 100 episodes", _slippery, "0.74, the optimum", levels=100),
    "mountain-car": World("MountainCar-v0", _gymnasium("MountainCar-v0"), "solved (above -200)"),
    "acrobot": World("Acrobot-v1", _gymnasium("Acrobot-v1"), "solved (above -500)"),
    "cart-pole": World("CartPole-v1", _gymnasium("CartPole-v1"), "500"),
    "airstriker": World(
        "Airstriker, 200 decisions of 50 interactions",
        lambda level: RetroSimulator("Airstriker-Genesis-v0"),
        "more than random",
        200,
        budget=50,
    ),
}


@dataclass(frozen=True, slots=True)
class Measured:
    """What an agent reached in a world."""

    agent: str
    score: float
    steps: float
    milliseconds: float
    """CPU time per decision."""


@dataclass(frozen=True, slots=True)
class Page:
    """A page with a table of worlds, by names, and of what agents reach there; the last of them is `auto`."""

    file: Path
    worlds: Mapping[str, World]
    agents: Sequence[str]
    about: str | None

    @property
    def header(self) -> tuple[str, ...]:
        agents = (f"`{agent}`" for agent in self.agents)
        return "world", *self._targets("to reach"), *agents, "what `auto` chose", "ms per decision"

    def row(self, world: World, *cells: str) -> tuple[str, ...]:
        return world.title, *self._targets(world.target), *cells

    def _targets(self, cell: str) -> tuple[str, ...]:
        return (cell,) if any(world.target for world in self.worlds.values()) else ()


def measure(world: World, agent: str) -> Measured:
    """Play one episode from each of the world's starts."""
    episodes: list[Episode] = []
    began, played = time.process_time(), agent
    for level in range(world.levels):
        with contextlib.closing(world.make(level)) as simulator:
            episode, played = _play(simulator, world, agent, level)
            episodes.append(episode)
    seconds = time.process_time() - began
    decisions = sum(episode.steps for episode in episodes)
    assert max(max(episode.column("interactions")) for episode in episodes) <= world.budget
    return Measured(
        played,
        float(np.mean([episode.score for episode in episodes])),
        decisions / len(episodes),
        1000 * seconds / decisions,
    )


def _play(simulator: Simulator, world: World, agent: str, index: int) -> tuple[Episode, str]:
    limit = simulator.max_episode_steps if isinstance(simulator, GymnasiumSimulator) else None
    own: dict[str, object] = {}
    if agent == "auto":
        choice = choose_agent(simulator)
        agent, own = choice.agent, dict(choice.settings)
    chosen = get_agent(agent)
    play = Play(
        simulator,
        chosen,
        settings=settings_for(chosen, simulator, own),
        budget=Interactions(world.budget),
        rng=episode_rng(0, index),
        max_steps=min(filter(None, (limit, world.steps)), default=None),
        chance=EpisodeChance(0, index),
    )
    drive([play])
    return play.episode(), ", ".join([agent, *map(str, own.values())])


def row(page: Page, world: World, agents: Sequence[str]) -> str:
    """What agents reach in a world, in Markdown."""
    found = [measure(world, agent) for agent in agents]
    shown = [f"{each.score:.4g} in {each.steps:.4g} steps" for each in found]
    chosen = found[-1]
    return _line(*page.row(world, *shown, f"`{chosen.agent}`", f"{chosen.milliseconds:.0f}"))


def _line(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


def page_with(rows: Mapping[str, str], page: Page) -> str:
    """The text of a page with these rows, by the names of worlds; others stay as they are."""
    before, begin, rest = page.file.read_text().partition("<!-- table -->\n")
    table, end, after = rest.partition("<!-- end of table -->")
    old = {title: line for line in table.splitlines() for title in [line.split(" | ")[0].removeprefix("| ")]}
    lines = [rows.get(name) or old.get(world.title) for name, world in page.worlds.items()]
    rule = _line(*["---"] * len(page.header))
    return before + begin + "\n".join([_line(*page.header), rule, *filter(None, lines), ""]) + end + after


def run(page: Page) -> None:
    """Measure the worlds that the command line names, or all, and write them into the page."""
    parser = argparse.ArgumentParser(description=page.about, formatter_class=argparse.RawDescriptionHelpFormatter)
    known = ", ".join(page.worlds)
    parser.add_argument("worlds", nargs="*", metavar="WORLD", help=f"all of them, or some of {known}")
    parser.add_argument("--agents", nargs="+", help="measure these alone, and write nothing")
    given = parser.parse_args()
    rows: dict[str, str] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what environments say of their versions
        for name in given.worlds or page.worlds:
            rows[name] = row(page, page.worlds[name], given.agents or page.agents)
            print(rows[name], flush=True)
            if not given.agents:
                page.file.write_text(page_with(rows, page))


if __name__ == "__main__":
    run(Page(FILE, WORLDS, AGENTS, __doc__))
