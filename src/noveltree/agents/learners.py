"""The learners: planners whose base policy and termination cost, or whose features, are learnt."""

from __future__ import annotations

import dataclasses

from noveltree.agents.agent import Agent
from noveltree.agents.planners import RIW_C, RIW_D, RIW_PLUS, UNPRUNED, action_set
from noveltree.agents.rules import planning_reward
from noveltree.agents.settings import LARGEST_HORIZON, Settings
from noveltree.errors import InputError
from noveltree.features import BprostFeatures, FeatureSet, LatentFeatures, UnitFeatures, make_abstraction
from noveltree.lookahead import (
    CACHED_NODES,
    POLICY,
    SCALES,
    SELECTIONS,
    UNITS,
    VALUE,
    AbstractStates,
    ActionSelection,
    GreatestValues,
    Hierarchical,
    LeafValues,
    LowLevelSearch,
    MarkedNode,
    NoveltyPruning,
    Planner,
    PlanningValues,
    Pruning,
    Puct,
    Rollouts,
    TestedWhenMet,
    WholeStates,
    drawn_first,
)
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

# That what is unseen comes back gains with a policy, and nothing without one.
N_CPL_PLUS = dataclasses.replace(
    RIW_PLUS,
    name="n-cpl-plus",
    summary="RIW+ with a base policy, or also a termination cost, that a network learns while it plays",
    heads=(POLICY, VALUE),
    defaults={**RIW_PLUS.defaults, "tie_breaking": "unseen-lately-if-idle"},
)


def _novel_units(settings: Settings, *more: str) -> Pruning:
    """Depth novelty over hidden units; whatever else is asked of the network is asked when a node is generated."""
    features = UnitFeatures(heads=(UNITS, *more))
    return NoveltyPruning(features, DepthTable(), CACHED_NODES[settings.cached_nodes])


def _pi_iw(start: State, settings: Settings) -> Planner:
    pruning, backup = _novel_units(settings, POLICY), LeafValues(settings.discount)
    return Rollouts(pruning, settings.horizon, backup, actions=action_set(settings))


# Junyent et al. (2019).
PI_IW = Agent(
    name="pi-iw",
    summary="RIW_D over the hidden units of the network that guides it, which learns from every decision",
    novelty="depth",
    assemble=_pi_iw,
    uses=("horizon", "discount", "cache", "cached_nodes", "most_nodes", "tie_breaking", "samples", "actions"),
    defaults={
        "horizon": LARGEST_HORIZON,
        "discount": 0.99,
        "cached_nodes": "tested-first",
        "most_nodes": 5_000,
        "tie_breaking": "softmax",
    },
    heads=(POLICY, UNITS),
    keeps_answers=True,
)


def _pi_iw_plus(start: State, settings: Settings) -> Planner:
    pruning, backup = _novel_units(settings, POLICY, VALUE), GreatestValues(settings.discount)
    return Rollouts(pruning, settings.horizon, backup, actions=action_set(settings))


# Junyent et al. (2021).
PI_IW_PLUS = dataclasses.replace(
    PI_IW,
    name="pi-iw-plus",
    summary="pi-IW with a learnt value of every node, and ties to the larger subtree",
    assemble=_pi_iw_plus,
    defaults={**PI_IW.defaults, "tie_breaking": "larger-subtree"},
    heads=(POLICY, UNITS, VALUE),
)


def _pi_hiw(start: State, settings: Settings) -> Planner:
    abstraction = make_abstraction(start, settings.tile_size, settings.levels)
    return Hierarchical(
        LowLevelSearch(UnitFeatures(), AbstractStates(abstraction), action_set(settings)),
        WholeStates() if settings.abstract_width == "n" else abstraction.atoms(),
        GreatestValues(settings.discount),
    )


# Junyent et al. (2021).
PI_HIW = Agent(
    name="pi-hiw",
    summary="pi-HIW(n, 1): a high level over tiles of the screen above rollouts over the units of a network",
    novelty="depth",
    assemble=_pi_hiw,
    uses=("tiles", "levels", "abstract_width", "discount", "cache", "tie_breaking", "actions"),
    defaults={"discount": 0.99, "tie_breaking": "larger-subtree"},
    heads=(POLICY, UNITS, VALUE),
    keeps_answers=True,
)


def _puct(start: State, settings: Settings) -> Planner:
    return Puct(
        exploration=settings.exploration,
        discount=settings.discount,
        noise_share=settings.noise_share,
        noise_alpha=settings.noise_alpha,
        scale=SCALES[settings.value_scale],
    )


def _by_visits(settings: Settings) -> ActionSelection:
    return drawn_first(settings.drawn_steps, SELECTIONS[settings.tie_breaking]())


# As Junyent et al. (2019) had it beside pi-IW(1).
ALPHAZERO = Agent(
    name="alphazero",
    summary="PUCT with a learnt policy and value; the policy learns from how often actions were visited",
    novelty="none",
    assemble=_puct,
    select=_by_visits,
    uses=(
        *("exploration", "discount", "cache", "tie_breaking"),
        *("noise_share", "noise_alpha", "drawn_steps", "value_scale"),
    ),
    defaults={"exploration": 1.0, "discount": 0.99},
    heads=(POLICY, VALUE),
    keeps_answers=True,
    counts_visits=True,
)


def _vae_iw(start: State, settings: Settings) -> Planner:
    return _over_screens(LatentFeatures(settings.latent_threshold), start, settings)


def _collecting(start: State, settings: Settings) -> Planner:
    return _over_screens(BprostFeatures(), start, settings)


def _over_screens(features: FeatureSet, start: State, settings: Settings) -> Planner:
    if not isinstance(start, AtariState):
        raise InputError("vae-iw plays Atari games only: it learns what is seen on their screens.")
    pruning = NoveltyPruning(features, DepthTable(), TestedWhenMet())
    actions = action_set(settings)
    if settings.risk_averse == "no":
        return Rollouts(pruning, settings.horizon, LeafValues(settings.discount), actions=actions)
    backup = PlanningValues(planning_reward(settings.risk_averse, start), settings.discount)
    return Rollouts(pruning, settings.horizon, backup, node_type=MarkedNode, actions=actions)


# Dittadi et al. (2021). Until there is an encoder, screens are collected with B-PROST features.
VAE_IW = Agent(
    name="vae-iw",
    summary="Rollout IW(1) over what an autoencoder has learnt to see on screens",
    novelty="depth",
    assemble=_vae_iw,
    untrained=_collecting,
    uses=("latent_threshold", "horizon", "discount", "cache", "tie_breaking", "samples", "actions", "risk_averse"),
    defaults={"horizon": LARGEST_HORIZON, "discount": 0.99},
    heads=(UNITS,),
)
