"""Pure functions from results to what tables and figures show.

Start with `read_results` (a table, a benchmark, a run, or "published"), `results_of_frame` (pandas or polars) or
`results_of_arrays`; the statistics themselves are functions of arrays.
"""

from noveltree.analysis.aggregate import Estimate as Estimate
from noveltree.analysis.aggregate import bootstrap as bootstrap
from noveltree.analysis.aggregate import interquartile_mean as interquartile_mean
from noveltree.analysis.aggregate import mean_of_games as mean_of_games
from noveltree.analysis.aggregate import normalise as normalise
from noveltree.analysis.aggregate import optimality_gap as optimality_gap
from noveltree.analysis.aggregate import performance_profile as performance_profile
from noveltree.analysis.aggregate import probability_of_improvement as probability_of_improvement
from noveltree.analysis.anytime import AnytimeCurve as AnytimeCurve
from noveltree.analysis.anytime import anytime_curves as anytime_curves
from noveltree.analysis.comparison import Comparison as Comparison
from noveltree.analysis.comparison import compare as compare
from noveltree.analysis.curves import CurvePoint as CurvePoint
from noveltree.analysis.curves import FinishedInterval as FinishedInterval
from noveltree.analysis.curves import MillionRange as MillionRange
from noveltree.analysis.curves import RunCurve as RunCurve
from noveltree.analysis.curves import finished_intervals as finished_intervals
from noveltree.analysis.curves import mean_curve as mean_curve
from noveltree.analysis.curves import ranges as ranges
from noveltree.analysis.curves import up_to as up_to
from noveltree.analysis.pairwise import Pairwise as Pairwise
from noveltree.analysis.pairwise import compare_pairwise as compare_pairwise
from noveltree.analysis.pairwise import mean_ranks as mean_ranks
from noveltree.analysis.pairwise import share_above as share_above
from noveltree.analysis.pairwise import times_best as times_best
from noveltree.analysis.recorded import read_records as read_records
from noveltree.analysis.results import AgentScores as AgentScores
from noveltree.analysis.results import EpisodeScore as EpisodeScore
from noveltree.analysis.results import GameScores as GameScores
from noveltree.analysis.results import Results as Results
from noveltree.analysis.results import common_games as common_games
from noveltree.analysis.results import means_of as means_of
from noveltree.analysis.results import results_of_arrays as results_of_arrays
from noveltree.analysis.results import trials_of as trials_of
from noveltree.analysis.segmentation import Segment as Segment
from noveltree.analysis.segmentation import segments as segments
from noveltree.analysis.sources import read_results as read_results
from noveltree.analysis.statistics import Sample as Sample
from noveltree.analysis.statistics import best as best
from noveltree.analysis.statistics import significantly_best as significantly_best
from noveltree.analysis.statistics import welch_p_value as welch_p_value
from noveltree.analysis.summary import Summary as Summary
from noveltree.analysis.summary import human_normalised as human_normalised
from noveltree.analysis.summary import summarise as summarise
from noveltree.analysis.tables import results_of_frame as results_of_frame
from noveltree.analysis.taxonomy import Classification as Classification
from noveltree.analysis.taxonomy import classify as classify
from noveltree.analysis.taxonomy import measured_taxonomy as measured_taxonomy
from noveltree.analysis.taxonomy import published_taxonomy as published_taxonomy
