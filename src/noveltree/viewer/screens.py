"""What a player sees: frames in colour while an action is held, whatever the simulator."""

from __future__ import annotations

from noveltree.simulators import Atari, AtariState, Simulator, State
from noveltree.tree import Node
from noveltree.viewer.pictures import Picture, picture_of


def film(simulator: Simulator, state: State, action: int, after: State) -> list[Picture]:
    """The frames between a state and the one that an action leads to.

    Only the Atari shows frames in between; elsewhere there is the picture of what is observed, or none.
    """
    if isinstance(simulator, Atari) and isinstance(state, AtariState):
        return list(simulator.film(state, action))
    picture = picture_of(after.observation)
    return [] if picture is None else [picture]


def screen(simulator: Simulator, node: Node) -> Picture | None:
    """The screen of a node, in colour; None if its observation is no image.

    Snapshots hold no screens, so that the action that led to the node is simulated once more. The start of an
    episode is seen a frame later.
    """
    if isinstance(simulator, Atari) and isinstance(node.state, AtariState):
        if node.parent is not None and isinstance(node.parent.state, AtariState) and node.action is not None:
            return list(simulator.film(node.parent.state, node.action))[-1]
        return next(simulator.film(node.state, 0))
    return picture_of(node.state.observation)


def lives(state: State) -> int | None:
    """The lives that are left, if the game has any."""
    return state.lives if isinstance(state, AtariState) else None


def frames_per_decision(simulator: Simulator) -> int:
    """How many frames a player sees during a time step."""
    return simulator.frame_skip if isinstance(simulator, Atari) else 1
