"""An Atari transition is a function of the snapshot and the action, whatever was simulated in between.

Set NOVELTREE_LONG_TESTS=1 for ten times as many walks.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator
from typing import Any, NamedTuple

import ale_py
import numpy as np
import pytest

from noveltree.simulators.atari import Atari, AtariState
from noveltree.simulators.games import PAPER_GAMES
from noveltree.simulators.simulator import Transition
from noveltree.simulators.snapshots import LAST_FRAME

LONG = os.environ.get("NOVELTREE_LONG_TESTS") == "1"
WALKS = 2000 if LONG else 200
LONGEST_WALK = 3
NEWEST = 4  # a walk begins where one of so many walks before it ended: soon they begin deep in a game
SEED = 5


class Step(NamedTuple):
    """One step of a walk, and what was seen of its transition when the walk was walked straight."""

    state: AtariState
    action: int
    seen: tuple[object, ...]


Walk = list[Step]


@pytest.fixture(scope="module", params=PAPER_GAMES)
def simulators(request: pytest.FixtureRequest) -> Iterator[tuple[Atari, Atari]]:
    """Two simulators of a game. Loading one takes as long as a hundred steps, so the tests share them."""
    one, other = Atari(request.param, tiles=True), Atari(request.param, tiles=True)
    yield one, other
    one.close()
    other.close()


def what_is_seen(transition: Transition) -> tuple[object, ...]:
    state = transition.state
    assert isinstance(state, AtariState)
    assert state.tiles is not None
    return (
        transition.reward,
        transition.terminal,
        state.ram.tobytes(),
        state.observation.tobytes(),
        state.tiles.tobytes(),
        state.lives,
        state.snapshot,
    )


def walk_straight(simulator: Atari, walks: int, generator: np.random.Generator) -> list[Walk]:
    """Random walks, one after the other: each begins at the start or where another ended."""
    straight: list[Walk] = []
    ends = [simulator.start()]
    for _ in range(walks):
        newest = ends[-NEWEST:]
        state = newest[generator.integers(len(newest))] if generator.random() < 0.95 else simulator.start()
        walk: Walk = []
        length = generator.integers(1, LONGEST_WALK + 1)
        for action in generator.integers(len(simulator.actions), size=length):
            transition = simulator.step(state, int(action))
            walk.append(Step(state, int(action), what_is_seen(transition)))
            assert isinstance(transition.state, AtariState)
            state = transition.state
            if transition.terminal:
                break
        else:
            ends.append(state)
        straight.append(walk)
    return straight


def walk_interleaved(
    simulator: Atari, straight: list[Walk], generator: np.random.Generator
) -> list[tuple[int, int]]:
    """The same walks, a step of one and then a step of another; the steps (walk, step) that disagree."""
    states = [walk[0].state for walk in straight]
    taken = [0] * len(straight)
    unfinished = list(range(len(straight)))
    disagreements: list[tuple[int, int]] = []
    while unfinished:
        place = generator.integers(len(unfinished))
        walk = unfinished[place]
        step = straight[walk][taken[walk]]
        transition = simulator.step(states[walk], step.action)
        if what_is_seen(transition) != step.seen:
            disagreements.append((walk, taken[walk]))
        assert isinstance(transition.state, AtariState)
        states[walk] = transition.state
        taken[walk] += 1
        if taken[walk] == len(straight[walk]):
            unfinished[place] = unfinished[-1]
            unfinished.pop()
    return disagreements


@pytest.fixture
def no_flush(monkeypatch: pytest.MonkeyPatch) -> None:
    def only_restore(emulator: Any, flush: Any, state: Any) -> None:
        emulator.restoreState(state)

    monkeypatch.setattr("noveltree.simulators.atari._stand_at", only_restore)


def test_walks_that_interleave_other_branches_agree_bit_for_bit_with_straight_walks(
    simulators: tuple[Atari, Atari],
) -> None:
    generator = np.random.default_rng(SEED)
    straight = walk_straight(simulators[0], WALKS, generator)
    assert walk_interleaved(simulators[1], straight, generator) == []


def test_a_state_that_was_stored_has_the_lives_that_it_had(simulators: tuple[Atari, Atari]) -> None:
    """They are not stored themselves: the emulator knows them by the snapshot."""
    generator = np.random.default_rng(SEED)
    states = [walk[0].state for walk in walk_straight(simulators[0], WALKS // 4, generator)]
    for place in generator.permutation(len(states)):
        state = states[place]
        decoded = simulators[1].decode_state(simulators[0].encode_state(state), state.observation)
        assert decoded.lives == state.lives


@pytest.mark.parametrize("game", ["qbert", "yars_revenge"])
@pytest.mark.usefixtures("no_flush")
def test_without_the_flush_interleaved_walks_disagree(game: str) -> None:
    # The test above can fail: these are the same walks.
    generator = np.random.default_rng(SEED)
    straight = walk_straight(Atari(game, tiles=True), 200, generator)
    assert walk_interleaved(Atari(game, tiles=True), straight, generator) != []


# Ordinary branches seldom leave the emulator in a state that matters. What follows are programs that leave
# it in as unusual a state as any branch could, and programs that show what state it is in.

INT = 4
RAM = 0x80
VSYNC, VBLANK, WSYNC, NUSIZ0, NUSIZ1, COLUP0, COLUP1, COLUPF, COLUBK, CTRLPF = 0, 1, 2, 4, 5, 6, 7, 8, 9, 10
PF0, PF1, PF2, RESP0, GRP0, GRP1, ENAM0, ENAM1, ENABL = 13, 14, 15, 16, 27, 28, 29, 30, 31

OBJECTS = {
    "player 0": {GRP0: 0b10110001},
    "player 1": {GRP1: 0b10110001},
    "missile 0": {ENAM0: 2},
    "missile 1": {ENAM1: 2},
    "ball": {ENABL: 2},
    "playfield": {PF0: 0b00110000, PF1: 0b10001101, PF2: 0b01110010},
}


def store(register: int, value: int | None = None) -> list[int]:
    """Machine code that writes `value`, or what the accumulator holds, to a register of the video chip."""
    return [*((0xA9, value) if value is not None else ()), 0x85, register]


def wait_lines(count: int) -> list[int]:
    return [0xA2, count, *store(WSYNC), 0xCA, 0xD0, 0xFB]  # LDX #count; loop: STA WSYNC; DEX; BNE loop


def wait_within_line(fifths: int) -> list[int]:
    return [0xA2, fifths, 0xCA, 0xD0, 0xFD]  # LDX #fifths; loop: DEX; BNE loop


END_OF_FRAME = [*store(VSYNC, 2), *store(WSYNC), *store(WSYNC), *store(WSYNC), *store(VSYNC, 0)]
NO_END = [0xD0, 0xFE, 0xF0, 0xFE]  # BNE here; BEQ here


def about_to_run(program: list[int], snapshot: bytes, *, frames: int) -> bytes:
    """The snapshot with `program` in its memory, about to begin a frame; it ends after `frames` frames."""
    data = bytearray(snapshot)

    def fields_of(name: bytes) -> int:
        at = data.index(name)
        return at + int.from_bytes(data[at - INT : at], "little")

    def write(at: int, *values: int) -> None:
        for place, value in enumerate(values):
            data[at + place * INT : at + (place + 1) * INT] = value.to_bytes(INT, "little")

    write(3 * INT, LAST_FRAME - frames)
    write(fields_of(b"System"), 0)  # cycles
    write(fields_of(b"M6502") + 5 * INT, RAM)  # program counter
    write(fields_of(b"M6502") + 13 * INT, 1)  # halted, as it is between two frames
    write(fields_of(b"TIA"), 0, 0, 0, 0, 228, 262, 0, 0x7FFFFFFF)  # clocks: nothing is left to be drawn
    assert len(program) <= 128
    write(fields_of(b"M6532") + INT, *program)
    return bytes(data)


def strange_branches(snapshot: bytes, generator: np.random.Generator) -> Iterator[bytes]:
    """Branches that leave the video chip's pointers anywhere and its frames painted over.

    Every fourth does not end its frame and is cut off by the emulator, which the emulator remembers too.
    """
    for number in range(24):
        value = [int(value) for value in generator.integers(256, size=4)]
        program = [*store(VBLANK, 0), *store(COLUBK, value[0])]
        for register, position in enumerate(generator.integers(1, 14, size=5), start=RESP0):
            program += [*store(WSYNC), *wait_within_line(int(position)), *store(register)]
        program += [
            *store(WSYNC),
            *store(NUSIZ0, value[1]),
            *store(NUSIZ1, value[2]),
            *store(CTRLPF, value[3]),
        ]
        if number % 4 == 0:
            yield about_to_run([*program, *NO_END], snapshot, frames=1)
        else:
            jump = [0x4C, RAM, 0]
            yield about_to_run([*program, *wait_lines(250), *END_OF_FRAME, *jump], snapshot, frames=2)


def emulate(simulator: Atari, branch: bytes) -> None:
    simulator._emulator.restoreState(ale_py.ALEState(branch))
    simulator._emulator.act(ale_py.Action.NOOP)


def test_no_branch_however_strange_changes_a_transition(simulators: tuple[Atari, Atari]) -> None:
    generator = np.random.default_rng(SEED)
    straight = walk_straight(simulators[0], WALKS // 20, generator)
    simulator = simulators[1]
    branches = list(strange_branches(simulator.start().snapshot, generator))
    for step in [step for walk in straight for step in walk]:
        emulate(simulator, branches[generator.integers(len(branches))])
        assert what_is_seen(simulator.step(step.state, step.action)) == step.seen


def ways_to_draw(simulator: Atari) -> dict[str, int]:
    """In how many ways each object of the video chip is drawn from one snapshot, after strange branches."""
    start = simulator.start()
    ways = {}
    for name, registers in OBJECTS.items():
        # Shows one object on a dark screen, and does not say where it is or how wide.
        dark = dict.fromkeys((VBLANK, COLUBK, PF0, PF1, PF2, GRP0, GRP1, ENAM0, ENAM1, ENABL), 0)
        bright = dict.fromkeys((COLUP0, COLUP1, COLUPF), 0x0E)
        writes = [store(register, value) for register, value in (dark | bright | registers).items()]
        program = [*itertools.chain(*writes), *wait_lines(250), *END_OF_FRAME]
        snapshot = about_to_run(program, start.snapshot, frames=1)
        state = AtariState(snapshot, start.observation, start.tiles, start.tiles)
        seen = set()
        for branch in strange_branches(start.snapshot, np.random.default_rng(SEED)):
            emulate(simulator, branch)
            seen.add(what_is_seen(simulator.step(state, 0)))
        ways[name] = len(seen)
    return ways


def test_no_branch_however_strange_changes_how_an_object_is_drawn(simulators: tuple[Atari, Atari]) -> None:
    assert ways_to_draw(simulators[1]) == dict.fromkeys(OBJECTS, 1)


@pytest.mark.usefixtures("no_flush")
def test_without_the_flush_every_object_is_drawn_in_several_ways() -> None:
    assert min(ways_to_draw(Atari("pong", tiles=True)).values()) > 1


def test_a_finished_game_stays_as_it_is_whatever_is_done() -> None:
    simulator = Atari("breakout", tiles=True)
    generator = np.random.default_rng(SEED)
    transition = Transition(simulator.start(), 0.0, False)
    while not transition.terminal:
        transition = simulator.step(transition.state, int(generator.integers(len(simulator.actions))))
    end = transition._replace(reward=0.0)
    for action in range(len(simulator.actions)):
        simulator.step(simulator.start(), action)
        assert what_is_seen(simulator.step(end.state, action)) == what_is_seen(end)
