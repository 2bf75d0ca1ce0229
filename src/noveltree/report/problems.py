"""What is wrong with records: it comes first in a report."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from noveltree.report.document import Notice, Section
from noveltree.report.wording import counted, listed, title_of
from noveltree.results.recorded import Records
from noveltree.results.scores import AgentScores

#: Places that are named before the others are only counted.
_MOST = 6
#: What is said of those that are marked for their conditions.
_OTHER = "Played under other conditions than the rest, marked with †, and not ranked unless that is asked for"
_APART = (
    "All played under the same conditions, which are not the usual ones: marked with †, and ranked among themselves"
)


def problems_section(
    records: Records, ours: Sequence[AgentScores], compared: Sequence[AgentScores], *, apart: bool = False
) -> Section:
    """What is wrong with the records, or that nothing is; `compared` are those of `ours` in the comparisons.

    If these are ranked `apart`, they are so among themselves alone.
    """
    found = [
        (title, items) for title, items in _problems(records, ours, compared, _APART if apart else _OTHER) if items
    ]
    notices = [Notice("problem", title, tuple(items)) for title, items in found]
    if not notices and records.agents:
        notices.append(
            Notice(
                "good",
                "No trial failed, none is missing, all scores are comparable, and manifests state that all were "
                "replayed.",
            )
        )
    return Section("problems", "Problems", tuple(notices))


def _problems(
    records: Records, ours: Sequence[AgentScores], compared: Sequence[AgentScores], conditions: str
) -> Iterator[tuple[str, Sequence[str]]]:
    """What may be wrong, and with what it is."""
    failed = [f"{trial}: {error}" for trial, error in records.failed.items()]
    yield f"{counted(len(failed), 'trial')} failed", failed
    different = [agent.title for agent in compared if agent.differs]
    different += [each.name for each in records.curves if each.differs]
    yield conditions, list(dict.fromkeys(different))
    yield (
        f"{counted(len(records.unfinished), 'trial')} not finished, and not in the scores",
        _places(records.unfinished),
    )
    yield "Trials that are missing from scores, by game", [_gaps(agent) for agent in ours if agent.missing]
    yield "Scores whose episodes are not there any more", _places(records.without_files)
    yield "Not verified, or changed since: run noveltree verify on", _places(records.unverified)
    lacking = [f"{folder}/{run}" for folder, each in records.manifests.items() for run in each.lacking]
    yield "Runs whose learning nobody could check, since evidence of it was not kept", _places(lacking)
    yield "Damaged metrics: learning curves that lack intervals", _places(records.lost_intervals)
    yield (
        "Tables: whether their scores are comparable, and were verified, is not known",
        _places(records.tables),
    )


def _places(names: Sequence[str]) -> list[str]:
    return [listed(names, _MOST)] if names else []


def _gaps(agent: AgentScores) -> str:
    games = [f"{title_of(game)} ({count})" for game, count in sorted(agent.missing.items())]
    return f"{agent.title}: {listed(games)}"
