"""Tasks of an audit, in this process or on all cores."""

from __future__ import annotations

import contextlib
import multiprocessing
import sys
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from typing import TypeVar

from noveltree.collection.tuning import prepare_process
from noveltree.errors import SimulatorError
from noveltree.signals import leave_to_parent, starting_processes
from noveltree.simulators import permissions, take_over

_Task = TypeVar("_Task")
_Outcome = TypeVar("_Outcome")

#: Told how many of how many tasks are done.
Progress = Callable[[int, int], None]


def each(
    work: Callable[[_Task], _Outcome], tasks: Sequence[_Task], *, workers: int, progress: Progress
) -> Iterator[tuple[_Task, _Outcome]]:
    """Do all tasks, in whatever order they are done."""
    if workers == 1 or len(tasks) < 2:
        done = ((task, work(task)) for task in tasks)
    else:
        done = _in_processes(work, tasks, workers)
    with contextlib.closing(done):
        for number, outcome in enumerate(done, start=1):
            progress(number, len(tasks))
            yield outcome


def _in_processes(
    work: Callable[[_Task], _Outcome], tasks: Sequence[_Task], workers: int
) -> Generator[tuple[_Task, _Outcome]]:
    context = multiprocessing.get_context("spawn")
    others = multiprocessing.active_children()
    with ProcessPoolExecutor(
        min(workers, len(tasks)), mp_context=context, initializer=_begin, initargs=(permissions(),)
    ) as pool:
        try:
            with starting_processes():
                outcomes = {pool.submit(work, task): task for task in tasks}
            for future in as_completed(outcomes):
                yield outcomes[future], future.result()
        except BrokenProcessPool as error:
            raise SimulatorError(
                "A process that replayed episodes died; perhaps there is not enough memory."
            ) from error
        except BaseException:
            for process in multiprocessing.active_children():
                if process not in others:
                    process.kill()  # the pool would wait for what it has begun
            raise


def _begin(allowed: Mapping[str, str]) -> None:
    leave_to_parent()
    take_over(allowed)
    prepare_process()
    sys.stdout = sys.stderr  # what a simulator prints is no result
