"""Build sections of docs/reproduction.md: planners of earlier articles beside their published scores.

    python scripts/earlier_planners.py bandres results/bandres --write docs/reproduction.md
    python scripts/earlier_planners.py lipovetzky results/lipovetzky --write docs/reproduction.md

The agents of the benchmark are called as their published scores are: `bandres-riw-0.5s`. A section that is not in
the document yet is put at its end, with what there is to say about it.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from noveltree.analysis import welch_p_value
from noveltree.published import published_planners
from noveltree.results import AgentScores, Sample, read_records, read_results
from noveltree.simulators.games import game_title
from reproduction import print_or_write

#: What comes before the tables, by section.
TEXTS = {
    "bandres": """\
## RIW as Bandres et al. (2018) ran it

RIW(1) and its risk-averse variants with all rules of their release (preset `bandres-2018-103`: 103 interactions
per decision, all 18 actions, B-PROST without background), five episodes per game, seed 0, beside the means of their
five episodes at 0.5 s. The games are those in which their RIW made fewer than 300 decisions per episode, chosen by
that alone, without Montezuma's Revenge, where it never scored. What their half second bought differs from game to
game, and their episodes began with up to 29 no-op actions, which ours do not: see [deviations.md](deviations.md).

    noveltree benchmark run experiments/bandres/suite.yaml --out results/bandres
    noveltree verify results/bandres
    python scripts/earlier_planners.py bandres results/bandres --write docs/reproduction.md

Five episodes are few, and deviations are large: that Welch's test finds no difference says little.""",
    "lipovetzky": """\
## IW(1) as Lipovetzky et al. (2015) ran it

IW(1) on RAM with the preset `lipovetzky-2015` (150,000 frames per decision in steps of 5, all 18 actions), in a
game with short episodes, in which that is affordable. Of theirs the mean alone is published: the test takes it as
exact, and so finds differences too easily.

    noveltree benchmark run experiments/lipovetzky/suite.yaml --out results/lipovetzky
    noveltree verify results/lipovetzky
    python scripts/earlier_planners.py lipovetzky results/lipovetzky --write docs/reproduction.md""",
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("section", choices=TEXTS)
    parser.add_argument("directory", type=Path, help="a benchmark, finished")
    parser.add_argument("--write", type=Path)
    options = parser.parse_args()
    if options.write is not None:
        begin(options.write, options.section)
    print_or_write(build_table(options.directory), options.write, options.section)


def begin(document: Path, section: str) -> None:
    """Put a section at the end of a document if it is not there yet."""
    begin, end = f"<!-- {section}: begin -->", f"<!-- {section}: end -->"
    text = document.read_text()
    if begin not in text:
        document.write_text(f"{text.rstrip()}\n\n{TEXTS[section]}\n\n{begin}\n\n{end}\n")


def build_table(directory: Path) -> str:
    """One row per game and planner: our scores, the published ones, and the test of their means."""
    lines = [
        "| game | planner | episodes | mean | standard error | interactions per decision "
        "| published mean | standard error | interactions per decision | p |",
        "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    published = read_results("published")
    rows = [
        (game_title(game), published.agent(agent.label), agent, game)
        for agent in read_records([directory]).agents
        for game in agent.games
    ]
    same = 0
    for title, theirs, ours, game in sorted(rows, key=lambda row: (row[0], row[1].title)):
        sample, other = ours.samples[game], theirs.samples[game]
        exact = other.count == 1
        p = welch_p_value(sample, Sample(other.mean, 0.0, 2) if exact else other)
        if p is None:
            raise SystemExit(f"{ours.label} in {game} cannot be tested: there is one episode.")
        same += p > 0.05
        spent = published_planners()[theirs.name].scores[game].interactions
        lines.append(
            f"| {title} | {theirs.title} | {sample.count} | {sample.mean:,.1f} | {sample.standard_error:,.1f} "
            f"| {_interactions(ours, game):,.0f} | {other.mean:,.1f} "
            f"| {'' if exact else f'{other.standard_error:,.1f}'} | {'' if spent is None else f'{spent:,.0f}'} "
            f"| {p:.2f} |"
        )
    lines.append("")
    lines.append(f"Not different (p > 0.05) in {same} of {len(rows)} rows.")
    return "\n".join(lines)


def _interactions(agent: AgentScores, game: str) -> float:
    """Interactions per decision, over all episodes."""
    episodes = agent.games[game].episodes
    return sum(each.interactions or 0 for each in episodes) / sum(each.steps or 0 for each in episodes)


if __name__ == "__main__":
    main()
