"""Connecting to a Ray cluster: with a token, without a dashboard."""

from __future__ import annotations

import os
import secrets
import signal
import sys
from typing import Any

from noveltree.errors import InputError

#: Ray's own settings, which it reads from the environment.
_AUTH_MODE, _AUTH_TOKEN, _AUTH_TOKEN_PATH = "RAY_AUTH_MODE", "RAY_AUTH_TOKEN", "RAY_AUTH_TOKEN_PATH"


def connect(address: str | None, *, cores: int | None = None) -> Any:
    """Connect to the cluster at `address`, or start one on this machine if there is none; the module `ray`.

    Whoever may talk to a Ray cluster may run code on it. So there is always a token, unless RAY_AUTH_MODE says
    otherwise; a cluster that is started here has one that nobody else knows, listens on this machine alone, and has
    no dashboard.
    """
    address = address or os.environ.get("RAY_ADDRESS") or None
    if "ray" not in sys.modules:  # it reads its environment when it is imported
        os.environ.setdefault(_AUTH_MODE, "token")
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")  # without it Ray warns of its next version
    if address is None and not {_AUTH_TOKEN, _AUTH_TOKEN_PATH} & os.environ.keys():
        os.environ[_AUTH_TOKEN] = secrets.token_hex(32)
    import ray

    if ray.is_initialized():
        return ray
    options: dict[str, Any] = {"log_to_driver": False, "logging_level": "ERROR"}
    if address is None:
        options |= {"address": "local", "include_dashboard": False, "_node_ip_address": "127.0.0.1"}
        options |= {} if cores is None else {"num_cpus": cores}
    else:
        options["address"] = address
        if address.startswith("127."):  # of this machine alone; Ray would look for a node at another address
            options["_node_ip_address"] = address.partition(":")[0]
    heeded = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        ray.init(**options)
    except (ConnectionError, RuntimeError, ValueError, ray.exceptions.RayError) as error:
        where = "start Ray on this machine" if address is None else f"connect to the Ray cluster at {address}"
        raise InputError(f"Cannot {where}: {' '.join(str(error).split())[:300]}") from error
    finally:
        for number, handler in heeded.items():  # Ray puts its own in their place
            signal.signal(number, handler)
    return ray
