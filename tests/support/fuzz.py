"""Read mutated records of every kind: `python -m tests.support.fuzz` reads 10,000 of each, always the same ones.

Whatever a file holds, reading it ends soon, within a gigabyte, with a record or with one sentence, and with nothing
else. Half of the records are mutated as text, half as what they say, with checksums that fit again.
"""

from __future__ import annotations

import argparse
import contextlib
import copy
import hashlib
import io
import json
import re
import resource
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

import numpy as np
import safetensors.numpy

from noveltree.audit import audit
from noveltree.benchmark import BenchmarkDirectory, plan_suite, run_benchmark
from noveltree.benchmark.executors import LocalExecutor
from noveltree.benchmark.strict_yaml import dump_yaml, load_yaml
from noveltree.benchmark.suite import parse_suite
from noveltree.collection import InProcess
from noveltree.episodes import drive
from noveltree.errors import NoveltreeError
from noveltree.protocol import make_protocol
from noveltree.records import read_episode
from noveltree.records.checkpoint import read_latest_checkpoint
from noveltree.records.episode_file import is_episode, read_summary
from noveltree.records.files import checksum
from noveltree.records.journal import Journal
from noveltree.records.manifest import read_manifest
from noveltree.records.play_file import decode_play, encode_play
from noveltree.records.run_directory import RunDirectory
from noveltree.replay import verify_episode
from noveltree.results import collect
from noveltree.results.curves import read_curve
from noveltree.results.tables import read_tables
from noveltree.trial import Watcher, train
from noveltree.trial.checkpoint_state import read_deployment
from noveltree.trial.start import begin_loop
from noveltree.trial.trial import Trial
from tests.support.benchmarks import TINY, create
from tests.support.torture import TRIALS

_SECONDS = 20
_MOST_MEMORY = 2**30
#: Stand for texts that no value is written as.
_RAW = {"@deep": "[" * 100_000 + "]" * 100_000, "@long": "7" * 400, "@twice": '{"a": 1, "a": 2}', "@huge": "1e999"}
_NASTY: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 1, 2**31, 2**63, 2**200, 1.5, -0.0, 1e308, float("nan"), float("inf")),
    *(
        "",
        "0",
        "\x1b[2J",
        "\u202e\x9b31m",
        "\udcff",
        "../../etc/passwd",
        "x" * 5000,
        "@deep",
        "@long",
        "@twice",
        "@huge",
    ),
    *([], {}, [[]], {"a": []}, [0] * 1000, [None], [1, "1"], {"event": "interval"}),
)


class Kind(NamedTuple):
    """A kind of records: one of them, how it is mutated beyond its bytes, and all that reads it."""

    name: str
    data: bytes
    mutate: Callable[[np.random.Generator], bytes]
    read: Callable[[bytes], None]


def mutated_bytes(data: bytes, rng: np.random.Generator) -> bytes:
    """Some bytes changed, removed, inserted, repeated, or the end cut off."""
    changed = bytearray(data)
    for _ in range(1 + rng.geometric(0.5)):
        place = int(rng.integers(len(changed) + 1))
        length = int(rng.integers(1, 40))
        match rng.integers(6):
            case 0 if place < len(changed):
                changed[place] ^= 1 << int(rng.integers(8))
            case 1:
                del changed[place : place + length]
            case 2:
                changed[place:place] = rng.bytes(length)
            case 3:
                changed[place:place] = changed[place : place + length]
            case 4:
                digits = [found.span() for found in re.finditer(rb"\d+", changed)] or [(place, place)]
                first, last = digits[int(rng.integers(len(digits)))]
                changed[first:last] = [b"-1", b"0", b"1e999", b"9" * 30, b"7" * 400, b"NaN"][int(rng.integers(6))]
            case _:
                del changed[place:]
    return bytes(changed)


