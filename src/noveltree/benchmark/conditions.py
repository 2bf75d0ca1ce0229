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
    rule: Callable[[Protocol], Protocol | None] = lambda protocol: None,
) -> dict[tuple[str, str], str]:
    """In what scores are not comparable with the others; empty if they are. By agent and protocol hash.

    `played` has the number of episodes or trials of each. What most are comparable with is the rule, in all Atari
    games alike, unless `rule` gives one that a protocol has to follow. Another protocol is comparable if it differs
    in the method alone; unless the agent is called the same.
    """
    neutral = {name: _neutral(protocol) for name, protocol in protocols.items()}
    of_all: dict[str, Counter[Protocol]] = {}
    of_agent: dict[tuple[str, str], Counter[Protocol]] = {}
    for (agent, name), count in played.items():
        world = _world(protocols[name])
        of_all.setdefault(world, Counter())[neutral[name]] += count
        of_agent.setdefault((world, agent), Counter())[neutral[name]] += count
    rules = {world: _rule(counts) for world, counts in of_all.items()}
    found = {}
    for agent, name in played:
        world, ours = _world(protocols[name]), neutral[name]
        given = rule(protocols[name])
        common = rules[world] if given is None else _neutral(given)
        agents_rule = _agents_rule(of_agent[world, agent], common)
        found[agent, name] = _differences(common, agents_rule, ours)
    return found


def _rule(played: Counter[Protocol]) -> Protocol:
    """The protocol with which most episodes are comparable."""

    def comparable(protocol: Protocol) -> int:
        return sum(count for other, count in played.items() if not _conditions(protocol, other))

    return max(played, key=comparable)


def _agents_rule(played: Counter[Protocol], common: Protocol) -> Protocol:
    """What most episodes of an agent were played under; of several, that with the conditions of the others."""
    most = max(played.values())
    return min(
        (protocol for protocol, count in played.items() if count == most),
        key=lambda protocol: len(_conditions(common, protocol)),
    )


def _world(protocol: Protocol) -> str:
    """What shares its conditions: all Atari games, or one other environment."""
    return "atari" if protocol.simulator == "atari" else protocol.game


def _neutral(protocol: Protocol) -> Protocol:
    """A protocol without what differs from game to game."""
    return protocol.model_copy(update={"game": "", "rom_md5": None})


def _conditions(rule: Protocol, ours: Protocol) -> set[str]:
    """The settings in which a protocol is not comparable with the rule."""
    conditions = {each.setting for each in compare_protocols(rule, ours) if not each.comparable}
    if get_agent(ours.agent).sets_budget or get_agent(rule.agent).sets_budget:
        conditions.discard("budget")
    return conditions


def _differences(rule: Protocol, agents_rule: Protocol, ours: Protocol) -> str:
    """In what a protocol is not comparable with the rule, or not the same as the agent's."""
    method = {each.setting for each in compare_protocols(agents_rule, ours)}
    if get_agent(ours.agent).sets_budget:
        method.discard("budget")
    wanted = _conditions(rule, ours) | method
    return ", ".join(f"{name} {_value(value)}" for name, value in flat_settings(ours).items() if name in wanted)


def _value(value: object) -> str:
    return f"{value:.10g}" if isinstance(value, float) else str(value)
