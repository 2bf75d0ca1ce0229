"""An episode with its lookaheads as one HTML file: the page, and everything that a server would have sent to it."""

from __future__ import annotations

import base64
import contextlib
import re
import zlib
from collections.abc import Callable
from importlib import resources
from pathlib import Path

from noveltree.errors import InputError
from noveltree.records.files import write_atomically
from noveltree.viewer.columns import Columns
from noveltree.viewer.messages import Command, Go, Head, LookAt, Seek, pack, pack_all, unpack
from noveltree.viewer.stage import Stage
from noveltree.viewer.watching import Watching

#: Bytes that all that is told about the nodes of a decision may take; those that matter most come first.
_NODES = 30_000
#: Decisions of an episode that is played now.
_USUAL = 100
_POLICY = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src blob: data:"
_SMALLEST = 9

#: Told how many of how many decisions are made.
Progress = Callable[[int, int], None]


class _Over(Exception):
    """There are no more commands."""


class _Script:
    """Commands that are known beforehand."""

    def __init__(self) -> None:
        self.commands: list[Command] = []

    def poll(self, timeout: float | None) -> bool:
        if timeout is None and not self.commands:
            raise _Over
        return bool(self.commands)

    def next(self) -> tuple[Command, bytes]:
        return self.commands.pop(0), b""


def export_page(
    watching: Watching, path: Path, *, steps: range | None = None, progress: Progress = lambda done, total: None
) -> None:
    """Write a page that needs neither a server nor a network, with some decisions of an episode, or all of them."""
    if steps is None:
        steps = range(_USUAL if watching.record is None else watching.record.episode.steps)
    if not steps or steps.step != 1:
        raise InputError("There is nothing to export: the episode has no such steps.")
    write_atomically(path, _page(_messages(watching, steps, progress)))


def _messages(watching: Watching, steps: range, progress: Progress) -> list[bytes]:
    """What a page is sent: what is watched, all decisions, and lookaheads, films and nodes of some."""
    script, sent = _Script(), list[bytes]()
    stage = Stage(watching.spec(), script, sent.append)

    def obey(*commands: Command) -> list[tuple[Head, bytes]]:
        script.commands += commands
        before = len(sent)
        with contextlib.suppress(_Over):
            stage.run()
        return [unpack(message) for message in sent[before:]]

    shown: list[bytes] = []
    for t in steps:
        heard = obey(Seek(do="seek", t=t)) if t == steps.start else obey(Go(do="decision"))
        if t == steps.start and not t:
            shown += [message for message in sent if unpack(message)[0]["kind"] == "film"]
        films = [pack(head, data) for head, data in heard if head["kind"] == "film" and head["t"] == t - 1]
        shown += films[-1:]
        if stage.t < t:
            break  # the game was over before
        trees = [(head, data) for head, data in heard if head["kind"] == "tree" and head["t"] == t and head["done"]]
        if not trees:
            break
        head, data = trees[-1]
        del head["made"]  # the same episode gives the same file
        shown += [pack(head, data), *_nodes(head, Columns.from_bytes(head["nodes"], data), obey)]
        progress(t + 1 - steps.start, len(steps))
    films = [pack(head, data) for head, data in obey(Go(do="decision")) if head["kind"] == "film"]
    shown += films[-1:]
    heads = [unpack(message)[0] for message in sent]
    decisions, score = [], 0.0
    for decision in (head for head in heads if head["kind"] == "decision"):
        score += decision["reward"]
        decisions.append({**decision, "score": score})
    world = next(head for head in heads if head["kind"] == "world")
    told = {**world, "session": "", "agents": [world["agent"]], "recorded": None, "t": steps.start}
    state = {"kind": "state", "goal": "pause", "speed": 1, "t": 0, "seek_to": None, "over": False, "error": ""}
    return [pack(told), pack({"kind": "history", "decisions": decisions}), pack(state), *shown]


def _nodes(head: Head, columns: Columns, obey: Callable[..., list[tuple[Head, bytes]]]) -> list[bytes]:
    """What is told about nodes: the root and the children that were chosen first, then in their order."""
    numbers, parents, actions = (columns.arrays[name].tolist() for name in ("number", "parent", "action"))
    values, rewards = columns.arrays["value"].tolist(), columns.arrays["reward"].tolist()
    best = [0]
    below = [i for i, parent in enumerate(parents) if parent == 0 and actions[i] == head["chosen"]]
    while below:
        best.append(max(below, key=lambda i: rewards[i] + values[i]))
        below = [i for i, parent in enumerate(parents) if parent == best[-1]]
    order = dict.fromkeys(
        [*best[:12], *(i for i, parent in enumerate(parents) if parent == 0), *range(len(numbers))]
    )
    told: list[bytes] = []
    room = _NODES
    for i in order:
        for answer, data in obey(LookAt(do="node", t=head["t"], number=numbers[i])):
            told.append(pack(answer, data))
            room -= len(zlib.compress(told[-1]))
        if room < 0:
            break
    return told


def _page(messages: list[bytes]) -> bytes:
    """The page in one file: its script, its style, and the messages, deflated."""
    place = resources.files("noveltree.viewer") / "page"
    html = (place / "index.html").read_text()
    script, style = ((place / "assets" / name).read_text() for name in ("page.js", "page.css"))
    if "</script" in script:
        raise InputError("The page's script cannot stand within a page.")
    data = zlib.compress(pack_all(messages), _SMALLEST)
    html = re.sub(r"<script[^>]*></script>", "", html)
    html = re.sub(r'<link rel="stylesheet"[^>]*>', lambda _: f"<style>{style}</style>", html)
    policy = f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}" />'
    html = html.replace('<meta charset="utf-8" />', f'<meta charset="utf-8" />{policy}')
    recording = f'<script type="application/octet-stream" id="recording">{base64.b64encode(data).decode()}</script>'
    return html.replace("</body>", f'{recording}<script type="module">{script}</script></body>').encode()
