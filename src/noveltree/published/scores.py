"""The paper's tables: mean scores with 90% intervals where it has them, human players, DQN and Rainbow, SMRF."""

from __future__ import annotations

import functools
from dataclasses import dataclass

from noveltree.published.files import rows_of
from noveltree.simulators.games import canonical_game

#: The paper's names for the agents of its tables, in the order of its Table 1, by ours.
PUBLISHED_AGENTS: dict[str, str] = {
    "n-cpl": "N-CPL",
    "n-cpl-d": "N-CPL_D",
    "cpl": "CPL",
    "riw-c": "RIW_C",
    "riw-d": "RIW_D",
    "pi-iw": "pi-IW",
    "pi-iw+": "pi-IW+",
    "pi-hiw": "pi-HIW",
}
#: How the agents of the paper's tables were played, after its table of experimental settings.
_WIDTH_BASED = "frame skip 15, at most 18,000 frames, 100 interactions per decision, no loss-of-life signal"
PUBLISHED_SETTINGS: dict[str, str] = {
    **{agent: f"{_WIDTH_BASED}, nothing learnt" for agent in ("riw-c", "riw-d")},
    **{
        agent: f"{_WIDTH_BASED}, trained for 20 million interactions"
        for agent in ("n-cpl", "n-cpl-d", "cpl", "pi-iw", "pi-iw+", "pi-hiw")
    },
}


@dataclass(frozen=True, slots=True)
class OtherAgent:
    """Whom the paper compares N-CPL with, under other conditions."""

    title: str
    table: str
    """Of which of the paper's comparisons with human players."""
    settings: str
    differs: str
    """In what its conditions are others."""


def _without_model(title: str, table: str, starts: str, frames: str) -> OtherAgent:
    """One that learns without a model; only the length of its episodes may be that of the paper's own agents."""
    longer = "" if frames == "18,000" else f", at most {frames} frames"
    return OtherAgent(
        title,
        table,
        f"frame skip 4, at most {frames} frames, no lookahead, trained for 50 million interactions, "
        f"{starts} starts, loss-of-life signal",
        "frame skip 4, no lookahead, 50 million training interactions, "
        f"{starts} starts, loss-of-life signal{longer}",
    )


OTHER_AGENTS: dict[str, OtherAgent] = {
    "dqn": _without_model("DQN", "dqn", "random no-op", "18,000"),
    "rainbow-human-starts": _without_model("Rainbow, human starts", "rainbow-human-starts", "human", "108,000"),
    "rainbow-noop-starts": _without_model(
        "Rainbow, no-op starts", "rainbow-noop-starts", "random no-op", "108,000"
    ),
    "human": OtherAgent(
        "Human", "dqn", "a professional games tester, as Mnih et al. (2015) report", "a human player"
    ),
}
#: Episodes behind a published mean of the paper's own agents: 5 trials of 10. (Some of RIW have a few less.)
PUBLISHED_EPISODES = 50


@dataclass(frozen=True, slots=True)
class PublishedScore:
    """A mean score of a table."""

    mean: float
    interval: float | None = None
    """Half the width of its 90% interval, if it was published."""


@dataclass(frozen=True, slots=True)
class HumanComparison:
    """Scores of a game in a comparison with a human player."""

    human: float
    other: float
    """Of the agent that N-CPL is compared with."""
    n_cpl: float


@dataclass(frozen=True, slots=True)
class SmrfTest:
    """RTDP against random actions in a game: 20 episodes each."""

    rtdp_mean: float
    rtdp_sd: float
    random_mean: float
    random_sd: float
    smrf: bool
    """Whether the paper finds sparse meaningful reward feedback."""


@functools.cache
def published_scores() -> dict[str, dict[str, PublishedScore]]:
    """The scores of the paper's tables by agent and game.

    The 53 games of its Table 1; and Freeway, which has no scores of the agents of others.
    """
    scores: dict[str, dict[str, PublishedScore]] = {agent: {} for agent in PUBLISHED_AGENTS}
    for row in rows_of("scores.csv"):
        for agent, column in PUBLISHED_AGENTS.items():
            scores[agent][canonical_game(row["game"])] = PublishedScore(float(row[column]))
    for row in rows_of("scores_ci90.csv"):
        for agent, column in PUBLISHED_AGENTS.items():
            if column in row:
                score = PublishedScore(float(row[column]), float(row[f"{column}_ci90"]))
                scores[agent][canonical_game(row["game"])] = score
    return scores


@dataclass(frozen=True, slots=True)
class Normalisation:
    """The scores that human-normalised scores call 0 and 1."""

    random: float
    human: float


@functools.cache
def normalisation() -> dict[str, Normalisation]:
    """Random actions and a human player with random no-op starts, by game (Wang et al. 2016)."""
    return {
        row["game"]: Normalisation(float(row["random"]), float(row["human"]))
        for row in rows_of("normalisation.csv")
    }


@functools.cache
def human_comparison(other: str) -> dict[str, HumanComparison]:
    """N-CPL, a human player and `dqn`, `rainbow-human-starts` or `rainbow-noop-starts`, by game."""
    column = "DQN" if other == "dqn" else "Rainbow"
    return {
        canonical_game(row["game"]): HumanComparison(float(row["human"]), float(row[column]), float(row["N-CPL"]))
        for row in rows_of(f"{other.replace('-', '_')}.csv")
    }


@functools.cache
def published_smrf() -> dict[str, SmrfTest]:
    """The paper's test for sparse meaningful reward feedback, by game."""
    return {
        canonical_game(row["game"]): SmrfTest(
            rtdp_mean=float(row["rtdp_mean"]),
            rtdp_sd=float(row["rtdp_sd"]),
            random_mean=float(row["random_mean"]),
            random_sd=float(row["random_sd"]),
            smrf=row["smrf"] == "1",
        )
        for row in rows_of("smrf.csv")
    }
