"""Trials as tasks of a Ray cluster.

All nodes must see the benchmark's directory under the same path, and have the same noveltree installed. A task
supervises the process of a trial just as it would be on this machine, so results are the same. When a node dies,
Ray gives its tasks to others, where the trials go on from what is in the directory.
"""

from __future__ import annotations

import contextlib
import time
from typing import Any

from noveltree.benchmark.directory import RETRIES
from noveltree.benchmark.process import Task
from noveltree.benchmark.supervise import Outcome, supervise
from noveltree.collection.cluster import connect

_SECONDS_TO_STOP = 30.0


class RayExecutor:
    """Runs as many trials at once as the cluster has cores for, but no more than `most`."""

    def __init__(self, address: str | None, *, most: int | None = None, cores_per_trial: int = 1) -> None:
        self._ray = connect(address, cores=None if most is None else most * cores_per_trial)
        self._most = most
        self._cores_per_trial = cores_per_trial
        self._supervise = self._ray.remote(num_cpus=cores_per_trial, max_retries=RETRIES)(supervise)
        self._running: dict[Any, str] = {}
        self._closed = False

    def capacity(self) -> int:
        cores = sum(node["Resources"].get("CPU", 0.0) for node in self._ray.nodes() if node["Alive"])
        room = max(1, int(cores) // self._cores_per_trial)
        return room if self._most is None else min(room, self._most)

    def submit(self, name: str, task: Task) -> None:
        self._running[self._supervise.remote(task)] = name

    def wait(self, seconds: float) -> list[tuple[str, Outcome]]:
        if not self._running:
            time.sleep(seconds)
            return []
        ended, _ = self._ray.wait(list(self._running), num_returns=1, timeout=seconds)
        return [(self._running.pop(reference), self._outcome(reference)) for reference in ended]

    def close(self) -> list[tuple[str, Outcome]]:
        if self._closed:
            return []
        self._closed = True
        for reference in self._running:
            with contextlib.suppress(self._ray.exceptions.RayError, ValueError):
                self._ray.cancel(reference)
        if self._running:
            self._ray.wait(list(self._running), num_returns=len(self._running), timeout=_SECONDS_TO_STOP)
        outcomes = [(name, self._outcome(reference)) for reference, name in self._running.items()]
        self._running.clear()
        self._ray.shutdown()
        return outcomes

    def _outcome(self, reference: Any) -> Outcome:
        errors = self._ray.exceptions
        try:
            outcome: Outcome = self._ray.get(reference, timeout=0)
        except (errors.TaskCancelledError, errors.GetTimeoutError):
            return Outcome("interrupted", 0.0)
        except errors.RayError as error:  # of the node or of Ray itself; of the trial it is an outcome
            first = str(error).strip().splitlines()[0]
            return Outcome("failed", 0.0, f"Its Ray task was lost: {first}")
        return outcome
