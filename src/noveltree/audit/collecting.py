"""Pretraining followed once more: what was played before networks were trained once."""

from __future__ import annotations

import statistics

from noveltree.audit.training import Ledger, episode_line
from noveltree.episodes import End
from noveltree.learning.vae_settings import PretrainingSettings

_COLLECTING = 1


def follow_pretraining(ledger: Ledger) -> None:
    """Enter the episodes in which screens were collected, in the order of their index."""
    learning = ledger.run.protocol.learning
    assert learning is not None
    assert isinstance(learning.loop, PretrainingSettings)
    lanes = learning.loop.lanes
    for lane in range(lanes):
        index = lane
        while (record := ledger.take((_COLLECTING, index))) is not None:
            ledger.check_weights((_COLLECTING, index), record.weights, None)
            index += lanes
    ledger.ordered = False
    played = [ledger.training[place] for place in sorted(ledger.taken)]
    ledger.lines += map(episode_line, played)
    if not ledger.over:
        ledger.missing = "screens are still collected"
        return
    returns = [each.episode.score for each in played if each.episode.end is not End.STOPPED]
    ledger.lines.append(
        {
            "event": "interval",
            "interval": _COLLECTING,
            "episodes": len(returns),
            "interactions": sum(each.episode.interactions for each in played),
            "mean_return": statistics.fmean(returns) if returns else None,
            "accepted": True,
            "tested": False,
            "p_value": None,
        }
    )