def mutated_value(value: Any, rng: np.random.Generator) -> Any:
    """The same with something in it exchanged, removed, repeated or renamed."""
    value = copy.deepcopy(value)
    for _ in range(int(rng.geometric(0.7))):
        parents = [value] if isinstance(value, dict | list) and value else []
        while parents and rng.random() < 0.8:  # go down
            inner = [each for each in _values(parents[-1]) if isinstance(each, dict | list) and each]
            if not inner:
                break
            parents.append(inner[int(rng.integers(len(inner)))])
        if not parents:
            return _nasty(rng)
        parent = parents[-1]
        key = (
            list(parent)[int(rng.integers(len(parent)))]
            if isinstance(parent, dict)
            else int(rng.integers(len(parent)))
        )
        match rng.integers(5):
            case 0:
                del parent[key]
            case 1 if isinstance(parent, list):
                parent.insert(key, copy.deepcopy(parent[key]))
            case 1:
                parent[f"{key}2"] = parent.pop(key)
            case 2 if isinstance(parent[key], int | float) and not isinstance(parent[key], bool):
                parent[key] += int(rng.integers(-2, 3))
            case _:
                parent[key] = _nasty(rng)
    return value


def _values(content: dict[str, Any] | list[Any]) -> list[Any]:
    return list(content.values()) if isinstance(content, dict) else content[:50]


def _nasty(rng: np.random.Generator) -> Any:
    return copy.deepcopy(_NASTY[int(rng.integers(len(_NASTY)))])


def written(value: Any) -> bytes:
    text = json.dumps(value)
    for stands, raw in _RAW.items():
        text = text.replace(f'"{stands}"', raw)
    return text.encode()


def with_checksum(value: Any) -> Any:
    if isinstance(value, dict) and "checksum" in value:
        with contextlib.suppress(Exception):
            value["checksum"] = checksum(value)
    return value


def kinds(place: Path) -> Iterator[Kind]:
    """One record of each kind, in directories below `place`."""
    run, bench = place / "run", place / "bench"
    train(run, TRIALS["intervals"])
    made = create(bench, TINY)
    run_benchmark(made, LocalExecutor(1))
    assert audit(bench).holds
    table = collect([made], relative_to=bench)
    scratch = place / "scratch"
    scratch.mkdir()

    def in_file(name: str, read: Callable[[Path], None]) -> Callable[[bytes], None]:
        def write_and_read(data: bytes) -> None:
            (scratch / name).write_bytes(data)
            read(scratch / name)

        return write_and_read

    def of_json(name: str, data: bytes, read: Callable[[bytes], None]) -> Kind:
        content = json.loads(data)
        return Kind(name, data, lambda rng: written(with_checksum(mutated_value(content, rng))), read)

    episode = next(run.glob("episodes/*/*.json")).read_bytes()

    def read_as_episode(path: Path) -> None:
        is_episode(path)
        with contextlib.suppress(NoveltreeError):
            read_summary(path)
        verify_episode(read_episode(path))

    yield of_json("episode", episode, in_file("episode.json", read_as_episode))
    yield of_json("run.json", (run / "run.json").read_bytes(), _within(run, "run.json", RunDirectory.open))
    yield _lines("metrics", run, "metrics.jsonl", lambda path: read_curve(RunDirectory.open(path), "label", None))
    yield _checkpoint(run)
    yield _play()

    def manifest_again(content: Any) -> Any:
        if isinstance(content, dict) and "digest" in content:
            with contextlib.suppress(Exception):
                stated = {name: content[name] for name in ("checked", "files")}
                text = json.dumps(stated, sort_keys=True, separators=(",", ":"))
                content["digest"] = hashlib.sha256(text.encode()).hexdigest()
        return content

    manifest = (bench / "manifest.json").read_bytes()
    content = json.loads(manifest)
    yield Kind(
        "manifest",
        manifest,
        lambda rng: written(manifest_again(mutated_value(content, rng))),
        _within(bench, "manifest.json", read_manifest),
    )
    yield of_json(
        "plan",
        (bench / "plan.json").read_bytes(),
        _within(bench, "plan.json", lambda p: BenchmarkDirectory.open(p).statuses()),
    )
    yield _lines("journal", bench, "journal.jsonl", lambda path: BenchmarkDirectory.open(path).statuses())
    suite = load_yaml(TINY, where="it")

    def mutated_suite(rng: np.random.Generator) -> bytes:
        with contextlib.suppress(Exception):
            return dump_yaml(mutated_value(suite, rng)).encode(errors="surrogatepass")
        return b""

    def read_as_suite(data: bytes) -> None:
        try:
            text = data.decode()
        except UnicodeDecodeError:
            return
        plan_suite(parse_suite(text))

    yield Kind("suite", TINY.encode(), mutated_suite, read_as_suite)
    csv = table.to_csv().encode()
    rows = [line.split(",") for line in csv.decode().splitlines()]

    def mutated_csv(rng: np.random.Generator) -> bytes:
        cells = mutated_value(rows, rng)
        if not isinstance(cells, list):
            return b""
        lines = (",".join(map(str, row)) if isinstance(row, list) else str(row) for row in cells)
        return "\n".join(lines).encode(errors="surrogatepass")

    yield Kind("table (CSV)", csv, mutated_csv, in_file("table.csv", lambda path: read_tables([path])))
    parquet = table.to_parquet()

    def mutated_parquet(rng: np.random.Generator) -> bytes:
        """The middle of a large file of the same kind, with bytes changed in data and metadata."""
        changed = bytearray(parquet)
        for _ in range(int(rng.integers(1, 6))):
            changed[int(rng.integers(len(changed)))] = int(rng.integers(256))
        return bytes(changed)

    yield Kind("table (Parquet)", parquet, mutated_parquet, in_file("t.parquet", lambda path: read_tables([path])))


