"""Optimisers, beside torch's and by hand."""

from __future__ import annotations

import math

import pytest
import torch
from torch import nn

from noveltree.learning.optimiser import RMSprop, write_moments

_SETTINGS = {"lr": 0.1, "alpha": 0.5, "eps": 0.25}


def _network() -> nn.Sequential:
    """Layers whose weights lie in memory in different orders."""
    torch.manual_seed(0)
    network = nn.Sequential(nn.Conv2d(3, 4, 2), nn.ReLU(), nn.Flatten(), nn.Linear(16, 5))
    return network.to(memory_format=torch.channels_last)


def _prepared(network: nn.Module) -> RMSprop:
    optimiser = RMSprop(network.parameters(), **_SETTINGS)
    zeros = {name: parameter.detach().numpy() * 0.0 for name, parameter in network.named_parameters()}
    write_moments(network, optimiser, {"mean_square": zeros}, steps=0)
    return optimiser


def test_a_step_by_hand() -> None:
    """A weight of 2 under a slope of 2, with 0.5 times the weight: 3, shortened to 1.5.

    Half of its square is 1.125, and the weight goes down by 0.1 * 1.5 / (sqrt(1.125) + 0.25). A second step with
    the same slope remembers half of 1.125.
    """
    network = nn.Linear(1, 1, bias=False)
    nn.init.constant_(network.weight, 2.0)
    optimiser = _prepared(network)
    network.weight.grad = torch.full((1, 1), 2.0)
    optimiser.descend(regularisation=0.5, norm=1.5)
    expected = 2.0 - 0.1 * 1.5 / (math.sqrt(1.125) + 0.25)
    assert network.weight.item() == pytest.approx(expected, rel=1e-6)
    network.weight.grad = torch.full((1, 1), 2.0)
    optimiser.descend(regularisation=0.5, norm=1.5)
    expected -= 0.1 * 1.5 / (math.sqrt(0.5 * 1.125 + 0.5 * 1.5**2) + 0.25)
    assert network.weight.item() == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("norm", [0.01, 1e6], ids=["clipped", "as it is"])
def test_steps_are_those_of_torch(norm: float) -> None:
    found, expected = _network(), _network()
    ours, theirs = _prepared(found), torch.optim.RMSprop(expected.parameters(), weight_decay=0.0, **_SETTINGS)
    screens = torch.randn(6, 3, 3, 3).contiguous(memory_format=torch.channels_last)
    for _ in range(5):
        for network in (found, expected):
            network.zero_grad()
            network(screens).square().sum().backward()
        ours.descend(regularisation=0.1, norm=norm)
        for parameter in expected.parameters():
            assert parameter.grad is not None
            parameter.grad += 0.1 * parameter.detach()
        nn.utils.clip_grad_norm_(expected.parameters(), norm)
        theirs.step()
    for mine, other in zip(found.parameters(), expected.parameters(), strict=True):
        torch.testing.assert_close(mine, other)
        torch.testing.assert_close(ours.state[mine]["square_avg"], theirs.state[other]["square_avg"])
        assert int(ours.state[mine]["step"]) == 5
