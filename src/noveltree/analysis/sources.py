"""Results by name: the path of a table, a benchmark or a run, or the paper's."""

from __future__ import annotations

from pathlib import Path

from noveltree.analysis.published_results import published_agents
from noveltree.analysis.recorded import read_records
from noveltree.analysis.results import Results
from noveltree.errors import InputError
from noveltree.records.run_directory import RUN

PUBLISHED = "published"


def read_results(source: str, *, beside_published: bool = False) -> Results:
    """Results by the path of a table, a benchmark or a run, or those of the paper by the name `published`."""
    if source == PUBLISHED:
        return Results(PUBLISHED, published_agents())
    path = Path(source)
    records = read_records([path], beside_published=beside_published)
    if not records.agents:
        what = (
            f"The run in {source} is not finished yet"
            if (path / RUN).is_file()
            else f"Nothing in {source} is finished yet"
        )
        raise InputError(f"{what}: there are no scores.")
    return Results(source, records.agents)
