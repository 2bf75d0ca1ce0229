"""What a stage tells a page: each message, made of what there is at the moment."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from noveltree.episodes import Choice, Decision
from noveltree.lookahead import TIE_TOLERANCE, Interactions
from noveltree.simulators import Filmed, Pictured, State
from noveltree.tree import Lookahead, Node
from noveltree.viewer.columns import columns_of
from noveltree.viewer.details import details_of
from noveltree.viewer.messages import Head, Side, pack
from noveltree.viewer.pictures import Painter, Picture
from noveltree.viewer.screens import lives, screen, seconds_per_decision
from noveltree.viewer.seat import Seat


def world(seat: Seat, *, t: int, seed: int, index: int, compared: str | None) -> Head:
    """What is watched."""
    protocol, simulator = seat.protocol, seat.simulator
    seconds = seconds_per_decision(simulator, protocol.frame_skip)
    return {
        "kind": "world",
        "game": protocol.title,
        "actions": list(simulator.actions),
        "agent": protocol.agent,
        "compared": compared,
        "features": protocol.features,
        "budget": _limit(seat),
        "seed": seed,
        "index": index,
        "seconds": seconds,
        "rate": simulator.frame_rate if isinstance(simulator, Filmed | Pictured) else 1 / seconds,
        "lives": lives(seat.play.lookahead.root.state),
        "t": t,
        "discount": protocol.discount or 1.0,
    }


def tree(
    seat: Seat, side: Side, choice: Choice | None, *, t: int, seconds: float, note: str = "", differs: bool = False
) -> bytes:
    """A lookahead: with a choice if it is complete."""
    made = time.time()
    lookahead = seat.play.lookahead
    columns = columns_of(lookahead)
    values = list(choice.values) if choice is not None else []
    head: Head = {
        "kind": "tree",
        "t": t,
        "side": side,
        "agent": seat.protocol.agent,
        "nodes": len(columns),
        "done": choice is not None,
        "values": values,
        "chosen": None if choice is None else choice.action,
        "tied": _tied(values),
        "interactions": lookahead.interactions,
        "budget": _limit(seat),
        "cached": lookahead.cached,
        "pruned": lookahead.pruned,
        "depth": lookahead.deepest,
        "solved": lookahead.root.solved,
        "seconds": round(seconds, 4),
        "note": note,
        "differs": differs,
        "made": round(1000 * made, 1),
    }
    return pack(head, columns.to_bytes())


def decision(seat: Seat, made: Decision, *, t: int, by: str, values: Sequence[float | None]) -> bytes:
    """A decision that was executed, and what it took."""
    root = seat.play.lookahead.root
    return pack(
        {
            "kind": "decision",
            "t": t,
            "action": made.action,
            "reward": made.reward,
            "value": max((value for value in values if value is not None), default=None),
            "interactions": made.interactions,
            "cached": made.cached,
            "pruned": made.pruned,
            "depth": made.depth,
            "lives": lives(root.state),
            "by": by,
            "agent": seat.protocol.agent,
            "over": root.terminal,
        }
    )


def film(paint: Painter, frames: Sequence[Picture], after: State, *, t: int) -> bytes:
    """What was seen while an action was executed; in words where there are no pictures."""
    if not frames:
        return pack({"kind": "film", "t": t, "frames": 0, "text": _as_text(after.observation)})
    head, data = paint(frames)
    return pack({"kind": "film", "t": t, **head}, data)


def node(paint: Painter, seat: Seat, lookahead: Lookahead, about: Node, *, t: int, side: Side) -> bytes:
    """Everything about a node."""
    head = details_of(seat, lookahead, about)
    picture = screen(seat.simulator, about)
    data = b""
    if picture is not None:
        head["screen"], data = paint([picture])
    else:
        head["text"] = _as_text(about.state.observation)
    return pack({"kind": "node", "t": t, "side": side, **head}, data)


def _limit(seat: Seat) -> int | None:
    budget = seat.budget.budget
    return budget.limit if isinstance(budget, Interactions) else None


def _tied(values: list[float | None]) -> list[int]:
    """The actions that are worth as much as the best, if they are several."""
    best = max((value for value in values if value is not None), default=0.0)
    tied = [a for a, value in enumerate(values) if value is not None and value >= best - TIE_TOLERANCE]
    return tied if len(tied) > 1 else []


def _as_text(observation: Any) -> str:
    """What is observed, for simulators without pictures."""
    text = str(observation)
    return text if len(text) < 2_000 else text[:2_000] + " ..."
