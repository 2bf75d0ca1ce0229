"""Episodes: one decision is plan, choose, execute; one episode or many at once (Definition 3)."""

from noveltree.episodes.chance import EpisodeChance as EpisodeChance
from noveltree.episodes.drive import drive as drive
from noveltree.episodes.drive import drive_stream as drive_stream
from noveltree.episodes.episode import Decision as Decision
from noveltree.episodes.episode import End as End
from noveltree.episodes.episode import Episode as Episode
from noveltree.episodes.episode import digest as digest
from noveltree.episodes.play import Choice as Choice
from noveltree.episodes.play import Play as Play
from noveltree.episodes.play import episode_rng as episode_rng
