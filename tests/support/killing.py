"""Train, and kill whoever trains with SIGKILL at random instants: `python -m tests.support.killing`.

Starting Python and loading torch takes longer than the trial, so this process loads everything once and forks a
child for every life of the trial.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import json
import os
import signal
import time
from pathlib import Path

import numpy as np
import torch

from noveltree.learning.cpl import CplLearner  # loads torch, before anything is forked
from noveltree.learning.pi_settings import PiSettings, ReturnSettings
from noveltree.learning.retention import KeepLatest, Replay
from noveltree.learning.settings import IntervalsSettings, JointSettings, LockstepSettings, ScheduleSettings
from noveltree.learning.snapshot import Snapshot
from noveltree.learning.vae_settings import PretrainingSettings, SmallEncoder, VaeSettings
from noveltree.protocol import Protocol, make_protocol, play_episode
from noveltree.trial import train
from tests.support.processes import children_of
from tests.support.runs import small_protocol

#: Of Linux's <sys/prctl.h>.
_PR_SET_CHILD_SUBREAPER = 36
_SECONDS_TO_END = 10.0


LOOPS = {"intervals": IntervalsSettings(), "lockstep": LockstepSettings(lanes=3, decisions=7)}


#: VAE-IW: 20 screens of two lanes in rounds of one decision, and 2 epochs of 3 batches each.
PRETRAINING = make_protocol(
    "pong",
    agent="vae-iw",
    budget=10,
    max_frames=150,
    learning=VaeSettings(
        encoder=SmallEncoder(epochs=2),
        loop=PretrainingSettings(screens=20, lanes=2, decisions=1),
        batch=8,
        evaluation_episodes=1,
    ),
)


def rounds(interactions: int, interval: int, agent: str = "pi-iw", budget: int = 10) -> Protocol:
    """pi-IW or pi-HIW: networks change after every round of two decisions, checkpoints come with every 120th."""
    return make_protocol(
        "corridor",
        agent=agent,
        budget=budget,
        max_frames=100,
        learning=PiSettings(
            schedule=ScheduleSettings(interactions=interactions, interval=interval, p_value=0.0),
            loop=LockstepSettings(lanes=2, decisions=1, refresh="round"),
            retention=Replay(transitions=100),
            returns=None if agent == "pi-iw" else ReturnSettings(),
            batch=8,
            warm_up=8,
            evaluation_episodes=2,
        ),
    )


#: N-CPL+: after every round of ten decisions there is a checkpoint, and a window of the test has five intervals.
#: So small a budget leaves ties, which go to what the episode has not seen.
JOINT = make_protocol(
    "corridor",
    agent="n-cpl-plus",
    budget=3,
    max_frames=200,
    learning=JointSettings(
        schedule=ScheduleSettings(interactions=4_000, interval=100, window=500),
        loop=LockstepSettings(lanes=2, decisions=5),
        retention=KeepLatest(transitions=100),
        batch=16,
        evaluation_episodes=2,
    ),
)

_PROTOCOLS = {
    "pretraining": PRETRAINING,
    "rounds": rounds(8_000, interval=1_000),
    # With so small a budget it makes a difference which abstract state is chosen.
    "two levels": rounds(4_000, interval=500, agent="pi-hiw", budget=3),
    "joint": JOINT,
}


def killed_protocol(loop: str = "intervals") -> Protocol:
    """Thirty intervals: long enough to be killed more than twenty times."""
    if loop in _PROTOCOLS:
        return _PROTOCOLS[loop]
    return small_protocol(interactions=30_000, loop=LOOPS[loop])


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("directory", type=Path)
    parser.add_argument("--kills", type=int, required=True)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--seed", type=int, default=0, help="of the instants")
    parser.add_argument("--longest-life", type=float, required=True, help="seconds")
    parser.add_argument("--loop", choices=[*LOOPS, *_PROTOCOLS], default="intervals")
    parser.add_argument("--sabotage", action="store_true", help="resume without Adam's moments")
    options = parser.parse_args()
    _adopt_orphans()
    # What takes longest to load: compiled kernels, and what torch loads for its first optimiser.
    play_episode(make_protocol("corridor", agent="riw-c", budget=5))
    torch.optim.Adam([torch.zeros(1, requires_grad=True)])
    rng = np.random.default_rng(options.seed)
    kills = 0
    intervals = set()
    finished = False
    while not finished:
        child = os.fork()
        if child == 0:
            _live(options.directory, options.loop, options.workers, sabotage=options.sabotage and kills > 0)
        ended, status = 0, 0
        while not ended:  # if a worker is killed, the one that trains goes on until it is its turn
            if kills < options.kills:
                time.sleep(float(rng.uniform(0.0, options.longest_life)))
                with contextlib.suppress(OSError):  # it may be over before
                    os.kill(_victim(child, rng), signal.SIGKILL)
                    kills += 1
                    intervals.add(max((path.name for path in options.directory.glob("checkpoints/0*")), default=""))
                time.sleep(0.05)
            ended, status = os.waitpid(child, os.WNOHANG if kills < options.kills else 0)
        code = os.waitstatus_to_exitcode(status)
        assert code in (0, -signal.SIGKILL)
        finished = code == 0
    print(json.dumps({"kills": kills, "intervals": len(intervals), "workers_left": _wait_for_orphans()}))


def _adopt_orphans() -> None:
    """Be the parent of workers whose own was killed, so that they can be waited for."""
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def _wait_for_orphans() -> int:
    """Workers whose parent was killed end by themselves; how many did not."""
    give_up = time.monotonic() + _SECONDS_TO_END
    while time.monotonic() < give_up:
        try:
            os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return 0
        time.sleep(0.02)
    return len(children_of(os.getpid()))


def _live(directory: Path, loop: str, workers: int, *, sabotage: bool) -> None:
    """What a child does: train as if nothing had happened."""
    if sabotage:
        _forget_moments()
    try:
        train(directory, killed_protocol(loop), workers=workers, episodes_at_once=4)
    except BaseException as error:
        print(f"{type(error).__name__}: {error}", flush=True)
        os._exit(1)
    os._exit(0)


def _forget_moments() -> None:
    restore = CplLearner.restore

    def forgetful(learner: CplLearner, snapshot: Snapshot) -> None:
        restore(learner, snapshot)
        for state in learner.value.optimiser.state.values():
            state["exp_avg"].zero_()

    CplLearner.restore = forgetful  # type: ignore[method-assign]


def _victim(child: int, rng: np.random.Generator) -> int:
    """The process that trains, or one of those that play for it."""
    return int(rng.choice([child, *children_of(child)]))


if __name__ == "__main__":
    main()
