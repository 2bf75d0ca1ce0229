"""Mutated records of every kind are read or refused with one sentence. `make torture` reads 10,000 of each."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.fuzz import Kind, fuzz, kinds

_COUNT = 60


@pytest.fixture(scope="module")
def all_kinds(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Kind]:
    return {kind.name: kind for kind in kinds(tmp_path_factory.mktemp("fuzz"))}


def test_nothing_else_comes_out(all_kinds: dict[str, Kind]) -> None:
    assert len(all_kinds) == 11
    for kind in all_kinds.values():
        endings, wrong = fuzz(kind, _COUNT, seed=1)
        assert wrong == []
        assert endings["refused"], kind.name


def test_what_is_not_mutated_is_read(all_kinds: dict[str, Kind]) -> None:
    for kind in all_kinds.values():
        kind.read(kind.data)


def test_another_exception_would_be_found(all_kinds: dict[str, Kind]) -> None:
    """Negative control."""

    def fail(data: bytes) -> None:
        raise KeyError("score")

    _, wrong = fuzz(all_kinds["episode"]._replace(read=fail), 2, seed=0)
    assert wrong == ["episode 0: KeyError: 'score'", "episode 1: KeyError: 'score'"]


def test_the_same_seed_mutates_the_same(all_kinds: dict[str, Kind], tmp_path: Path) -> None:
    read: list[list[bytes]] = [[], []]
    for each in read:
        fuzz(all_kinds["plan"]._replace(read=each.append), 10, seed=3)
    assert read[0] == read[1]
