"""Ties that go where something is that the critical path has never seen, by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from noveltree.errors import RecordError, SimulatorError
from noveltree.lookahead import UnseenIfIdle
from noveltree.simulators import State, Transition
from noveltree.tree import UNIFORM, Lookahead
from tests.support.worlds import ScriptedRng

LEFT, RIGHT = 0, 1


class Pixels:
    """States are images of three pixels: left adds 1 to the first pixel, right adds 1 to all three."""

    actions = ("left", "right")

    def __init__(self, dtype: type = np.uint8) -> None:
        self._dtype = dtype

    def start(self) -> State:
        return State(np.zeros((1, 3), dtype=self._dtype))

    def step(self, state: State, action: int) -> Transition:
        step = np.array([[1, 0, 0], [1, 1, 1]][action], dtype=self._dtype)
        return Transition(State(state.observation + step), 0.0, False)

    def close(self) -> None:
        pass


def lookahead_with(*paths: tuple[int, ...], dtype: type = np.uint8) -> Lookahead:
    world = Pixels(dtype)
    lookahead = Lookahead(world, world.start(), base_policy=UNIFORM, termination_cost=0.0)
    grow(lookahead, *paths)
    return lookahead


def grow(lookahead: Lookahead, *paths: tuple[int, ...]) -> None:
    for path in paths:
        node = lookahead.root
        for action in path:
            node = node.children[action] or lookahead.expand(node, action)


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(0)


KINDS = [np.uint8, np.int8, np.float64, np.int16, np.float32]


@pytest.mark.parametrize("dtype", KINDS)
def test_an_action_has_what_is_unseen_in_the_best_node_below_it(dtype: type, rng: np.random.Generator) -> None:
    lookahead, select = lookahead_with((LEFT, RIGHT), (RIGHT,), dtype=dtype), UnseenIfIdle()
    assert select(lookahead.root, [0.0, 0.0], rng) == RIGHT
    # Left: one new value in the first step, or three in the second; right: three at once.
    assert [select.unseen(lookahead.root, action) for action in (LEFT, RIGHT)] == [3 * 0.95**2, 3 * 0.95]


@pytest.mark.parametrize("dtype", KINDS)
def test_what_the_critical_path_has_had_counts_no_more(dtype: type, rng: np.random.Generator) -> None:
    lookahead, select = lookahead_with((LEFT, LEFT), (RIGHT,), dtype=dtype), UnseenIfIdle()
    select(lookahead.root, [0.0, 0.0], rng)
    lookahead.advance(RIGHT, keep=True)  # to (1, 1, 1)
    grow(lookahead, (LEFT,), (RIGHT,))
    select(lookahead.root, [0.0, 0.0], rng)
    # (2, 1, 1) has one new value and (2, 2, 2) three.
    assert [select.unseen(lookahead.root, action) for action in (LEFT, RIGHT)] == [0.95, 3 * 0.95]


@pytest.mark.parametrize("dtype", [np.bool_, np.float32])
def test_as_much_is_unseen_as_there_are_pairs_of_a_place_and_a_value(dtype: type, rng: np.random.Generator) -> None:
    """Beside a set of pairs, on images in which values come again in other places."""
    select, had = UnseenIfIdle(), set[tuple[int, float]]()
    for _ in range(20):
        images = rng.integers(2, size=(3, 4, 5, 2)).astype(dtype)
        lookahead = lookahead_with((LEFT,), (RIGHT,))
        for node, image in zip((lookahead.root, *lookahead.root.offspring()), images, strict=True):
            node.state = State(image)
        select(lookahead.root, [0.0, 0.0], np.random.default_rng(0))
        had |= set(enumerate(images[0].ravel().tolist()))
        for action, image in enumerate(images[1:]):
            new = len(set(enumerate(image.ravel().tolist())) - had)
            assert select.unseen(lookahead.root, action) == 0.95 * new


def test_where_it_pays_the_larger_subtree_decides(rng: np.random.Generator) -> None:
    lookahead = lookahead_with((LEFT, LEFT), (RIGHT,))
    assert UnseenIfIdle()(lookahead.root, [0.0, 0.0], rng) == RIGHT
    assert UnseenIfIdle()(lookahead.root, [1.0, 1.0], rng) == LEFT
    assert UnseenIfIdle()(lookahead.root, [-1.0, -1.0], rng) == RIGHT


def test_values_come_first(rng: np.random.Generator) -> None:
    lookahead = lookahead_with((LEFT,), (RIGHT,))
    assert UnseenIfIdle()(lookahead.root, [0.0, -1.0], rng) == LEFT


def test_all_outcomes_of_an_action_are_looked_at(rng: np.random.Generator) -> None:
    lookahead, select = lookahead_with((LEFT,), (RIGHT,)), UnseenIfIdle()
    left, right = lookahead.root.children
    assert left is not None
    left.next_outcome, lookahead.root.children[RIGHT] = right, None  # left may lead to both
    select(lookahead.root, [0.0, None], rng)
    assert select.unseen(lookahead.root, LEFT) == 3 * 0.95


def test_an_observation_of_another_size_is_refused(rng: np.random.Generator) -> None:
    lookahead, select = lookahead_with((LEFT,), (RIGHT,)), UnseenIfIdle()
    child = lookahead.root.children[LEFT]
    assert child is not None
    child.state = State(np.zeros((40, 40), dtype=np.uint8))
    with pytest.raises(SimulatorError, match="Observations of 3 bytes are expected"):
        select(lookahead.root, [0.0, 0.0], rng)


def test_numbers_of_another_type_are_numbers_too(rng: np.random.Generator) -> None:
    """A simulator of somebody's may begin with whole numbers and go on with others; bytes are not numbers."""
    lookahead, select = lookahead_with((LEFT,), (RIGHT,), dtype=np.int64), UnseenIfIdle()
    left = lookahead.root.children[LEFT]
    assert left is not None
    left.state = State(np.array([[0.5, 0.0, 0.0]]))
    assert select(lookahead.root, [0.0, 0.0], rng) == RIGHT
    left.state = State(np.zeros((1, 3), dtype=np.uint8))
    with pytest.raises(SimulatorError, match="Observations of 3 numbers are expected"):
        select(lookahead.root, [0.0, 0.0], rng)


