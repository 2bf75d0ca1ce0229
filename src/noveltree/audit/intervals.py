"""Algorithm 2 followed once more: which episodes its intervals have, and what became of each."""

from __future__ import annotations

from noveltree.audit.training import Ledger, episode_line
from noveltree.learning.schedule import Interval, Schedule
from noveltree.records import EpisodeRecord


def follow_intervals(ledger: Ledger) -> None:
    """Enter what the schedule makes of the recorded episodes."""
    learning = ledger.run.protocol.learning
    assert learning is not None
    schedule = Schedule(learning.schedule)
    evaluated = 0
    while not schedule.finished or learning.evaluation == "continuing":
        at_most = learning.evaluation_episodes - evaluated if schedule.finished else None
        if at_most is not None and at_most <= 0:
            break
        episodes = _interval(ledger, schedule, at_most)
        evaluated += len(episodes) if schedule.finished else 0
        if ledger.missing or len(episodes) == at_most:
            break
        schedule = _close(ledger, schedule, episodes)
    _check_rejections(ledger)


def _interval(ledger: Ledger, schedule: Schedule, at_most: int | None) -> list[EpisodeRecord]:
    """The episodes of an interval, as many as the schedule asks for."""
    longest = ledger.run.protocol.longest_episode
    episodes: list[EpisodeRecord] = []
    due = 0  # what was promised once is played
    while True:
        asked = schedule.episodes_to_start([each.episode.interactions for each in episodes], longest=longest)
        due = max(due, asked if at_most is None else min(asked, at_most))
        place = schedule.interval, len(episodes)
        if len(episodes) >= due:
            return episodes
        record = ledger.take(place)
        if record is None:
            ledger.missing = f"episode {place[1]} of interval {place[0]} is not there"
            if not ledger.over:  # those after it may be, since several are played at once
                ledger.taken.update((place[0], index) for index in range(place[1], due))
            return episodes
        ledger.check_weights(place, record.weights, ledger.played_with(schedule.interval))
        ledger.lines.append(episode_line(record))
        episodes.append(record)


def _close(ledger: Ledger, schedule: Schedule, episodes: list[EpisodeRecord]) -> Schedule:
    """Enter an interval that is over; the schedule after it."""
    returns = tuple(each.episode.score for each in episodes)
    interval = Interval(sum(each.episode.interactions for each in episodes), returns)
    verdict = schedule.judge(interval)
    following = schedule.after(interval, verdict)
    ledger.lines.append(
        {
            "event": "interval",
            "interval": schedule.interval,
            "episodes": len(episodes),
            "interactions": following.interactions,
            "mean_return": interval.mean_return,
            "accepted": verdict.accepted,
            "tested": schedule.baseline is not None,
            "p_value": verdict.p_value,
        }
    )
    ledger.schedules[schedule.interval] = following.to_json()
    return following


def _check_rejections(ledger: Ledger) -> None:
    """After a rejection the networks must be those of before the update that was rejected."""
    closed = [line for line in ledger.lines if line["event"] == "interval"]
    for number, line in enumerate(closed, start=1):
        if line["accepted"] or not 2 <= number < len(ledger.weights):
            continue
        if ledger.weights[number] != ledger.weights[number - 2]:
            sentence = f"interval {number} was rejected, but the networks before it did not come back"
            ledger.wrong.append((ledger.run.metrics_path, sentence))
