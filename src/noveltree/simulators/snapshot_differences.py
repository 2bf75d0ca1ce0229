"""Large snapshots kept as what differs between them and one of them.

A console's snapshot has a hundred kilobytes and more, of which an episode changes a few. Kept are the 64-bit words
that differ from the reference, after their places: that takes less room than the same snapshot compressed, and a
fraction of the time (docs/worlds.md has the figures). The reference is the start of the episode rather than the
parent's snapshot, so that no snapshot needs another one to be read.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from noveltree.errors import RecordError

_LENGTH = 4  # bytes in front that say how long the snapshot is
_PLACE, _WORD = np.dtype("<u4"), np.dtype("<u8")


class SnapshotDifferences:
    """Packs snapshots into what differs from `reference`, and unpacks them again, bit for bit."""

    def __init__(self, reference: bytes) -> None:
        self._reference = _words(reference)
        self._scratch = self._reference.copy()  # the same between two calls

    def pack(self, snapshot: bytes) -> bytes:
        """What differs between a snapshot and the reference."""
        words = _words(snapshot)
        places = np.flatnonzero(words != self._of_size(self._reference, words.size))
        length = len(snapshot).to_bytes(_LENGTH, "little")
        return b"".join((length, places.astype(_PLACE).tobytes(), words[places].tobytes()))

    def unpack(self, packed: bytes) -> bytes:
        """The snapshot that was packed; a RecordError says that there was none."""
        length = int.from_bytes(packed[:_LENGTH], "little")
        count, rest = divmod(len(packed) - _LENGTH, _PLACE.itemsize + _WORD.itemsize)
        if rest or count < 0:
            raise RecordError(f"A stored snapshot has {len(packed):,} bytes, which is no number of differences.")
        places = np.frombuffer(packed, _PLACE, count, _LENGTH)
        words = self._of_size(self._scratch, -(-length // _WORD.itemsize))
        if count and places.max() >= words.size:
            raise RecordError(f"A stored snapshot of {length:,} bytes has differences beyond its end.")
        words[places] = np.frombuffer(packed, _WORD, count, _LENGTH + count * _PLACE.itemsize)
        snapshot = words.tobytes()
        if words is self._scratch:
            words[places] = self._reference[places]
        return snapshot[:length]

    def _of_size(self, words: NDArray[np.uint64], size: int) -> NDArray[np.uint64]:
        """The words, if there are so many; otherwise a copy that is cut off, or has zeros behind it."""
        if words.size == size:
            return words
        return np.concatenate((words[:size], np.zeros(max(0, size - words.size), dtype=_WORD)))


def _words(data: bytes) -> NDArray[np.uint64]:
    rest = -len(data) % _WORD.itemsize
    return np.frombuffer(data + bytes(rest) if rest else data, dtype=_WORD)
