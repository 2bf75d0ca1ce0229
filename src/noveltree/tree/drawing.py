"""A lookahead drawn: where its nodes are, and as SVG. Time runs from left to right.

Circles are new nodes, filled if something is left to look at below and hollow if they are solved; squares were
kept from the time step before; crosses are pruned; diamonds end the episode. A triangle on an edge is a reward. The
thick path is the best one, as of the last backup.
"""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import TYPE_CHECKING, NamedTuple

from noveltree.tree.measures import subtree_size

if TYPE_CHECKING:
    from noveltree.tree.lookahead import Lookahead
    from noveltree.tree.node import Node

#: Pixels between time steps, and between neighbours.
STEP, LANE = 34.0, 14.0
MARGIN = 24.0
#: Colours that people who see few colours can tell apart (Okabe and Ito, 2008).
COLOURS = {
    "novel": "#0072b2",
    "solved": "#00795a",
    "kept": "#7b8894",
    "pruned": "#bd5200",
    "terminal": "#5b4b00",
    "edge": "#8090a0",
    "best": "#a05f00",
    "reward": "#a05f00",
    "loss": "#b3261e",
}


class Place(NamedTuple):
    """Where a node is drawn."""

    x: float
    y: float


def status(node: Node) -> str:
    """What a node is drawn as: terminal, pruned, kept, solved or novel, the first that it is."""
    if node.terminal:
        return "terminal"
    if not node.novel:
        return "pruned"
    if node.cached:
        return "kept"
    return "solved" if node.solved else "novel"


def lay_out(lookahead: Lookahead) -> dict[Node, Place]:
    """A place for every node: a lane for each leaf, and inner nodes in the middle of their children."""
    root = lookahead.root
    lanes: dict[Node, float] = {}
    count = 0
    for node in _children_first(root):
        below = [lanes[child] for child in node.offspring()]
        if below:
            lanes[node] = (below[0] + below[-1]) / 2
        else:
            lanes[node] = count
            count += 1
    return {node: Place(STEP * lookahead.depth(node), LANE * lane) for node, lane in lanes.items()}


def best_path(lookahead: Lookahead) -> list[Node]:
    """The nodes from the root on by the greatest reward and value; the root alone if nothing was backed up."""
    path = [lookahead.root]
    while children := list(path[-1].offspring()):
        # Of equals the one with more below it says more.
        path.append(max(children, key=lambda child: (child.reward + child.value, subtree_size(child))))
    return path


def edge(above: Place, below: Place) -> str:
    """The curve from a node to one below it, as a path of SVG."""
    (px, py), (x, y) = ((place.x + MARGIN, place.y + MARGIN) for place in (above, below))
    middle = (px + x) / 2
    return f"M{px:g} {py:g}C{middle:g} {py:g} {middle:g} {y:g} {x:g} {y:g}"


def to_svg(lookahead: Lookahead, *, title: str = "", tabindex: int | None = None) -> str:
    """A lookahead as SVG; with a `tabindex` if it can have the keyboard's focus."""
    places = lay_out(lookahead)
    width = max(place.x for place in places.values()) + 2 * MARGIN
    height = max(place.y for place in places.values()) + 2 * MARGIN
    actions = lookahead.simulator.actions
    best = set(best_path(lookahead))
    edges, strong, marks = list[str](), list[str](), list[str]()
    for i, (node, place) in enumerate(places.items()):
        x, y = place.x + MARGIN, place.y + MARGIN
        parent = node.parent
        if node is not lookahead.root and parent is not None:
            (strong if node in best else edges).append(edge(places[parent], place))
            if node.reward:
                kind, sign = ("reward", "▲ +") if node.reward > 0 else ("loss", "▼ ")
                marks.append(
                    f'<text x="{x - STEP / 2:g}" y="{y - 5:g}" fill="{COLOURS[kind]}" font-size="10" '
                    f'text-anchor="middle">{sign}{node.reward:g}</text>'
                )
        marks.append(f'<g data-node="{i}">{_mark(node, x, y, _about(node, lookahead, actions))}</g>')
    focus = "" if tabindex is None else f' tabindex="{tabindex}"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" width="{width:g}" '
        f'height="{height:g}" font-family="sans-serif" role="img"{focus}>'
        f"<title>{escape(title or summary(lookahead))}</title>"
        f'<rect width="100%" height="100%" fill="#ffffff"/>'
        f'<path d="{"".join(edges)}" fill="none" stroke="{COLOURS["edge"]}"/>'
        f'<path d="{"".join(strong)}" fill="none" stroke="{COLOURS["best"]}" stroke-width="2.5"/>'
        '<path data-path="" d="" fill="none" stroke="#17202a" stroke-width="1.4" style="display:none"/>'
        f"{''.join(marks)}"
        '<circle data-ring="" r="8" fill="none" stroke="#17202a" stroke-width="1.8" style="display:none" '
        'pointer-events="none"/></svg>'
    )


def summary(lookahead: Lookahead) -> str:
    nodes = sum(1 for _ in lookahead.nodes())
    return (
        f"{nodes:,} nodes, {lookahead.interactions:,} interactions, {lookahead.cached:,} kept, "
        f"{lookahead.pruned:,} pruned, depth {lookahead.deepest:,}"
    )


def _about(node: Node, lookahead: Lookahead, actions: tuple[str, ...]) -> str:
    by = "the root" if node is lookahead.root or node.action is None else f"by {actions[node.action]}"
    return f"node {node.number}, {by}: {status(node)}, V = {node.value:g}"


def _mark(node: Node, x: float, y: float, about: str) -> str:
    kind = status(node)
    colour, named = COLOURS[kind], f"<title>{escape(about)}</title>"
    match kind:
        case "novel":
            return f'<circle cx="{x:g}" cy="{y:g}" r="4" fill="{colour}">{named}</circle>'
        case "solved":
            return f'<circle cx="{x:g}" cy="{y:g}" r="3.5" fill="#fff" stroke="{colour}">{named}</circle>'
        case "kept":
            return f'<rect x="{x - 3.5:g}" y="{y - 3.5:g}" width="7" height="7" fill="{colour}">{named}</rect>'
        case "pruned":
            path = f"M{x - 3:g} {y - 3:g}l6 6m0-6l-6 6"
            return f'<path d="{path}" stroke="{colour}" stroke-width="1.8" fill="none">{named}</path>'
        case _:
            return f'<path d="M{x:g} {y - 5:g}l5 5l-5 5l-5-5z" fill="{colour}">{named}</path>'


def _children_first(root: Node) -> Iterator[Node]:
    """All nodes, the children of each from the first action to the last, and before itself."""
    stack = [(root, False)]
    while stack:
        node, ready = stack.pop()
        if ready:
            yield node
        else:
            stack.append((node, True))
            stack.extend((child, False) for child in reversed(list(node.offspring())))
