"""Gymnasium environments without any feature engineering: FrozenLake, Taxi and, if it is installed, MiniGrid."""

import importlib.util

from noveltree import make_protocol, play_episode

worlds = {
    "FrozenLake-v1": {"agent": "uct", "budget": 300, "rollout_depth": 50},  # slippery: chance is sampled
    "Taxi-v4": {"agent": "iw1", "budget": 2000, "discount": 0.99},
}
if importlib.util.find_spec("minigrid") is not None:
    worlds["MiniGrid-Empty-5x5-v0"] = {"agent": "riw-d", "budget": 100, "discount": 0.99}

for world, choices in worlds.items():
    episode = play_episode(make_protocol(world, **choices), seed=0)
    print(f"{world}: score {episode.score:.3g} in {episode.steps} steps ({episode.end})")
