"""Trials as processes of this machine."""

from __future__ import annotations

import queue
import threading

from noveltree.benchmark.process import Task
from noveltree.benchmark.supervise import Outcome, Supervised


class LocalExecutor:
    """Runs `workers` trials at once, each in a process of its own."""

    def __init__(self, workers: int) -> None:
        self._workers = workers
        self._running: dict[str, Supervised] = {}
        self._ended: queue.SimpleQueue[tuple[str, Outcome]] = queue.SimpleQueue()

    @property
    def processes(self) -> list[int]:
        """The process ids of the trials that run."""
        return [supervised.pid for supervised in self._running.values()]

    def capacity(self) -> int:
        return self._workers

    def submit(self, name: str, task: Task) -> None:
        supervised = self._running[name] = Supervised(task)
        threading.Thread(target=lambda: self._ended.put((name, supervised.wait())), daemon=True).start()

    def wait(self, seconds: float) -> list[tuple[str, Outcome]]:
        outcomes: list[tuple[str, Outcome]] = []
        try:
            outcomes.append(self._ended.get(timeout=seconds))
            while True:
                outcomes.append(self._ended.get_nowait())
        except queue.Empty:
            pass
        for name, _ in outcomes:
            del self._running[name]
        return outcomes

    def close(self) -> list[tuple[str, Outcome]]:
        stopping = [threading.Thread(target=supervised.stop) for supervised in self._running.values()]
        for thread in stopping:
            thread.start()
        for thread in stopping:
            thread.join()
        outcomes = [self._ended.get() for _ in self._running]
        self._running.clear()
        return outcomes
