"""The MDP: simulators as deterministic functions of a state and an action."""

import lazy_loader

# The emulator and compiled kernels take long to load, and lists of games need neither.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
