"""noveltree: width-based planning over black-box simulators, Atari-2600 first.

>>> from noveltree import make_protocol, play_episode
>>> episode = play_episode(make_protocol("corridor"), seed=0)
>>> episode.score
1.0
"""

import lazy_loader

# Importing everything takes half a second; what is offered is declared in __init__.pyi.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
