"""How well a budget in seconds is kept: by how much decisions overshoot it, and the first one of a process.

    python scripts/seconds.py breakout qbert --agents riw-c bfs --seconds 0.05 0.25 0.5 --decisions 200 100 60

Each row is measured in a process of its own, so that its first decision is the first of a process; with --cold, of
one that finds no compiled kernels on the disk either.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile

import numpy as np

from noveltree.episodes import drive
from noveltree.protocol import make_protocol


def measure(game: str, agent: str, seconds: float, decisions: int) -> list[float]:
    """Seconds that each of some decisions took, in one episode or, where it ends, several."""
    protocol = make_protocol(game, agent=agent, budget=seconds, budget_unit="seconds")
    simulator = protocol.make_simulator()
    took: list[float] = []
    index = 0
    while len(took) < decisions:
        play = protocol.make_play(simulator, seed=0, index=index)
        drive([play], decisions=decisions - len(took))
        took += [decision.seconds for decision in play.decisions]
        index += 1
    return took


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("games", nargs="*", default=["breakout"])
    parser.add_argument("--agents", nargs="+", default=["riw-c"])
    parser.add_argument("--seconds", nargs="+", type=float, default=[0.05, 0.25, 0.5])
    parser.add_argument("--decisions", nargs="+", type=int, default=[200, 100, 60], help="for each of the budgets")
    parser.add_argument("--cold", action="store_true", help="let every process compile its kernels anew")
    parser.add_argument("--alone", action="store_true", help="print what decisions took, of one row, as JSON")
    options = parser.parse_args()
    if options.alone:
        print(json.dumps(measure(options.games[0], options.agents[0], options.seconds[0], options.decisions[0])))
        return
    print("| game, agent | budget | decisions | overshoot: median | 99th percentile | largest | first decision |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for game in options.games:
        for agent in options.agents:
            for seconds, decisions in zip(options.seconds, options.decisions, strict=True):
                command = [sys.executable, __file__, game, "--agents", agent, "--alone"]
                command += ["--seconds", str(seconds), "--decisions", str(decisions)]
                with tempfile.TemporaryDirectory() as cache:
                    environment = {**os.environ, **({"NUMBA_CACHE_DIR": cache} if options.cold else {})}
                    run = subprocess.run(command, check=True, stdout=subprocess.PIPE, env=environment)
                took = np.array(json.loads(run.stdout))
                over = 1000 * (took - seconds)
                told = (
                    f"{value:+.1f} ms" for value in (np.median(over), np.percentile(over, 99), over.max(), over[0])
                )
                print(f"| {game}, {agent} | {seconds:g} s | {decisions} | {' | '.join(told)} |", flush=True)


if __name__ == "__main__":
    main()