def test_zero_is_zero_whatever_its_sign(rng: np.random.Generator) -> None:
    lookahead, select = lookahead_with((LEFT,), dtype=np.float64), UnseenIfIdle()
    left = lookahead.root.children[LEFT]
    assert left is not None
    left.state = State(np.array([[-0.0, -0.0, -0.0]]))
    select(lookahead.root, [0.0, None], rng)
    assert select.unseen(lookahead.root, LEFT) == 0.0


def test_what_ends_the_episode_is_not_worth_going_to(rng: np.random.Generator) -> None:
    lookahead, select = lookahead_with((LEFT,), (RIGHT,)), UnseenIfIdle()
    end = lookahead.root.children[RIGHT]
    assert end is not None
    end.terminal = True
    assert select(lookahead.root, [0.0, 0.0], rng) == LEFT
    assert select.unseen(lookahead.root, RIGHT) == 0.0


def test_where_all_is_seen_it_walks_on() -> None:
    lookahead, select = lookahead_with((LEFT,)), UnseenIfIdle()
    lookahead.advance(LEFT, keep=True)
    grow(lookahead, (LEFT,), (RIGHT,))
    for child in lookahead.root.offspring():
        select(child, [0.0, 0.0], np.random.default_rng(0))  # as if it had been there
    for numbers, action in (((0.89,), LEFT), ((0.9, 0.4), LEFT), ((0.9, 0.6), RIGHT)):
        rng: Any = ScriptedRng(*numbers)
        assert select(lookahead.root, [0.0, 0.0], rng) == action
        assert not rng.left
    only_right: Any = ScriptedRng()
    assert select(lookahead.root, [None, 0.0], only_right) == RIGHT


def test_what_was_seen_goes_on_from_a_memory(rng: np.random.Generator) -> None:
    for dtype in (np.uint8, np.int32):
        lookahead, select = lookahead_with((LEFT,), (RIGHT,), dtype=dtype), UnseenIfIdle()
        again = UnseenIfIdle()
        again.remember({}, lookahead)  # before the first choice there is nothing
        select(lookahead.root, [0.0, 0.0], rng)
        lookahead.advance(RIGHT, keep=True)
        again.remember(select.memory(), lookahead)
        assert {name: array.tobytes() for name, array in again.memory().items()} == {
            name: array.tobytes() for name, array in select.memory().items()
        }
        assert again.memory()


