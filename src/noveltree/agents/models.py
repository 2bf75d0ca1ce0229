"""Planners for small worlds: they keep a model of all that an episode has met, instead of a tree."""

from __future__ import annotations

from noveltree.agents.agent import Agent
from noveltree.agents.settings import STATE_KEYS, Settings
from noveltree.lookahead import Graph, Planner, RMax
from noveltree.lookahead.state_keys import held_keys, observed_keys
from noveltree.simulators import State

_USES = ("horizon", "discount", "cells", "tie_breaking")
#: A discount makes the nearest of equal goals the best; the horizon is far enough for it to count.
_DEFAULTS = {"horizon": 500, "discount": 0.99}


def _graph(start: State, settings: Settings) -> Planner:
    keys = held_keys(settings.clocks) if settings.state_keys == "held" else observed_keys
    return Graph(settings.horizon, settings.discount, settings.cells, settings.samples, keys)


GRAPH = Agent(
    name="graph",
    summary="Every state within reach once, those in new cells first, and value iteration over all that was met",
    novelty="none",
    assemble=_graph,
    uses=(*_USES, "samples", *STATE_KEYS),
    defaults=_DEFAULTS,
)


def _r_max(start: State, settings: Settings) -> Planner:
    return RMax(settings.horizon, settings.discount, settings.cells, settings.known_after)


# Brafman and Tennenholtz (2002).
R_MAX = Agent(
    name="r-max",
    summary="R-max: a model with counted outcomes, explored by trials to which the unknown is the best",
    novelty="none",
    assemble=_r_max,
    uses=(*_USES, "known_after"),
    defaults=_DEFAULTS,
)
