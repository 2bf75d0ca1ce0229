"""What is written to disk and how: episode files, their verification by replay, and videos of them."""

from noveltree.records.episode_file import EpisodeRecord as EpisodeRecord
from noveltree.records.episode_file import encode_episode as encode_episode
from noveltree.records.episode_file import read_episode as read_episode
from noveltree.records.episode_file import write_episode as write_episode
from noveltree.records.files import check_writable as check_writable
from noveltree.records.files import unused as unused
from noveltree.records.files import write_atomically as write_atomically
from noveltree.records.verify import Verification as Verification
from noveltree.records.verify import verify_episode as verify_episode
from noveltree.records.video import LARGEST_SCALE as LARGEST_SCALE
from noveltree.records.video import check_video as check_video
from noveltree.records.video import render_episode as render_episode
