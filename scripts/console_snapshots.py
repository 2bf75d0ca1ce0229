"""Measure ways of keeping a console's snapshots: memory per 1,000 nodes, and CPU time of packing and unpacking.

python scripts/console_snapshots.py [GAME] [STEPS]
"""

from __future__ import annotations

import sys
import time
import zlib
from collections.abc import Callable

import numpy as np

from noveltree.simulators import RetroSimulator, RetroState
from noveltree.simulators.console import borrow_console
from noveltree.simulators.snapshot_differences import SnapshotDifferences

Pack = Callable[[bytes], bytes]
_ROUNDS = 5


def main(game: str = "Airstriker-Genesis-v0", steps: str = "200") -> None:
    """Pack and unpack the snapshots of a random walk in every way, in turn."""
    console = borrow_console(game)
    simulator = RetroSimulator(game)
    differences = SnapshotDifferences(console.start)
    reference = np.frombuffer(console.start, dtype=np.uint8)

    def from_reference(snapshot: bytes) -> bytes:
        return (np.frombuffer(snapshot, dtype=np.uint8) ^ reference).tobytes()

    ways: dict[str, tuple[Pack, Pack]] = {
        "as handed out": (lambda s: s.ljust(console.size, b"\0"), bytes),
        "what is written": (lambda s: bytes(bytearray(s)), bytes),
        "zlib 1": (lambda s: zlib.compress(s, 1), zlib.decompress),
        "difference, zlib 1": (
            lambda s: zlib.compress(from_reference(s), 1),
            lambda p: from_reference(zlib.decompress(p)),
        ),
        "words that differ": (differences.pack, differences.unpack),
        "words that differ, zlib 1": (
            lambda s: zlib.compress(differences.pack(s), 1),
            lambda p: differences.unpack(zlib.decompress(p)),
        ),
    }
    snapshots = _walk(simulator, differences, int(steps))
    sizes: dict[str, list[int]] = {way: [] for way in ways}
    costs: dict[str, list[tuple[float, float]]] = {way: [] for way in ways}
    for _ in range(_ROUNDS):
        for snapshot in snapshots:
            for way, (pack, unpack) in ways.items():
                begun = time.process_time()
                packed = pack(snapshot)
                between = time.process_time()
                unpack(packed)
                costs[way].append((between - begun, time.process_time() - between))
                sizes[way].append(len(packed))
    print("| | MB per 1,000 nodes | ms to pack | ms to unpack |\n| --- | --- | --- | --- |")
    for way in ways:
        pack_ms, unpack_ms = 1_000 * np.median(costs[way], axis=0)
        print(f"| {way} | {np.mean(sizes[way]) / 1_000:,.1f} | {pack_ms:.3f} | {unpack_ms:.3f} |")
    frames = 1_000 * _cpu(lambda: [console.frame(0) for _ in range(100)]) / 100
    print(
        f"A frame takes {frames:.2f} ms; an observation has {simulator.start().observation.nbytes / 1_000:.1f} kB."
    )


def _walk(simulator: RetroSimulator, differences: SnapshotDifferences, steps: int) -> list[bytes]:
    rng = np.random.default_rng(0)
    state, snapshots = simulator.start(), []
    for _ in range(steps):
        following = simulator.step(state, int(rng.integers(len(simulator.actions))))
        assert isinstance(following.state, RetroState)
        state = simulator.start() if following.terminal else following.state
        snapshots.append(differences.unpack(state.packed))
    return snapshots


def _cpu(act: Callable[[], object]) -> float:
    begun = time.process_time()
    act()
    return time.process_time() - begun


if __name__ == "__main__":
    main(*sys.argv[1:])
