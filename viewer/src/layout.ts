// Where nodes are drawn: time runs from left to right, and subtrees do not overlap.

import { hierarchy, tree as tidy } from "d3-hierarchy";
import type { Tree } from "./tree.ts";

/** Distances between time steps and between neighbours, in pixels before zooming. */
export const STEP = 46;
export const LANE = 15;

export interface Layout {
  x: Float32Array;
  y: Float32Array;
  /** Whether a node is drawn: those below a folded one are not. */
  shown: Uint8Array;
  bounds: { left: number; right: number; top: number; bottom: number };
}

/** Lay a lookahead out, without what is below `folded` nodes (by their numbers). */
export function layOut(tree: Tree, folded: ReadonlySet<number>): Layout {
  const x = new Float32Array(tree.size);
  const y = new Float32Array(tree.size);
  const shown = new Uint8Array(tree.size);
  const root = hierarchy<number>(0, (i) => (folded.has(tree.number[i]!) ? [] : tree.children[i]!));
  // Chains are what lookaheads are made of: a gap between cousins tells branches apart.
  tidy<number>()
    .nodeSize([LANE, STEP])
    .separation((one, other) => (one.parent === other.parent ? 1 : 1.25))(root);
  const bounds = { left: 0, right: 0, top: 0, bottom: 0 };
  root.each((node) => {
    const i = node.data;
    x[i] = node.y ?? 0;
    y[i] = node.x ?? 0;
    shown[i] = 1;
    bounds.right = Math.max(bounds.right, x[i]);
    bounds.top = Math.min(bounds.top, y[i]);
    bounds.bottom = Math.max(bounds.bottom, y[i]);
  });
  return { x, y, shown, bounds };
}
