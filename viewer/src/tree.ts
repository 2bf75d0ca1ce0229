// A lookahead as the page knows it: columns over nodes in the order of their generation, and what follows from them.

import type { TreeHead } from "./messages.ts";

export const NOVEL = 1;
export const SOLVED = 2;
export const CACHED = 4;
export const TERMINAL = 8;

/** What a node is shown as, in the order of the legend. */
export const STATUSES = ["novel", "solved", "kept", "pruned", "terminal"] as const;
export type Status = (typeof STATUSES)[number];

export class Tree {
  readonly size: number;
  readonly parent: Int32Array;
  readonly number: Int32Array;
  readonly reward: Float32Array;
  readonly value: Float32Array;
  readonly share: Float32Array;
  readonly visits: Int32Array;
  readonly action: Uint16Array;
  readonly label: Uint8Array;
  readonly depth: Int32Array;
  /** Nodes below and including each node. */
  readonly subtree: Int32Array;
  readonly children: number[][];
  readonly deepest: number;
  private readonly places = new Map<number, number>();

  constructor(
    readonly head: TreeHead,
    payload: Uint8Array,
    discount: number,
  ) {
    const size = (this.size = head.nodes);
    const data = payload.buffer as ArrayBuffer;
    let start = payload.byteOffset;
    const take = (bytes: number) => {
      const at = start;
      start += bytes * size;
      return at;
    };
    this.parent = new Int32Array(data, take(4), size);
    this.number = new Int32Array(data, take(4), size);
    this.reward = new Float32Array(data, take(4), size);
    this.value = new Float32Array(data, take(4), size);
    this.share = new Float32Array(data, take(4), size);
    this.visits = new Int32Array(data, take(4), size);
    this.action = new Uint16Array(data, take(2), size);
    this.label = new Uint8Array(data, take(1), size);
    this.depth = new Int32Array(size);
    this.subtree = new Int32Array(size).fill(1);
    this.children = Array.from({ length: size }, () => []);
    let deepest = 0;
    for (let i = 0; i < size; i++) {
      this.places.set(this.number[i]!, i);
      const parent = this.parent[i]!;
      if (parent < 0) continue;
      this.children[parent]!.push(i);
      this.depth[i] = this.depth[parent]! + 1;
      deepest = Math.max(deepest, this.depth[i]!);
    }
    this.deepest = deepest;
    for (let i = size - 1; i > 0; i--) this.subtree[this.parent[i]!]! += this.subtree[i]!;
    for (const siblings of this.children) siblings.sort((one, other) => this.action[one]! - this.action[other]!);
    this.best = head.done ? this.bestPath(discount) : [];
  }

  /** The path of greatest values from the root, once they are backed up. */
  readonly best: number[];

  status(i: number): Status {
    const label = this.label[i]!;
    if (label & TERMINAL) return "terminal";
    if (!(label & NOVEL)) return "pruned";
    if (label & CACHED) return "kept";
    return label & SOLVED ? "solved" : "novel";
  }

  /** Which entry a node of this number is, if it is here. */
  place(number: number): number | undefined {
    return this.places.get(number);
  }

  child(i: number, action: number): number | undefined {
    return this.children[i]!.find((child) => this.action[child] === action);
  }

  /** The nodes along some actions, as far as they exist. */
  along(actions: Iterable<number>): number[] {
    const path = [0];
    for (const action of actions) {
      const next = this.child(path.at(-1)!, action);
      if (next === undefined) break;
      path.push(next);
    }
    return path;
  }

  pathTo(i: number): number[] {
    const path = [];
    for (let at = i; at >= 0; at = this.parent[at]!) path.unshift(at);
    return path;
  }

  /** The newest nodes, each the child of the one before: the rollout that was made last. */
  newest(): number[] {
    const last = this.size - 1;
    if (last <= 0 || this.label[last]! & CACHED) return [];
    const chain = [last];
    while (chain[0]! > 1 && this.parent[chain[0]!] === chain[0]! - 1 && !(this.label[chain[0]! - 1]! & CACHED)) {
      chain.unshift(chain[0]! - 1);
    }
    return this.pathTo(chain[0]!).slice(0, -1).concat(chain);
  }

  private bestPath(discount: number): number[] {
    const path = [0];
    const { chosen } = this.head;
    let next = chosen === null ? undefined : this.child(0, chosen);
    while (next !== undefined) {
      path.push(next);
      const below = this.children[next]!;
      next = undefined;
      let most = -Infinity;
      for (const child of below) {
        const worth = this.reward[child]! + discount * this.value[child]!;
        // Of equals the one with more below it says more.
        const larger = next === undefined || this.subtree[child]! > this.subtree[next]!;
        if (worth > most || (worth === most && larger)) [most, next] = [worth, child];
      }
    }
    return path;
  }
}
