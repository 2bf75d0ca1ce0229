// What the lookahead itself says of a node, where nothing more is known.

import type { NodeHead, Side } from "./messages.ts";
import type { Tree } from "./tree.ts";
import { CACHED, NOVEL, SOLVED, TERMINAL } from "./tree.ts";

export function knownOf(tree: Tree, i: number, side: Side, discount: number): NodeHead {
  const path = tree.pathTo(i).slice(1);
  const label = tree.label[i]!;
  return {
    kind: "node",
    t: tree.head.t,
    side,
    number: tree.number[i]!,
    depth: tree.depth[i]!,
    path: path.map((each) => tree.action[each]!),
    reward: i ? tree.reward[i]! : 0,
    collected: path.reduce((sum, each) => sum + tree.reward[each]!, 0),
    value: tree.value[i]!,
    q: i ? tree.reward[i]! + discount * tree.value[i]! : null,
    policy: null,
    uniform: false,
    termination_cost: null,
    visits: tree.visits[i] || null,
    novel: Boolean(label & NOVEL),
    solved: Boolean(label & SOLVED),
    cached: Boolean(label & CACHED),
    terminal: Boolean(label & TERMINAL),
    lives: null,
    why: { tested: false, words: ["Its screen and its features are not in this file."] },
  };
}
