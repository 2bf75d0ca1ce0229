"""Ctrl-C and SIGTERM at any instant, of every command: one line and exit code 130, at once, and no traceback."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import llvmlite.binding
import numpy as np
import pytest

from noveltree.signals import INTERRUPTS, held_back, is_loading_code
from tests.support.command_line import NOVELTREE
from tests.support.processes import catches, children_of, is_alive, wait_until

#: The commands, and about how many seconds each takes, or has started after.
COMMANDS = {
    "--help": 0.1,
    "games": 0.3,
    "doctor": 1.5,
    "play breakout": 1.5,
    "verify DIRECTORY": 3.0,
    "check breakout": 3.0,
    "taxonomy breakout": 3.0,
    "watch breakout --no-open --port 0": 3.0,
    "bench planning": 3.0,
    "train corridor --interactions 30000 --interval 1000 --budget 5 --max-frames 200 --workers 2": 4.0,
    "benchmark run smoke --out smoke --workers 2": 3.0,
}
INSTANTS = 4


def start(command: str, cwd: Path) -> subprocess.Popen[str]:
    """Start a command in a process group of its own, and wait until it heeds interrupts.

    Before that nothing of noveltree runs, but Python's own beginning.
    """

    def beginning() -> None:  # where tests run in the background, interrupts are ignored
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_BLOCK, INTERRUPTS)  # which is inherited, and taken back

    process = subprocess.Popen(
        [*NOVELTREE, *command.split()],
        cwd=cwd,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=beginning,
    )
    wait_until(lambda: process.poll() is not None or catches(process.pid, signal.SIGTERM))
    return process


@pytest.mark.parametrize("command", COMMANDS)
def test_an_interrupt_at_any_instant_is_one_line(tmp_path: Path, five: Path, command: str) -> None:
    rng = np.random.default_rng(len(command))
    for instant in range(INSTANTS):
        cwd = tmp_path / str(instant)
        cwd.mkdir()
        process = start(command.replace("DIRECTORY", str(five)), cwd)
        time.sleep(COMMANDS[command] * (instant + float(rng.random())) / INSTANTS)
        children = children_of(process.pid)
        with contextlib.suppress(ProcessLookupError):
            if instant % 2:
                os.kill(process.pid, signal.SIGTERM)
            else:  # what a terminal does
                os.killpg(process.pid, signal.SIGINT)
        out, err = process.communicate(timeout=20)
        assert process.returncode in (0, 130), err  # it may be over before
        assert err.count("\n") <= 1
        assert "Traceback" not in err
        if process.returncode == 130:
            assert "nterrupted" in out + err
        wait_until(lambda children=children: not any(map(is_alive, children)))


@pytest.mark.parametrize("number", INTERRUPTS)
def test_an_interrupt_while_the_command_line_is_imported_is_one_line(number: signal.Signals) -> None:
    program = f"""
import signal, sys

class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == "noveltree.cli":
            signal.raise_signal({number})

signal.signal(signal.SIGINT, signal.default_int_handler)  # where tests run in the background, it is ignored
sys.meta_path.insert(0, Finder())
from noveltree.__main__ import main
main()
"""
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert (run.returncode, run.stdout, run.stderr) == (130, "", "Interrupted.\n")


def test_verifying_a_directory_ends_at_once(tmp_path: Path, five: Path) -> None:
    process = start(f"verify {five} --workers 2", tmp_path)
    wait_until(lambda: len(children_of(process.pid)) >= 2)  # the workers
    os.killpg(process.pid, signal.SIGINT)
    assert process.communicate(timeout=10) == ("", "Interrupted.\n")
    assert process.returncode == 130


def test_an_interrupt_that_is_held_back_counts_afterwards() -> None:
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    done = []

    def write() -> None:
        with held_back():
            signal.raise_signal(signal.SIGINT)
            done.append("written")

    try:
        with pytest.raises(KeyboardInterrupt):
            write()
    finally:
        signal.signal(signal.SIGINT, before)
    assert done == ["written"]


def test_code_that_llvm_calls_back_is_known_as_such() -> None:
    """Where the command line leaves at once, since LLVM would drop an exception and print it."""
    llvmlite.binding.initialize_native_target()
    llvmlite.binding.initialize_native_asmprinter()
    target = llvmlite.binding.Target.from_default_triple().create_target_machine()
    engine = llvmlite.binding.create_mcjit_compiler(
        llvmlite.binding.parse_assembly("define void @nothing() { ret void }"), target
    )
    called_back = []
    engine.set_object_cache(notify_func=lambda module, code: called_back.append(is_loading_code(sys._getframe())))
    engine.finalize_object()
    assert called_back == [True]
    assert not is_loading_code(sys._getframe())
