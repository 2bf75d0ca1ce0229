"""What a player sees: frames in colour while an action is held, whatever the simulator."""

from __future__ import annotations

from noveltree.simulators import AtariState, Filmed, Pictured, Simulator, State
from noveltree.tree import Node
from noveltree.viewer.pictures import Picture, picture_of

#: Frames a second, and how many of them a decision takes, where simulators have one picture of each state.
RATE, _USUAL = 60.0, 15


def film(simulator: Simulator, state: State, action: int, after: State, dice: int = 0) -> list[Picture]:
    """The frames between a state and the one that an action has led to, with these dice if chance had a say.

    Where there are none in between, it is the picture of what was led to; where there are no pictures, nothing.
    """
    if isinstance(simulator, Filmed):
        return list(simulator.film(state, action, dice))
    picture = _picture(simulator, after)
    return [] if picture is None else [picture]


def screen(simulator: Simulator, node: Node, dice: int | None = None) -> Picture | None:
    """The screen of a node, in colour; None if there is no picture of it.

    Snapshots of consoles hold no screens, so that the action that led to the node is simulated once more, with its
    `dice` if chance had a say; where these are not known, what is observed is seen. The start is seen a frame late.
    """
    if isinstance(simulator, Filmed):
        if node.parent is None or node.action is None:
            return next(iter(simulator.film(node.state, 0)))
        if node.certain or dice is not None:
            return list(simulator.film(node.parent.state, node.action, dice or 0))[-1]
        return picture_of(node.state.observation)
    return _picture(simulator, node.state)


def lives(state: State) -> int | None:
    """The lives that are left, if the game has any."""
    return state.lives if isinstance(state, AtariState) else None


def seconds_per_decision(simulator: Simulator, frame_skip: int) -> float:
    """How long a time step takes at the speed of the console."""
    if isinstance(simulator, Filmed):
        return frame_skip / simulator.frame_rate
    return _USUAL / RATE


def _picture(simulator: Simulator, state: State) -> Picture | None:
    if isinstance(simulator, Pictured):
        return simulator.picture(state)
    return picture_of(state.observation)
