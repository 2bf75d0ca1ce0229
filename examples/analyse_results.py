"""Compare agents as the paper does: a notebook in the percent format, which editors run cell by cell.

    python examples/analyse_results.py [RESULTS ...]

RESULTS are benchmarks, runs or tables; without any, the paper's published scores are compared alone.
"""

# %% Results: a table, a benchmark, a run, a data frame, arrays, or the paper
import math
import sys

import numpy as np

from noveltree.analysis import compare, compare_pairwise, probability_of_improvement, segments, summarise
from noveltree.results import common_games, means_of, read_results, results_of_arrays, results_of_frame, trials_of

published = [agent for agent in read_results("published").agents if not agent.differs]
recorded = [agent for source in sys.argv[1:] for agent in read_results(source, beside_published=True).agents]
agents = [*recorded, *published]
games = common_games(agents)
print(f"{len(agents)} agents in {len(games)} games")
if not games:
    sys.exit("There is no game of which all of them have scores.")

# %% Pairwise wins (the paper's Table 1), over all games and over segments of them
for segment in segments(games):
    if segment.games:
        compared = compare_pairwise(means_of(agents, segment.games))
        wins = ", ".join(f"{agent.title} {total}" for agent, total in zip(agents, compared.totals, strict=True))
        print(f"{segment.title} ({len(segment.games)}): {wins}")

# %% In a few numbers, with intervals from a bootstrap over trials
for summary in summarise(agents, games, rng=np.random.default_rng(0)):
    line = f"{summary.agent.title:8} wins {summary.win_share:.1%}, rank {summary.mean_rank:.2f}"
    if (iqm := summary.interquartile_mean) is not None:
        line += f", IQM {iqm.value:.2f}"
        if not math.isnan(iqm.low):  # where only means were published there are no trials to draw
            line += f" [{iqm.low:.2f}, {iqm.high:.2f}]"
    print(line)

# %% Two agents, game by game, with Welch's test
by_name = {agent.name: agent for agent in published}
verdict = compare(by_name["n-cpl"].samples, by_name["riw-c"].samples)
print(f"N-CPL is better than RIW_C in {verdict.better('first')} of {len(verdict.games)} games, worse in ", end="")
print(f"{verdict.better('second')}; sign test p = {verdict.p_value:.1g}")
chance = probability_of_improvement(trials_of(by_name["n-cpl"], games), trials_of(by_name["cpl"], games))
print(f"N-CPL improves on CPL with probability {chance:.2f}")

# %% Scores of your own, as arrays of shape (trials, games); NaN where a trial is missing
mine = results_of_arrays({"mine": [[300.0, 20.0], [350.0, np.nan]]}, ["breakout", "pong"])
print({game: (sample.mean, sample.count) for game, sample in mine.agent("mine").samples.items()})

# %% Or as a data frame with a row per episode, of pandas or of polars
try:
    import pandas
except ImportError:
    print("pandas is not installed; polars would do as well")
else:
    frame = pandas.DataFrame(
        {
            "agent": "mine",
            "game": ["breakout", "breakout", "pong"],
            "trial": 0,
            "episode": [0, 1, 0],
            "phase": "evaluation",
            "score": [310.0, 290.0, 19.0],
        }
    )
    print(results_of_frame(frame).agent("mine").samples["breakout"])
