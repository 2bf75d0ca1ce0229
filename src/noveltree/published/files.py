"""The files of this package: tables, of which the large ones are compressed."""

from __future__ import annotations

import csv
import importlib.resources
import lzma


def rows_of(name: str) -> list[dict[str, str]]:
    data = importlib.resources.files(__package__).joinpath(name).read_bytes()
    text = (lzma.decompress(data) if name.endswith(".xz") else data).decode()
    return list(csv.DictReader(text.splitlines()))
