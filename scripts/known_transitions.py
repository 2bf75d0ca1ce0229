r"""Which share of interactions ask for a transition that the lookahead knows already, from an identical state.

    python scripts/known_transitions.py riw-c breakout pong qbert
    python scripts/known_transitions.py riw-plus breakout qbert space_invaders zaxxon assault

In the first decisions of an episode, with 100 interactions each, all of which are counted.
"""

from __future__ import annotations

import argparse
import contextlib
from unittest.mock import Mock

from noveltree.episodes import drive
from noveltree.protocol import make_protocol
from noveltree.simulators.games import game_title


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("agent", help="one that plans with rollouts")
    parser.add_argument("games", nargs="+")
    parser.add_argument("--decisions", type=int, default=200)
    options = parser.parse_args()
    for game in options.games:
        print(f"{game_title(game)}: {share_of_known(options.agent, game, options.decisions):.1%}", flush=True)


def share_of_known(agent: str, game: str, decisions: int) -> float:
    """The interactions of so many decisions for which the simulator is not called, to all of them."""
    protocol = make_protocol(game, agent=agent, budget=100, known_transitions="counted")
    with contextlib.closing(protocol.make_simulator()) as simulator:
        simulator.step = step = Mock(side_effect=simulator.step)  # type: ignore[method-assign]
        play = protocol.make_play(simulator, seed=0, index=0)
        drive([play], decisions=decisions)
    return 1 - step.call_count / sum(decision.interactions for decision in play.decisions)


if __name__ == "__main__":
    main()
