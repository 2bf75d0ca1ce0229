"""docs/agents.md says of every agent what its code says."""

from __future__ import annotations

from pathlib import Path

import pytest

from noveltree.agents import AGENTS
from noveltree.agents.settings import Settings
from noveltree.protocol import TRAINING_PRESETS, default_learning

PAGE = (Path(__file__).parent.parent / "docs" / "agents.md").read_text()


def row_of(agent: str, header: str) -> dict[str, str]:
    """The cells of an agent's row, by their columns, in the table with this header."""
    table = PAGE[PAGE.index(header) :].split("\n\n")[0].splitlines()
    names, _, *rows = ([cell.strip() for cell in line.strip("|").split("|")] for line in table)
    for cells in rows:
        if f"`{agent}`" in [each.strip() for each in cells[0].split(",")]:
            return dict(zip(names, cells, strict=True))
    raise AssertionError(f"{agent} is not there")


@pytest.mark.parametrize("agent", [*AGENTS])
def test_every_agent_is_in_the_table_and_its_cells_are_filled(agent: str) -> None:
    row = row_of(agent, "| agent | novelty |")
    assert all(row.values())
    ties = AGENTS[agent].defaults.get("tie_breaking", Settings.model_fields["tie_breaking"].default)
    told = row["executed action"]
    if told == "as `riw-plus`":
        assert ties == AGENTS["riw-plus"].defaults["tie_breaking"]
    else:
        unseen = ties in ("unseen-if-idle", "unseen-lately-if-idle")
        assert ("larger subtree" in told) == (ties == "larger-subtree" or unseen)
        assert ("unseen" in told) == unseen
        assert ("lately" in told) == (ties == "unseen-lately-if-idle")
    if ties == "random" and "best" in row["executed action"] and agent != "graph":
        assert "ties at random" in row["executed action"]
    if AGENTS[agent].novelty in ("classic", "depth") and agent != "pi-hiw":
        settings = AGENTS[agent].settings()
        assert row["novelty"].startswith(AGENTS[agent].novelty_with(settings))
    for name, preset in TRAINING_PRESETS.items():
        if preset.agents is not None:
            assert (f"`{name}`" in row["preset"]) == (agent in preset.agents)


@pytest.mark.parametrize("agent", [name for name, each in AGENTS.items() if default_learning(each)])
def test_every_learner_is_in_the_second_table(agent: str) -> None:
    assert all(row_of(agent, "| learner | networks |").values())
