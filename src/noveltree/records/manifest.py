"""Manifests: the checksums of all files of a directory whose episodes were verified."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from noveltree.errors import RecordError
from noveltree.records.files import file_digest, read_json, write_atomically
from noveltree.records.lock import LOCK
from noveltree.version import __version__

MANIFEST = "manifest.json"
_FORMAT, _VERSION = "noveltree-manifest", 1
#: Instead of a digest: a link, a pipe, or the like.
NO_FILE = ""


@dataclass(frozen=True, slots=True)
class Manifest:
    """What was verified, and the SHA-256 digest of every file then, by its path."""

    episodes: int
    files: dict[str, str]

    @property
    def digest(self) -> str:
        """One digest for all files: it shows whether any of them was changed."""
        return hashlib.sha256(json.dumps(self.files, sort_keys=True).encode()).hexdigest()

    def changes(self, now: dict[str, str]) -> Iterator[tuple[str, str]]:
        """Files that are not what they were, and what happened to them."""
        for name in sorted(self.files.keys() | now.keys()):
            if name not in now:
                yield name, "is missing"
            elif name not in self.files:
                yield name, "was added"
            elif self.files[name] != now[name]:
                yield name, "was changed"


def checksums(directory: Path) -> dict[str, str]:
    """The digests of all files in a directory and below, except its own manifest, and locks.

    What is neither a file nor a directory, such as a link, has no digest: it cannot be vouched for.
    """
    digests = {}
    for path in sorted(directory.rglob("*")):
        if path == directory / MANIFEST or path.name == LOCK or (path.is_dir() and not path.is_symlink()):
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
    files: Any = content.get("files")
    if (
        content.get("format") != _FORMAT
        or not isinstance(files, dict)
        or not isinstance(content.get("episodes"), int)
    ):
        raise RecordError(f"{path} is not a manifest of noveltree.")
    manifest = Manifest(content["episodes"], files)
    if content.get("digest") != manifest.digest:
        raise RecordError(f"{path} was changed after it was written: its digest does not fit.")
    return manifest


def write_manifest(directory: Path, manifest: Manifest) -> None:
    content = {
        "format": _FORMAT,
        "version": _VERSION,
        "noveltree_version": __version__,
        "episodes": manifest.episodes,
        "digest": manifest.digest,
        "files": manifest.files,
    }
    write_atomically(directory / MANIFEST, json.dumps(content, indent=1).encode() + b"\n")
