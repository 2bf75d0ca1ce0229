"""Every setting that a score depends on.

protocol    the value that is written into every result
hashing     its hash, which never changes
choices     what of it can be chosen
presets     what papers have chosen
auto        which agent suits a simulator
make        from choices, a game and an agent to a protocol
compare     whether scores under two of them are comparable
"""

from noveltree.protocol.auto import AUTO as AUTO
from noveltree.protocol.auto import AutoChoice as AutoChoice
from noveltree.protocol.auto import choose_agent as choose_agent
from noveltree.protocol.choices import Choices as Choices
from noveltree.protocol.compare import Difference as Difference
from noveltree.protocol.compare import compare_protocols as compare_protocols
from noveltree.protocol.compare import describe_setting as describe_setting
from noveltree.protocol.compare import flat_settings as flat_settings
from noveltree.protocol.learners import default_learning as default_learning
from noveltree.protocol.make import make_protocol as make_protocol
from noveltree.protocol.make import settings_for as settings_for
from noveltree.protocol.presets import DEFAULT_PRESET as DEFAULT_PRESET
from noveltree.protocol.presets import PRESETS as PRESETS
from noveltree.protocol.presets import TRAINING_PRESETS as TRAINING_PRESETS
from noveltree.protocol.protocol import Protocol as Protocol
from noveltree.protocol.protocol import parse_protocol as parse_protocol
from noveltree.protocol.protocol import play_episode as play_episode
from noveltree.protocol.training import training_by as training_by
