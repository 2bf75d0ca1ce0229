"""Trials as tasks of a Ray cluster.

All nodes must see the benchmark's directory under the same path, and have the same noveltree installed. A task
supervises the process of a trial just as it would be on this machine, so results are the same. When a node dies,
its trials go on elsewhere from what is in the directory. Ray itself retries nothing: that is the scheduler's.
"""

from __future__ import annotations

import contextlib
import time
from typing import Any

from noveltree.benchmark.supervise import Outcome, supervise
from noveltree.benchmark.trial_process import Task
from noveltree.collection.cluster import Cluster
from noveltree.errors import InputError

_SECONDS_TO_STOP = 30.0


class RayExecutor:
    """Runs as many trials at once as the cluster has cores for, but no more than `most`."""

    def __init__(self, address: str | None, *, most: int | None = None, cores_per_trial: int = 1) -> None:
        self._most = most
        self._cores_per_trial = cores_per_trial
        self._cluster = Cluster(address, cores=None if most is None else most * cores_per_trial)
        self._running: dict[Any, str] = {}
        if not self.capacity():
            largest = max(self._cluster.cores(), default=0)
            self._cluster.close()
            raise InputError(
                f"No node of the Ray cluster has {cores_per_trial} cores for a trial; the largest has {largest}."
            )
        self._supervise = self._cluster.ray.remote(num_cpus=cores_per_trial, max_retries=0)(supervise)

    def capacity(self) -> int:
        room = sum(cores // self._cores_per_trial for cores in self._cluster.cores())
        return room if self._most is None else min(room, self._most)

    def submit(self, name: str, task: Task) -> None:
        self._running[self._supervise.remote(task)] = name

    def wait(self, seconds: float) -> list[tuple[str, Outcome]]:
        if not self._running:
            time.sleep(seconds)
            return []
        references, _ = self._cluster.ray.wait(list(self._running), num_returns=1, timeout=seconds)
        ended = [(self._running[reference], self._outcome(reference)) for reference in references]
        for reference in references:
            del self._running[reference]
        return ended

    def stop(self) -> list[tuple[str, Outcome]]:
        if not self._running:
            return []
        ray = self._cluster.ray
        for reference in self._running:
            with contextlib.suppress(ray.exceptions.RayError, ValueError):
                ray.cancel(reference)
        ray.wait(list(self._running), num_returns=len(self._running), timeout=_SECONDS_TO_STOP)
        ended = [(name, self._outcome(reference)) for reference, name in self._running.items()]
        self._running.clear()
        return ended

    def close(self) -> None:
        self._cluster.close()

    def _outcome(self, reference: Any) -> Outcome:
        errors = self._cluster.ray.exceptions
        try:
            outcome: Outcome = self._cluster.ray.get(reference, timeout=0)
        except (errors.TaskCancelledError, errors.GetTimeoutError):
            return Outcome("interrupted", 0.0)
        except errors.RayTaskError as error:  # such as a node without noveltree; of the trial it is an outcome
            if isinstance(error.cause, KeyboardInterrupt):
                return Outcome("interrupted", 0.0)
            return Outcome("failed", 0.0, f"Its Ray task failed: {_first_line(error)}")
        except errors.RayError as error:  # of a node that is gone or has no memory left, or of Ray itself
            return Outcome("killed", 0.0, f"Its Ray task was lost: {_first_line(error)}")
        return outcome


def _first_line(error: Exception) -> str:
    return next(iter(str(error).strip().splitlines()), type(error).__name__)
