"""Trials as processes of this machine."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor

from noveltree.benchmark.supervise import Outcome, Supervised
from noveltree.benchmark.trial_process import Task

_SECONDS_BETWEEN_LOOKS = 0.05


class LocalExecutor:
    """Runs `workers` trials at once, each in a process of its own."""

    def __init__(self, workers: int) -> None:
        self._workers = workers
        # A trial is taken out only after its outcome was handed over, so that an interrupt cannot lose one.
        self._running: dict[str, Supervised] = {}

    def capacity(self) -> int:
        return self._workers

    def submit(self, name: str, task: Task) -> None:
        self._running[name] = Supervised(task)

    def wait(self, seconds: float) -> list[tuple[str, Outcome]]:
        give_up = time.monotonic() + seconds
        while True:
            ended = [(name, outcome) for name, each in self._running.items() if (outcome := each.outcome)]
            if ended or time.monotonic() > give_up:
                break
            time.sleep(_SECONDS_BETWEEN_LOOKS)
        for name, _ in ended:
            del self._running[name]
        return ended

    def stop(self) -> list[tuple[str, Outcome]]:
        if not self._running:
            return []
        with ThreadPoolExecutor(len(self._running)) as pool:  # all at once, for each may take its time
            outcomes = list(pool.map(Supervised.stop, self._running.values()))
        ended = list(zip(self._running, outcomes, strict=True))
        self._running.clear()
        return ended

    def close(self) -> None:
        pass
