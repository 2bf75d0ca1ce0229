"""References to code: `package.module:Factory` and `path/to/file.py:Factory`.

Where the source of one is, and its digest, are found without importing anything.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import importlib
import importlib.machinery
import importlib.metadata
import importlib.util
import inspect
import os
import re
import sys
import types
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from noveltree.errors import InputError, SimulatorError, UnknownNameError

_NAME = r"[^\W\d]\w*(?:\.[^\W\d]\w*)*"
_IN_FILE = re.compile(rf"(?P<file>.+\.py):(?P<factory>{_NAME})")
_IN_MODULE = re.compile(rf"(?P<module>{_NAME}):(?P<factory>{_NAME})")
#: Modules of files by their path and digest: a file is run once, unless it was changed.
_FILES: dict[tuple[Path, str], types.ModuleType] = {}
#: Factories that were handed over as objects: importing them again would run a script within itself.
_GIVEN: dict[str, Callable[..., Any]] = {}


@dataclass(frozen=True, slots=True)
class Reference:
    """A factory by where it is: in a module by its name, or in a file by its path relative to a folder."""

    place: str
    factory: str

    @classmethod
    def parse(cls, text: str, folder: Path) -> Reference | None:
        """The reference that a text is, if it is one; the path of a file becomes one relative to `folder`."""
        if match := _IN_FILE.fullmatch(text.strip()):
            path = os.path.relpath(folder / Path(match["file"]).expanduser(), folder)
            return cls(Path(path).as_posix(), match["factory"])
        if match := _IN_MODULE.fullmatch(text.strip()):
            return cls(match["module"], match["factory"])
        return None

    @classmethod
    def to(cls, factory: Callable[..., Any], folder: Path) -> Reference:
        """The reference to a class or function of this process."""
        module = sys.modules.get(getattr(factory, "__module__", ""))
        name = getattr(factory, "__qualname__", "")
        if module is None or not re.fullmatch(_NAME, name) or _attribute(module, name) is not factory:
            raise InputError(
                f"{factory!r} has no name of its own that could be recorded: give a class, or a function, that "
                "stands in a module."
            )
        if module.__spec__ is not None and "@" not in module.__name__:
            reference = cls(module.__name__, name)
        elif (file := getattr(module, "__file__", None)) is not None:  # of a script, or of such a reference
            reference = cls(Path(os.path.relpath(file, folder)).as_posix(), name)
        else:
            raise InputError(f"{name} is in no file, so that nobody could import it again: write it into one.")
        _GIVEN[str(reference)] = factory
        return reference

    def __str__(self) -> str:
        return f"{self.place}:{self.factory}"

    @property
    def is_file(self) -> bool:
        return self.place.endswith(".py")

    def source(self, folder: Path) -> Path | None:
        """The file with the source, found without importing anything; None if there is none."""
        if self.is_file:
            path = folder / self.place
            return path if path.is_file() else None
        with _importable(folder):
            return _file_of_module(self.place)

    def digest(self, folder: Path) -> str | None:
        """The SHA-256 digest of the source; None if it cannot be read."""
        path = self.source(folder)
        try:
            return None if path is None else hashlib.sha256(path.read_bytes()).hexdigest()
        except OSError:
            return None

    def version(self) -> str:
        """The package that ships the module, and its version, if one does."""
        packages = [] if self.is_file else _distributions().get(self.place.partition(".")[0], [])
        return ", ".join(f"{name} {importlib.metadata.version(name)}" for name in packages) or "not in a package"

    def load(self, folder: Path) -> Callable[..., Any]:
        """Import the factory. What its module prints goes to standard error."""
        if given := _GIVEN.get(str(self)):
            return given
        module = self._import(folder)
        found = _attribute(module, self.factory)
        if found is None:
            known = [
                name
                for name, value in vars(module).items()
                if callable(value) and not name.startswith("_") and value.__module__ == module.__name__
            ]
            raise UnknownNameError(f"name in {self.place}", self.factory, known)
        if not callable(found):
            raise InputError(
                f"{self} is of type {type(found).__name__}, but a class or a function is expected that makes a "
                "simulator."
            )
        made: Callable[..., Any] = found
        return made

    def _import(self, folder: Path) -> types.ModuleType:
        source = self.source(folder)
        if source is None:
            where = f"in {folder}"
            if self.is_file:
                raise InputError(f"There is no file {self.place} {where}.")
            raise InputError(
                f"There is no module {self.place}: it is neither installed nor {where}. A file is named by its "
                f"path: {self.place.replace('.', '/')}.py:{self.factory}."
            )
        with running_foreign_code(f"{self.place} cannot be imported", folder, source.parent):
            return self._run_file(source) if self.is_file else importlib.import_module(self.place)

    def _run_file(self, source: Path) -> types.ModuleType:
        data = source.read_bytes()
        key = source.resolve(), hashlib.sha256(data).hexdigest()
        if key not in _FILES:
            name = f"{source.stem}@{key[1][:8]}"  # which no import statement can mean
            spec = importlib.util.spec_from_file_location(name, source)
            assert spec is not None
            module = sys.modules[name] = importlib.util.module_from_spec(spec)
            try:
                exec(compile(data, source, "exec"), vars(module))  # these bytes, and not a cached file
            except BaseException:
                del sys.modules[name]
                raise
            _FILES[key] = module
        return _FILES[key]


@contextlib.contextmanager
def running_foreign_code(what_failed: str, *folders: Path) -> Iterator[None]:
    """Run code of others: it may import from `folders`, print to standard error, and fail with one sentence."""
    try:
        with _importable(*folders), contextlib.redirect_stdout(sys.stderr):
            yield
    except (InputError, SimulatorError):
        raise  # has a sentence already
    except SystemExit as error:
        raise SimulatorError(f"{what_failed}: it ends the process (exit code {error.code}).") from error
    except Exception as error:
        raise SimulatorError(f"{what_failed}: {type(error).__name__}: {error}") from error


@contextlib.contextmanager
def _importable(*folders: Path) -> Iterator[None]:
    """Let modules in some folders be found, after everything that is installed."""
    importlib.invalidate_caches()
    before = list(sys.path)
    sys.path += [str(folder) for folder in folders if str(folder) not in before]
    try:
        yield
    finally:
        sys.path[:] = before


def _file_of_module(module: str) -> Path | None:
    """The file of a module. Unlike `importlib.util.find_spec`, this does not import the packages around it."""
    loaded = getattr(sys.modules.get(module), "__file__", None)
    if loaded is not None:
        return Path(loaded)
    *parents, _ = module.split(".")
    folders: list[str] | None = None
    for number, parent in enumerate(parents, start=1):
        try:
            spec = _find_spec(".".join(parents[:number]), folders)
            found = None if spec is None else spec.submodule_search_locations
        except KeyError:  # a folder without __init__.py in a package that is not imported
            found = [str(Path(folder) / parent) for folder in folders or ()]
        if found is None:
            return None
        folders = list(found)
    spec = _find_spec(module, folders)
    return Path(spec.origin) if spec is not None and spec.has_location and spec.origin else None


def _find_spec(module: str, folders: list[str] | None) -> importlib.machinery.ModuleSpec | None:
    specs = (finder.find_spec(module, folders) for finder in sys.meta_path)
    return next((spec for spec in specs if spec is not None), None)


def _attribute(module: types.ModuleType, name: str) -> Any:
    found: Any = module
    for part in name.split("."):
        found = inspect.getattr_static(found, part, None) if found is module else getattr(found, part, None)
    return found


@functools.cache
def _distributions() -> dict[str, list[str]]:
    return {name: sorted(set(packages)) for name, packages in importlib.metadata.packages_distributions().items()}
