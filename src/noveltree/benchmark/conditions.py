"""Which scores are comparable: the conditions that most were played under are the rule."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping

from noveltree.agents import get_agent
from noveltree.protocol import Protocol, compare_protocols, flat_settings


def differences(
    played: Mapping[tuple[str, str], int],
    protocols: Mapping[str, Protocol],
    *,
    rule: Callable[[Protocol], Protocol] | None = None,
) -> dict[tuple[str, str], str]:
    """In what scores are not comparable with the others; empty if they are. By agent and protocol hash.

    `played` has the number of episodes of each. The conditions of most are the rule, in all Atari games alike,
    unless `rule` gives the one that a protocol has to follow. Another protocol is comparable if it differs in the
    method alone; unless the agent is called the same.
    """
    neutral = {name: _neutral(protocol) for name, protocol in protocols.items()}
    of_all: dict[str, Counter[Protocol]] = {}
    of_agent: dict[tuple[str, str], Counter[Protocol]] = {}
    for (agent, name), count in played.items():
        world = _world(protocols[name])
        of_all.setdefault(world, Counter())[neutral[name]] += count
        of_agent.setdefault((world, agent), Counter())[neutral[name]] += count
    found = {}
    for agent, name in played:
        world, ours = _world(protocols[name]), neutral[name]
        common = of_all[world].most_common(1)[0][0] if rule is None else _neutral(rule(protocols[name]))
        agents_rule = of_agent[world, agent].most_common(1)[0][0]
        found[agent, name] = _differences(common, agents_rule, ours)
    return found


def _world(protocol: Protocol) -> str:
    """What shares its conditions: all Atari games, or one other environment."""
    return "atari" if protocol.simulator == "atari" else protocol.game


def _neutral(protocol: Protocol) -> Protocol:
    """A protocol without what differs from game to game."""
    return protocol.model_copy(update={"game": "", "rom_md5": None})


def _differences(rule: Protocol, agents_rule: Protocol, ours: Protocol) -> str:
    """In what a protocol is not comparable with the rule, or not the same as the agent's."""
    own_budget = get_agent(ours.agent).sets_budget or get_agent(rule.agent).sets_budget
    conditions = {each.setting for each in compare_protocols(rule, ours) if not each.comparable}
    method = {each.setting for each in compare_protocols(agents_rule, ours)}
    if own_budget:
        conditions.discard("budget")
    if get_agent(ours.agent).sets_budget:
        method.discard("budget")
    settings = flat_settings(ours)
    return ", ".join(f"{name} {settings[name]}" for name in settings if name in conditions | method)
