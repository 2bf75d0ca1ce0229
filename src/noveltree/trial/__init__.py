"""Trials: a learner trained in its loop, resumable to the bit, and evaluated; or episodes of a planner.

Learning, and playing with what was learnt, need the extra `learn`, which installs torch and ONNX Runtime.
"""

from noveltree.trial.checkpoint_state import read_deployment as read_deployment
from noveltree.trial.checkpoint_state import read_weights as read_weights
from noveltree.trial.evaluation import evaluate as evaluate
from noveltree.trial.start import EPISODES_AT_ONCE as EPISODES_AT_ONCE
from noveltree.trial.start import play_trial as play_trial
from noveltree.trial.start import run_trial as run_trial
from noveltree.trial.start import train as train
from noveltree.trial.watcher import Progress as Progress
from noveltree.trial.watcher import Watcher as Watcher
