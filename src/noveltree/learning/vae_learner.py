"""The learner of VAE-IW: it holds screens, and trains an autoencoder on them once there are enough.

Training is an iterator that stops after every batch. All that it goes on from is in a snapshot, the screens too, so
that it can be taken up there as if it had never stopped.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Iterator

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from noveltree.errors import InputError, LearningError, RecordError
from noveltree.learning.architecture import ENCODED_SCREEN
from noveltree.learning.experience import CriticalPath
from noveltree.learning.inputs import InputShape
from noveltree.learning.learner import Learner, Losses
from noveltree.learning.optimiser import read_moments, write_moments, zero_moments
from noveltree.learning.snapshot import Snapshot
from noveltree.learning.vae import (
    Vae,
    concrete,
    divergence,
    encoder_architecture,
    encoder_weights,
    initial_weights,
    reconstruction_loss,
)
from noveltree.learning.vae_settings import VaeSettings

#: The network's name in snapshots.
ENCODER = "encoder"
#: The mean losses of an epoch: of the screens that it trained on, and of those that are held out.
EPOCH_LOSSES = ("reconstruction", "divergence", "held_out_reconstruction", "held_out_divergence")
#: The quickest; screens are flat.
_COMPRESSION = 1

Screens = NDArray[np.uint8]


class VaeLearner(Learner):
    """An autoencoder in training."""

    def __init__(self, snapshot: Snapshot, settings: VaeSettings, *, device: str = "cpu") -> None:
        super().__init__(snapshot.networks[ENCODER].input)
        self.settings = settings
        self._device = device
        self._architecture = snapshot.networks[ENCODER]
        #: The sampled screens of each path, compressed, and how many there are.
        self._held: list[bytes] = []
        self.screens = 0
        self.restore(snapshot)

    def restore(self, snapshot: Snapshot) -> None:
        weights, counters = snapshot.weights, snapshot.counters
        self.vae = Vae(self.settings.encoder.planes, weights["vae"], device=self._device)
        self._optimiser = torch.optim.Adam(self.vae.parameters(), lr=self.settings.learning_rate, fused=True)
        write_moments(self.vae.layers, self._optimiser, weights, counters["optimiser_steps"])
        #: Epochs that are over, and a row of losses for each.
        self.epoch = counters["epoch"]
        self._epochs: NDArray[np.float32] = weights["losses"]["epochs"]
        #: Reconstruction and divergence of the batches of the next one.
        self._batches: list[NDArray[np.float32]] = list(weights["losses"]["batches"])
        if held := weights.get("screens"):
            self._held = [held[number].tobytes() for number in sorted(held)]
            self.screens = counters["screens"]

    @property
    def trained(self) -> bool:
        """Whether all epochs are over."""
        return self.epoch == self.settings.encoder.epochs

    @property
    def progress(self) -> tuple[int, int]:
        """Batches that were trained on, and those of all epochs."""
        count = len(self._firsts(self._split_sizes()[1]))
        return self.epoch * count + len(self._batches), self.settings.encoder.epochs * count

    def take_in(self, path: CriticalPath, *, rng: np.random.Generator) -> Losses:
        """Hold the screens that were sampled along a path."""
        if path.sampled is not None:
            self._held.append(zlib.compress(path.sampled.tobytes(), _COMPRESSION))
            self.screens += len(path.sampled)
        return {}

    def close_interval(self, *, rng: np.random.Generator) -> Losses:
        """Train to the end."""
        for _ in self.training(rng=rng):
            pass
        return self.losses()

    def losses(self) -> Losses:
        """The mean losses of all epochs that are over."""
        return dict(zip(EPOCH_LOSSES, self._epochs.T.tolist(), strict=True))

    def training(self, *, rng: np.random.Generator) -> Iterator[None]:
        """Train on the first `screens` screens that are held, from where it stands to the end of the last epoch.

        It stops after every batch and after every epoch. To go on from a snapshot it needs a generator that was
        made like the one before.
        """
        split, *epochs = rng.spawn(1 + self.settings.encoder.epochs)
        screens = self._all_screens()
        held_out = self._split_sizes()[0]
        shuffled = split.permutation(len(screens))
        while not self.trained:
            yield from self._train_epoch(screens, shuffled[held_out:], shuffled[:held_out], rng=epochs[self.epoch])

    def keep(self, count: int, *, drop_newest: int = 0) -> None:
        left = len(self._held) - drop_newest
        self._held = self._held[max(0, left - count) : left]
        self.screens = sum(len(self._unpacked(data)) for data in self._held)

    def snapshot(self) -> Snapshot:
        moments, steps = read_moments(self.vae.layers, self._optimiser)
        weights = self.vae.weights()
        return Snapshot(
            networks={ENCODER: self._architecture},
            deployed=self.trained,
            weights={
                ENCODER: encoder_weights(weights),
                "vae": weights,
                **moments,
                "losses": {"epochs": self._epochs, "batches": np.array(self._batches, np.float32).reshape(-1, 2)},
                "screens": {
                    f"{number:06}": np.frombuffer(data, dtype=np.uint8) for number, data in enumerate(self._held)
                },
            },
            counters={"optimiser_steps": steps, "epoch": self.epoch, "screens": self.screens},
        )

    def _all_screens(self) -> Screens:
        screens = np.empty((self.screens, *ENCODED_SCREEN), dtype=np.uint8)
        first = 0
        for data in self._held:
            some = self._unpacked(data)
            screens[first : first + len(some)] = some
            first += len(some)
        return screens[: self.settings.loop.screens]

    def _unpacked(self, data: bytes) -> Screens:
        """Screens as they were held: no more than a path may have, for a checkpoint may be made up."""
        loop = self.settings.loop
        unpacking = zlib.decompressobj()
        try:
            found = unpacking.decompress(data, (loop.screens + loop.nodes + 1) * math.prod(ENCODED_SCREEN))
            if not unpacking.eof:
                raise ValueError
            return np.frombuffer(found, dtype=np.uint8).reshape(-1, *ENCODED_SCREEN)
        except (zlib.error, ValueError) as error:
            raise RecordError("The checkpoint has screens that are none.") from error

    def _split_sizes(self) -> tuple[int, int]:
        """How many screens are held out, and how many are trained on: at least one each."""
        count = min(self.screens, self.settings.loop.screens)
        if count < 2:
            raise LearningError(f"An autoencoder is trained on at least 2 screens, and there are {count}.")
        held_out = min(max(1, round(count * self.settings.held_out)), count - 1)
        return held_out, count - held_out

    def _firsts(self, count: int) -> range:
        """Where batches begin."""
        return range(0, count, self.settings.batch)

    def _train_epoch(
        self,
        screens: Screens,
        trained_on: NDArray[np.int64],
        held_out: NDArray[np.int64],
        *,
        rng: np.random.Generator,
    ) -> Iterator[None]:
        """The rest of an epoch: one batch after another, then the judgement of the screens that are held out."""
        batch, firsts = self.settings.batch, self._firsts(len(trained_on))
        order, judging, *noise = rng.spawn(2 + len(firsts))
        shuffled = order.permutation(trained_on)
        while (done := len(self._batches)) < len(firsts):
            first = firsts[done]
            self._batches.append(self._step(screens[shuffled[first : first + batch]], rng=noise[done]))
            yield
        sizes = [min(batch, len(trained_on) - first) for first in firsts]
        means = np.average(self._batches, axis=0, weights=sizes)
        row = np.concatenate([means, self._judge(screens, held_out, rng=judging)]).astype(np.float32)
        self._epochs = np.vstack([self._epochs, row])
        self._batches = []
        self.epoch += 1
        yield

    def _step(self, screens: Screens, *, rng: np.random.Generator) -> NDArray[np.float32]:
        """Train on one batch; its losses."""
        reconstruction, diverged = self._batch_losses(screens, rng=rng, training=True)
        loss = reconstruction + self.settings.beta * diverged
        self._optimiser.zero_grad(set_to_none=True)
        loss.backward()  # type: ignore[no-untyped-call]
        nn.utils.clip_grad_norm_(self.vae.parameters(), self.settings.gradient_norm)
        self._optimiser.step()
        if not math.isfinite(float(loss.detach())):
            raise LearningError("The loss of the autoencoder is not a finite number.")
        return np.array([float(reconstruction.detach()), float(diverged.detach())], dtype=np.float32)

    def _judge(
        self, screens: Screens, held_out: NDArray[np.int64], *, rng: np.random.Generator
    ) -> NDArray[np.float64]:
        """The mean losses of screens that are not trained on."""
        totals = np.zeros(2)
        with torch.no_grad():
            for first in self._firsts(len(held_out)):
                chosen = held_out[first : first + self.settings.batch]
                losses = self._batch_losses(screens[chosen], rng=rng, training=False)
                totals += [float(loss) * len(chosen) for loss in losses]
        return totals / len(held_out)

    def _batch_losses(
        self, screens: Screens, *, rng: np.random.Generator, training: bool
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """The mean reconstruction loss of screens, and the mean divergence of their latent variables."""
        settings, dropping = self.settings, rng if training else None
        logits = self.vae.encode(screens, dropping).clamp(-settings.largest_logit, settings.largest_logit)
        pixels = self.vae.decode(concrete(logits, settings.temperature, rng=rng), dropping)
        return reconstruction_loss(pixels, self.vae.pixels(screens)).mean(), divergence(logits).mean()


def initial_snapshot(shape: InputShape, settings: VaeSettings, *, rng: np.random.Generator) -> Snapshot:
    """An untrained autoencoder without screens; it cannot be deployed before it is trained."""
    if shape.observation != ENCODED_SCREEN:
        raise InputError(
            f"An encoder sees screens of {ENCODED_SCREEN[0]} x {ENCODED_SCREEN[1]} pixels, not observations of "
            f"shape {shape.observation}."
        )
    planes = settings.encoder.planes
    weights = initial_weights(planes, rng=rng)
    trained = {name: array for name, array in weights.items() if ".running_" not in name}
    return Snapshot(
        networks={ENCODER: encoder_architecture(planes)},
        deployed=False,
        weights={
            ENCODER: encoder_weights(weights),
            "vae": weights,
            **zero_moments(trained),
            "losses": {
                "epochs": np.empty((0, len(EPOCH_LOSSES)), np.float32),
                "batches": np.empty((0, 2), np.float32),
            },
        },
        counters={"optimiser_steps": 0, "epoch": 0, "screens": 0},
    )
