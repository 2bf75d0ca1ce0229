"""The chance of an episode: where it begins, and what is really thrown when an action is executed.

No lookahead sees the dice.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from noveltree.simulators import RandomStarts, Simulator, State, Transition, chance_of, start_at

#: Sets the dice of episodes apart from the generators that planning draws from.
_DICE = 0xD1CE
#: The first dice are for the start; those of time step t come t + 1 after them.
_START = 0


@dataclass(frozen=True, slots=True)
class EpisodeChance:
    """The level that an episode begins in, if there are several, and its dice.

    Dice follow from the trial's seed, the episode's place in it, and the time step. So an episode that was paused
    goes on with the same dice, and one that was recorded is replayed with them.
    """

    seed: int
    index: int
    interval: int = 0
    level: int | None = None

    def dice(self, time: int) -> int:
        """The dice for the action that is executed at a time step."""
        return self._thrown(time + 1)

    def start(self, simulator: Simulator) -> State:
        """Where the episode begins."""
        if self.level is not None:
            return start_at(simulator, self.level)
        if isinstance(simulator, RandomStarts):
            return simulator.draw_start(self._thrown(_START))
        return simulator.start()

    def step(self, simulator: Simulator, state: State, action: int, time: int) -> Transition:
        """What executing an action at a time step leads to."""
        chance = chance_of(simulator)
        if chance is None:
            return simulator.step(state, action)
        return chance.draw(state, action, self.dice(time)).transition

    def _thrown(self, number: int) -> int:
        sequence = np.random.SeedSequence(self.seed, spawn_key=(self.interval, self.index, _DICE, number))
        return int(sequence.generate_state(1, np.uint64)[0]) >> 1