@pytest.mark.parametrize(
    "memory",
    [
        {},
        {"seen": np.zeros(95, dtype=np.uint8)},
        {"seen": np.zeros(96, dtype=np.int8)},
        {"seen": np.zeros(96, dtype=np.uint8), "more": np.zeros(1)},
    ],
    ids=["nothing", "too small", "no bytes", "more"],
)
def test_other_memories_are_refused(memory: dict[str, np.ndarray]) -> None:
    lookahead = lookahead_with((LEFT,))
    lookahead.advance(LEFT, keep=True)
    with pytest.raises(RecordError, match="What the episode has seen"):
        UnseenIfIdle().remember(memory, lookahead)


@pytest.mark.parametrize("dtype", KINDS)
def test_what_was_not_seen_for_long_is_unseen_again(dtype: type, rng: np.random.Generator) -> None:
    """(0, 0, 0), (1, 0, 0), (2, 0, 0): the last two pixels have always been 0, the first one no more."""
    lookahead, select = lookahead_with((LEFT,), dtype=dtype), UnseenIfIdle(forgets_after=2)
    start = lookahead.root.state
    for _ in range(2):
        select(lookahead.root, [0.0, None], rng)
        select(lookahead.root, [0.0, None], rng)  # to choose again is not to stay longer
        lookahead.advance(LEFT, keep=True)
        grow(lookahead, (LEFT,))
    left = lookahead.root.children[LEFT]
    assert left is not None
    left.state = start
    assert select.unseen(lookahead.root, LEFT) == 0.0  # two time steps ago, before what comes now
    select(lookahead.root, [0.0, None], rng)
    assert select.unseen(lookahead.root, LEFT) == 0.95


def test_forgetting_goes_on_from_a_memory(rng: np.random.Generator) -> None:
    """An episode of 40 steps that is stored after every one chooses as one that never is."""
    whole, stored = UnseenIfIdle(forgets_after=3), UnseenIfIdle(forgets_after=3)
    lookahead = lookahead_with()
    for _ in range(40):
        again = UnseenIfIdle(forgets_after=3)
        again.remember(stored.memory(), lookahead)
        stored = again
        for action in (LEFT, RIGHT):
            grow(lookahead, (action,))
            child = lookahead.root.children[action]
            assert child is not None
            child.state = State(rng.integers(4, size=(1, 3)).astype(np.uint8))
        whole(lookahead.root, [0.0, 0.0], np.random.default_rng(0))
        action = stored(lookahead.root, [0.0, 0.0], np.random.default_rng(0))
        assert [whole.unseen(lookahead.root, each) for each in (LEFT, RIGHT)] == [
            stored.unseen(lookahead.root, each) for each in (LEFT, RIGHT)
        ]
        lookahead.advance(action, keep=True)


@pytest.mark.parametrize(
    ("seen", "ages"),
    [([0], None), ([0], [0, 0]), ([3 * 256], [0]), ([-1], [0]), ([0], [1]), ([0], [-1])],
    ids=["no ages", "more ages", "no such place", "no place", "older than the episode", "of the future"],
)
def test_other_memories_of_what_was_seen_lately_are_refused(seen: list[int], ages: list[int] | None) -> None:
    lookahead = lookahead_with((LEFT,))
    lookahead.advance(LEFT, keep=True)
    memory = {"seen": np.array(seen, dtype=np.int32)}
    if ages is not None:
        memory["seen.ages"] = np.array(ages, dtype=np.int32)
    with pytest.raises(RecordError, match="What the episode has seen"):
        UnseenIfIdle(forgets_after=100).remember(memory, lookahead)


def test_the_memory_of_many_numbers_is_bounded(rng: np.random.Generator) -> None:
    """Where values never come again, as those of noise, in the end hardly anything is unseen."""
    select, lookahead = UnseenIfIdle(), lookahead_with((LEFT,), (RIGHT,))
    left = lookahead.root.children[LEFT]
    assert left is not None
    for _ in range(10_000):
        lookahead.root.state, left.state = (State(rng.random((84, 84)).astype(np.float32)) for _ in range(2))
        lookahead.root.children[RIGHT] = None
        select(lookahead.root, [0.0, None], rng)
    assert select.unseen(lookahead.root, LEFT) < 0.01 * 84 * 84
    assert select.memory()["seen"].nbytes == 84 * 84 * 1_188 // 8
