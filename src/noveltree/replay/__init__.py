"""A recorded action sequence again: verifying it, filming it, learning from it."""

from noveltree.replay.actions import replay as replay
from noveltree.replay.actions import replay_actions as replay_actions
from noveltree.replay.planned_again import plan_again as plan_again
from noveltree.replay.planned_again import stands_alone as stands_alone
from noveltree.replay.planned_again import why_never_again as why_never_again
from noveltree.replay.verify import Verification as Verification
from noveltree.replay.verify import verify_episode as verify_episode
from noveltree.replay.video import LARGEST_SCALE as LARGEST_SCALE
from noveltree.replay.video import check_camera as check_camera
from noveltree.replay.video import check_video as check_video
from noveltree.replay.video import render_episode as render_episode
from noveltree.replay.video import write_video as write_video
