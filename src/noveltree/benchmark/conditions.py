"""Which scores are comparable: the conditions that most were played under are the rule."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping

from noveltree.agents import get_agent
from noveltree.protocol import Protocol, compare_protocols, flat_settings

#: How settings are told; others by their names.
_WORDS = {
    "max_frames": "at most {} frames",
    "learning.schedule.interactions": "{} training interactions",
    "game_levels": "levels {}",
    "evaluation_levels": "evaluated in levels {}",
    "source": "source {:.12}",
}


def differences(
    played: Mapping[tuple[str, str], int],
    protocols: Mapping[str, Protocol],
    *,
    rule: Callable[[Protocol], Protocol | None] = lambda protocol: None,
) -> dict[tuple[str, str], tuple[str, ...]]:
    """The settings in which scores are not comparable with the others, if any, by agent and protocol hash.

    `played` has the number of episodes or trials of each. What most are comparable with is the rule, in all Atari
    games alike, unless `rule` gives one that a protocol has to follow. Another protocol is comparable if it differs
    in the method alone; unless the agent is called the same. A clairvoyant's scores are marked in any case.
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


def may_foresee(protocol: Protocol) -> bool:
    """Whether planners foresaw what chance would bring, or an old record does not say that they did not."""
    return protocol.chance == "foreseen" or (protocol.chance is None and protocol.simulator_kind.foresaw)


def in_words(protocol: Protocol, settings: Collection[str]) -> str:
    """What some settings of a protocol are: `budget 10, at most 300 frames`."""
    return ", ".join(
        _WORDS.get(name, f"{_told(name)} {{}}").format(_value(name, value))
        for name, value in flat_settings(protocol).items()
        if name in settings
    )


def _told(name: str) -> str:
    return name.removeprefix("learning.").replace(".", " ").replace("_", " ")


def _value(name: str, value: object) -> str:
    if name == "chance" and value is None:
        return "foreseen if there was any"
    if isinstance(value, int | float) and not isinstance(value, bool):
        return f"{value:,.10g}"
    return str(value)


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
    """What shares its conditions: all games of a kind that are played alike, or one game."""
    return protocol.simulator if protocol.simulator_kind.alike else protocol.game


def _neutral(protocol: Protocol) -> Protocol:
    """A protocol without what differs from game to game."""
    return protocol.model_copy(update={"game": "", "rom_md5": None})


def _conditions(rule: Protocol, ours: Protocol) -> set[str]:
    """The settings in which a protocol is not comparable with the rule."""
    conditions = {each.setting for each in compare_protocols(rule, ours) if not each.comparable}
    if get_agent(ours.agent).sets_budget or get_agent(rule.agent).sets_budget:
        conditions.discard("budget")
    return conditions


def _differences(rule: Protocol, agents_rule: Protocol, ours: Protocol) -> tuple[str, ...]:
    """In which settings a protocol is not comparable with the rule, or not the same as the agent's."""
    method = {each.setting for each in compare_protocols(agents_rule, ours)}
    if get_agent(ours.agent).sets_budget:
        method.discard("budget")
    found = _conditions(rule, ours) | method | ({"chance"} if may_foresee(ours) else set())
    return tuple(name for name in flat_settings(ours) if name in found)
