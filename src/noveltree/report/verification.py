"""What manifests state: how deep records were verified, when, and by whom."""

from __future__ import annotations

from collections.abc import Mapping

from noveltree.report.document import Cell, Column, Section, Table
from noveltree.report.wording import MISSING
from noveltree.results.vouching import Vouch


def verification_section(manifests: Mapping[str, Vouch]) -> Section | None:
    """A row per manifest; nothing here was verified for this report."""
    rows = [
        (
            Cell(folder),
            Cell(each.manifest.checked.level),
            Cell(each.manifest.checked.date.replace("T", " ") or MISSING),
            Cell(each.manifest.checked.versions.get("noveltree", MISSING)),
            Cell(each.signer),
            Cell(each.manifest.digest),
        )
        for folder, each in manifests.items()
        if each.manifest is not None
    ]
    if not rows:
        return None
    titles = ("directory", "depth", "date", "noveltree", "signed by", "digest")
    table = Table(
        "verification",
        "What manifests state. The files of the episodes in this report were compared with them, and nothing was "
        "replayed for it: a manifest is the word of whoever wrote it. noveltree verify tells whether it is true, "
        "and a digest that is known from elsewhere shows that it is the same.",
        tuple(Column(title, words=True) for title in titles),
        tuple(rows),
    )
    return Section("verification", "Verification", (table,))
