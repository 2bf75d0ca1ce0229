"""Feature sets: functions from a node to the indices of its true features."""

from __future__ import annotations

import numpy as np

from noveltree.errors import InputError, UnknownNameError
from noveltree.features.abstraction import Abstraction as Abstraction
from noveltree.features.abstraction import make_abstraction as make_abstraction
from noveltree.features.abstraction import parse_size as parse_size
from noveltree.features.atoms import AtomFeatures as AtomFeatures
from noveltree.features.bins import PRECISION as PRECISION
from noveltree.features.bins import Bins as Bins
from noveltree.features.bins import learn_ranges as learn_ranges
from noveltree.features.bins import parse_ranges as parse_ranges
from noveltree.features.bprost import BprostFeatures as BprostFeatures
from noveltree.features.feature_set import FeatureSet as FeatureSet
from noveltree.features.feature_set import Indices as Indices
from noveltree.features.latents import LatentFeatures as LatentFeatures
from noveltree.features.pairs import PairFeatures as PairFeatures
from noveltree.features.pixels import PixelFeatures as PixelFeatures
from noveltree.features.ram import RamFeatures as RamFeatures
from noveltree.features.units import UnitFeatures as UnitFeatures
from noveltree.simulators import AtariState, State
from noveltree.simulators.settings import TilesOf

FEATURE_SETS = ("pixels", "ram", "bprost", "bprost-background", "atoms")
#: Feature sets for which a simulator has to observe the tiles of its screens, and of what of them.
NEEDS_TILES: dict[str, TilesOf] = {"bprost": True, "bprost-background": "foreground"}


def make_features(name: str, start: State, bins: Bins | None = None) -> FeatureSet:
    """The feature set `name` for the states of a simulator whose start state is `start`; `bins` are for atoms."""
    if bins is not None and (name != "atoms" or bins.variables != start.observation.size):
        raise InputError(
            f"Bins of {bins.variables} variables do not fit {name} of observations of shape "
            f"{start.observation.shape}: precision and ranges are for atoms of continuous vectors."
        )
    match name:
        case "pixels" if start.observation.dtype == np.uint8 and start.observation.ndim >= 2:
            return PixelFeatures(start.observation.shape)
        case "ram" if isinstance(start, AtariState):
            return RamFeatures()
        case "bprost" | "bprost-background" if isinstance(start, AtariState) and start.tiles is not None:
            return BprostFeatures()
        case "atoms" if default_features(start) == "atoms":
            return AtomFeatures(bins)
    if name not in FEATURE_SETS:
        raise UnknownNameError("feature set", name, FEATURE_SETS)
    raise InputError(
        f"The feature set {name!r} does not fit observations of type {start.observation.dtype} and shape "
        f"{start.observation.shape}; {default_features(start)!r} does."
    )


def default_features(start: State) -> str:
    """The feature set that suits a simulator: pixels for images, atoms for vectors."""
    return "pixels" if start.observation.ndim >= 2 and start.observation.dtype == np.uint8 else "atoms"
