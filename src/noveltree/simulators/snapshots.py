"""Snapshots of the Atari emulator that are small, fast, and hold all that the next transition depends on.

A serialised `ALEState` is a list of little-endian 32-bit integers and length-prefixed strings: paddles,
frame numbers, mode and difficulty, then one string with the machine itself, which names its parts
("System", "M6502Low" or "M6502High", "M6532", ...). Two things in it need care.

*The random generator.* Most of a snapshot, and of the time to take and restore it, is the state of the emulator's
random generator, 624 numbers written as decimal text. The generator is only consulted when the machine is
switched on. `quiet` sets its numbers to zero once, at the start, which makes every later snapshot quicker to take;
`SnapshotPacker` leaves them out of what is kept: 1 kB instead of 7.7 kB, restored in a quarter of the time.

*What is hidden.* The video chip holds pointers to the shapes of its objects (players, missiles, ball,
playfield), and a flag that says whether a frame was left unfinished. A snapshot contains neither, and restoring
sets neither: they stay as the *previously* emulated branch left them. Where a game does not rewrite the
registers behind the pointers in every frame (Yars' Revenge), or starts in the middle of a frame (Q*bert),
collisions, hence rewards, depend on what was emulated before. `flush` makes a snapshot with a program of a
dozen instructions in RAM that writes those registers and ends the frame; running it for its single frame before
every restore leaves all of them in one known position.
"""

from __future__ import annotations

from typing import Any

import ale_py
import numpy as np
from numpy.typing import NDArray

from noveltree.errors import SimulatorError

# The emulator refuses to emulate past this frame, which is how the flush is limited to one frame. It is far
# beyond any episode: a year of play.
LAST_FRAME = 2**30

_INT = 4
_EPISODE_FRAME = 3 * _INT  # the fourth integer, after both paddles and the frame number
_MACHINE = 6 * _INT  # the length of the machine's string, after mode and difficulty
_RAM_NAME, _RAM_BYTES = b"M6532", 128
_GENERATOR_NUMBERS = 625  # 624 words of the Mersenne twister and its position

# 6502 machine code for address $80, the first byte of RAM.
_FLUSH_PROGRAM = bytes(
    [
        *(0xA9, 0x00),  # LDA #0
        *(0x85, 0x04),  # STA NUSIZ0: pointers of player 0 and missile 0
        *(0x85, 0x05),  # STA NUSIZ1: pointers of player 1 and missile 1
        *(0x85, 0x0A),  # STA CTRLPF: pointers of the playfield and the ball
        *(0xA9, 0x02),  # LDA #2
        *(0x85, 0x00),  # STA VSYNC: begin the end of the frame ...
        *(0x85, 0x02),  # STA WSYNC
        *(0x85, 0x02),  # STA WSYNC
        *(0x85, 0x02),  # STA WSYNC
        *(0xA9, 0x00),  # LDA #0
        *(0x85, 0x00),  # STA VSYNC: ... and end it
        *(0x4C, 0x80, 0x00),  # JMP $80
    ]
)
_FLUSH_ADDRESS = 0x80

# The video chip's clocks: when the frame started, when display starts and stops, the last update, clocks to the end
# of the scan line, scan lines of the last frame, the current one, and when VSYNC is over: not in sight.
_CLOCKS = (0, 0, 0, 0, 228, 262, 0, 0x7FFFFFFF)


def quiet(state: Any) -> Any:
    """The same `ALEState` with the numbers of the emulator's random generator all zero."""
    numbers = b" ".join([b"0"] * (_GENERATOR_NUMBERS - 1) + [b"624"])
    return ale_py.ALEState(bytes(_replace_generator(bytearray(state.serialize()), numbers)))


class SnapshotPacker:
    """Turns quiet states of one game into bytes and back, without the numbers of the generator."""

    def __init__(self, state: Any) -> None:
        data = bytearray(state.serialize())
        # All of this is the same in every quiet state of a game.
        self._length_at = _find(data, b"System") + _INT
        self._text_end = self._length_at + _INT + _read(data, self._length_at)
        machine = _read(data, _MACHINE) - _read(data, self._length_at)
        self._machine_length = machine.to_bytes(_INT, "little")

    def pack(self, state: Any) -> bytes:
        data = state.serialize()
        return b"".join(
            (
                data[:_MACHINE],
                self._machine_length,
                data[_MACHINE + _INT : self._length_at],
                bytes(_INT),  # the length of the generator's text
                data[self._text_end :],
            )
        )

    def unpack(self, snapshot: bytes) -> Any:
        return ale_py.ALEState(snapshot)  # without text, restoring leaves the generator as it is


def ram_of(snapshot: bytes) -> NDArray[np.uint8]:
    """The 128 bytes of memory in a packed snapshot."""
    at = snapshot.index(_RAM_NAME) + len(_RAM_NAME) + _INT  # after their number
    return np.frombuffer(snapshot, dtype="<u4", count=_RAM_BYTES, offset=at).astype(np.uint8)


def flush(state: Any) -> Any:
    """A state whose next frame sets the video chip's pointers; see the module's text."""
    data = _replace_generator(bytearray(state.serialize()), b"")
    _write(data, _EPISODE_FRAME, LAST_FRAME - 1)

    # Clocks from zero and nothing left to draw: the program runs the same whatever the frame before it was, and
    # its writes fall on the left of a scan line, where they take effect.
    _write(data, _find(data, b"System"), 0)
    chip = _find(data, b"TIA")
    for offset, clock in enumerate(_CLOCKS):
        _write(data, chip + offset * _INT, clock)

    # Registers are A, X, Y, SP, IR, PC, then seven flags, then the execution status.
    registers = _find(data, b"M6502")
    _write(data, registers + 5 * _INT, _FLUSH_ADDRESS)
    _write(data, registers + 13 * _INT, 0)

    ram = _find(data, _RAM_NAME)
    if _read(data, ram) != _RAM_BYTES:
        raise _unexpected()
    for offset, byte in enumerate(_FLUSH_PROGRAM, start=1):
        _write(data, ram + offset * _INT, byte)
    return ale_py.ALEState(bytes(data))


def _replace_generator(data: bytearray, numbers: bytes) -> bytearray:
    length_at = _find(data, b"System") + _INT  # after the cycle counter
    length = _read(data, length_at)
    text_at = length_at + _INT
    if len(data[text_at : text_at + length].split()) != _GENERATOR_NUMBERS:
        raise _unexpected()
    _write(data, _MACHINE, _read(data, _MACHINE) + len(numbers) - length)
    _write(data, length_at, len(numbers))
    data[text_at : text_at + length] = numbers
    return data


def _find(data: bytearray, name: bytes) -> int:
    """Where the fields of the part begin whose name starts with `name`."""
    at = data.find(name)
    if at < 0:
        raise _unexpected()
    return at + _read(data, at - _INT)


def _read(data: bytearray, at: int) -> int:
    return int.from_bytes(data[at : at + _INT], "little")


def _write(data: bytearray, at: int, value: int) -> None:
    data[at : at + _INT] = value.to_bytes(_INT, "little")


def _unexpected() -> SimulatorError:
    return SimulatorError(
        f"Snapshots of ale-py {ale_py.__version__} do not have the layout that noveltree knows (that of 0.12); "
        "install the version that the constraints file names."
    )
