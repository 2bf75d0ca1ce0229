"""Write the table of forgeries in docs/verification.md from the tests that make them.

python scripts/forgeries_table.py
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
DOCUMENT = ROOT / "docs" / "verification.md"
_BETWEEN = re.compile("(<!-- forgeries: begin -->\n).*(<!-- forgeries: end -->)", re.DOTALL)


def build_table() -> str:
    """What is forged, of what, and at which depth it is found."""
    from tests.test_forgeries import FORGERIES

    lines = ["| forged | of | found when |", "| --- | --- | --- |"]
    for name, forgery in FORGERIES.items():
        lines.append(f"| {name} | {_ORIGINALS[forgery.of]} | {_depth(forgery.depth)} |")
    return "\n".join(lines) + "\n"


_ORIGINALS = {
    "planner": "a planner's run",
    "learner": "a run that learns",
    "lockstep": "a run in lockstep",
    "continuing": "a run that learns on while it is evaluated",
    "levels": "a run in levels",
    "benchmark": "a benchmark",
    "signed": "a manifest",
}


def _depth(depth: object) -> str:
    replan, relearn = getattr(depth, "replan", None), getattr(depth, "relearn", False)
    if replan is not None and relearn:
        return "learnt and planned again"
    if relearn:
        return "learnt again"
    return "replayed" if replan is None else "planned again"


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    text = DOCUMENT.read_text()
    DOCUMENT.write_text(_BETWEEN.sub(lambda found: found[1] + build_table() + found[2], text))
