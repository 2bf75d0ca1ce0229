"""What is written to disk and how: runs, episodes, checkpoints."""

from noveltree.records.episode_file import EpisodeRecord as EpisodeRecord
from noveltree.records.episode_file import encode_episode as encode_episode
from noveltree.records.episode_file import keep_episode as keep_episode
from noveltree.records.episode_file import read_episode as read_episode
from noveltree.records.episode_file import write_episode as write_episode
from noveltree.records.files import check_writable as check_writable
from noveltree.records.files import write_atomically as write_atomically
