"""What a notebook shows of a lookahead: the drawing, in which nodes can be pointed at and selected.

It is one piece of HTML that needs neither a server nor a network. Where scripts are not run, as in notebooks that
are not trusted, the drawing is there, and the browser itself names the node that is pointed at.
"""

from __future__ import annotations

import json
from html import escape
from importlib import resources
from typing import TYPE_CHECKING, Any

from noveltree.tree import drawing
from noveltree.tree.base_policy import UNIFORM
from noveltree.wording import finite

if TYPE_CHECKING:
    from noveltree.tree.lookahead import Lookahead

_STYLE = (
    ".nt-widget svg{display:block}.nt-widget svg:focus{outline:2px solid #0072b2}"
    ".nt-widget [data-node]{cursor:pointer}"
    ".nt-about{font:12px/1.5 sans-serif;white-space:pre-wrap;min-height:6em;margin:6px 0}"
)
_HINT = "Point at a node, or click; arrow keys walk on from there, and the wheel with Shift zooms."
#: Digits of numbers that are told.
_DIGITS = 5


def to_html(lookahead: Lookahead) -> str:
    """The drawing with what is told of nodes, in a box that scrolls."""
    script = resources.files("noveltree.tree").joinpath("widget.js").read_text()
    actions = json.dumps(list(lookahead.simulator.actions))
    nodes = json.dumps(finite(_nodes(lookahead)), separators=(",", ":")).replace("</", "<\\/")
    summary = drawing.summary(lookahead)
    return (
        f'<div class="nt-widget" data-actions="{escape(actions)}"><style>{_STYLE}</style>'
        f'<div style="overflow:auto;max-height:480px;background:#fff">{drawing.to_svg(lookahead, tabindex=0)}</div>'
        f'<p class="nt-about" data-about aria-live="polite">{escape(summary)}\n{_HINT}</p>'
        f'<script type="application/json" data-nodes>{nodes}</script>'
        f"<script>{script}</script></div>"
    )


def _nodes(lookahead: Lookahead) -> list[dict[str, Any]]:
    """What is told of each node, in the order in which they are drawn."""
    places = drawing.lay_out(lookahead)
    number = {node: i for i, node in enumerate(places)}
    told = []
    for node, place in places.items():
        parent = None if node is lookahead.root else node.parent
        policy = None if node.base_policy is UNIFORM or node.base_policy is None else node.base_policy
        told.append(
            {
                "parent": -1 if parent is None else number[parent],
                "x": place.x + drawing.MARGIN,
                "y": place.y + drawing.MARGIN,
                "edge": "" if parent is None else drawing.edge(places[parent], place),
                "number": node.number,
                "action": node.action,
                "status": drawing.status(node),
                "reward": 0.0 if parent is None else round(node.reward, _DIGITS),
                "value": round(node.value, _DIGITS),
                "cost": None if not node.termination_cost else round(node.termination_cost, _DIGITS),
                "policy": policy and [round(share, 3) for share in policy.probabilities(len(node.children))],
            }
        )
    return told
