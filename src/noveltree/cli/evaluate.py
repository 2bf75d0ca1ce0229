"""`noveltree evaluate`: play episodes with the networks that a run has learnt."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from noveltree.cli.common import CLAIRVOYANT, FORESEEN, Import, need_extra
from noveltree.cli.console import LiveLine, counted, out, print_json
from noveltree.episodes import Episode


def evaluate(
    run: Annotated[Path, typer.Argument(help="The run's directory.")],
    episodes: Annotated[int, typer.Option(help="How many episodes to play.", min=1)] = 10,
    workers: Annotated[
        int, typer.Option(help="Number of processes that play; with 1, this process does.", min=1)
    ] = 1,
    device: Annotated[str, typer.Option(help="cpu or cuda.")] = "cpu",
    imports: Import = False,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")] = False,
) -> None:
    """Play episodes with the networks that a run has deployed, and record them in the run.

    Episodes that were played with the same networks before are not played again.

    [bold]Example[/]: noveltree evaluate runs/qbert-n-cpl-seed0 --episodes 10
    """
    need_extra("Evaluating")
    from noveltree.trial import evaluate as evaluate_run

    scores: list[float] = []
    spent = 0
    with LiveLine(quiet=json) as line:

        def show() -> None:
            mean = f", mean {sum(scores) / len(scores):,.5g}" if scores else ""
            line.update(f"{len(scores)} of {episodes} episodes{mean}  {spent:,} interactions")

        def add_interactions(interactions: int) -> None:
            nonlocal spent
            spent += interactions
            show()

        def add_episode(episode: Episode) -> None:
            scores.append(episode.score)
            show()

        result = evaluate_run(
            run,
            episodes=episodes,
            workers=workers,
            device=device,
            on_interactions=add_interactions,
            on_episode=add_episode,
        )
    if json:
        print_json(result)
        return
    out.print(f"Scores: {', '.join(f'{score:,.10g}' for score in result['scores'])}", soft_wrap=True)
    out.print(
        f"{result['game']}, {result['agent']}, seed {result['seed']}: mean score {result['score']:,.10g} of "
        f"{counted(episodes, 'episode')}",
        soft_wrap=True,
    )
    if result["chance"] == FORESEEN:
        out.print(CLAIRVOYANT, soft_wrap=True)
    out.print(f"Episodes: {Path(result['episode_files'][0]).parent}", soft_wrap=True)
