"""Trials: Algorithm 2, resumable to the bit, and the evaluation of what was learnt; or episodes of a planner.

Learning, and playing with what was learnt, need the extra `learn`, which installs torch and ONNX Runtime.
"""

from noveltree.trial.evaluate import evaluate as evaluate
from noveltree.trial.play import play_trial as play_trial
from noveltree.trial.state import read_deployment as read_deployment
from noveltree.trial.state import read_weights as read_weights
from noveltree.trial.train import EPISODES_AT_ONCE as EPISODES_AT_ONCE
from noveltree.trial.train import train as train
from noveltree.trial.watcher import Progress as Progress
from noveltree.trial.watcher import Watcher as Watcher
