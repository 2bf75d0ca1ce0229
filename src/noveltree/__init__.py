"""noveltree: width-based planning over black-box simulators, Atari-2600 first.

>>> from noveltree import make_protocol, play_episode
>>> episode = play_episode(make_protocol("corridor"), seed=0)
>>> episode.score
1.0
"""

from noveltree.agents import AGENTS as AGENTS
from noveltree.agents import Agent as Agent
from noveltree.agents import Settings as Settings
from noveltree.agents import get_agent as get_agent
from noveltree.episodes import Decision as Decision
from noveltree.episodes import End as End
from noveltree.episodes import Episode as Episode
from noveltree.episodes import Play as Play
from noveltree.episodes import drive as drive
from noveltree.episodes import drive_stream as drive_stream
from noveltree.episodes import episode_rng as episode_rng
from noveltree.errors import InputError as InputError
from noveltree.errors import NotDeterministicError as NotDeterministicError
from noveltree.errors import NoveltreeError as NoveltreeError
from noveltree.errors import OutputError as OutputError
from noveltree.errors import RecordError as RecordError
from noveltree.errors import SimulatorError as SimulatorError
from noveltree.errors import UnknownNameError as UnknownNameError
from noveltree.features import FeatureSet as FeatureSet
from noveltree.heuristics import UNINFORMED as UNINFORMED
from noveltree.heuristics import Heuristic as Heuristic
from noveltree.heuristics import Heuristics as Heuristics
from noveltree.lookahead import Interactions as Interactions
from noveltree.lookahead import NoPruning as NoPruning
from noveltree.lookahead import NoveltyPruning as NoveltyPruning
from noveltree.lookahead import Seconds as Seconds
from noveltree.novelty import ClassicTable as ClassicTable
from noveltree.novelty import DepthTable as DepthTable
from noveltree.novelty import NoveltyTable as NoveltyTable
from noveltree.protocol import PRESETS as PRESETS
from noveltree.protocol import Protocol as Protocol
from noveltree.protocol import compare_protocols as compare_protocols
from noveltree.protocol import make_protocol as make_protocol
from noveltree.protocol import play_episode as play_episode
from noveltree.records import EpisodeRecord as EpisodeRecord
from noveltree.records import read_episode as read_episode
from noveltree.records import render_episode as render_episode
from noveltree.records import verify_episode as verify_episode
from noveltree.records import write_episode as write_episode
from noveltree.simulators import Atari as Atari
from noveltree.simulators import Corridor as Corridor
from noveltree.simulators import GymnasiumSimulator as GymnasiumSimulator
from noveltree.simulators import Simulator as Simulator
from noveltree.simulators import State as State
from noveltree.simulators import Transition as Transition
from noveltree.simulators import check_simulator as check_simulator
from noveltree.tree import Lookahead as Lookahead
from noveltree.tree import Node as Node
from noveltree.version import __version__ as __version__
