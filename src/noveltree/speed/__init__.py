"""Measurements of noveltree's own cost, as ratios within one run."""

from noveltree.speed.planning import PlanningCost as PlanningCost
from noveltree.speed.planning import measure_planning as measure_planning
