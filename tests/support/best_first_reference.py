"""An independent reference of best-first search: queues are scanned, novelty is looked up in a list."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from tests.support.worlds import TableWorld

Path = tuple[int, ...]


@dataclass
class BestFirstReference:
    """`queues` are p-IW's ("p-iw") or those of 2BFS ("2bfs")."""

    world: TableWorld
    kind: str
    budget: int
    horizon: int
    discount: float
    root: int = 0
    first: bool = True
    #: The paths in the order of their generation, with whether they are novel.
    novel: dict[Path, bool] = field(default_factory=lambda: {(): True})
    solved: bool = False

    def state(self, path: Path) -> int:
        state = self.root
        for action in path:
            state = self.world.table[state][action][0]
        return state

    def collected(self, path: Path, discount: float) -> float:
        if not path:
            return 0.0
        reward = self.world.table[self.root][path[0]][1]
        state, self.root = self.root, self.world.table[self.root][path[0]][0]
        below = self.collected(path[1:], discount)
        self.root = state
        return reward + discount * below

    def queues(self) -> list[Callable[[Path], object]]:
        if self.kind == "p-iw":
            return [lambda path: -self.collected(path, 1.0) if self.novel[path] else None]

        def explore(path: Path) -> object:
            return None if self.collected(path, self.discount) else (0 if self.novel[path] else 1)

        def exploit(path: Path) -> object:
            reward = self.collected(path, self.discount)
            return (-reward, 0 if self.novel[path] else 1) if reward else None

        return [explore, exploit]

    def is_novel(self, path: Path, entered: list[Path]) -> bool:
        for feature in self.world.features[self.state(path)]:
            holders = [other for other in entered if feature in self.world.features[self.state(other)]]
            if self.kind == "p-iw":
                holders = [o for o in holders if self.collected(o, 1.0) >= self.collected(path, 1.0)]
            if not holders:
                return True
        return False

    def plan(self) -> int:
        """Search; how many nodes were generated."""
        entered: list[Path] = []
        if self.kind == "2bfs":
            for path in self.novel:
                self.novel[path] = path == () or self.is_novel(path, entered)
                entered.append(path)
        else:
            self.novel = dict.fromkeys(self.novel, True)
            entered += [()] if self.first else []
        waiting = [set(self.novel) for _ in self.queues()]
        place = {path: i for i, path in enumerate(self.novel)}
        generated, turn = 0, 0
        while True:
            ready = [
                {path for path in each if self.is_open(path) and key(path) is not None}
                for each, key in zip(waiting, self.queues(), strict=True)
            ]
            if not any(ready):
                self.solved = True
                return generated
            if not ready[turn]:
                turn = (turn + 1) % len(ready)
                continue
            key = self.queues()[turn]
            path = min(ready[turn], key=lambda each: (key(each), place[each]))
            waiting[turn].discard(path)
            turn = (turn + 1) % len(ready)
            for action in range(len(self.world.actions)):
                child = (*path, action)
                if child not in self.novel:
                    if generated == self.budget:
                        self.solved = False
                        return generated
                    generated += 1
                    self.novel[child] = self.is_novel(child, entered)
                    entered.append(child)
                    place[child] = len(place)
                    for each in waiting:
                        each.add(child)

    def is_open(self, path: Path) -> bool:
        return (
            self.state(path) not in self.world.terminal
            and len(path) < self.horizon
            and any((*path, action) not in self.novel for action in range(len(self.world.actions)))
        )

    def advance(self, action: int) -> None:
        self.novel = {path[1:]: label for path, label in self.novel.items() if path[:1] == (action,)}
        self.root = self.world.table[self.root][action][0]
        self.first = False
