"""The MDP: simulators as deterministic functions of a state and an action."""

from noveltree.simulators.atari import Atari as Atari
from noveltree.simulators.atari import AtariState as AtariState
from noveltree.simulators.corridor import Corridor as Corridor
from noveltree.simulators.corridor import CorridorState as CorridorState
from noveltree.simulators.simulator import Simulator as Simulator
from noveltree.simulators.simulator import State as State
from noveltree.simulators.simulator import Transition as Transition
