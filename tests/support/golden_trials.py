"""Golden trials: small runs that were played once, and whose networks, episodes and metrics must not change.

python -m tests.support.golden_trials     writes them anew, after a change that is meant to change them
"""

from __future__ import annotations

import hashlib
import json
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from noveltree.learning import LearningSettings
from noveltree.learning.settings import ScheduleSettings, ValueSettings
from noveltree.protocol import Protocol, make_protocol
from noveltree.trial import train
from tests.support.runs import contents, small_protocol

DIRECTORY = Path(__file__).parent.parent / "golden"


def _pong() -> Protocol:
    """Convolutions: two intervals of short episodes, a frozen evaluation."""
    learning = LearningSettings(
        schedule=ScheduleSettings(interactions=1_600, interval=800, wave=4),
        value=ValueSettings(at_least=16, every=8, batch=16, refresh=60),
        evaluation_episodes=2,
    )
    return make_protocol("pong", agent="n-cpl", budget=10, max_frames=300, learning=learning)


def _in_lockstep(game: str, agent: str, interactions: int, **chosen: Any) -> Protocol:
    """An agent that learns in lockstep, by its own settings: two intervals, two episodes of evaluation."""
    schedule = {"interactions": interactions, "interval": interactions // 2}
    learning = {"schedule": schedule, "loop": {"lanes": 2}, "evaluation_episodes": 2}
    return make_protocol(game, agent=agent, budget=10, learning=learning, **chosen)


CASES = {
    "pong-n-cpl-trial": _pong,
    "corridor-n-cpl-trial": lambda: small_protocol(interactions=3_000),
    "pong-pi-iw-plus-trial": lambda: _in_lockstep("pong", "pi-iw-plus", 1_600, max_frames=300),
    "corridor-n-cpl-plus-trial": lambda: _in_lockstep("corridor", "n-cpl-plus", 3_000),
}


def run(case: str, directory: Path) -> dict[str, Any]:
    """The run, as far as it is the same on every machine of a kind."""
    train(directory, CASES[case](), seed=0)
    found = contents(directory)
    arrays = {
        name: {
            "digest": hashlib.sha256(data).hexdigest()[:16],
            "sum": float(np.frombuffer(data, dtype=np.float32).sum(dtype=np.float64)),
        }
        for name, data in sorted(found["arrays"].items())
    }
    found["result"].pop("protocol_hash")  # has the versions of packages in it
    golden: dict[str, Any] = json.loads(
        json.dumps({name: found[name] for name in ("result", "metrics", "episodes")} | {"arrays": arrays})
    )
    return golden


def encode(golden: dict[str, Any]) -> str:
    lines = []
    for name, value in golden.items():
        if isinstance(value, dict):
            rows = ",\n".join(f"  {json.dumps(key)}: {json.dumps(item)}" for key, item in value.items())
            lines.append(f"{json.dumps(name)}: {{\n{rows}\n}}")
        else:
            rows = ",\n".join(f"  {json.dumps(item)}" for item in value)
            lines.append(f"{json.dumps(name)}: [\n{rows}\n]")
    return "{\n" + ",\n".join(lines) + "\n}\n"


if __name__ == "__main__":
    for name in CASES:
        with tempfile.TemporaryDirectory() as directory:
            (DIRECTORY / f"{name}.json").write_text(encode(run(name, Path(directory) / "run")))
