"""The table of docs/small-worlds.md: what `--agent auto` chooses in worlds that its rules were not made for.

python scripts/other_worlds.py            measure everything, and write the table
python scripts/other_worlds.py hanoi      measure some worlds, and write their rows
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path

import numpy as np

from noveltree.simulators import GymnasiumSimulator, Simulator, State, Transition
from small_worlds import GridWorld, Page, World, run

FILE = Path(__file__).parent.parent / "docs" / "small-worlds.md"
BUDGET = 200
AGENTS = ("random", "uct", "riw-c", "graph", "auto")


class Whole(State):
    """A state that is what is observed of it."""

    __slots__ = ("facts",)

    def __init__(self, *facts: int) -> None:
        super().__init__(np.array(facts, dtype=np.int64))
        self.facts = facts


class Hanoi:
    """The tower of Hanoi with some disks: every action costs 1, those that the rules forbid too."""

    actions = tuple(f"{source} to {target}" for source, target in itertools.permutations("ABC", 2))

    def __init__(self, disks: int) -> None:
        self._start = Whole(*[0] * disks)

    def start(self) -> State:
        return self._start

    def step(self, state: State, action: int) -> Transition:
        assert isinstance(state, Whole)
        source, target = list(itertools.permutations(range(3), 2))[action]
        pegs = state.facts  # of each disk, the smallest first
        tops = [next((disk for disk, peg in enumerate(pegs) if peg == which), len(pegs)) for which in range(3)]
        if tops[source] < tops[target]:
            pegs = tuple(target if disk == tops[source] else peg for disk, peg in enumerate(pegs))
        return Transition(Whole(*pegs), -1.0, all(peg == 2 for peg in pegs))

    def close(self) -> None:
        pass


class Tiles:
    """Eight tiles and a hole on 3 x 3 places, shuffled by some moves of the hole: every action costs 1."""

    actions = ("UP", "DOWN", "LEFT", "RIGHT")

    def __init__(self, moves: int, seed: int) -> None:
        rng = np.random.default_rng(seed)
        state: State = Whole(*range(9))
        for _ in range(moves):
            state = self.step(state, int(rng.integers(4))).state
        self._start = state

    def start(self) -> State:
        return self._start

    def step(self, state: State, action: int) -> Transition:
        assert isinstance(state, Whole)
        tiles = list(state.facts)
        hole = tiles.index(0)
        row, column = divmod(hole, 3)
        row += (-1, 1, 0, 0)[action]
        column += (0, 0, -1, 1)[action]
        if 0 <= row < 3 and 0 <= column < 3:
            other = 3 * row + column
            tiles[hole], tiles[other] = tiles[other], tiles[hole]
        return Transition(Whole(*tiles), -1.0, tiles == list(range(9)))

    def close(self) -> None:
        pass


class Pictured(State):
    """A state of another world, seen as a picture."""

    __slots__ = ("inside",)

    def __init__(self, picture: np.ndarray[tuple[int, ...], np.dtype[np.uint8]], inside: State) -> None:
        super().__init__(picture)
        self.inside = inside


class Painted:
    """The grid with a key and a door, seen as a picture of 72 x 72 pixels: every action costs 1."""

    actions = GridWorld.actions

    def __init__(self, rows: tuple[str, ...]) -> None:
        self._rows, self._world = rows, GridWorld(rows)

    def start(self) -> State:
        return self._seen(self._world.start())

    def step(self, state: State, action: int) -> Transition:
        assert isinstance(state, Pictured)
        inside, reward, terminal = self._world.step(state.inside, action)
        return Transition(self._seen(inside), reward, terminal)

    def close(self) -> None:
        pass

    def _seen(self, inside: State) -> State:
        y, x, *held = inside.observation.tolist()
        cells = np.array([[ord(sign) for sign in row] for row in self._rows], dtype=np.uint8)
        for key in filter(None, held):
            cells[cells == key] = ord(".")
        cells[y, x] = 255
        return Pictured(cells.repeat(8, axis=0).repeat(8, axis=1), inside)


class Road:
    """A road of six lanes, seen as a picture of 10 x 32 pixels: every action costs 1, a car costs 100 and ends it.

    Cars come round again after a while that differs from lane to lane, so that pictures do not come back.
    """

    actions = ("STAY", "UP", "LEFT", "RIGHT")
    _WIDTH, _LANES = 32, 6

    def start(self) -> State:
        return self._at(0, 16, 0)

    def step(self, state: State, action: int) -> Transition:
        assert isinstance(state, Pictured)
        assert isinstance(state.inside, Whole)
        row, column, now = state.inside.facts
        row += action == 1
        column = min(max(column + (action == 3) - (action == 2), 0), self._WIDTH - 1)
        following = self._at(row, column, now + 1)
        hit = bool(self._cars(now + 1)[row, column])
        return Transition(following, -101.0 if hit else -1.0, hit or row == self._LANES + 1)

    def close(self) -> None:
        pass

    def _cars(self, now: int) -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
        cars = np.zeros((self._LANES + 2, self._WIDTH), dtype=np.bool_)
        for lane in range(1, self._LANES + 1):
            speed, gap = 1 + lane % 3, 5 + lane
            places = np.arange(0, self._WIDTH, gap) + speed * now * (-1) ** lane
            cars[lane, places % self._WIDTH] = True
        return cars

    def _at(self, row: int, column: int, now: int) -> State:
        picture = self._cars(now).astype(np.uint8) * 100
        picture[row, column] = 255
        return Pictured(picture, Whole(row, column, now))


MAZE = (
    "###########",
    "#S#.....#.#",
    "#.#.###.#.#",
    "#...#.#...#",
    "#####.###.#",
    "#a..#...#.#",
    "#.#.###.#.#",
    "#.#.....#.#",
    "#.#####.#.#",
    "#.....A..G#",
    "###########",
)


def _gymnasium(name: str, **options: object) -> Callable[[int], Simulator]:
    return lambda level: GymnasiumSimulator(name, seed=level, **options)


def _world(title: str, make: Callable[[int], Simulator], steps: int | None = 100, levels: int = 1) -> World:
    return World(title, make, steps=steps, levels=levels, budget=BUDGET)


def _minigrid(name: str) -> World:
    return _world(f"MiniGrid-{name}-v0, 60 decisions", _gymnasium(f"MiniGrid-{name}-v0"), 60)


def _minatar(name: str) -> World:
    return _world(f"MinAtar/{name}-v1, 100 decisions", _gymnasium(f"MinAtar/{name}-v1"))


WORLDS = {
    "hanoi": _world("tower of Hanoi, 5 disks, -1 per step (-31 is optimal)", lambda level: Hanoi(5)),
    "tiles": _world("8 tiles, 60 shuffles, -1 per step, mean of 3", lambda level: Tiles(60, level), levels=3),
    "maze": _world("11 x 11 maze with a key and a door, -1 per step", lambda level: GridWorld(MAZE)),
    "painted": _world("the same maze as a picture", lambda level: Painted(MAZE)),
    "road": _world("a road with cars as a picture, -1 per step", lambda level: Road()),
    "blackjack": _world("Blackjack-v1, mean of 200 hands", _gymnasium("Blackjack-v1"), levels=200),
    "slippery-cliff": _world(
        "CliffWalkingSlippery-v1, 100 decisions, mean of 3", _gymnasium("CliffWalkingSlippery-v1"), levels=3
    ),
    "empty-16": _minigrid("Empty-16x16"),
    "four-rooms": _minigrid("FourRooms"),
    "lava": _minigrid("LavaCrossingS9N1"),
    "two-rooms": _minigrid("MultiRoom-N2-S4"),
    "unlock": _minigrid("Unlock"),
    "key-corridor": _minigrid("KeyCorridorS3R1"),
    "fetch": _minigrid("Fetch-5x5-N2"),
    "obstacles": _minigrid("Dynamic-Obstacles-6x6"),
    "minatar-breakout": _minatar("Breakout"),
    "minatar-freeway": _minatar("Freeway"),
}


if __name__ == "__main__":
    run(Page(FILE, WORLDS, AGENTS, __doc__))
