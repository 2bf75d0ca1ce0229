"""Benchmarks: games x agents x trials, on this machine or on a cluster.

suite          what is to be run, as a small YAML file
plan           every trial of it, with its protocol
estimate       how long that takes, from a measurement on this machine
directory      where it runs, and how far it has come
trial_process  the process of one trial
supervise      starts that process, watches it, says how it ended
executors      where supervision happens: this machine, or Ray
scheduler      hands trials to an executor, and retries those that failed
progress       how much is done, and how much is left
"""

from noveltree.benchmark.directory import BenchmarkDirectory as BenchmarkDirectory
from noveltree.benchmark.plan import PlannedTrial as PlannedTrial
from noveltree.benchmark.plan import plan_suite as plan_suite
from noveltree.benchmark.scheduler import run_benchmark as run_benchmark
from noveltree.benchmark.suite import Suite as Suite
from noveltree.benchmark.suite import read_suite as read_suite
from noveltree.benchmark.suite import shipped_suites as shipped_suites
