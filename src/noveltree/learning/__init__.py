"""Learning a base policy and a termination cost from critical paths (Section 4 of the paper).

In the order of the data: what networks see (`inputs`), what they are (`architecture`), how they answer planners
(`inference`), the critical paths they learn from (`experience`, `retention`, `sampling`), what they are trained
towards (`value_targets`, `policy_targets`), how (`learner`; CPL's: `cpl`, `value`, `policy`; N-CPL+'s: `joint`,
`trust`; pi-IW's: `pi`, `renormalisation`; VAE-IW's, which learns from sampled screens: `vae`, `vae_learner`), and
whether the result is kept (`schedule`). torch is imported here and nowhere else, and only by modules that train.
"""

from noveltree.learning.pi_settings import PiSettings as PiSettings
from noveltree.learning.settings import LearningSettings as LearningSettings
from noveltree.learning.vae_settings import VaeSettings as VaeSettings
