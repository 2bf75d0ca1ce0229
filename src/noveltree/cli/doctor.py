"""`noveltree doctor`: is everything installed, and does it work?"""

from __future__ import annotations

import importlib.metadata
import platform
from collections.abc import Callable
from typing import Annotated

import typer
from rich.text import Text

from noveltree.cli.console import LiveLine, out, print_json
from noveltree.errors import NoveltreeError
from noveltree.kernels import kept_in, kernel
from noveltree.simulators import Atari, Corridor, GymnasiumSimulator, check_simulator
from noveltree.simulators.games import (
    HIDDEN_STATE_GAMES,
    HISTORY_RESET_GAMES,
    PAPER_GAMES,
    all_games,
    bundled_games,
    canonical_game,
)
from noveltree.version import __version__
from noveltree.wording import installing

_PACKAGES = (
    *("ale-py", "gymnasium", "numpy", "numba", "pydantic", "typer", "rich", "ruamel.yaml", "scipy"),
    *("imageio-ffmpeg", "jinja2", "lazy-loader"),
)
#: Optional packages, the extra that installs each, and what for.
_EXTRAS = {
    "minigrid": ("minigrid", "MiniGrid environments"),
    "MinAtar": ("minatar", "MinAtar environments"),
    "stable-retro": ("retro", "games of consoles"),
    **{package: ("learn", "agents that learn") for package in ("torch", "onnx", "onnxruntime", "safetensors")},
    "matplotlib": ("plot", "figures"),
    "tensorboard": ("tensorboard", "TensorBoard"),
    "starlette": ("watch", "the viewer"),
    "uvicorn": ("watch", "the viewer"),
    "websockets": ("watch", "the viewer"),
    "ray": ("ray", "benchmarks on a cluster"),
    "pyarrow": ("parquet", "tables as Parquet"),
    "cryptography": ("sign", "signatures"),
}


def doctor(
    game: Annotated[str, typer.Option(help="The Atari game to try.")] = "breakout",
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")] = False,
) -> None:
    """Print versions, check the simulators, and say what is wrong with the installation and how to fix it.

    Exits with 1 if something is wrong.

    [bold]Example[/]: noveltree doctor --game qbert
    """
    game = canonical_game(game)
    checks: list[tuple[str, Callable[[], str]]] = [
        ("games", _check_roms),
        ("kernels", _check_kernels),
        ("corridor", lambda: _check(Corridor)),
        ("FrozenLake-v1", lambda: _check(lambda: GymnasiumSimulator("FrozenLake-v1", is_slippery=False))),
        (game, lambda: _check(lambda: Atari(game))),
        ("screen", _check_screen),
        ("video", _check_video),
    ]
    results = []
    with LiveLine(quiet=json) as line:
        for name, check in checks:
            line.update(f"Checking {name}")
            results.append(_run(name, check))
    versions = {name: _version(name) for name in (*_PACKAGES, *_EXTRAS)}
    healthy = all(result["ok"] for result in results) and all(versions[name] for name in _PACKAGES)
    if json:
        oddities = {"hidden_state": HIDDEN_STATE_GAMES, "reset_depends_on_history": HISTORY_RESET_GAMES}
        found = {"noveltree": __version__, "versions": versions, "checks": results, "oddities": oddities}
        print_json({"healthy": healthy, **found})
    else:
        _report(versions, results)
        out.print("All is well." if healthy else Text("Something is wrong.", "bold red"))
    if not healthy:
        raise typer.Exit(1)


def _report(versions: dict[str, str | None], results: list[dict[str, object]]) -> None:
    out.print(f"noveltree {__version__}, Python {platform.python_version()}, {platform.platform()}", soft_wrap=True)
    for name, version in versions.items():
        missing = "MISSING; what noveltree needs is installed by: pip install noveltree"
        if name in _EXTRAS:
            extra, purpose = _EXTRAS[name]
            missing = f"not installed; for {purpose}: {installing(extra)}"
        out.print(f"  {name} {version or missing}", soft_wrap=True)
    for result in results:
        mark = ("ok  ", "green") if result["ok"] else ("FAIL", "bold red")
        out.print(Text.assemble(mark, f" {result['check']}: {result['finding']}"), soft_wrap=True)
    out.print(
        "Known oddities of the emulator, which noveltree works around: restoring a snapshot does not restore "
        f"everything in {', '.join(HIDDEN_STATE_GAMES)}; resetting depends on what was played before in "
        f"{', '.join(HISTORY_RESET_GAMES)}.",
        soft_wrap=True,
    )


def _run(name: str, check: Callable[[], str]) -> dict[str, object]:
    try:
        return {"check": name, "ok": True, "finding": check()}
    except NoveltreeError as error:
        return {"check": name, "ok": False, "finding": str(error)}
    except Exception as error:
        finding = f"{type(error).__name__}: {error}. Install noveltree into a new environment."
        return {"check": name, "ok": False, "finding": finding}


def _version(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def _check_roms() -> str:
    missing = sorted(set(PAPER_GAMES) - set(bundled_games()))
    if missing:
        raise NoveltreeError(
            f'ale-py has no ROM of {", ".join(missing)}; reinstall it: pip install --force-reinstall "ale-py<0.13".'
        )
    return f"{len(all_games())} games, among them all {len(PAPER_GAMES)} of the paper"


@kernel
def _successor(number: int) -> int:
    return number + 1


def _check_kernels() -> str:
    if _successor(1) != 2:
        raise NoveltreeError(f"A kernel says that 1 + 1 is {_successor(1)}; reinstall numba.")
    if (place := kept_in(_successor)) is not None:
        return f"compiled, and kept in {place.parent}"
    return (
        "compiled; every start compiles them again, since there is no place to keep them: give one with "
        "NUMBA_CACHE_DIR"
    )


def _check(make: Callable[[], Atari | Corridor | GymnasiumSimulator]) -> str:
    simulator = make()
    try:
        covered = check_simulator(simulator, walks=5, length=20)
        return f"a function of state and action in {covered.transitions} transitions"
    finally:
        simulator.close()


def _check_screen() -> str:
    start = Atari("pong").start().observation
    if start.shape != (84, 84) or start.min() == start.max():
        raise NoveltreeError(f"The screen of Pong is {start.shape} and all {start.min()}; reinstall ale-py.")
    return "84 x 84"


def _check_video() -> str:
    import imageio_ffmpeg

    return f"ffmpeg {imageio_ffmpeg.get_ffmpeg_version()}"
