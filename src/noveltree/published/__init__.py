"""Results that were published by others, as data.

`authors_curves.csv.xz` comes from the episodes of the experiments released by the authors of "Width-based
Lookaheads with Learnt Base Policies and Heuristics Over the Atari-2600 Benchmark" (O'Toole, Lipovetzky, Ramirez and
Pearce 2021): 55 games, three agents that learn, five trials each. `scripts/authors_curves.py` aggregates them: mean
return and number of episodes per trial and million simulator interactions.
"""

from noveltree.published.curves import Million as Million
from noveltree.published.curves import TrialCurve as TrialCurve
from noveltree.published.curves import authors_curve as authors_curve
