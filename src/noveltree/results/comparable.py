"""Which trials are those of one agent, and under which conditions it played, in words."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from noveltree.benchmark.conditions import differences, in_words, may_foresee
from noveltree.errors import InputError
from noveltree.protocol import Protocol, compare_protocols, make_protocol
from noveltree.results.scores import AgentScores
from noveltree.results.trials import RecordedTrial
from noveltree.wording import numerically

#: Settings of a planner that are mentioned if they are not the usual ones.
_METHOD = ("horizon", "discount", "tie_breaking", "risk_averse", "subtables", "rollout_depth", "exploration")
_LEVELS = ("game_levels", "evaluation_levels")


class Group(NamedTuple):
    """Trials of one agent under the same conditions."""

    label: str
    differs: str
    """In what these are not those of the others, in words; empty if they are."""
    settings: tuple[str, ...]
    """The settings that this is about."""

    @property
    def name(self) -> str:
        return f"{self.label} ({self.differs})" if self.differs else self.label


def group_trials(
    trials: Sequence[RecordedTrial], *, beside_published: bool = False
) -> dict[Group, list[RecordedTrial]]:
    """The trials of every agent: one group per label and difference, the comparable ones first.

    Those of one label that differ are sorted by how, so that budgets come in the order of numbers.
    """
    protocols = {trial.protocol_hash: trial.protocol for trial in trials}
    played: Counter[tuple[str, str]] = Counter()
    for trial in trials:  # those without scores are labelled, but do not count
        played[trial.label, trial.protocol_hash] += trial.scores is not None
    differs = differences(played, protocols, rule=published_rule if beside_published else lambda protocol: None)
    groups: dict[Group, list[RecordedTrial]] = {}
    for trial in trials:
        settings = differs[trial.label, trial.protocol_hash]
        groups.setdefault(Group(trial.label, in_words(trial.protocol, settings), settings), []).append(trial)
    labels = {label: place for place, label in enumerate(dict.fromkeys(trial.label for trial in trials))}

    def place(group: Group) -> tuple[object, ...]:
        return group.differs != "", labels[group.label], numerically(group.differs)

    return {group: groups[group] for group in sorted(groups, key=place)}


def played_alike(agents: Sequence[AgentScores]) -> bool:
    """Whether several recorded agents played under the same conditions as each other, usual or not."""
    protocols = {each.hash: each for agent in agents for each in agent.protocols.values()}
    played = {(agent.label, each.hash): 1 for agent in agents for each in agent.protocols.values()}
    marked = {"chance"} if all(map(may_foresee, protocols.values())) else set()  # in any case
    found = differences(played, protocols).values()
    return len(agents) > 1 and bool(found) and all({*settings} <= marked for settings in found)


def check_unique(trials: Sequence[RecordedTrial]) -> None:
    """Raise InputError if a trial would count twice."""
    seen: dict[object, RecordedTrial] = {}
    for trial in trials:
        for place in (trial.label, trial.run.path.resolve()):
            key = (place, trial.protocol_hash, trial.run.seed)
            if other := seen.get(key):
                raise InputError(
                    f"{trial.run.path} and {other.run.path} are the same trial; leave one of them out."
                )
            seen[key] = trial


def published_rule(protocol: Protocol) -> Protocol | None:
    """The conditions of the published scores, which scores beside them have to follow; None for other games."""
    rule = _published_rule(protocol.agent)
    return rule if rule.simulator == protocol.simulator else None


@functools.cache
def _published_rule(agent: str) -> Protocol:
    return make_protocol("breakout", agent=agent)


def settings_in_words(protocol: Protocol, label: str, games: Mapping[str, Protocol] = MappingProxyType({})) -> str:
    """How an agent plays, in the words of the paper's table of experimental settings; and its unusual settings.

    What chance was to it is said of each of its `games` where that differs.
    """
    parts = [] if protocol.agent == label else [f"the agent {protocol.agent}"]
    parts += [in_words(protocol, {name}) for name in ("options", *_LEVELS) if getattr(protocol, name)]
    if "frame_skip" in protocol.simulator_kind.takes:
        parts += [f"frame skip {protocol.frame_skip}", f"at most {protocol.max_frames:,} frames"]
    else:
        parts.append(f"at most {protocol.max_steps:,} steps")
    parts.append(f"{protocol.budget:,.10g} {protocol.budget_unit} per decision")
    if protocol.action_set == "full":
        parts.append("all 18 actions")
    if protocol.sticky_actions:
        parts.append(f"sticky actions {protocol.sticky_actions:g}")
    if protocol.start == "no-ops":
        parts.append("no-op starts")
    parts += _chance({protocol.game: protocol, **games})
    if protocol.features is not None:
        parts.append(protocol.features)
    if trained := protocol.training_interactions:
        parts.append(f"trained for {trained:,} interactions")
    if (usual := published_rule(protocol)) is not None:
        differ = {each.setting for each in compare_protocols(usual, protocol) if each.comparable}
        if unusual := differ.intersection(_METHOD):
            parts.append(in_words(protocol, unusual))
    return ", ".join(parts)


def _chance(games: Mapping[str, Protocol]) -> list[str]:
    """What chance was to an agent, by game if it was not the same in all of them."""
    found: dict[str, list[str]] = {}
    for game, protocol in games.items():
        if protocol.chance not in (None, "none"):
            found.setdefault(protocol.chance, []).append(game)
    return [
        f"chance {chance}" if len(where) == len(games) else f"chance {chance} in {' and '.join(where)}"
        for chance, where in found.items()
    ]
