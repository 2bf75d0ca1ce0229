"""Pure functions from records and published results to what tables and figures show."""

from noveltree.analysis.curves import FinishedInterval as FinishedInterval
from noveltree.analysis.curves import MillionRange as MillionRange
from noveltree.analysis.curves import RunCurve as RunCurve
from noveltree.analysis.curves import finished_intervals as finished_intervals
from noveltree.analysis.curves import ranges as ranges
from noveltree.analysis.curves import up_to as up_to
