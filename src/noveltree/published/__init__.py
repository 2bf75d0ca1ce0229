"""Results that were published by others, as data.

`authors_curves.csv.xz` comes from the episodes of the experiments released by the authors of "Width-based
Lookaheads with Learnt Base Policies and Heuristics Over the Atari-2600 Benchmark" (O'Toole, Lipovetzky, Ramirez and
Pearce 2021): 55 games, three agents that learn, five trials each. `scripts/authors_curves.py` aggregates them: mean
return and number of episodes per trial and million simulator interactions. `authors_evaluations.csv.xz`, made by
`scripts/authors_evaluations.py`, has those episodes that the paper's means and intervals of these agents come from.

The other tables are those of the paper and its appendix. The scores of pi-IW, pi-IW+ and pi-HIW in them come from
Junyent et al. (2019, 2021), those of a human player and of DQN from Mnih et al. (2015), those of Rainbow from
Hessel et al. (2018), all as the paper reports them. `normalisation.csv` has the scores of random actions and of a
human player in 57 games that Wang et al. (2016), "Dueling Network Architectures for Deep Reinforcement Learning",
report for random no-op starts, as DeepMind's DQN Zoo distributes them: the usual references of human-normalised
scores.

`bandres.csv.xz` and `lipovetzky.csv` have the scores of two earlier articles on planners, with which the paper does
not compare itself: Bandres, Bonet and Geffner (2018), "Planning with Pixels in (Almost) Real Time", and Lipovetzky,
Ramirez and Geffner (2015), "Classical Planning with Simulators: Results on the Atari Video Games".
"""

from noveltree.published.curves import Million as Million
from noveltree.published.curves import TrialCurve as TrialCurve
from noveltree.published.curves import authors_curve as authors_curve
from noveltree.published.curves import nearest_agent as nearest_agent
from noveltree.published.evaluations import TrialScores as TrialScores
from noveltree.published.evaluations import authors_evaluations as authors_evaluations
from noveltree.published.planners import PlannerScore as PlannerScore
from noveltree.published.planners import PublishedPlanner as PublishedPlanner
from noveltree.published.planners import published_planners as published_planners
from noveltree.published.scores import OTHER_AGENTS as OTHER_AGENTS
from noveltree.published.scores import PUBLISHED_AGENTS as PUBLISHED_AGENTS
from noveltree.published.scores import PUBLISHED_EPISODES as PUBLISHED_EPISODES
from noveltree.published.scores import PUBLISHED_SETTINGS as PUBLISHED_SETTINGS
from noveltree.published.scores import HumanComparison as HumanComparison
from noveltree.published.scores import Normalisation as Normalisation
from noveltree.published.scores import OtherAgent as OtherAgent
from noveltree.published.scores import PublishedScore as PublishedScore
from noveltree.published.scores import SmrfTest as SmrfTest
from noveltree.published.scores import human_comparison as human_comparison
from noveltree.published.scores import normalisation as normalisation
from noveltree.published.scores import published_scores as published_scores
from noveltree.published.scores import published_smrf as published_smrf
