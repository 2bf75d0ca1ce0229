"""The planners of Bandres et al. (2018) and Lipovetzky et al. (2015): scores, and under which conditions.

`bandres.csv.xz` has means and deviations in 58 games, from the records in their release, bonetblai/rollout-iw;
those of IW, RIW, RA RIW and NS+RA RIW at 0.5 and 32 seconds are the article's Table 2. `lipovetzky.csv` is the
table of the article of 2015 as that release keeps it: means in 54 games.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

from noveltree.protocol import Protocol, make_protocol
from noveltree.published.files import rows_of
from noveltree.simulators.games import canonical_game

_BUDGETS = ("0.25", "0.5", "1.0", "32.0")
_RISK_AVERSE = {"risk_averse": "parent", "tie_breaking": "longest-branch"}
#: Their names for their planners, and ours for the parts that these are made of.
_BANDRES: dict[str, dict[str, Any]] = {
    "RIW": {},
    "RA RIW": _RISK_AVERSE,
    "NS+RA RIW": {**_RISK_AVERSE, "subtables": True},
    "IW": {"agent": "iw1"},
    "NS IW": {"agent": "iw1"},
    "RA IW": {"agent": "iw1"},
    "NS+RA IW": {"agent": "iw1"},
}
_NO_OPS = "0 to 29 no-op actions first"
_BREADTH_FIRST = f"{_NO_OPS}; among nodes of one depth, those with more reward first"
#: What protocols cannot say of them: breadth-first search has neither of these parts here.
_BESIDES = {
    "IW": _BREADTH_FIRST,
    "NS IW": f"{_BREADTH_FIRST}; novelty subtables",
    "RA IW": f"{_BREADTH_FIRST}; risk averse",
    "NS+RA IW": f"{_BREADTH_FIRST}; risk averse, novelty subtables",
}
_IN_FILE = {"IW": "IW_bfs", "NS IW": "NS+ IW_bfs", "RA IW": "RA IW_bfs", "NS+RA IW": "NS+RA IW_bfs"}
_LIPOVETZKY = {"IW(1)": "IW1", "2BFS": "2BFS", "BrFS": "BrFS", "UCT": "UCT"}


@dataclass(frozen=True, slots=True)
class PlannerScore:
    """What a planner scored in a game."""

    mean: float
    sd: float | None = None
    """With n - 1 in the denominator."""
    episodes: int | None = None
    decisions: float | None = None
    """Per episode, on average."""
    interactions: float | None = None
    """Per decision, on average."""


@dataclass(frozen=True, slots=True)
class PublishedPlanner:
    """A planner, and what it scored by game."""

    name: str
    title: str
    article: str
    scores: dict[str, PlannerScore]
    in_table: bool = False
    """Whether it is a column of the article's table of scores."""
    conditions: dict[str, Any] | None = None
    """What protocols of it are made of; None if that is not known."""
    besides: str = ""
    """What its protocols cannot say."""

    @property
    def interactions(self) -> float | None:
        """Interactions per decision over all its decisions, if they were recorded."""
        spent = made = 0.0
        for score in self.scores.values():
            if score.interactions is None or score.decisions is None or score.episodes is None:
                return None
            decisions = score.decisions * score.episodes
            spent += score.interactions * decisions
            made += decisions
        return spent / made

    def protocol(self, game: str) -> Protocol | None:
        """Under which conditions it played a game, as far as a protocol says."""
        return None if self.conditions is None else make_protocol(game, **self.conditions)


@functools.cache
def published_planners() -> dict[str, PublishedPlanner]:
    """By name, as in `bandres-riw-0.5s` and `lipovetzky-iw1`."""
    planners = [*_bandres(), *_lipovetzky()]
    return {planner.name: planner for planner in planners}


def _bandres() -> list[PublishedPlanner]:
    rows: dict[tuple[str, str], dict[str, PlannerScore]] = {}
    for row in rows_of("bandres.csv.xz"):
        if row["features"] == "B-PROST":
            rows.setdefault((row["variant"], row["time_budget_s"]), {})[canonical_game(row["game"])] = PlannerScore(
                mean=float(row["score_mean"]),
                sd=float(row["score_sd"]),
                episodes=int(row["episodes"]),
                decisions=float(row["decisions_mean"]),
                interactions=float(row["simulator_calls_per_decision"]),
            )
    planners = []
    for variant, parts in _BANDRES.items():
        for budget in _BUDGETS:
            if (scores := rows.get((_IN_FILE.get(variant, variant), budget))) is None:
                continue
            seconds = f"{float(budget):g}"
            planners.append(
                PublishedPlanner(
                    name=f"bandres-{variant.lower().replace('+', '-').replace(' ', '-')}-{seconds}s",
                    title=f"{variant}, {seconds} s",
                    article="Bandres et al. 2018",
                    scores=scores,
                    in_table=seconds in ("0.5", "32") and variant in ("IW", "RIW", "RA RIW", "NS+RA RIW"),
                    conditions={
                        "preset": "bandres-2018",
                        "budget": float(budget),
                        "budget_unit": "seconds",
                        **parts,
                    },
                    besides=_BESIDES.get(variant, _NO_OPS),
                )
            )
    return planners


def _lipovetzky() -> list[PublishedPlanner]:
    rows = {canonical_game(row["game"]): row for row in rows_of("lipovetzky.csv")}
    played = {"IW(1)": {"preset": "lipovetzky-2015"}, "2BFS": {"preset": "lipovetzky-2015", "agent": "2bfs"}}
    return [
        PublishedPlanner(
            name=f"lipovetzky-{column.lower()}",
            title=title,
            article="Lipovetzky et al. 2015",
            scores={game: PlannerScore(float(row[column])) for game, row in rows.items()},
            in_table=True,
            conditions=played.get(title),
        )
        for title, column in _LIPOVETZKY.items()
    ]
