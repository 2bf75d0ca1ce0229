"""A disk that loses power: what was not synced may be gone, half there, or there in another order.

The model is stricter than file systems are. What is written to a file is safe once the file was synced, and its
name once its directory was, even if the file was. An operation on names that was not synced is kept or lost on
its own; what was written and not synced is lost, cut off anywhere, or zeros.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import numpy as np

from noveltree.records.disk import Operation

#: What becomes of that which was not synced: all is lost; names are kept but not what is in the files; by chance.
Loss = Literal["all", "content", "some"]


@dataclass(eq=False)
class _File:
    content: bytes = b""
    synced: bytes = b""


@dataclass(eq=False)
class _Directory:
    names: dict[str, _File | _Directory] = field(default_factory=dict)
    synced: dict[str, _File | _Directory] = field(default_factory=dict)
    pending: list[dict[str, _File | _Directory | None]] = field(default_factory=list)
    """Changes of names since: what each name then stood for, None if it was removed."""

    def change(self, **names: _File | _Directory | None) -> None:
        self._apply(self.names, names)
        self.pending.append(names)

    @staticmethod
    def _apply(names: dict[str, _File | _Directory], change: dict[str, _File | _Directory | None]) -> None:
        for name, stands_for in change.items():
            names.pop(name, None)
            if stands_for is not None:
                names[name] = stands_for

    def sync(self) -> None:
        self.synced, self.pending = dict(self.names), []

    def after(self, kept: Iterable[bool]) -> dict[str, _File | _Directory]:
        names = dict(self.synced)
        for change, keep in zip(self.pending, kept, strict=True):
            if keep:
                self._apply(names, change)
        return names


class ModelDisk:
    """What is on a disk, and what of it would survive; it begins with an empty directory that is safe."""

    def __init__(self, top: Path, *, ignores_syncs: bool = False) -> None:
        self._top = top
        self._root = _Directory()
        self._ignores_syncs = ignores_syncs
        self.promised: dict[Path, bytes] = {}
        """What was written and may not be lost: files that were renamed in a directory that was synced then."""
        self._renamed: dict[Path, set[Path]] = {}

    def do(self, operation: Operation) -> None:
        """Do an operation, if it is one in the directory."""
        path = operation.path
        if not path.is_relative_to(self._top) or (path == self._top and operation.kind != "sync directory"):
            return
        match operation.kind:
            case "make directory":
                self._directory(path.parent).change(**{path.name: _Directory()})
            case "create":
                self._directory(path.parent).change(**{path.name: _File()})
            case "append to":
                if path.name not in (directory := self._directory(path.parent)).names:
                    directory.change(**{path.name: _File()})
            case "write":
                self._file(path).content += operation.data
            case "cut":
                self._file(path).content = self._file(path).content[: operation.size]
            case "sync":
                if not self._ignores_syncs:
                    self._file(path).synced = self._file(path).content
            case "rename":
                assert operation.to is not None
                assert operation.to.parent == path.parent
                directory = self._directory(path.parent)
                directory.change(**{path.name: None, operation.to.name: directory.names[path.name]})
                self._renamed.setdefault(path.parent, set()).add(operation.to)
            case "remove" | "remove directory":
                self._directory(path.parent).change(**{path.name: None})
                self.promised.pop(path, None)
            case "sync directory":
                if not self._ignores_syncs:
                    self._directory(path).sync()
                for done in self._renamed.pop(path, ()):
                    self.promised |= self._files_in(done)

    def lose_power(self, directory: Path, loss: Loss, *, rng: np.random.Generator) -> None:
        """Write what is left into `directory`."""

        def write(each: _Directory, place: Path) -> None:
            place.mkdir()
            kept = {"all": 0.0, "content": 1.0, "some": 0.5}[loss]
            for name, stands_for in each.after(rng.random(len(each.pending)) < kept).items():
                if isinstance(stands_for, _Directory):
                    write(stands_for, place / name)
                else:
                    (place / name).write_bytes(self._left(stands_for, loss, rng))

        write(self._root, directory)

    @staticmethod
    def _left(file: _File, loss: Loss, rng: np.random.Generator) -> bytes:
        if file.content == file.synced or loss != "some":
            return file.synced
        if not file.content.startswith(file.synced):  # it was cut since
            return (file.synced, file.content)[rng.integers(2)]
        rest = file.content[len(file.synced) :]
        rest = rest[: rng.integers(len(rest) + 1)]
        return file.synced + (bytes(len(rest)) if rng.random() < 0.5 else rest)

    def _files_in(self, path: Path) -> dict[Path, bytes]:
        found = self._find(path)
        if isinstance(found, _File):
            return {path: found.content}
        return (
            {}
            if found is None
            else {path / name: each for name in found.names for each in self._contents(found, name)}
        )

    @staticmethod
    def _contents(directory: _Directory, name: str) -> list[bytes]:
        each = directory.names[name]
        return [each.content] if isinstance(each, _File) else []

    def _find(self, path: Path) -> _File | _Directory | None:
        found: _File | _Directory | None = self._root
        for name in path.relative_to(self._top).parts:
            if not isinstance(found, _Directory):
                return None
            found = found.names.get(name)
        return found

    def _directory(self, path: Path) -> _Directory:
        found = self._find(path)
        assert isinstance(found, _Directory), path
        return found

    def _file(self, path: Path) -> _File:
        found = self._find(path)
        assert isinstance(found, _File), path
        return found
