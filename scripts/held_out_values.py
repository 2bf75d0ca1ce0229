"""How much a value can tell of episodes that it was not trained on, by discount and by whether it ends with a life.

    python scripts/held_out_values.py berzerk experiments/faster-learning

Trains the network of n-cpl-plus on returns of recorded episodes, a quarter of which is held out; prints a Markdown
table of correlation and slope of differences over ten steps.
"""

from __future__ import annotations

import argparse
import contextlib
from pathlib import Path

import numpy as np
import torch

from noveltree.errors import NoveltreeError
from noveltree.learning.architecture import MNIH_2013, Architecture, Head
from noveltree.learning.experience import CriticalPath, Experience, inputs_of_path
from noveltree.learning.inputs import InputShape
from noveltree.learning.networks import Network
from noveltree.learning.sampling import shifted
from noveltree.learning.trust import APART
from noveltree.learning.value_targets import MonteCarlo
from noveltree.lookahead import VALUE
from noveltree.records import read_episode
from noveltree.replay import replay

DISCOUNTS = (0.9, 0.97, 0.99)
BATCH, LEARNING_RATE, SHIFT = 128, 5e-4, 4


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("game", help="as directories of benchmarks call it, such as space_invaders")
    parser.add_argument("directory", type=Path, help="benchmarks, in any depth")
    parser.add_argument("--transitions", type=int, default=2_000, help="that are trained on, about")
    parser.add_argument("--batches", type=int, default=500)
    options = parser.parse_args()
    torch.set_num_threads(1)
    paths = read_paths(options.game, options.directory)
    if len(paths) < 8:
        parser.error(f"There are {len(paths)} episodes of {options.game} in {options.directory}, and 8 are needed.")
    held_out = max(4, len(paths) // 4)
    trained_on: list[CriticalPath] = []
    for path in paths[held_out:]:
        if sum(map(len, trained_on)) < options.transitions:
            trained_on.append(path)
    print(f"{len(paths)} episodes, {held_out} held out, {sum(map(len, trained_on)):,} transitions trained on")
    print("| lives | " + " | ".join(map(str, DISCOUNTS)) + " |")
    print("| --- |" + " ---: |" * len(DISCOUNTS))
    for lives in ("all", "one"):
        cells = []
        for discount in DISCOUNTS:
            returns = MonteCarlo(discount=discount, lives=lives)
            correlation, slope = judge(trained_on, paths[:held_out], returns, options.batches)
            cells.append(f"{correlation:.2f}, {slope:.2f}")
        print(f"| {lives} | " + " | ".join(cells) + " |", flush=True)


def read_paths(game: str, directory: Path) -> list[CriticalPath]:
    """The critical paths of all episodes of a game, in an order that is always the same."""
    paths = []
    for file in sorted(directory.glob(f"**/trials/{game}/*/trial-*/evaluation/**/*.json")):
        with contextlib.suppress(NoveltreeError):  # files of a trial that are not episodes
            record = read_episode(file)
            chance = record.protocol.chance_of(seed=record.seed, index=record.index, interval=record.interval)
            with contextlib.closing(record.protocol.make_simulator()) as simulator:
                paths.append(replay(simulator, chance, record.episode).path)
    return [paths[number] for number in np.random.default_rng(1).permutation(len(paths))]


def judge(
    trained_on: list[CriticalPath], held_out: list[CriticalPath], returns: MonteCarlo, batches: int
) -> tuple[float, float]:
    """Correlation and slope of what values say of differences of returns, in episodes that are held out."""
    experience = Experience(InputShape.of(trained_on[0].observations[0]))
    for path in trained_on:
        experience.add(path)
    targets = np.concatenate([returns_of(path, returns) for path in trained_on])
    scale = max(1e-3, float(np.sqrt(np.mean(np.square(targets)))))
    architecture = Architecture(experience.shape, (Head(VALUE, "scalar"),), MNIH_2013)
    network = Network(architecture, architecture.initial_weights(rng=np.random.default_rng(0), start="glorot"))
    optimiser = torch.optim.Adam(network.parameters(), lr=LEARNING_RATE)
    rng = np.random.default_rng(2)
    for _ in range(batches):
        drawn = rng.integers(len(experience), size=BATCH)
        values = network(torch.from_numpy(shifted(experience.inputs(drawn), SHIFT, rng=rng)))[VALUE][:, 0]
        loss = torch.nn.functional.huber_loss(values, torch.from_numpy(targets[drawn] / np.float32(scale)))
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    predicted, followed = [], []
    for path in held_out:
        with torch.no_grad():
            values = network(torch.from_numpy(inputs_of_path(path, experience.shape)))[VALUE][:-1, 0]
        predicted.append(differences(values.numpy() * scale))
        followed.append(differences(returns_of(path, returns)))
    said, came = np.concatenate(predicted), np.concatenate(followed)
    return float(np.corrcoef(said, came)[0, 1]), float(said @ came / (said @ said))


def returns_of(path: CriticalPath, returns: MonteCarlo) -> np.ndarray:
    return returns.targets(path, np.zeros(len(path) + 1, dtype=np.float32))


def differences(values: np.ndarray) -> np.ndarray:
    return values[APART:] - values[:-APART]


if __name__ == "__main__":
    main()
