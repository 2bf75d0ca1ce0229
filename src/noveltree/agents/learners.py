"""The learners: planners whose base policy and termination cost, or whose features, are learnt."""

from __future__ import annotations

import dataclasses

from noveltree.agents.agent import Agent
from noveltree.agents.planners import RIW_C, RIW_D, RIW_PLUS, UNPRUNED
from noveltree.agents.settings import LARGEST_HORIZON, Settings
from noveltree.errors import InputError
from noveltree.features import BprostFeatures, FeatureSet, LatentFeatures
from noveltree.lookahead import POLICY, UNITS, VALUE, LeafValues, NoveltyPruning, Planner, Rollouts, TestedWhenMet
from noveltree.novelty import DepthTable
from noveltree.simulators import AtariState, State

N_CPL = dataclasses.replace(
    RIW_C,
    name="n-cpl",
    summary="RIW_C with a base policy and a termination cost learnt from the critical path",
    heads=(POLICY, VALUE),
)

N_CPL_D = dataclasses.replace(
    RIW_D,
    name="n-cpl-d",
    summary="RIW_D with a base policy and a termination cost learnt from the critical path",
    heads=(POLICY, VALUE),
)

CPL = dataclasses.replace(
    UNPRUNED,
    name="cpl",
    summary="Unpruned rollouts with a base policy and a termination cost learnt from the critical path",
    heads=(POLICY, VALUE),
)

N_CPL_PLUS = dataclasses.replace(
    RIW_PLUS,
    name="n-cpl-plus",
    summary="RIW+ with a base policy and a termination cost that one network learns while it plays",
    defaults={**RIW_PLUS.defaults, "tie_breaking": "policy"},
    heads=(POLICY, VALUE),
)


def _vae_iw(start: State, settings: Settings) -> Planner:
    return _over_screens(LatentFeatures(settings.latent_threshold), start, settings)


def _collecting(start: State, settings: Settings) -> Planner:
    return _over_screens(BprostFeatures(), start, settings)


def _over_screens(features: FeatureSet, start: State, settings: Settings) -> Planner:
    if not isinstance(start, AtariState):
        raise InputError("vae-iw plays Atari games only: it learns what is seen on their screens.")
    pruning = NoveltyPruning(features, DepthTable(), TestedWhenMet())
    return Rollouts(pruning, settings.horizon, LeafValues(settings.discount))


# Dittadi et al. (2021). Until there is an encoder, screens are collected with B-PROST features.
VAE_IW = Agent(
    name="vae-iw",
    summary="Rollout IW(1) over what an autoencoder has learnt to see on screens",
    novelty="depth",
    assemble=_vae_iw,
    untrained=_collecting,
    uses=("latent_threshold", "horizon", "discount", "cache", "tie_breaking"),
    defaults={"horizon": LARGEST_HORIZON, "discount": 0.99},
    heads=(UNITS,),
)