def _within(directory: Path, name: str, read: Callable[[Path], Any]) -> Callable[[bytes], None]:
    """Reading a directory in which one file has other content."""
    before = (directory / name).read_bytes()

    def write_and_read(data: bytes) -> None:
        (directory / name).write_bytes(data)
        try:
            read(directory)
        finally:
            (directory / name).write_bytes(before)

    return write_and_read


def _lines(kind: str, directory: Path, name: str, read: Callable[[Path], Any]) -> Kind:
    path = directory / name
    lines = Journal(path).read()

    def mutate(rng: np.random.Generator) -> bytes:
        with tempfile.TemporaryDirectory() as place:
            journal = Journal(Path(place) / name)
            for line in mutated_value(lines, rng):
                with contextlib.suppress(Exception):
                    journal.add(line)
            data = journal.path.read_bytes() if journal.path.exists() else b""
        if rng.random() < 0.5:  # as before there were checksums
            data = re.sub(rb', "checksum": "\w+"', b"", data)
        for stands, raw in _RAW.items():
            data = data.replace(f'"{stands}"'.encode(), raw.encode())
        return data

    return Kind(kind, path.read_bytes(), mutate, _within(directory, name, read))


def _checkpoint(run: Path) -> Kind:
    place = max((run / "checkpoints").iterdir())
    (run / "result.json").unlink()
    state = json.loads((place / "state.json").read_bytes())
    arrays = (place / "arrays.safetensors").read_bytes()

    def mutate(rng: np.random.Generator) -> bytes:
        mutated_arrays = arrays
        content = copy.deepcopy(state)
        if rng.random() < 0.3:
            mutated_arrays = mutated_bytes(arrays, rng)
        else:
            content["state"] = mutated_value(content["state"], rng)
        content["arrays"] = hashlib.sha256(mutated_arrays).hexdigest()
        return written(with_checksum(content)) + b"\0\0\0\0" + mutated_arrays

    def read(data: bytes) -> None:
        text, _, rest = data.partition(b"\0\0\0\0")
        directory = run.parent / "forged"
        shutil.copytree(run, directory, dirs_exist_ok=True)
        forged = directory / "checkpoints" / place.name
        (forged / "state.json").write_bytes(text)
        (forged / "arrays.safetensors").write_bytes(rest)
        with contextlib.suppress(NoveltreeError):
            read_latest_checkpoint(directory / "checkpoints")
        opened = RunDirectory.open(directory)
        with contextlib.suppress(NoveltreeError):
            read_deployment(opened)
        with contextlib.closing(InProcess(opened.protocol, seed=0, at_once=1)) as collector:
            begin_loop(Trial(opened, collector, Watcher()))

    data = (place / "state.json").read_bytes() + b"\0\0\0\0" + arrays
    return Kind("checkpoint", data, mutate, read)


