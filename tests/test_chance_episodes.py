"""Episodes where chance decides: nothing is foreseen, everything can be replayed and resumed."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest

from noveltree import make_protocol, verify_episode
from noveltree.agents import get_agent
from noveltree.episodes import End, EpisodeChance, Play, drive, episode_rng
from noveltree.errors import InputError
from noveltree.lookahead import Interactions
from noveltree.protocol import Protocol, compare_protocols, parse_protocol, play_episode
from noveltree.records import EpisodeRecord, read_episode, write_episode
from noveltree.records.play_file import decode_play, encode_play
from noveltree.replay import replay, replay_actions
from noveltree.simulators import GymnasiumSimulator, Simulator
from tests.support.chance_worlds import coin
from tests.test_chance_in_environments import Coin

TOSSES = 200


@pytest.fixture
def tossing() -> Iterator[str]:
    """The id of a fair coin that is tossed 200 times, registered while the test runs."""
    gymnasium.register("NoveltreeCoin-v0", entry_point=lambda **_: Coin(), max_episode_steps=TOSSES)
    yield "NoveltreeCoin-v0"
    del gymnasium.registry["NoveltreeCoin-v0"]


def played(protocol: Protocol, *, seed: int = 0, index: int = 0) -> EpisodeRecord:
    return EpisodeRecord(play_episode(protocol, seed=seed, index=index), protocol, seed, index)


def luck(right: int, guesses: int) -> float:
    """The probability that a fair coin is guessed right as seldom, or as often, as that; exactly."""
    shares = [math.comb(guesses, number) / 2**guesses for number in range(guesses + 1)]
    return min(1.0, 2 * min(sum(shares[: right + 1]), sum(shares[right:])))


class TestAFairCoin:
    @pytest.mark.parametrize("agent", ["riw-c", "riw-d", "unpruned", "uct", "iw1", "bfs", "p-iw", "2bfs", "rtdp"])
    def test_it_is_guessed_right_half_of_the_time(self, tossing: str, agent: str) -> None:
        protocol = make_protocol(
            tossing, agent=agent, budget=12, **({} if agent in ("uct", "rtdp") else {"horizon": 1})
        )
        assert protocol.chance == "sampled"
        episode = played(protocol).episode
        guesses = TOSSES - episode.actions.count(2)
        assert guesses > TOSSES / 4  # the rest of the time it was let be
        assert luck(int(episode.score), guesses) > 1e-4

    def test_whoever_asks_for_it_guesses_it_right_every_time(self, tossing: str) -> None:
        protocol = make_protocol(tossing, agent="bfs", budget=3, horizon=1, chance="foreseen")
        assert protocol.chance == "foreseen"
        assert played(protocol).episode.score == TOSSES

    def test_episodes_have_luck_of_their_own(self, tossing: str) -> None:
        protocol = make_protocol(tossing, agent="random")
        simulator = protocol.make_simulator()
        fallen = set()
        for seed, index, interval in ((0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)):
            state, chance = simulator.start(), EpisodeChance(seed, index, interval)
            observed = []
            for time in range(30):
                state = chance.step(simulator, state, 0, time).state
                observed.append(state.observation.item())
            fallen.add(tuple(observed))
        assert len(fallen) == 4


class TestDice:
    def test_they_follow_from_the_place_of_the_episode_and_the_time_step_alone(self) -> None:
        assert EpisodeChance(3, 4, 5).dice(6) == EpisodeChance(3, 4, 5).dice(6)
        thrown = [EpisodeChance(s, i, n).dice(t) for s in (0, 1) for i in (0, 1) for n in (0, 1) for t in (0, 1)]
        assert len(set(thrown)) == 16
        assert all(0 <= dice < 2**63 for dice in thrown)

    def test_they_are_not_those_that_planning_draws(self) -> None:
        drawn = {int(episode_rng(0, 0).integers(2**63)) for _ in range(1)}
        assert not drawn & {EpisodeChance(0, 0).dice(time) for time in range(100)}

    def test_a_play_with_chance_wants_them(self) -> None:
        with pytest.raises(InputError, match=r"chance=EpisodeChance\(seed, index\)"):
            Play(coin(), get_agent("bfs"), budget=Interactions(3), rng=np.random.default_rng(0))


class TestRecords:
    """FrozenLake, slippery; short budgets, for what matters is that episodes are the same again."""

    def test_the_same_seed_gives_the_same_episode(self) -> None:
        protocol = make_protocol("FrozenLake-v1", agent="riw-c", budget=20)
        first, again, other = (play_episode(protocol, seed=5, index=index) for index in (2, 2, 3))
        assert (first.actions, first.rewards, first.final_observation) == (
            again.actions,
            again.rewards,
            again.final_observation,
        )
        assert first.column("interactions") == again.column("interactions")
        assert (first.actions, first.final_observation) != (other.actions, other.final_observation)

    @pytest.mark.parametrize("agent", ["riw-c", "uct"])
    def test_a_recorded_episode_is_verified_with_the_dice_that_were_thrown(
        self, tmp_path: Path, agent: str
    ) -> None:
        protocol = make_protocol("FrozenLake-v1", agent=agent, budget=20)
        for index in range(3):
            write_episode(tmp_path / "episode.json", played(protocol, seed=7, index=index))
            record = read_episode(tmp_path / "episode.json")
            assert record.protocol.chance == "sampled"
            verification = verify_episode(record)
            assert verification.holds, verification.finding

    def test_an_episode_of_another_place_does_not_verify(self) -> None:
        protocol = make_protocol("FrozenLake-v1", agent="riw-c", budget=20)
        record = played(protocol, seed=7, index=0)
        others = [replace(record, index=index) for index in range(1, 6)]
        assert not all(verify_episode(other).holds for other in others)

    def test_a_recorded_episode_is_learnt_from_as_it_was_played(self) -> None:
        protocol = make_protocol("FrozenLake-v1", agent="riw-c", budget=20)
        episode = play_episode(protocol, seed=7, index=1)
        simulator = protocol.make_simulator()
        collected = replay(simulator, EpisodeChance(7, 1), episode)
        assert collected.path.rewards.tolist() == episode.rewards
        assert len(list(replay_actions(simulator, episode, EpisodeChance(7, 1)))) == episode.steps + 1

    def test_a_record_without_the_setting_was_played_by_a_clairvoyant_and_still_verifies(self) -> None:
        foreseen = make_protocol("FrozenLake-v1", agent="riw-c", budget=100, chance="foreseen")
        old = parse_protocol({k: v for k, v in foreseen.model_dump(mode="json").items() if k != "chance"})
        assert old.chance is None
        record = played(old)
        assert record.episode.score == 1.0
        assert verify_episode(record).holds
        assert play_episode(foreseen).actions == record.episode.actions

    def test_chance_that_was_found_is_sampled_unless_it_is_chosen_and_cannot_be_denied(self) -> None:
        assert make_protocol("FrozenLake-v1", agent="bfs").chance == "sampled"
        assert make_protocol("CartPole-v1", agent="bfs").chance == "none"
        assert make_protocol("CartPole-v1", agent="bfs", chance="sampled").chance == "sampled"
        assert make_protocol("corridor", agent="bfs").chance is None
        assert make_protocol("breakout").chance is None
        with pytest.raises(InputError, match="cannot be none"):
            make_protocol("FrozenLake-v1", agent="bfs", chance="none")
        with pytest.raises(InputError, match="no chance to choose"):
            make_protocol("corridor", chance="foreseen")

    def test_a_clairvoyants_scores_are_not_comparable_with_others(self) -> None:
        def protocol(chance: str | None) -> Protocol:
            base = make_protocol("FrozenLake-v1", agent="bfs").model_dump()
            return Protocol.model_validate({**base, "chance": chance})

        def comparable(first: str | None, second: str | None) -> bool:
            return all(each.comparable for each in compare_protocols(protocol(first), protocol(second)))

        assert not comparable("sampled", "foreseen")
        assert not comparable("sampled", None)
        assert comparable("foreseen", None)
        assert comparable("none", None)

    def test_agents_that_cannot_plan_with_chance_are_refused_before_anything_is_played(self) -> None:
        with pytest.raises(InputError, match="riw-d with these settings"):
            make_protocol("FrozenLake-v1", agent="riw-d", repetitions=True)
        assert make_protocol("FrozenLake-v1", agent="riw-d", repetitions=True, chance="foreseen")


class Storable(GymnasiumSimulator):
    """A simulator whose states can be stored for as long as it lives."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._kept: list[Any] = []

    def encode_state(self, state: Any) -> bytes:
        self._kept.append(state)
        return (len(self._kept) - 1).to_bytes(8, "little")

    def decode_state(self, data: bytes, observation: Any) -> Any:
        return self._kept[int.from_bytes(data, "little")]


@pytest.mark.parametrize("agent", ["riw-c", "uct", "2bfs"])
def test_an_episode_that_was_stored_goes_on_as_if_it_had_not_been(agent: str) -> None:
    protocol = make_protocol("FrozenLake-v1", agent=agent, budget=40)
    simulator: Simulator = Storable("FrozenLake-v1")
    straight = protocol.make_play(simulator, seed=3, index=1, interval=2)
    drive([straight])
    expected = straight.episode()
    assert expected.end is not End.STOPPED
    play = protocol.make_play(simulator, seed=3, index=1, interval=2)
    while not play.finished:
        drive([play], decisions=1)
        play = decode_play(encode_play(play, protocol), protocol, simulator)
    resumed = play.episode()
    assert [replace(one, seconds=0.0) for one in resumed.decisions] == [
        replace(one, seconds=0.0) for one in expected.decisions
    ]
    assert resumed.final_observation == expected.final_observation


def test_an_action_that_is_executed_costs_no_interaction_where_chance_decides() -> None:
    protocol = make_protocol("FrozenLake-v1", agent="random")
    episode = play_episode(protocol, seed=1)
    assert episode.steps > 0
    assert episode.interactions == 0
