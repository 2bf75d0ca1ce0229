"""How the episodes of a trial are collected: whole ones under fixed parameters, in this process or in several."""

from noveltree.collection.collector import Collected as Collected
from noveltree.collection.collector import Collector as Collector
from noveltree.collection.collector import Listener as Listener
from noveltree.collection.collector import collect_all as collect_all
from noveltree.collection.in_process import InProcess as InProcess
from noveltree.collection.placement import Placement as Placement
from noveltree.collection.workers import Workers as Workers
from noveltree.errors import InputError
from noveltree.protocol import Protocol


def make_collector(
    protocol: Protocol,
    seed: int,
    *,
    workers: int,
    at_once: int,
    device: str = "cpu",
    placement: Placement | None = None,
) -> Collector:
    """One that plays in this process, or in `workers` others if there are to be several, or a place for them."""
    if workers < 1 or at_once < 1:
        raise InputError("At least 1 worker must play at least 1 episode at once.")
    if workers == 1 and placement is None:
        return InProcess(protocol, seed=seed, at_once=at_once, device=device)
    return Workers(protocol, seed=seed, workers=workers, at_once=at_once, device=device, placement=placement)
