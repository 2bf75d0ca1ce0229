"""What a manifest vouches for: files that are as they were when whoever wrote it verified them.

It is a statement, not a proof. `noveltree verify` tells whether it is true.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from noveltree.errors import RecordError
from noveltree.records.files import file_digest
from noveltree.records.manifest import Manifest, read_manifest
from noveltree.records.signature import signer_of

#: Digits of a digest by which a manifest is called.
_SHORT = 12


@dataclass(frozen=True, slots=True)
class Vouch:
    """The manifest that vouches for what is in a place: its own, or one of a folder it was given in."""

    folder: Path
    manifest: Manifest | None

    @classmethod
    def of(cls, place: Path, top: Path) -> Vouch:
        for folder in (place, *place.parents):
            try:
                manifest = read_manifest(folder)
            except RecordError:  # one that was edited vouches for nothing; verifying says so
                return cls(folder, None)
            if manifest is not None:
                return cls(folder, manifest)
            if folder == top:
                break
        return cls(place, None)

    @property
    def name(self) -> str:
        """What the manifest is called, by its digest."""
        return "" if self.manifest is None else self.manifest.digest[:_SHORT]

    @property
    def lacking(self) -> list[str]:
        """Runs of which it says that there is no evidence of what they learnt."""
        return [] if self.manifest is None else list(self.manifest.checked.lacking)

    @property
    def signer(self) -> str:
        """Who has signed it, in words."""
        try:
            return signer_of(self.folder) or "nobody"
        except RecordError as error:
            return f"nobody: {error}"

    def __call__(self, path: Path, digest: str | None = None) -> str:
        """The name of the manifest if a file is what it was then; nobody vouches for what a link leads to."""
        name = path.relative_to(self.folder)
        known = None if self.manifest is None else self.manifest.files.get(name.as_posix())
        if known is None or not path.exists() or path.resolve() != self.folder.resolve() / name:
            return ""
        return self.name if known == (digest or file_digest(path)) else ""
