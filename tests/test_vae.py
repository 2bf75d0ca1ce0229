"""The autoencoder of VAE-IW: its layers, its losses by hand, its encoder as agents play with it, its features."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest
import torch

from noveltree.agents import Settings, get_agent
from noveltree.episodes import Play, drive, episode_rng
from noveltree.errors import InputError, LearningError
from noveltree.features import BprostFeatures, LatentFeatures
from noveltree.heuristics import UNINFORMED, Heuristics
from noveltree.learning.architecture import Architecture, Weights
from noveltree.learning.deployment import Deployment
from noveltree.learning.experience import CriticalPath
from noveltree.learning.inference import make_inference, remembering
from noveltree.learning.inputs import InputShape
from noveltree.learning.networks import Network
from noveltree.learning.snapshot import read_snapshot
from noveltree.learning.vae import (
    Vae,
    concrete,
    divergence,
    encoder_architecture,
    encoder_weights,
    initial_weights,
    reconstruction_loss,
)
from noveltree.learning.vae_learner import VaeLearner
from noveltree.learning.vae_settings import PaperEncoder, PretrainingSettings, SmallEncoder, VaeSettings
from noveltree.lookahead import Interactions, LeafValues, NoveltyPruning, Rollouts, TestedWhenMet
from noveltree.novelty import DepthTable
from noveltree.simulators import Atari, AtariState, Corridor, State
from noveltree.tree import Node

SMALL = SmallEncoder().planes


def screens_of(count: int, *, seed: int = 0) -> np.ndarray:
    """Dark screens with a bright bar that is somewhere else on each."""
    rng = np.random.default_rng(seed)
    screens = np.full((count, 128, 128), 20, dtype=np.uint8)
    for screen in screens:
        x, y = rng.integers(0, 100, size=2)
        screen[y : y + 20, x : x + 8] = 200
    return screens


def shaken(planes: tuple[int, int]) -> Weights:
    """Weights as after some training: nothing in them is zero or one."""
    rng = np.random.default_rng(1)
    weights = initial_weights(planes, rng=rng)
    for name, array in weights.items():
        if ".norms." in name:
            array[...] = rng.uniform(0.5, 1.5, array.shape) * (1 if name.endswith(("weight", "var")) else 0.2)
        if name.endswith("running_var"):
            array[0] = 1e-4  # hardly anything changes in this plane
    return weights


# The networks


@pytest.mark.parametrize(
    ("encoder", "parameters"), [(PaperEncoder(), (226_452, 226_433)), (SmallEncoder(), (37_604, 37_585))]
)
def test_the_networks_have_the_published_layers(
    encoder: PaperEncoder | SmallEncoder, parameters: tuple[int, int]
) -> None:
    vae = Vae(encoder.planes, {})
    counts = [sum(p.numel() for p in vae.layers[part].parameters()) for part in ("encoder", "decoder")]
    assert tuple(counts) == parameters
    shapes: dict[str, list[tuple[int, ...]]] = {"encoder": [], "decoder": []}
    for part, seen in shapes.items():
        for layer in vae.layers[part].children():
            layer.register_forward_hook(lambda layer, x, out, seen=seen: seen.append(tuple(out.shape[1:])))
    with torch.no_grad():
        pixels = vae.decode(torch.sigmoid(vae.encode(screens_of(2), None)), None)
    first, second = encoder.planes
    assert shapes["encoder"] == [*[(first, 63, 63)] * 2, *[(second, 30, 30)] * 2, (20, 15, 15)]
    assert shapes["decoder"] == [*[(second, 31, 31)] * 2, *[(first, 64, 64)] * 2, (1, 130, 130)]
    assert pixels.shape == (2, 1, 128, 128)


def test_what_the_decoder_is_cut_to_is_its_middle() -> None:
    vae = Vae(SMALL, {})
    latents = torch.rand(1, 20, 15, 15)
    *hidden, last = vae.layers["decoder"].children()
    whole: list[torch.Tensor] = []
    last.register_forward_hook(lambda layer, x, out: whole.append(out))
    with torch.no_grad():
        assert torch.equal(vae.decode(latents, None), whole[0][:, :, 1:129, 1:129])
    assert len(hidden) == 4


@pytest.mark.parametrize("planes", [SMALL, PaperEncoder().planes])
def test_the_encoder_that_is_deployed_says_what_the_one_in_training_says(planes: tuple[int, int]) -> None:
    """Batch normalisation has become part of the other layers, in ONNX Runtime and in torch."""
    weights, screens = shaken(planes), screens_of(3)
    with torch.no_grad():
        expected = Vae(planes, weights).encode(screens, None).flatten(1).numpy()
    architecture, deployed = encoder_architecture(planes), encoder_weights(weights)
    assert architecture.fits(deployed)
    found = make_inference(architecture, deployed)(screens[:, None], ("units",))["units"]
    assert found.shape == (3, 4_500)
    assert found.std() > 0.01
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4)
    with torch.no_grad():
        in_torch = Network(architecture, deployed)(torch.from_numpy(screens[:, None]))["units"]
    np.testing.assert_allclose(in_torch.numpy(), expected, rtol=1e-4, atol=1e-4)


def test_what_it_says_of_a_screen_does_not_depend_on_the_batch() -> None:
    weights, screens = encoder_weights(shaken(SMALL)), screens_of(9)[:, None]
    infer = make_inference(encoder_architecture(SMALL), weights)
    together = infer(screens, ("units",))["units"]
    for some in (slice(0, 1), slice(3, 4), slice(2, 9)):
        assert infer(screens[some], ("units",))["units"].tobytes() == together[some].tobytes()


def test_an_encoder_sees_a_nodes_own_screen_and_none_before_it() -> None:
    architecture, weights, screens = encoder_architecture(SMALL), encoder_weights(shaken(SMALL)), screens_of(3)
    parent = child = None
    for screen in screens:
        parent, child = child, Node(State(screen), child, 0, 0.0, False, 0, 0, 2, None, None)
    assert child is not None
    assert child.parent is parent is not None
    (encoder,) = Deployment({"encoder": architecture}, {"encoder": weights}).heuristics().parts
    found = encoder.evaluate([child, parent], ("units",))["units"]
    expected = make_inference(architecture, weights)(screens[[2, 1], None], ("units",))["units"]
    assert found.tobytes() == expected.tobytes()


def test_an_encoder_survives_json() -> None:
    for planes in (SMALL, PaperEncoder().planes):
        architecture = encoder_architecture(planes)
        assert Architecture.from_json(json.loads(json.dumps(architecture.to_json()))) == architecture


def test_a_screen_that_was_seen_before_is_not_evaluated_again() -> None:
    asked: list[int] = []

    def infer(batch: Any, heads: Any) -> dict[str, np.ndarray]:
        asked.extend(batch[:, 0].tolist())
        return {"units": batch.astype(np.float32) * 2}

    remember = remembering(infer, inputs=3)

    def ask(*numbers: int) -> list[int]:
        answers = remember(np.array([[number] for number in numbers], dtype=np.uint8), ("units",))["units"]
        assert answers[:, 0].tolist() == [2.0 * number for number in numbers]
        new, asked[:] = list(asked), []
        return new

    assert ask(1, 2, 1) == [1, 2]
    assert ask(2, 1, 3) == [3]
    assert ask(4) == [4]  # 2 is the one that was not asked for longest
    assert ask(1, 3, 4) == []
    assert ask(2) == [2]
    assert ask(5, 6, 7, 8) == [5, 6, 7, 8]


# What they are trained towards, by hand


def test_the_divergence_is_that_of_each_latent_from_a_fair_coin() -> None:
    """q = 1/2, 9/10 and 1/4: 0, 0.9 ln 1.8 + 0.1 ln 0.2 and 0.25 ln 0.5 + 0.75 ln 1.5."""
    logits = torch.tensor([0.0, math.log(9), -math.log(3)]).reshape(1, 3, 1, 1)
    expected = 0.0 + 0.9 * math.log(1.8) + 0.1 * math.log(0.2) + 0.25 * math.log(0.5) + 0.75 * math.log(1.5)
    assert divergence(logits).tolist() == pytest.approx([expected], rel=1e-6)
    assert divergence(torch.zeros(2, 20, 15, 15)).tolist() == pytest.approx([0.0, 0.0], abs=1e-3)


def test_the_reconstruction_loss_is_the_sum_of_the_pixels_cross_entropies() -> None:
    """Brightness 1/2 where it is 1, 3/4 where it is 3/4, 1/5 where it is 0."""
    logits = torch.tensor([0.0, math.log(3), -math.log(4)]).reshape(1, 1, 1, 3)
    pixels = torch.tensor([1.0, 0.75, 0.0]).reshape(1, 1, 1, 3)
    expected = math.log(2) - 0.75 * math.log(0.75) - 0.25 * math.log(0.25) - math.log(0.8)
    assert reconstruction_loss(logits, pixels).tolist() == pytest.approx([expected], rel=1e-6)


class Scripted:
    """A generator whose uniform numbers are known."""

    def __init__(self, *uniform: float) -> None:
        self._uniform = np.array(uniform, dtype=np.float32)

    def random(self, shape: tuple[int, ...], dtype: Any) -> np.ndarray:
        return self._uniform.reshape(shape).astype(dtype)


def test_a_concrete_sample_is_above_a_half_with_the_probability_of_its_variable() -> None:
    """The logit of 3/4 is ln 3: a uniform number above 1/4 makes it true."""
    logits = torch.full((1, 4, 1, 1), math.log(3))
    samples = concrete(logits, 0.5, rng=Scripted(0.2, 0.2499, 0.2501, 0.8))  # type: ignore[arg-type]
    assert (samples > 0.5).flatten().tolist() == [False, False, True, True]


def test_a_concrete_sample_by_hand() -> None:
    """Noise of ln(0.8 / 0.2) = ln 4: the sigmoid of (ln 1 + ln 4) / 0.5 is 16 / 17, of that / 1 it is 4 / 5."""
    logits = torch.zeros(1, 1, 1, 1)
    for temperature, expected in ((0.5, 16 / 17), (1.0, 4 / 5)):
        sample = concrete(logits, temperature, rng=Scripted(0.8))  # type: ignore[arg-type]
        assert sample.item() == pytest.approx(expected, rel=1e-6)
    assert np.isfinite(concrete(logits, 0.5, rng=Scripted(0.0)).item())  # type: ignore[arg-type]


def test_channels_are_dropped_in_training_only() -> None:
    vae = Vae(SMALL, shaken(SMALL))
    (_, block, *_) = vae.layers["encoder"].children()
    seen: list[torch.Tensor] = []
    block.register_forward_hook(lambda layer, x, out: seen.append(out))
    screens = screens_of(40)
    with torch.no_grad():
        vae.encode(screens, np.random.default_rng(0))
        vae.encode(screens, None)
    trained, deployed = (out.flatten(2).abs().amax(2) == 0 for out in seen)
    assert trained.float().mean().item() == pytest.approx(0.2, abs=0.04)
    assert not deployed.any()


# The learner


def path_of(screens: np.ndarray) -> CriticalPath:
    return CriticalPath(screens[:1], np.empty(0, np.int64), np.empty(0), terminal=False, sampled=screens)


def make_learner(*, epochs: int = 2, screens: int = 20, **choices: Any) -> VaeLearner:
    settings = VaeSettings(
        encoder=SmallEncoder(epochs=epochs), loop=PretrainingSettings(screens=screens), batch=8, **choices
    )
    shape = InputShape.of(screens_of(1)[0])
    return settings.make_learner(settings.initial_snapshot(shape, 4, rng=np.random.default_rng(0)))


def filled(learner: VaeLearner, count: int = 20) -> VaeLearner:
    rng, screens = np.random.default_rng(0), screens_of(count)
    for first in range(0, count, 6):
        learner.take_in(path_of(screens[first : first + 6]), rng=rng)
    return learner


def test_it_learns_to_see_where_the_bar_is() -> None:
    learner = filled(make_learner(epochs=8, learning_rate=5e-3))
    assert not learner.snapshot().deployed
    losses = learner.close_interval(rng=np.random.default_rng(0))
    assert len(losses["reconstruction"]) == len(losses["held_out_reconstruction"]) == 8
    assert losses["reconstruction"][-1] < 0.7 * losses["reconstruction"][0]
    snapshot = learner.snapshot()
    assert snapshot.deployed
    deployment = snapshot.deployment
    assert deployment is not None
    infer = make_inference(deployment.architectures["encoder"], deployment.weights["encoder"])
    units = infer(screens_of(20)[:, None], ("units",))["units"]
    assert len({row.tobytes() for row in units > 0}) > 10, "different screens have different latents"


def test_screens_beyond_those_that_were_asked_for_are_not_trained_on() -> None:
    exact, more = filled(make_learner()), filled(make_learner(), count=24)
    assert (exact.screens, more.screens) == (20, 24)
    for learner in (exact, more):
        assert learner.progress == (0, 6)  # 19 screens in batches of 8, one is held out
        learner.close_interval(rng=np.random.default_rng(3))
        assert learner.progress == (6, 6)
    assert exact.snapshot().digest == more.snapshot().digest


def test_it_goes_on_from_any_snapshot_to_the_bit() -> None:
    whole = filled(make_learner())
    whole.close_interval(rng=np.random.default_rng(5))
    snapshot, stops = filled(make_learner()).snapshot(), 0
    while not snapshot.deployed:
        read = read_snapshot(snapshot.arrays(), json.loads(json.dumps(snapshot.state())))
        learner = whole.settings.make_learner(read)
        next(learner.training(rng=np.random.default_rng(5)))
        snapshot, stops = learner.snapshot(), stops + 1
    assert stops == 2 * (3 + 1), "after every batch, and after every epoch"
    assert {name: array.tobytes() for name, array in snapshot.arrays().items()} == {
        name: array.tobytes() for name, array in whole.snapshot().arrays().items()
    }


def test_screens_are_dropped_by_paths() -> None:
    learner = filled(make_learner())
    learner.keep(2, drop_newest=1)
    assert learner.screens == 12
    assert sorted(learner.snapshot().weights["screens"]) == ["000000", "000001"]
    learner.keep(0)
    assert (learner.screens, learner.snapshot().weights["screens"]) == (0, {})


def test_a_loss_that_is_no_number_ends_training() -> None:
    learner = filled(make_learner())
    learner.vae.layers["encoder"][0].weight.data[...] = math.nan
    with pytest.raises(LearningError, match="The loss of the autoencoder is not a finite number"):
        learner.close_interval(rng=np.random.default_rng(0))


def test_one_screen_is_not_enough() -> None:
    with pytest.raises(LearningError, match="trained on at least 2 screens, and there are 1"):
        filled(make_learner(), count=1).close_interval(rng=np.random.default_rng(0))


def test_an_encoder_sees_screens_of_one_size() -> None:
    shape = InputShape((84, 84), image=True)
    with pytest.raises(InputError, match=r"screens of 128 x 128 pixels, not observations of shape \(84, 84\)"):
        VaeSettings().initial_snapshot(shape, 4, rng=np.random.default_rng(0))


# Features and agent


def node_with(units: Any) -> Node:
    node = Node(Corridor().start(), None, None, 0.0, False, 0, 0, 2, None, None)
    node.units = units
    return node


def test_a_latent_is_a_feature_if_its_probability_is_above_the_threshold() -> None:
    """Probabilities of 0.5, 0.89, 0.91, 0.1 and nearly 1."""
    probabilities = np.array([0.5, 0.89, 0.91, 0.1, 0.9999])
    node = node_with(np.log(probabilities / (1 - probabilities)).astype(np.float32))
    features = LatentFeatures(0.9)
    assert features(node).tolist() == [2, 4]
    assert features(node).dtype == np.int32
    assert features.size == 5
    assert LatentFeatures(0.4)(node).tolist() == [0, 1, 2, 4]


def test_features_without_an_encoder_and_thresholds_that_are_none_are_refused() -> None:
    with pytest.raises(InputError, match=r"latent variables of an encoder, and no encoder was asked for them\.$"):
        LatentFeatures(0.9)(node_with(None))
    for threshold in (0.0, 1.0, -3.0):
        with pytest.raises(InputError, match="lies between 0 and 1, not at"):
            LatentFeatures(threshold)


def test_the_agent_is_put_together_as_published() -> None:
    agent = get_agent("VAE_IW")
    start = Atari("pong", tiles=True, screen=(128, 128)).start()
    settings = agent.settings()
    for heuristics, features in (
        (UNINFORMED, BprostFeatures),
        (Heuristics.of(units=lambda nodes: np.zeros((len(nodes), 3))), LatentFeatures),
    ):
        planner = agent.planner(start, settings, heuristics)
        assert isinstance(planner, Rollouts)
        assert isinstance(planner.pruning, NoveltyPruning)
        assert isinstance(planner.pruning.features, features)
        assert isinstance(planner.pruning.table, DepthTable)
        assert isinstance(planner.pruning.cached_nodes, TestedWhenMet)
        assert (planner.backup, planner.horizon) == (LeafValues(discount=0.99), 30_000)
    assert settings.latent_threshold == 0.9
    assert settings.tie_breaking == "random"


def test_where_nothing_new_is_seen_every_action_is_tried_once() -> None:
    """All latents are true everywhere: the root has them at depth 0, and no child lowers that."""
    simulator = Atari("pong", tiles=True, screen=(128, 128))
    asked: list[int] = []

    def units(nodes: Any) -> np.ndarray:
        asked.append(len(nodes))
        return np.full((len(nodes), 7), 3.0, dtype=np.float32)

    play = Play(simulator, get_agent("vae-iw"), budget=Interactions(50), rng=episode_rng(0, 0))
    drive([play], Heuristics.of(units=units), decisions=1)
    (decision,) = play.decisions
    assert (decision.interactions, decision.pruned, decision.solved, decision.depth) == (6, 6, True, 1)
    assert asked == [1] * 7, "the root and every child, when they are generated"


@pytest.mark.parametrize(("risk_averse", "worth"), [("no", 0.0), ("parent", -500_000.0), ("root", -500_000.0)])
def test_it_may_be_averse_to_the_loss_of_a_life(risk_averse: str, worth: float) -> None:
    """Breakout with its last life but one, just before the ball is lost: whatever is done, the life is."""
    simulator = Atari("breakout", tiles=True, screen=(128, 128))
    state = last = simulator.start()
    assert isinstance(last, AtariState)
    lives = last.lives
    while state.lives == lives:
        last = state
        state = simulator.step(last, 1).state  # the ball is served, and nobody moves
        assert isinstance(state, AtariState)

    def units(nodes: Any) -> np.ndarray:
        return np.full((len(nodes), 7), 3.0, dtype=np.float32)

    settings, rng = Settings(risk_averse=risk_averse, horizon=1), episode_rng(0, 0)
    play = Play(simulator, get_agent("vae-iw"), settings=settings, budget=Interactions(50), rng=rng, start=last)
    drive([play], Heuristics.of(units=units), decisions=1)
    assert play.decisions[0].action_values == (worth,) * len(simulator.actions)


def test_a_state_of_128_pixels_is_what_opencv_makes_of_the_screen_and_survives_storage() -> None:
    import ale_py
    import cv2

    simulator = Atari("qbert", tiles=True, screen=(128, 128))
    state = simulator.start()
    for action in (1, 2, 3, 4, 5, 0, 2, 2):
        transition = simulator.step(state, action)
        assert isinstance(transition.state, type(state))
        state = transition.state
        gray = np.zeros((210, 160), dtype=np.uint8)
        emulator: ale_py.ALEInterface = simulator._emulator
        emulator.getScreenGrayscale(gray)
        expected = cv2.resize(gray, (128, 128), interpolation=cv2.INTER_AREA)
        assert (state.observation == expected).all()
    again = Atari("qbert", tiles=True, screen=(128, 128)).decode_state(
        simulator.encode_state(state), state.observation
    )
    assert again.tiles is not None
    assert (again.tiles == state.tiles).all()
    assert again.snapshot == state.snapshot
