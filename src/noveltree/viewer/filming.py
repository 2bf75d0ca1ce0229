"""Videos of what a session keeps: its films and its lookaheads, side by side, made in a process of their own."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping
from multiprocessing.connection import Connection
from pathlib import Path

from noveltree.errors import InputError, NoveltreeError
from noveltree.replay import write_video
from noveltree.replay.video import Progress
from noveltree.simulators import Frame
from noveltree.viewer.columns import Columns
from noveltree.viewer.drawn_tree import DrawnTree
from noveltree.viewer.messages import Head, pack, pack_all, unpack, unpack_all
from noveltree.viewer.pictures import unpaint
from noveltree.viewer.process import Process, ignore_interrupts
from noveltree.viewer.video import Beside


class Filming:
    """A video that is being made, or was; it is gone when this is closed."""

    def __init__(
        self,
        trees: Mapping[int, bytes],
        films: Mapping[int, bytes],
        world: Head,
        *,
        receive: Callable[[bytes], None],
        ended: Callable[[], None],
    ) -> None:
        """Of the decisions that have both a lookahead and a film, by their numbers."""
        steps = sorted(trees.keys() & films.keys())
        if not steps:
            raise InputError("There is nothing to film yet: no decision was executed.")
        if not unpack(films[steps[0]])[0]["frames"]:
            raise InputError("There is nothing to film: this game has no pictures.")
        self._place = tempfile.TemporaryDirectory(prefix="noveltree-film-")
        self.path = Path(self._place.name) / "episode.mp4"
        kept = Path(self._place.name) / "kept"
        kept.write_bytes(pack_all(message for t in steps for message in (trees[t], films[t])))
        self._process = Process(
            _perform, str(kept), str(self.path), world["rate"], world["discount"], receive=receive, ended=ended
        )

    def close(self) -> None:
        self._process.close()
        self._place.cleanup()


def film_kept(
    kept: bytes, path: Path, *, rate: float, discount: float = 1.0, progress: Progress | None = None
) -> None:
    """Film messages with lookaheads and films in turn."""
    messages = list(unpack_all(kept))
    pairs = list(zip(messages[::2], messages[1::2], strict=True))

    def frames(told: Progress | None) -> Iterator[Frame]:
        beside = Beside()
        for number, ((tree, nodes), (film, data)) in enumerate(pairs):
            drawn = DrawnTree(Columns.from_bytes(tree["nodes"], nodes), tree["chosen"], discount)
            yield from beside(unpaint(film, data), drawn)
            if told is not None:
                told(number + 1, len(pairs))

    write_video(frames, path, rate=rate, scale=1, progress=progress)


def _perform(connection: Connection, kept: str, path: str, rate: float, discount: float) -> None:
    """What runs in the process."""
    ignore_interrupts()

    def tell(done: int, total: int) -> None:
        connection.send_bytes(pack({"kind": "filming", "done": done, "total": total}))

    try:
        film_kept(Path(kept).read_bytes(), Path(path), rate=rate, discount=discount, progress=tell)
        connection.send_bytes(pack({"kind": "filmed"}))
    except NoveltreeError as error:
        connection.send_bytes(pack({"kind": "refused", "error": str(error)}))
