"""What a game is like: its branching factor, and whether meaningful reward feedback is sparse (SMRF).

RTDP looks one step ahead and closes each action with a random rollout. Where that is not better than random
actions, rewards do not tell how to play, at least not soon: the game has sparse meaningful reward feedback. Better
means that Welch's two-sided test finds a difference (p < 0.1) and that the mean is higher. By this test the
published classification of all 55 games comes out; by the one-sided one, Jamesbond and Zaxxon would not be SMRF.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from noveltree.analysis.statistics import welch_p_value
from noveltree.errors import RecordError
from noveltree.published import published_smrf
from noveltree.results.measured import measured_samples
from noveltree.results.sample import Sample
from noveltree.results.scores import AgentScores
from noveltree.simulators import Atari
from noveltree.simulators.action_counts import ACTION_COUNTS

#: What the suite `smrf` calls its agents.
RTDP, RANDOM = "rtdp", "random"
SIGNIFICANCE = 0.1
#: Episodes of each agent.
SMRF_EPISODES = 20


@dataclass(frozen=True, slots=True)
class Classification:
    """A game's place in the taxonomy."""

    game: str
    actions: int
    """The branching factor: the size of the minimal action set."""
    rtdp: Sample
    random: Sample
    p_value: float | None
    """Of Welch's test that both means are equal; None if it cannot be said."""
    significance: float = SIGNIFICANCE
    """Below it, the means differ."""

    @property
    def smrf(self) -> bool | None:
        """Whether meaningful reward feedback is sparse: RTDP is not better than random actions; None if unknown."""
        if self.p_value is None:
            return None
        return not (self.p_value < self.significance and self.rtdp.mean > self.random.mean)


def classify(
    game: str, actions: int, rtdp: Sample, random: Sample, *, p_value: float = SIGNIFICANCE
) -> Classification:
    """Classify a game by the scores of RTDP and of random actions."""
    return Classification(game, actions, rtdp, random, welch_p_value(rtdp, random), p_value)


def classify_samples(
    samples: Mapping[str, Mapping[str, Sample]], *, p_value: float = SIGNIFICANCE
) -> dict[str, Classification]:
    """Classify every game of which both agents have a sample; samples by agent and game."""
    rtdp, random = samples.get(RTDP, {}), samples.get(RANDOM, {})
    return {
        game: classify(game, branching_factor(game), rtdp[game], random[game], p_value=p_value)
        for game in sorted(rtdp.keys() & random.keys())
    }


def classify_agents(agents: Iterable[AgentScores]) -> dict[str, Classification]:
    """Classify the games of a benchmark of the suite `smrf` by what both of its agents scored."""
    halves = [agent for agent in agents if agent.label in (RTDP, RANDOM)]
    for agent in halves:
        if agent.differs:
            raise RecordError(f"{agent.label} is not comparable with the others: {agent.differs}.")
    return classify_samples({agent.label: agent.samples for agent in halves})


def branching_factor(game: str) -> int:
    """The size of a game's minimal action set; a game that is not in the table is asked of the emulator."""
    return ACTION_COUNTS[game] if game in ACTION_COUNTS else len(Atari(game).actions)


@functools.cache
def published_taxonomy() -> dict[str, Classification]:
    """The paper's classification of its 55 games, by game, recomputed from its means and standard deviations."""
    tests = published_smrf()
    return classify_samples(
        {
            RTDP: {game: _published(test.rtdp_mean, test.rtdp_sd) for game, test in tests.items()},
            RANDOM: {game: _published(test.random_mean, test.random_sd) for game, test in tests.items()},
        }
    )


def _published(mean: float, sd: float) -> Sample:
    """The paper's standard deviations have n in the denominator, as those of games with one or two scores tell."""
    return Sample(mean, sd * math.sqrt(SMRF_EPISODES / (SMRF_EPISODES - 1)), SMRF_EPISODES)


@functools.cache
def measured_taxonomy() -> dict[str, Classification]:
    """Our own classification of the games that were measured for noveltree, by game."""
    return classify_samples(measured_samples())
