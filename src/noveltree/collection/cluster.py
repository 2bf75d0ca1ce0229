"""A Ray cluster to work on: with a token, without a dashboard."""

from __future__ import annotations

import os
import re
import secrets
import signal
import sys
from typing import Any

from noveltree.errors import InputError

#: Ray's own settings, which it reads from the environment when it is imported.
_AUTH_MODE, _AUTH_TOKEN, _AUTH_TOKEN_PATH = "RAY_AUTH_MODE", "RAY_AUTH_TOKEN", "RAY_AUTH_TOKEN_PATH"
#: With 0, a node that is started here is at 127.0.0.1 and listens there only. Otherwise Ray takes the address of an
#: interface in its place, whatever it is given, and listens on all of them.
_CLUSTER = "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"
_OLDEST = (2, 54)


class Cluster:
    """A connection to the cluster at an address, or one that is started on this machine if there is no address.

    Whoever may talk to a Ray cluster may run code on it. So a token is asked for, unless RAY_AUTH_MODE says
    otherwise; a cluster that is started here has one that nobody else knows, no dashboard, and listens on the
    loopback interface only. If this process is connected to a cluster already, that one is used, and left as it is.
    """

    def __init__(self, address: str | None, *, cores: int | None = None) -> None:
        address = address or os.environ.get("RAY_ADDRESS") or None
        self.ray = _import_ray(starts=address is None)
        self._ours = not self.ray.is_initialized()
        if self._ours:
            _connect(self.ray, address, cores)

    def cores(self) -> list[int]:
        """The cores of every node that is alive."""
        return [int(node["Resources"].get("CPU", 0.0)) for node in self.ray.nodes() if node["Alive"]]

    def close(self) -> None:
        if self._ours:
            self.ray.shutdown()


def _import_ray(*, starts: bool) -> Any:
    if "ray" not in sys.modules:
        os.environ.setdefault(_AUTH_MODE, "token")
        os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")  # without it Ray warns of its next version
        if starts:
            os.environ.setdefault(_CLUSTER, "0")
        if starts and not {_AUTH_TOKEN, _AUTH_TOKEN_PATH} & os.environ.keys():
            os.environ[_AUTH_TOKEN] = secrets.token_hex(32)
    import ray

    version = tuple(int(part) for part in re.findall(r"\d+", ray.__version__)[:2])
    if version < _OLDEST:
        raise InputError(f"Ray {ray.__version__} is too old: 2.54 or newer is needed, which knows tokens.")
    return ray


def _connect(ray: Any, address: str | None, cores: int | None) -> None:
    options: dict[str, Any] = {"log_to_driver": False, "logging_level": "ERROR"}
    if address is None:
        options |= {"address": "local", "include_dashboard": False, "_node_ip_address": "127.0.0.1"}
        options |= {} if cores is None else {"num_cpus": cores}
    else:
        options["address"] = address
        if address.startswith("127."):  # of this machine; Ray would look for a node at another address
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
