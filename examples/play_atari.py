"""Play a game, look at the score, keep the episode, and check it by replay."""

import sys
from pathlib import Path

from noveltree import EpisodeRecord, make_protocol, play_episode, verify_episode, write_episode

game = sys.argv[1] if len(sys.argv) > 1 else "pong"
max_frames = int(sys.argv[2]) if len(sys.argv) > 2 else 18_000
directory = Path(sys.argv[3] if len(sys.argv) > 3 else "episodes")

protocol = make_protocol(game, agent="riw-d", budget=50, max_frames=max_frames)
episode = play_episode(protocol, seed=0)
print(f"{game}: score {episode.score:g} in {episode.steps} steps, {episode.interactions:,} interactions")

record = EpisodeRecord(episode, protocol, seed=0, index=0)
write_episode(directory / record.file_name(), record)
print("the score holds" if verify_episode(record).holds else "the score does not hold")
