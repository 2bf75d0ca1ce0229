"""Pictures as they travel: one byte a pixel if there are few colours, several as what changes, deflated."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noveltree.kernels import kernel
from noveltree.viewer.messages import Head

#: A picture (height, width, 3) of bytes: red, green and blue.
Picture = NDArray[np.uint8]
_MOST_COLOURS = 256
_FASTEST = 1
#: Colours of the planes of an observation that has other planes than red, green and blue (Okabe and Ito, 2008).
_PLANES = np.array(
    [
        *([0, 0, 0], [230, 159, 0], [86, 180, 233], [0, 158, 115], [240, 228, 66]),
        *([0, 114, 178], [213, 94, 0], [204, 121, 167], [153, 153, 153], [255, 255, 255]),
    ],
    dtype=np.uint8,
)


class Painter:
    """Encodes pictures. Colours are numbered as they are met; pictures with too many keep their three bytes."""

    def __init__(self) -> None:
        self._forget()

    def _forget(self) -> None:
        self._number_of = np.zeros(2**24, dtype=np.int16)  # 1 is the first colour; pages never met are not there
        self._palette = np.zeros((_MOST_COLOURS, 3), dtype=np.uint8)
        self._colours = 0

    def __call__(self, pictures: Sequence[Picture]) -> tuple[Head, bytes]:
        """Some pictures of one size as a description and bytes: each as its difference to the one before."""
        height, width, _ = pictures[0].shape
        indexed = np.empty((len(pictures), height, width), dtype=np.uint8)
        raw: NDArray[np.uint8] = indexed
        for picture, indices in zip(pictures, indexed, strict=True):
            self._colours = _number(picture, self._number_of, self._palette, self._colours, indices)
            if self._colours < 0:  # a photograph: begin anew with the next pictures
                self._forget()
                raw = np.stack(pictures)
                break
        changes = raw.copy()
        changes[1:] ^= raw[:-1]
        channels = 1 if raw.ndim == 3 else 3
        head: Head = {"width": width, "height": height, "frames": len(pictures), "channels": channels}
        if channels == 1:
            head["palette"] = self._palette[: self._colours].tobytes().hex()
        return head, zlib.compress(changes.tobytes(), _FASTEST)


def unpaint(head: Head, data: bytes) -> list[Picture]:
    """The pictures that were encoded."""
    shape = (head["frames"], head["height"], head["width"])
    changes = np.frombuffer(zlib.decompress(data), dtype=np.uint8)
    raw = np.bitwise_xor.accumulate(changes.reshape(*shape, *([3] if head["channels"] == 3 else [])), axis=0)
    if head["channels"] == 1:
        raw = np.frombuffer(bytes.fromhex(head["palette"]), dtype=np.uint8).reshape(-1, 3)[raw]
    return list(raw)


def picture_of(observation: NDArray[Any]) -> Picture | None:
    """What is observed as a picture; None if it is no image."""
    if observation.ndim not in (2, 3) or observation.dtype.kind not in "bu":
        return None
    if observation.ndim == 2 or observation.shape[2] == 1:
        gray = observation.astype(np.uint8).reshape(*observation.shape[:2], 1)
        return np.repeat(gray * np.uint8(255 if observation.dtype.kind == "b" else 1), 3, axis=2)
    if observation.shape[2] == 3:
        return np.ascontiguousarray(observation.astype(np.uint8))
    planes = observation.shape[2]
    top = np.where(observation.any(axis=2), planes - np.argmax(observation[:, :, ::-1] != 0, axis=2), 0)
    painted: Picture = _PLANES[top % len(_PLANES)]
    return painted


@kernel
def _number(
    picture: Picture,
    number_of: NDArray[np.int16],
    palette: NDArray[np.uint8],
    colours: int,
    indices: NDArray[np.uint8],
) -> int:
    """Write the numbers of a picture's colours; how many colours are known then, -1 if there are too many."""
    height, width, _ = picture.shape
    for y in range(height):
        for x in range(width):
            colour = np.int64(picture[y, x, 0]) << 16 | np.int64(picture[y, x, 1]) << 8 | np.int64(picture[y, x, 2])
            number = number_of[colour]
            if number == 0:
                if colours == palette.shape[0]:
                    return -1
                palette[colours] = picture[y, x]
                colours += 1
                number = np.int16(colours)
                number_of[colour] = number
            indices[y, x] = number - 1
    return colours
