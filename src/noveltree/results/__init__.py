"""The one way from files and tables to scores.

scores            a row per episode; what agents scored by game and trial
sample            mean and spread of several scores
trials            trials on disk: of benchmarks, runs, and loose episodes
comparable        which trials are those of one agent, and how it played
curves            the learning curves of runs
tables            scores in tables, data frames and arrays
published_agents  the paper's scores
published_planners  those of earlier articles on planners
recorded          all of these together: `read_results`, `read_records`
measured          what RTDP and random actions scored, for the taxonomy
collect           all episodes of benchmarks as one table

Start with `read_results` (a table, a benchmark, a run, or "published"), `results_of_frame` (pandas or polars) or
`results_of_arrays`.
"""

from noveltree.results.collect import Table as Table
from noveltree.results.collect import collect as collect
from noveltree.results.curves import EpochCurve as EpochCurve
from noveltree.results.curves import Evaluations as Evaluations
from noveltree.results.curves import PayCurve as PayCurve
from noveltree.results.curves import RunCurve as RunCurve
from noveltree.results.curves import RunPoint as RunPoint
from noveltree.results.curves import read_curve as read_curve
from noveltree.results.curves import read_epochs as read_epochs
from noveltree.results.curves import read_milestones as read_milestones
from noveltree.results.curves import read_pay as read_pay
from noveltree.results.published_agents import published_agents as published_agents
from noveltree.results.published_agents import published_comparison as published_comparison
from noveltree.results.published_planners import other_planners as other_planners
from noveltree.results.published_planners import table_of_planners as table_of_planners
from noveltree.results.recorded import PUBLISHED as PUBLISHED
from noveltree.results.recorded import LearningCurves as LearningCurves
from noveltree.results.recorded import Records as Records
from noveltree.results.recorded import read_records as read_records
from noveltree.results.recorded import read_results as read_results
from noveltree.results.sample import Sample as Sample
from noveltree.results.scores import AgentScores as AgentScores
from noveltree.results.scores import GameScores as GameScores
from noveltree.results.scores import Results as Results
from noveltree.results.scores import Score as Score
from noveltree.results.scores import common_games as common_games
from noveltree.results.scores import means_of as means_of
from noveltree.results.scores import trials_of as trials_of
from noveltree.results.tables import results_of_arrays as results_of_arrays
from noveltree.results.tables import results_of_frame as results_of_frame
