"""Suites and plans: what is accepted, what is refused and how, and what is planned."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from noveltree.agents import AGENTS
from noveltree.benchmark import BenchmarkDirectory, Suite, plan_suite, read_suite, shipped_suites
from noveltree.benchmark.estimate import estimate, expected_steps, expected_work, makespan
from noveltree.benchmark.suite import Conditions, parse_suite
from noveltree.benchmark.template import TEMPLATE
from noveltree.errors import InputError, UnknownNameError
from noveltree.learning import PiSettings
from noveltree.protocol import PRESETS, Protocol, make_protocol
from noveltree.simulators import AtariKind
from noveltree.simulators.games import PAPER_GAMES, SMRF_GAMES
from tests.support.agents import EVERYWHERE
from tests.support.benchmarks import SMALL, TINY


def with_line(line: str, text: str = TINY) -> str:
    return f"{text}{line}\n"


class TestReading:
    def test_reads_back_what_it_writes(self) -> None:
        for text in (SMALL, TINY, TEMPLATE, *shipped_suites().values()):
            suite = parse_suite(text)
            assert parse_suite(suite.to_yaml()) == suite

    def test_an_agent_may_be_given_by_its_name_alone_in_any_spelling(self) -> None:
        suite = parse_suite(TINY.replace("[riw-c, riw-d]", "[RIW_C, {agent: riw-d, name: deep}]"))
        assert [(agent.agent, agent.name) for agent in suite.agents] == [("riw-c", "riw-c"), ("riw-d", "deep")]

    @pytest.mark.parametrize(
        ("text", "complaint"),
        [
            ("", "it has no `games:` and `agents:`"),
            ("- a", "it has no `games:` and `agents:`"),
            ("name: x\ngames: [pong", "not valid YAML in line"),
            ("name: x\nname: y", 'found duplicate key "name"'),
            ("a: &a [1]\nb: *a", "references"),
            ("a: !!python/object/apply:os.system ['true']", "not valid YAML"),
            ("name: x\ngames: [pong]", "agents is missing."),
            (TINY.replace("trials: 2", "trails: 2"), "there is no setting trails; did you mean trials?"),
            (TINY.replace("trials: 2", "trials: two"), "trials 'two'"),
            (TINY.replace("trials: 2", "trials: 0"), "trials 0"),
            (TINY.replace("trials: 2", "trials: 2.5"), "trials 2.5"),
            (TINY.replace("[corridor]", "[]"), "it has no games"),
            (TINY.replace("[corridor]", "papr"), "Unknown suite of games 'papr'. Did you mean 'paper'?"),
            (TINY.replace("riw-d", "riw-x"), "Unknown agent 'riw-x'. Did you mean"),
            (TINY.replace("riw-d", "riw-c"), "two agents are called 'riw-c'"),
            (TINY.replace("riw-d", "{agent: riw-d, name: ../x}"), "'../x' cannot name an agent"),
            (TINY.replace("riw-d", "{agent: riw-d, horizont: 3}"), "did you mean horizon?"),
            (TINY.replace("riw-d", "{name: x}"), "agents.1.agent is missing"),
            (with_line("preset: otoole"), "Unknown preset 'otoole'. Did you mean 'otoole-2021'?"),
            (
                with_line("preset: junyent-2019"),
                "junyent-2019 is a preset of training: give agents that learn `training: junyent-2019`.",
            ),
            (with_line("seeds: [1, 1]"), "a seed is there twice"),
            (with_line("seeds: [1, 2, 3]"), "it has 2 trials, but 3 seeds"),
            (with_line("seeds: [-1, 2]"), "a seed is a number from 0"),
            (TINY.replace("trials: 2", "trials: 1000000000"), "trials 1000000000: input should be less than"),
            (TINY.replace("trials: 2", f"trials: 1{'0' * 400}"), "trials"),
            (TINY.replace("trials: 2", "trials: 1:30"), "trials '1:30': a whole number is expected"),
            (TINY.replace("trials: 2", "trials: !!int abc"), "not valid YAML"),
            (TINY.replace("trials: 2", "trials: !!bool foo"), "not valid YAML"),
            (TINY.replace("[corridor]", "corridor"), "Or list games"),
            (TINY.replace("[corridor]", "[3]"), "games.0 3: a name is expected"),
            (with_line("# \x07"), "not valid YAML: special characters are not allowed"),
            (with_line("? !!set {a}\n: 1"), "not valid YAML"),
            (TINY.replace("max_frames: 200", "frame_skip: 1000000000"), "conditions.frame_skip"),
            (with_line("training_interactions: 100"), "none of its agents learns"),
            (TINY.replace("budget: 5", "budget: .nan"), "conditions.budget nan"),
            (
                TINY.replace("budget: 5", "budgets: 5"),
                "there is no setting conditions.budgets; did you mean budget?",
            ),
        ],
    )
    def test_what_is_wrong_is_said_in_one_sentence(self, text: str, complaint: str) -> None:
        with pytest.raises(InputError) as caught:
            parse_suite(text, where="suite.yaml")
        assert complaint in str(caught.value)
        assert str(caught.value).startswith("suite.yaml")
        assert "\n" not in str(caught.value)

    def test_an_unknown_suite_lists_those_there_are(self, tmp_path: Path) -> None:
        with pytest.raises(
            UnknownNameError, match=r"Did you mean 'smoke'\? Known: paper, paper-planners, smoke, smrf"
        ):
            read_suite("smok")
        with pytest.raises(InputError, match="There is no suite"):
            read_suite(str(tmp_path / "none.yaml"))


class TestPresetsOfTwoKinds:
    """`junyent-2021` is a preset of playing and one of training."""

    def read(self, directory: Path, agents: str) -> Suite:
        (directory / "suite.yaml").write_text(f"name: x\ngames: [pong]\npreset: junyent-2021\nagents: [{agents}]\n")
        return read_suite(str(directory / "suite.yaml"))

    @pytest.mark.parametrize("agent", ["pi-iw", "pi-iw-plus", "pi-hiw", "{agent: pi-iw, learning: {batch: 16}}"])
    def test_a_suite_that_leaves_open_by_which_an_agent_learns_is_refused(self, agent: str, tmp_path: Path) -> None:
        with pytest.raises(InputError) as caught:
            self.read(tmp_path, f"riw-d, {agent}")
        complaint = str(caught.value)
        assert complaint.startswith(str(tmp_path / "suite.yaml"))
        assert "not how it learns; give it `training: junyent-2021`, or `training: paper`" in complaint
        assert "\n" not in complaint

    def test_one_that_says_so_is_planned(self, tmp_path: Path) -> None:
        lanes = []
        for training in ("junyent-2021", "paper"):
            (trial,) = plan_suite(self.read(tmp_path, f"{{agent: pi-iw, training: {training}}}"))
            assert isinstance(trial.protocol.learning, PiSettings)
            lanes.append(trial.protocol.learning.loop.lanes)
        assert lanes == [1, 8]

    def test_agents_that_the_preset_of_training_is_not_for_need_not_say_so(self, tmp_path: Path) -> None:
        suite = self.read(tmp_path, "riw-d, n-cpl, alphazero")
        assert [trial.label for trial in plan_suite(suite)] == ["riw-d", "n-cpl", "alphazero"]

    def test_a_benchmark_that_was_run_is_read_as_it_is(self, tmp_path: Path) -> None:
        suite = parse_suite("name: x\ngames: [pong]\npreset: junyent-2021\nagents: [pi-iw]\n")
        BenchmarkDirectory.create(tmp_path, suite, plan_suite(suite))
        opened = BenchmarkDirectory.open(tmp_path)
        assert plan_suite(opened.suite) == opened.trials


class TestParts:
    def test_games_agents_trials_and_episodes_can_be_chosen(self) -> None:
        suite = read_suite("paper").part(games=["pong", "breakout"], agents=["riw-d"], trials=2, episodes=3)
        trials = plan_suite(suite)
        assert [(trial.game, trial.label, trial.trial, trial.seed, trial.episodes) for trial in trials] == [
            ("pong", "riw-d", 0, 0, 3),
            ("breakout", "riw-d", 0, 0, 3),
            ("pong", "riw-d", 1, 1, 3),
            ("breakout", "riw-d", 1, 1, 3),
        ]

    def test_the_budget_can_be_chosen_beside_the_other_conditions(self) -> None:
        suite = read_suite("smrf").part(games=["pong"], conditions={"budget": 25.0})
        assert suite.conditions == Conditions(budget=25.0, max_frames=750)
        assert {trial.protocol.budget for trial in plan_suite(suite)} == {25.0}
        with pytest.raises(InputError, match=r"conditions\.budget 0\.0"):
            read_suite("smrf").part(conditions={"budget": 0.0})

    def test_games_may_be_a_named_suite(self) -> None:
        assert read_suite("paper-planners").part(games=["smrf"]).game_names == list(SMRF_GAMES)

    def test_what_is_not_in_the_suite_is_refused(self) -> None:
        with pytest.raises(UnknownNameError, match="Did you mean 'riw-c'"):
            read_suite("paper-planners").part(agents=["riw-cc"])
        seeded = parse_suite(with_line("seeds: [5, 6]"))
        assert seeded.part(trials=1).trial_seeds == [5]
        with pytest.raises(InputError, match="too few for 3 trials"):
            seeded.part(trials=3)


class TestPlans:
    def test_an_agent_may_be_trained_by_a_preset(self) -> None:
        """As `train --preset` has it: both what is learnt with and how it plans; the suite's budget goes before."""
        suite = parse_suite(
            "name: x\ngames: [breakout]\ntraining_interactions: 300000\nagents:\n"
            "  - {agent: pi-iw, name: released, training: junyent-2019}\n  - pi-iw\n"
        )
        released, ours = (trial.protocol for trial in plan_suite(suite))
        assert (released.cached_nodes, released.tie_breaking) == ("tested-when-met", "random")
        assert isinstance(released.learning, PiSettings)
        assert (released.learning.loop.lanes, released.learning.warm_up) == (1, 100)
        assert released.learning.schedule.interactions == 300_000
        assert (ours.cached_nodes, ours.tie_breaking) == ("tested-first", "softmax")
        with pytest.raises(
            InputError, match=r"released: The preset junyent-2019 of training is for pi-iw, not for"
        ):
            plan_suite(parse_suite(suite.to_yaml().replace("agent: pi-iw\n", "agent: n-cpl\n", 1)))

    def test_an_agents_own_ways_go_before_those_of_another_agents_preset(self) -> None:
        suite = parse_suite("name: x\ngames: [breakout]\npreset: junyent-2021\nagents: [pi-iw, riw-d, riw-c]\n")
        ties = [trial.protocol.tie_breaking for trial in plan_suite(suite)]
        assert ties == ["softmax", "larger-subtree", "larger-subtree"]

    def test_the_paper_is_54_games_x_5_agents_x_5_trials(self) -> None:
        trials = plan_suite(read_suite("paper"))
        assert len(trials) == 54 * 5 * 5
        assert len({trial.name for trial in trials}) == len(trials)
        learners = [trial for trial in trials if trial.protocol.learning is not None]
        assert {trial.label for trial in learners} == {"n-cpl", "n-cpl-d", "cpl"}
        for trial in learners:
            assert trial.protocol.learning is not None
            assert trial.protocol.learning.schedule.interactions == 20_000_000
            assert trial.protocol.learning.evaluation_episodes == 10

    def test_the_planners_play_fifty_episodes_in_55_games(self) -> None:
        trials = plan_suite(read_suite("paper-planners"))
        assert len(trials) == 55 * 2 * 5
        assert {trial.episodes for trial in trials} == {10}

    def test_smrf_is_twenty_episodes_of_fifty_decisions(self) -> None:
        trials = plan_suite(read_suite("smrf"))
        assert len(trials) == 55 * 2
        assert {(trial.episodes, trial.protocol.max_steps) for trial in trials} == {(20, 50)}
        by_name = {trial.name: trial for trial in trials}
        assert by_name["trials/pong/rtdp/trial-0"].protocol.budget == 6 * 11
        assert by_name["trials/alien/rtdp/trial-0"].protocol.budget == 18 * 11

    @pytest.mark.parametrize("preset", sorted(PRESETS))
    def test_protocols_are_the_same_without_an_emulator(self, preset: str, monkeypatch: pytest.MonkeyPatch) -> None:
        agents = [None, *(agent for agent in AGENTS if preset != "machado-2018" or agent != "pi-hiw")]

        def make() -> list[Protocol]:
            return [
                make_protocol("alien", preset=preset, agent=agent, action_set=actions)
                for agent in agents
                for actions in (None, "full")
            ]

        without = make()
        monkeypatch.setattr(AtariKind, "known_actions", lambda *arguments: None)
        assert make() == without

    @pytest.mark.parametrize("agent", EVERYWHERE)
    def test_in_every_game(self, agent: str, monkeypatch: pytest.MonkeyPatch) -> None:
        games = ["pong", "Alien", "corridor", "Montezuma's Revenge", "SKIING"]
        without = [make_protocol(game, agent=agent) for game in games]
        monkeypatch.setattr(AtariKind, "known_actions", lambda *arguments: None)
        assert [make_protocol(game, agent=agent) for game in games] == without

    @pytest.mark.parametrize(
        ("preset", "choices"),
        [
            ("lipovetzky-2015", {}),
            ("otoole-2021", {"action_set": "full", "agent": "rtdp"}),
            ("otoole-2021", {"agent": "rtdp", "budget": 7}),
            ("otoole-2021", {"mode": 0}),
        ],
    )
    def test_whatever_is_chosen(
        self, preset: str, choices: dict[str, Any], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        games = ["pong", "breakout"]
        without = [make_protocol(game, preset=preset, **choices) for game in games]
        monkeypatch.setattr(AtariKind, "known_actions", lambda *arguments: None)
        assert [make_protocol(game, preset=preset, **choices) for game in games] == without

    @pytest.mark.parametrize(
        ("text", "complaint"),
        [
            (TINY.replace("corridor", "brekout"), "Unknown game 'brekout'. Did you mean 'breakout'?"),
            (TINY.replace("[corridor]", "[pong, Pong]"), "the game pong is there twice"),
            (TINY.replace("riw-d", "{agent: random, horizon: 3}"), "random: random has no setting 'horizon'"),
            (TINY.replace("riw-d", "{agent: riw-d, features: pixel}"), "riw-d: Unknown feature set 'pixel'"),
            (TINY.replace("budget: 5", "frame_skip: 5"), "corridor has no frame skip to choose"),
            (SMALL.replace("wave: 4", "waves: 4"), "learning.schedule.waves"),
            (SMALL.replace("interval: 1000", "interval: 9999"), "is larger than the training budget of 3,000"),
            (SMALL.replace("wave: 4", "interactions: abc"), "learning.schedule.interactions"),
            (SMALL.replace("wave: 4", "wave: 2020-01-01"), "learning.schedule.wave"),
            (SMALL.replace("schedule: {interval: 1000, wave: 4}", "evaluation_episodes: 3"), "is the suite's"),
            (TINY.replace("riw-d", "{agent: riw-d, learning: {}}"), "riw-d learns nothing"),
        ],
    )
    def test_what_cannot_be_played_is_refused(self, text: str, complaint: str) -> None:
        with pytest.raises(InputError) as caught:
            plan_suite(parse_suite(text))
        assert complaint in str(caught.value)
        assert "\n" not in str(caught.value)


class TestEstimates:
    def test_episodes_are_as_long_as_the_authors(self) -> None:
        short, long = (make_protocol(game, agent="riw-c") for game in ("montezuma_revenge", "time_pilot"))
        assert 60 < expected_steps(short) < 100
        assert expected_steps(long) == pytest.approx(1200, rel=0.06)
        assert expected_steps(make_protocol("corridor", agent="riw-c", max_frames=77)) == 77
        assert expected_steps(make_protocol("time_pilot", agent="riw-c", max_frames=150)) == 10

    def test_the_work_of_a_learner_is_its_training_and_its_evaluation(self) -> None:
        trials = {trial.label: trial for trial in plan_suite(parse_suite(SMALL))}
        assert expected_work(trials["riw-c"]) == 4 * 200 * 5
        assert expected_work(trials["n-cpl"]) == 3000 + 4 * 200 * 5

    def test_time_is_measured_and_positive(self) -> None:
        trials = plan_suite(parse_suite(SMALL))
        estimates = estimate(trials)
        assert len(estimates) == len(trials)
        assert all(each.seconds > 0 and each.size > 0 for each in estimates)

    def test_where_an_agent_needs_networks_time_is_measured_without_it(self) -> None:
        lines = ("name: x", "games: [corridor]", "agents: [pi-iw]", "trials: 1", "evaluation_episodes: 1")
        text = "\n".join([*lines, "training_interactions: 900"])
        assert all(each.seconds > 0 for each in estimate(plan_suite(parse_suite(text))))

    def test_learners_that_cost_more_are_expected_to_take_longer(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("noveltree.benchmark.estimate._seconds_per_interaction", lambda protocol: 0.001)
        lines = ("name: x", "games: [corridor]", "agents: [n-cpl, pi-iw]", "trials: 1", "evaluation_episodes: 1")
        text = "\n".join([*lines, "training_interactions: 900"])
        of_n_cpl, of_pi_iw = estimate(plan_suite(parse_suite(text)))
        assert of_pi_iw.seconds / of_n_cpl.seconds == pytest.approx(1.6 / 1.46)

    def test_a_budget_of_seconds_is_its_own_estimate(self) -> None:
        text = TINY.replace("budget: 5", "budget: 0.5, budget_unit: seconds")
        assert estimate(plan_suite(parse_suite(text)))[0].seconds == 3 * 200 * 0.5

    @pytest.mark.parametrize(("workers", "expected"), [(1, 10.0), (2, 5.0), (3, 4.0), (9, 4.0)])
    def test_trials_are_taken_one_after_another(self, workers: int, expected: float) -> None:
        assert makespan([1, 2, 4, 3], workers) == expected


def test_the_games_of_the_suites_are_those_of_the_paper() -> None:
    assert len(PAPER_GAMES) == 55
    assert len(SMRF_GAMES) == 13
    assert set(SMRF_GAMES) < set(PAPER_GAMES)