def _play() -> Kind:
    protocol = make_protocol("corridor", agent="riw-c", budget=5)
    simulator = protocol.make_simulator()
    play = protocol.make_play(simulator, seed=0, index=0)
    drive([play], decisions=3)
    data = encode_play(play, protocol)
    arrays = safetensors.numpy.load(data)
    length = int.from_bytes(data[:8], "little")
    paused = json.loads(json.loads(data[8 : 8 + length])["__metadata__"]["play"])

    def mutate(rng: np.random.Generator) -> bytes:
        changed, content = dict(arrays), paused
        if rng.random() < 0.5:
            name = list(changed)[int(rng.integers(len(changed)))]
            array = changed[name].copy()
            match rng.integers(4):
                case 0:
                    del changed[name]
                case 1 if array.size:
                    array.reshape(-1).view(np.uint8)[int(rng.integers(array.nbytes))] = int(rng.integers(256))
                    changed[name] = array
                case 2:
                    changed[name] = array.reshape(-1)[: int(rng.integers(array.size + 1))]
                case _:
                    changed[name] = np.concatenate([array.reshape(-1)] * 2)
        else:
            content = mutated_value(paused, rng)
        made = safetensors.numpy.save(changed, {"play": written(content).decode(), "sha256": "0" * 64})
        digest = hashlib.sha256(made).hexdigest()
        return made.replace(b'"sha256":"' + b"0" * 64, b'"sha256":"' + digest.encode(), 1)

    def read(data: bytes) -> None:
        decode_play(data, protocol, simulator)

    return Kind("play file", data, mutate, read)


class Slow(Exception):
    """Reading did not end."""


def _ring(number: int, frame: FrameType | None) -> None:
    raise Slow


def fuzz(kind: Kind, count: int, *, seed: int) -> tuple[Counter[str], list[str]]:
    """Read mutated records of a kind: how it ended, and what is wrong."""
    rng = np.random.default_rng(seed)
    endings: Counter[str] = Counter()
    wrong: list[str] = []
    signal.signal(signal.SIGALRM, _ring)
    for number in range(count):
        data = kind.mutate(rng) if number % 2 else mutated_bytes(kind.data, rng)
        signal.alarm(_SECONDS)
        try:
            kind.read(data)
            endings["read"] += 1
        except NoveltreeError as error:
            endings["refused"] += 1
            if "\n" in str(error):
                wrong.append(f"{kind.name} {number}: a sentence of several lines: {str(error)[:300]!r}")
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt):
                raise
            wrong.append(f"{kind.name} {number}: {type(error).__name__}: {str(error)[:300]}")
        finally:
            signal.alarm(0)
    return endings, wrong


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=10_000, help="of each kind")
    parser.add_argument("--kinds", nargs="*", help="only these")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    wrong: list[str] = []
    with tempfile.TemporaryDirectory(prefix="fuzz-") as place, contextlib.redirect_stdout(io.StringIO()) as _:
        for kind in kinds(Path(place)):
            if options.kinds and kind.name not in options.kinds:
                continue
            began = time.monotonic()
            endings, found = fuzz(kind, options.count, seed=options.seed)
            wrong += found
            memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
            told = f"{kind.name}: {options.count:,} records, {dict(endings)}, {len(found)} wrong"
            took = time.monotonic() - began
            print(f"{told}, in {took:.0f} s; {memory / 1e6:.0f} MB at most so far", file=sys.__stdout__, flush=True)
            for each in found[:20]:
                print(f"  {each}", file=sys.__stdout__, flush=True)
            if memory > _MOST_MEMORY:
                wrong.append(f"{kind.name}: more than a gigabyte of memory")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
