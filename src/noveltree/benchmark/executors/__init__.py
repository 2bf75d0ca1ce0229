"""Executors: where trials are supervised. All call the same function; they differ in where they call it."""

from noveltree.benchmark.executors.executor import Executor as Executor
from noveltree.benchmark.executors.local import LocalExecutor as LocalExecutor
