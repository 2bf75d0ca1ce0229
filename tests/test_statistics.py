"""Statistics of analysis: by hand, and against independent implementations."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from noveltree.analysis.aggregate import (
    bootstrap,
    interquartile_mean,
    mean_of_games,
    normalise,
    optimality_gap,
    performance_profile,
    probability_of_improvement,
)
from noveltree.analysis.statistics import best, welch_p_value
from noveltree.results import Sample

NAN = math.nan


class TestSamples:
    def test_an_interval_by_hand(self) -> None:
        # Mean 2, variance with n: ((1)^2 + 0 + 1^2) / 3 = 2/3; 1.6449 * sqrt(2/3) / sqrt(3).
        sample = Sample.of([1.0, 2.0, 3.0])
        assert (sample.mean, sample.sd, sample.count) == (2.0, 1.0, 3)
        assert sample.interval == pytest.approx(1.6448536 * math.sqrt(2) / 3)
        assert sample.standard_error == pytest.approx(1 / math.sqrt(3))

    def test_a_published_interval_gives_back_its_sample(self) -> None:
        scores = np.random.default_rng(0).normal(100, 30, 50)
        sample = Sample.of(scores)
        again = Sample.published(sample.mean, sample.interval, 50)
        assert again.sd == pytest.approx(sample.sd)

    def test_one_score_has_no_interval(self) -> None:
        sample = Sample.of([3.0])
        assert math.isnan(sample.sd)
        assert math.isnan(sample.interval)

    def test_scores_that_are_all_the_same_have_exactly_that_mean_and_no_variance(self) -> None:
        """Three times 0.1 is not 0.3, and its third is not 0.1."""
        three, seven = Sample.of([0.1] * 3), Sample.of([0.1] * 7)
        assert (three.mean, three.sd, three.interval) == (seven.mean, seven.sd, seven.interval) == (0.1, 0.0, 0.0)
        assert welch_p_value(three, seven) == 1.0

    def test_an_interval_of_a_single_score_is_refused(self) -> None:
        with pytest.raises(ValueError, match="two scores or more"):
            Sample.published(1.0, 2.0, 1)

    @pytest.mark.parametrize("scores", [[], [1.0, NAN], [[1.0], [2.0]], [math.inf]])
    def test_what_is_no_sample_is_refused(self, scores: list[float]) -> None:
        with pytest.raises(ValueError, match="one or more finite scores"):
            Sample.of(scores)


class TestWelch:
    @pytest.mark.parametrize("seed", range(5))
    def test_agrees_with_scipy(self, seed: int) -> None:
        rng = np.random.default_rng(seed)
        first, second = rng.normal(0, 1, 5 + seed), rng.normal(0.5, 3, 12)
        expected = stats.ttest_ind(first, second, equal_var=False).pvalue
        assert welch_p_value(Sample.of(first), Sample.of(second)) == pytest.approx(expected)

    def test_without_variance_means_are_equal_or_certainly_not(self) -> None:
        zeros, ones = Sample.of([0.0, 0.0]), Sample.of([1.0, 1.0])
        assert welch_p_value(zeros, zeros) == 1.0
        assert welch_p_value(zeros, ones) == 0.0
        assert welch_p_value(zeros, Sample.of([1.0])) is None

    def test_the_best_are_those_that_are_not_worse_than_the_highest_mean(self) -> None:
        high = Sample(100.0, 10.0, 50)
        close, far, alone = Sample(99.0, 10.0, 50), Sample(90.0, 10.0, 50), Sample(99.9, NAN, 1)
        assert best([high, close, far, alone]) == [True, True, False, False]
        assert best([alone]) == [True]
        assert best([]) == []


class TestAggregates:
    def test_interquartile_means_are_scipys_trimmed_means(self) -> None:
        rng = np.random.default_rng(0)
        for shape in ((5, 54), (3, 7), (1, 4), (2, 3)):
            scores = rng.normal(size=shape)
            assert interquartile_mean(scores) == pytest.approx(stats.trim_mean(scores, 0.25, axis=None))

    def test_missing_trials_are_left_out(self) -> None:
        scores = np.array([[1.0, 2.0], [3.0, NAN], [5.0, 100.0]])
        assert interquartile_mean(scores) == pytest.approx(stats.trim_mean([1, 2, 3, 5, 100], 0.25))
        assert mean_of_games(scores) == (3.0 + 51.0) / 2

    def test_the_optimality_gap_by_hand(self) -> None:
        scores = np.array([[0.5, 2.0], [1.0, -0.5]])
        assert optimality_gap(scores) == (0.5 + 0.0 + 0.0 + 1.5) / 4

    def test_a_profile_by_hand(self) -> None:
        scores = np.array([[0.0, 1.0], [2.0, NAN]])
        profile = performance_profile(scores, np.array([-1.0, 0.0, 1.5, 2.0]))
        assert profile.tolist() == [1.0, 0.75, 0.25, 0.0]
        assert performance_profile([[1.0, NAN]], [0.5]).tolist() == [1.0]
        with pytest.raises(ValueError, match="there must be some"):
            performance_profile([[NAN]], [0.5])

    def test_the_probability_of_improvement_is_mann_and_whitneys(self) -> None:
        rng = np.random.default_rng(0)
        first, second = rng.integers(0, 5, (4, 6)).astype(float), rng.integers(0, 5, (3, 6)).astype(float)
        expected = np.mean(
            [stats.mannwhitneyu(first[:, game], second[:, game]).statistic / 12 for game in range(6)]
        )
        assert probability_of_improvement(first, second) == pytest.approx(expected)
        assert probability_of_improvement(first, first) == 0.5
        assert probability_of_improvement(np.array([[1.0, NAN]]), np.array([[0.0, 5.0]])) == 1.0
        with pytest.raises(ValueError, match="no game"):
            probability_of_improvement(np.array([[NAN]]), np.array([[1.0]]))

    def test_normalised_scores_by_hand(self) -> None:
        scores = normalise(np.array([[10.0, 0.0]]), np.array([0.0, -5.0]), np.array([20.0, 5.0]))
        assert scores.tolist() == [[0.5, 0.5]]
        with pytest.raises(ValueError, match="both references are the same"):
            normalise(np.array([[1.0]]), np.array([1.0]), np.array([1.0]))


class TestBootstrap:
    def test_the_interval_of_a_mean_is_that_of_theory(self) -> None:
        scores = np.random.default_rng(1).normal(size=(40, 10))
        estimate = bootstrap(scores, mean_of_games, rng=np.random.default_rng(0), resamples=4_000)
        error = math.sqrt(float((scores.var(axis=0) / 40).sum())) / 10
        assert estimate.value == pytest.approx(scores.mean())
        assert estimate.high - estimate.low == pytest.approx(2 * 1.96 * error, rel=0.05)

    def test_games_keep_their_weight_and_missing_trials_are_never_drawn(self) -> None:
        scores = np.array([[1.0, 10.0], [1.0, NAN], [1.0, NAN]])
        estimate = bootstrap(scores, mean_of_games, rng=np.random.default_rng(0), resamples=50)
        assert (estimate.value, estimate.low, estimate.high) == (5.5, 5.5, 5.5)

    def test_the_same_seed_gives_the_same_interval_whatever_fits_into_memory(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        scores = np.random.default_rng(1).normal(size=(5, 20))
        first = bootstrap(scores, interquartile_mean, rng=np.random.default_rng(3), resamples=100)
        monkeypatch.setattr("noveltree.analysis.aggregate._AT_ONCE", 700)
        assert bootstrap(scores, interquartile_mean, rng=np.random.default_rng(3), resamples=100) == first

    def test_what_cannot_be_resampled_is_refused(self) -> None:
        rng = np.random.default_rng(0)
        with pytest.raises(ValueError, match="Every game must have a score"):
            bootstrap(np.array([[NAN, 1.0]]), mean_of_games, rng=rng)
        with pytest.raises(ValueError, match="shape"):
            bootstrap(np.array([1.0]), mean_of_games, rng=rng)
        with pytest.raises(ValueError, match="at least one resample"):
            bootstrap([[1.0]], mean_of_games, rng=rng, resamples=0)


def test_lists_do_as_well_as_arrays() -> None:
    from noveltree import analysis

    assert analysis.compare_pairwise([[1, 2], [0, 3]]).wins.tolist() == [[0, 1], [1, 0]]
    assert analysis.mean_ranks([[1, 2], [0, 3]]).tolist() == [1.5, 1.5]
    assert analysis.times_best([[1, 2], [0, 3]]).tolist() == [1, 1]
    assert analysis.share_above([1, 5], [2, 4]) == (1, 2)
    assert analysis.normalise([[5]], [0], [10]).tolist() == [[0.5]]
    assert float(analysis.interquartile_mean([[1, 2, 3, 4]])) == 2.5
    assert float(analysis.optimality_gap([[0.5, 2.0]])) == 0.25
    assert analysis.performance_profile([[0.5, 2.0]], [1.0]).tolist() == [0.5]
    assert analysis.probability_of_improvement([[1, 2]], [[0, 2]]) == 0.75
    rng = np.random.default_rng(0)
    assert analysis.bootstrap([[1, 2], [1, 2]], interquartile_mean, rng=rng) == analysis.Estimate(1.5, 1.5, 1.5)
    assert analysis.times_best(np.empty((0, 3))).tolist() == []
    assert analysis.summarise([], [], rng=rng) == []
    with pytest.raises(ValueError, match="the same games"):
        analysis.probability_of_improvement([[1, 2]], [[0]])
