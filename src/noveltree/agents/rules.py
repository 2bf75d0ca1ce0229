"""What Bandres et al. (2018) did besides RIW(1) with depth novelty: rules, each with a setting of its own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from noveltree.agents.settings import Settings
from noveltree.errors import InputError
from noveltree.features import make_features
from noveltree.lookahead import (
    CACHED_NODES,
    Backup,
    CountedVisits,
    LostNodes,
    NoveltyPruning,
    OneLife,
    PlanningReward,
    PlanningValues,
    Pruning,
    Repetitions,
    RiskAverse,
    RiskAverseFromRoot,
    Subtables,
    true_reward,
)
from noveltree.novelty import NoveltyTable
from noveltree.simulators import AtariState, State, lives_of

#: How nodes are pruned, and how they are backed up.
Rules = tuple[Pruning, Backup]
#: The settings that choose them.
RULES = ("visits", "repetitions", "lost_nodes", "subtables", "risk_averse", "untried")


def rules_are_chosen(settings: Settings) -> bool:
    """Whether one of the rules is not that of N-CPL and its family."""
    return any(getattr(settings, name) != Settings.model_fields[name].default for name in RULES)


def rollouts_by_rules(start: State, settings: Settings, make_table: Callable[[], NoveltyTable]) -> Rules:
    """The pruning and the backup of rollouts of marked nodes."""
    others = settings.width != 1, settings.pruned_leaves != "termination-cost", settings.exact_duplicates
    if any(others):
        raise InputError(
            f"The rules of Bandres et al. ({', '.join(RULES)}) are about novelty of width 1 and leaves that are "
            "worth their termination cost: choose them, or a width, a worth of pruned leaves or exact duplicates, "
            "but not both."
        )
    reward = planning_reward(settings.risk_averse, start)
    table = Subtables(make_table, reward) if settings.subtables else make_table()
    features = make_features(settings.features, start, settings.bins)
    return assemble_rules(NoveltyPruning(features, table, CACHED_NODES[settings.cached_nodes]), settings, reward)


def assemble_rules(by_novelty: NoveltyPruning, settings: Settings, reward: PlanningReward) -> Rules:
    """The rules that are chosen, around a pruning by novelty; and a backup of planning rewards."""
    pruning: Pruning = Repetitions(by_novelty) if settings.repetitions else by_novelty
    if settings.lost_nodes == "leave":
        pruning = LostNodes(pruning)
    if settings.visits == "counted":
        pruning = CountedVisits(pruning)
    backup = PlanningValues(reward, settings.discount, settings.reward_weight, settings.untried == "zero")
    if settings.lives == "one":
        life = OneLife(pruning)
        return life, replace(backup, pruned=life.worths)
    return pruning, backup


def planning_reward(risk_averse: str, start: State) -> PlanningReward:
    """What the lookahead takes for the reward of an action."""
    if risk_averse == "no":
        return true_reward
    if not isinstance(start, AtariState):
        raise InputError(
            "A risk-averse planner counts lost lives, of which only states of Atari games know: "
            f"a {type(start).__name__} does not say how many are left."
        )
    return RiskAverse(lives_of) if risk_averse == "parent" else RiskAverseFromRoot(lives_of)
