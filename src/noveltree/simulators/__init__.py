"""The MDP: simulators as deterministic functions of a state and an action."""

from noveltree.simulators.atari import Atari as Atari
from noveltree.simulators.atari import AtariState as AtariState
from noveltree.simulators.check import SimulatorCheck as SimulatorCheck
from noveltree.simulators.check import check_simulator as check_simulator
from noveltree.simulators.corridor import Corridor as Corridor
from noveltree.simulators.corridor import CorridorState as CorridorState
from noveltree.simulators.gymnasium import GymnasiumSimulator as GymnasiumSimulator
from noveltree.simulators.gymnasium import GymnasiumState as GymnasiumState
from noveltree.simulators.gymnasium import is_environment_id as is_environment_id
from noveltree.simulators.kind import SIMULATOR_KINDS as SIMULATOR_KINDS
from noveltree.simulators.kind import SimulatorKind as SimulatorKind
from noveltree.simulators.kind import find_game as find_game
from noveltree.simulators.kind import get_kind as get_kind
from noveltree.simulators.kind import register_simulator as register_simulator
from noveltree.simulators.kinds import AtariKind as AtariKind
from noveltree.simulators.settings import SimulatorSettings as SimulatorSettings
from noveltree.simulators.simulator import Simulator as Simulator
from noveltree.simulators.simulator import State as State
from noveltree.simulators.simulator import StorableStates as StorableStates
from noveltree.simulators.simulator import Transition as Transition
