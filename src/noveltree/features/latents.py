"""Latent variables of an encoder: those that are probably true in what is seen (Dittadi et al., 2021)."""

from __future__ import annotations

import math

import numpy as np

from noveltree.errors import InputError
from noveltree.features.feature_set import FeatureSet, Indices
from noveltree.tree import Node


class LatentFeatures(FeatureSet):
    """One feature a variable, true if the variable's probability is above a threshold.

    The units of the encoder, which have to be asked for, are the logits of its variables. There are as many as the
    first node has.
    """

    heads = ("units",)

    def __init__(self, threshold: float) -> None:
        if not 0.0 < threshold < 1.0:
            raise InputError(f"The threshold of a probability lies between 0 and 1, not at {threshold:g}.")
        self.size = 0
        self._logit = np.float32(math.log(threshold / (1.0 - threshold)))

    def __call__(self, node: Node) -> Indices:
        if node.units is None:
            raise InputError("The features are latent variables of an encoder, and no encoder was asked for them.")
        self.size = node.units.size
        return np.flatnonzero(node.units > self._logit).astype(np.int32)
