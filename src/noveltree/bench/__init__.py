"""Measurements of noveltree's own cost, as ratios within one run."""

from noveltree.bench.planning import PlanningCost as PlanningCost
from noveltree.bench.planning import measure_planning as measure_planning
