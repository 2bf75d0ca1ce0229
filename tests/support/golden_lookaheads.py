"""Golden lookaheads: trees that were grown once, looked at, and must not change unnoticed.

python -m tests.support.golden_lookaheads     writes them anew, after a change that is meant to change them
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from noveltree.episodes import drive
from noveltree.protocol import make_protocol
from tests.support.worlds import path_of

DIRECTORY = Path(__file__).parent.parent / "golden"
DECISIONS = 3

CASES: dict[str, dict[str, Any]] = {
    "corridor-riw-c": {"game": "corridor", "agent": "riw-c", "budget": 12},
    "corridor-riw-d": {"game": "corridor", "agent": "riw-d", "budget": 12},
    "corridor-uct": {"game": "corridor", "agent": "uct", "budget": 30, "rollout_depth": 5},
    "breakout-riw-c": {"game": "breakout", "agent": "riw-c", "budget": 30},
    "breakout-riw-d": {"game": "breakout", "agent": "riw-d", "budget": 30},
    "qbert-iw1-ram": {"game": "qbert", "agent": "iw1", "budget": 100, "features": "ram"},
    "pong-riw-d-bprost": {"game": "pong", "agent": "riw-d", "budget": 30, "features": "bprost"},
    "qbert-p-iw-ram": {"game": "qbert", "agent": "p-iw", "budget": 150, "features": "ram"},
    "qbert-2bfs-ram": {"game": "qbert", "agent": "2bfs", "budget": 150, "features": "ram"},
    "breakout-alphazero": {"game": "breakout", "agent": "alphazero", "budget": 30},
    "freeway-unpruned": {"game": "freeway", "agent": "unpruned", "budget": 30, "horizon": 10},
}


def grow(case: dict[str, Any]) -> dict[str, Any]:
    """The decisions of an episode's first time steps and the lookahead that is left."""
    protocol = make_protocol(**case)
    simulator = protocol.make_simulator()
    play = protocol.make_play(simulator, seed=0, index=0)
    drive([play], decisions=DECISIONS)
    root = play.lookahead.root
    nodes = {
        "".join(map(str, path_of(node, root))): [
            node.reward,
            round(node.value, 9),
            ("t" if node.terminal else "") + ("n" if node.novel else "") + ("s" if node.solved else ""),
            int(node.state.observation.sum(dtype="int64")),
        ]
        for node in play.lookahead.nodes()
    }
    decisions = [
        [d.action, d.reward, d.interactions, d.cached, d.pruned, d.solved, d.depth] for d in play.decisions
    ]
    simulator.close()
    return {"decisions": decisions, "nodes": dict(sorted(nodes.items()))}


def encode(lookahead: dict[str, Any]) -> str:
    rows = ",\n".join(f'  "{path}": {json.dumps(node)}' for path, node in lookahead["nodes"].items())
    return f'{{"decisions": {json.dumps(lookahead["decisions"])},\n"nodes": {{\n{rows}\n}}}}\n'


if __name__ == "__main__":
    for name, case in CASES.items():
        (DIRECTORY / f"{name}.json").write_text(encode(grow(case)))
