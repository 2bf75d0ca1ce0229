"""Manifests: what was verified in a directory, how deep, and the checksums of all its files then."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from noveltree.errors import RecordError
from noveltree.reading import validated
from noveltree.records.files import file_digest, read_json, write_atomically
from noveltree.records.lock import LOCK
from noveltree.wording import counted

MANIFEST = "manifest.json"
SIGNATURE = f"{MANIFEST}.sig"
_FORMAT = "noveltree-manifest"
#: The first version said how many episodes were replayed and nothing else, and its digest covered the files alone.
_VERSION = 2
#: What `curve` draws into a run, also later: nobody reads anything out of it.
_FIGURE = "curve.png"
#: Instead of a digest: a link, a pipe, or the like.
NO_FILE = ""

_Count = Annotated[int, Field(ge=0)]


class Checked(BaseModel):
    """What was checked in a directory, and how deep."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    episodes: _Count
    """All of them were replayed."""
    replanned: _Count = 0
    """How many were planned again, every decision."""
    number: str | None = None
    """With which these were drawn, if they were drawn."""
    learners: _Count = 0
    """Runs that learn."""
    relearnt: _Count = 0
    """How many of them learnt again what they had learnt."""
    lacking: dict[str, str] = {}
    """Runs of which evidence is not there, and which: what they learnt was not checked."""
    date: str = ""
    versions: dict[str, str] = {}
    """Of the packages that it was done with."""

    @property
    def level(self) -> str:
        """How deep it was, in words."""
        parts = ["replayed"]
        if self.replanned:
            of = "all" if self.replanned == self.episodes else f"{self.replanned:,} of {self.episodes:,}"
            parts.append(f"{of} planned again")
        if self.relearnt:
            parts.append(f"{self.relearnt} of {counted(self.learners, 'run')} learnt again")
        elif self.learners:
            parts.append("not learnt again")
        if self.lacking:
            parts.append(f"{counted(len(self.lacking), 'run')} without evidence of learning")
        return ", ".join(parts)

    def deeper_than(self, other: Checked) -> bool:
        """Whether more was done."""
        ours, theirs = ((each.replanned, each.relearnt, -len(each.lacking)) for each in (self, other))
        return ours != theirs and all(mine >= yours for mine, yours in zip(ours, theirs, strict=True))


class _File(BaseModel):
    """The file as it stands on disk."""

    model_config = ConfigDict(extra="forbid", strict=True)

    format: str
    version: int
    checked: Checked
    files: dict[str, str]
    digest: str


@dataclass(frozen=True, slots=True)
class Manifest:
    """What was verified, and the SHA-256 digest of every file then, by its path."""

    checked: Checked
    files: dict[str, str]
    version: int = field(default=_VERSION)

    @property
    def digest(self) -> str:
        """One digest for all that is stated: it shows whether anything of it was changed, or any file."""
        if self.version == 1:
            return self.files_digest
        return _digest({"checked": self.checked.model_dump(mode="json"), "files": self.files})

    @property
    def files_digest(self) -> str:
        """One digest for all files, whoever verified them and how deep."""
        return files_digest(self.files)

    def changes(self, now: dict[str, str]) -> Iterator[tuple[str, str]]:
        """Files that are not what they were, and what happened to them."""
        for name in sorted(self.files.keys() | now.keys()):
            if PurePosixPath(name).name == _FIGURE:
                continue
            if name not in now:
                yield name, "is missing"
            elif name not in self.files:
                yield name, "was added"
            elif self.files[name] != now[name]:
                yield name, "was changed"


def files_digest(files: dict[str, str]) -> str:
    """One digest for all files, given the digest of each."""
    return hashlib.sha256(json.dumps(files, sort_keys=True).encode()).hexdigest()


def _digest(content: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def checksums(directory: Path) -> dict[str, str]:
    """The digests of all files in a directory and below, except its own manifest, its signature, and locks.

    What is neither a file nor a directory, such as a link, has no digest: it cannot be vouched for.
    """
    own = (directory / MANIFEST, directory / SIGNATURE)
    digests = {}
    for path in sorted(directory.rglob("*")):
        if path in own or path.name == LOCK or (path.is_dir() and not path.is_symlink()):
            continue
        name = path.relative_to(directory).as_posix()
        if path.is_symlink() or not path.is_file():
            digests[name] = NO_FILE
            continue
        try:
            digests[name] = file_digest(path)
        except OSError as error:
            raise RecordError(f"Cannot read {path}: {error.strerror or error}.") from error
    return digests


def read_manifest(directory: Path) -> Manifest | None:
    """The manifest of a directory, if it has one."""
    path = directory / MANIFEST
    if not path.exists():
        return None
    content = read_json(path)
    if content.get("format") != _FORMAT:
        raise RecordError(f"{path} is not a manifest of noveltree.")
    match content.get("version"):
        case 1:
            manifest = _first_version(path, content)
        case 2:
            file = validated(_File, content, where=f"{path} is damaged: ", error=RecordError)
            manifest = Manifest(file.checked, file.files)
        case version:
            raise RecordError(f"{path} has format version {version!r}; this noveltree reads 1 and 2.")
    if content.get("digest") != manifest.digest:
        raise RecordError(f"{path} was changed after it was written: its digest does not fit.")
    return manifest


def _first_version(path: Path, content: dict[str, Any]) -> Manifest:
    files, episodes = content.get("files"), content.get("episodes")
    if not isinstance(files, dict) or not isinstance(episodes, int) or isinstance(episodes, bool) or episodes < 0:
        raise RecordError(f"{path} is not a manifest of noveltree.")
    versions = {"noveltree": str(content.get("noveltree_version"))}
    return Manifest(Checked(episodes=episodes, versions=versions), files, version=1)


def write_manifest(directory: Path, manifest: Manifest) -> None:
    """Write a manifest; a signature of an earlier one goes."""
    content = {
        "format": _FORMAT,
        "version": manifest.version,
        "digest": manifest.digest,
        "checked": manifest.checked.model_dump(mode="json"),
        "files": manifest.files,
    }
    (directory / SIGNATURE).unlink(missing_ok=True)
    write_atomically(directory / MANIFEST, json.dumps(content, indent=1).encode() + b"\n")
