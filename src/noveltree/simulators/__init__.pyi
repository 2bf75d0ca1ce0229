"""What `noveltree.simulators` offers: `__init__.py` imports each name when it is first asked for."""

from .atari import Atari as Atari
from .atari import AtariState as AtariState
from .check import SimulatorCheck as SimulatorCheck
from .check import check_simulator as check_simulator
from .corridor import Corridor as Corridor
from .corridor import CorridorState as CorridorState
from .gymnasium import GymnasiumSimulator as GymnasiumSimulator
from .gymnasium import GymnasiumState as GymnasiumState
from .gymnasium import is_environment_id as is_environment_id
from .kinds import SIMULATOR_KINDS as SIMULATOR_KINDS
from .kinds import AtariKind as AtariKind
from .kinds import SimulatorKind as SimulatorKind
from .kinds import all_names as all_names
from .kinds import find_game as find_game
from .kinds import get_kind as get_kind
from .kinds import register_simulator as register_simulator
from .settings import Observed as Observed
from .settings import SimulatorSettings as SimulatorSettings
from .settings import TilesOf as TilesOf
from .simulator import Simulator as Simulator
from .simulator import Size as Size
from .simulator import State as State
from .simulator import StorableStates as StorableStates
from .simulator import Transition as Transition
