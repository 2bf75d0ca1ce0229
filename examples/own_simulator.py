"""Your own simulator: a robot that must fetch a key before the door at the other end of a ring opens.

`noveltree play examples/own_simulator.py:Ring --agent iw1` plays it on the command line.
"""

import numpy as np

from noveltree import (
    Interactions,
    Play,
    Settings,
    State,
    Transition,
    check_simulator,
    drive,
    episode_rng,
    get_agent,
    make_protocol,
    play_episode,
)


class RobotState(State):
    def __init__(self, place: int, has_key: bool) -> None:
        super().__init__(np.array([place, has_key], dtype=np.int64))
        self.place, self.has_key = place, has_key


class Ring:
    """Twelve places in a ring; the robot starts at 0, the key is at 4, the door at 8."""

    actions = ("BACK", "FORTH")

    def start(self) -> RobotState:
        return RobotState(0, has_key=False)

    def step(self, state: State, action: int) -> Transition:
        assert isinstance(state, RobotState)
        place = (state.place + (1 if action else -1)) % 12
        has_key = state.has_key or place == 4
        at_home = has_key and place == 8
        return Transition(RobotState(place, has_key), 10.0 if at_home else 0.0, at_home)

    def close(self) -> None:
        pass


if __name__ == "__main__":  # not when the command line imports it
    print(check_simulator(Ring()))
    play = Play(
        Ring(),
        get_agent("iw1"),
        settings=Settings(features="atoms", discount=0.99),
        budget=Interactions(100),
        rng=episode_rng(seed=0, index=0),
        max_steps=100,
    )
    drive([play])
    episode = play.episode()
    print(
        f"score {episode.score:g} in {episode.steps} steps: {[Ring.actions[action] for action in episode.actions]}"
    )

    # The same with a protocol, which is what records are made of.
    protocol = make_protocol(simulator=Ring, agent="iw1", budget=100, discount=0.99, max_frames=100)
    print(f"{protocol.game}: score {play_episode(protocol).score:g}")
