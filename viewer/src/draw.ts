// How a lookahead is drawn: the same marks on a canvas and in an SVG.

import type { Layout } from "./layout.ts";
import { LANE, STEP } from "./layout.ts";
import type { Theme } from "./colours.ts";
import type { Status, Tree } from "./tree.ts";
import { CACHED } from "./tree.ts";

/** From where nodes are laid out to where they are seen. */
export interface View {
  sx: number;
  sy: number;
  dx: number;
  dy: number;
}

export interface Scene {
  tree: Tree;
  layout: Layout;
  view: View;
  width: number;
  height: number;
  theme: Theme;
  selected: number | null;
  hovered: number | null;
  /** Nodes that the episode went through, and the rollout that was made last. */
  executed: readonly number[];
  newest: readonly number[];
  folded: ReadonlySet<number>;
  /** The names of actions. */
  actions: readonly string[];
}

/** Above this many nodes edges are straight and marks are plain. */
export const MANY = 1500;
const STATUS_ORDER: readonly Status[] = ["kept", "solved", "novel", "pruned", "terminal"];

/** How large marks are: as the view has room, but so that shapes are told apart unless there are too many. */
export function radius(view: View, nodes: number): number {
  return Math.max(nodes > MANY ? 0.7 : 2.2, Math.min(6, view.sx * STEP * 0.17, view.sy * LANE * 0.36));
}

/** Larger where more is below, by orders of magnitude. */
export function sizeOf(tree: Tree, i: number, base: number): number {
  return base * (0.85 + 0.12 * Math.log2(tree.subtree[i]!));
}

/** Draw everything; the names of depths stand `below` so many pixels above the lower edge. */
export function drawScene(context: CanvasRenderingContext2D, scene: Scene, below = 0): void {
  const { width, height, theme, view } = scene;
  context.fillStyle = theme.background;
  context.fillRect(0, 0, width, height);
  drawTimes(context, scene, below);
  const base = radius(view, scene.tree.size);
  const seen = visible(scene, base);
  drawEdges(context, scene, seen);
  drawPath(context, scene, scene.tree.best, theme.best, 3.4, []);
  drawPath(context, scene, scene.executed, theme.executed, 1.6, [4, 4]);
  drawPath(context, scene, scene.newest, theme.newest, 1.8, []);
  const looked = scene.hovered ?? scene.selected;
  if (looked !== null) drawPath(context, scene, scene.tree.pathTo(looked), theme.text, 1.4, []);
  drawMarks(context, scene, seen, base);
  drawRewards(context, scene, seen, base);
  drawActions(context, scene, base);
  for (const [i, wide] of [
    [scene.hovered, 1.5],
    [scene.selected, 2.5],
  ] as const) {
    if (i === null || !scene.layout.shown[i]) continue;
    context.strokeStyle = theme.text;
    context.lineWidth = wide;
    context.beginPath();
    context.arc(atX(scene, i), atY(scene, i), sizeOf(scene.tree, i, base) + 4, 0, 2 * Math.PI);
    context.stroke();
  }
}

export function atX(scene: Scene, i: number): number {
  return scene.layout.x[i]! * scene.view.sx + scene.view.dx;
}

export function atY(scene: Scene, i: number): number {
  return scene.layout.y[i]! * scene.view.sy + scene.view.dy;
}

/** The nodes that are in the window, or whose parent is. */
export function visible(scene: Scene, base: number): Int32Array {
  const { tree, layout, width, height, view } = scene;
  const seen = new Int32Array(tree.size);
  const margin = 12 + base;
  let count = 0;
  for (let i = 0; i < tree.size; i++) {
    if (!layout.shown[i]) continue;
    const x = layout.x[i]! * view.sx + view.dx;
    const y = layout.y[i]! * view.sy + view.dy;
    const parent = Math.max(0, tree.parent[i]!);
    const above = layout.y[parent]! * view.sy + view.dy;
    if (x < -margin || x - STEP * view.sx > width + margin) continue;
    if (Math.max(y, above) < -margin || Math.min(y, above) > height + margin) continue;
    seen[count++] = i;
  }
  return seen.subarray(0, count);
}

/** Depths below the root, as faint columns. */
function drawTimes(context: CanvasRenderingContext2D, scene: Scene, below: number): void {
  const { theme, view, height, tree } = scene;
  const every = [1, 2, 5, 10, 20, 50, 100].find((step) => step * STEP * view.sx >= 44) ?? 200;
  context.font = "11px system-ui, sans-serif";
  context.textAlign = "center";
  context.lineWidth = 1;
  for (let depth = 0; depth <= tree.deepest; depth += every) {
    const x = Math.round(depth * STEP * view.sx + view.dx) + 0.5;
    if (x < -20 || x > scene.width + 20) continue;
    context.strokeStyle = theme.grid;
    context.beginPath();
    context.moveTo(x, 0);
    context.lineTo(x, height - 18);
    context.stroke();
    context.fillStyle = theme.faint;
    context.fillText(depth ? `+${depth}` : "now", x, height - below - 6);
  }
}

/** How wide an edge is, by how likely its action is: one of a few widths, to draw many at once. */
export const WIDTHS = [0.6, 1.1, 1.9, 3.2];
export function widthOf(share: number): number {
  return share < 0.08 ? 0 : share < 0.34 ? 1 : share < 0.67 ? 2 : 3;
}

function drawEdges(context: CanvasRenderingContext2D, scene: Scene, seen: Int32Array): void {
  const { tree, theme, view, layout } = scene;
  const curved = tree.size <= MANY;
  for (const kept of [true, false]) {
    context.strokeStyle = kept ? theme.edgeKept : theme.edge;
    for (let width = 0; width < WIDTHS.length; width++) {
      context.beginPath();
      let any = false;
      for (const i of seen) {
        const parent = tree.parent[i]!;
        if (parent < 0 || Boolean(tree.label[i]! & CACHED) !== kept || widthOf(tree.share[i]!) !== width) continue;
        any = true;
        const x0 = layout.x[parent]! * view.sx + view.dx;
        const y0 = layout.y[parent]! * view.sy + view.dy;
        const x1 = layout.x[i]! * view.sx + view.dx;
        const y1 = layout.y[i]! * view.sy + view.dy;
        context.moveTo(x0, y0);
        if (curved && Math.abs(y1 - y0) > 1) {
          const middle = (x0 + x1) / 2;
          context.bezierCurveTo(middle, y0, middle, y1, x1, y1);
        } else context.lineTo(x1, y1);
      }
      if (!any) continue;
      context.lineWidth = tree.size > MANY ? Math.min(1, WIDTHS[width]!) : WIDTHS[width]!;
      context.stroke();
    }
  }
}

function drawPath(
  context: CanvasRenderingContext2D,
  scene: Scene,
  path: readonly number[],
  colour: string,
  width: number,
  dash: number[],
): void {
  if (path.length < 2) return;
  const curved = scene.tree.size <= MANY;
  context.strokeStyle = colour;
  context.lineWidth = width;
  context.setLineDash(dash);
  context.beginPath();
  context.moveTo(atX(scene, path[0]!), atY(scene, path[0]!));
  for (let at = 1; at < path.length; at++) {
    const i = path[at]!;
    if (!scene.layout.shown[i]) break;
    const before = path[at - 1]!;
    const middle = (atX(scene, before) + atX(scene, i)) / 2;
    if (curved) {
      context.bezierCurveTo(middle, atY(scene, before), middle, atY(scene, i), atX(scene, i), atY(scene, i));
    } else context.lineTo(atX(scene, i), atY(scene, i));
  }
  context.stroke();
  context.setLineDash([]);
}

function drawMarks(context: CanvasRenderingContext2D, scene: Scene, seen: Int32Array, base: number): void {
  const { tree, theme } = scene;
  const groups: Record<Status, number[]> = { kept: [], solved: [], novel: [], pruned: [], terminal: [] };
  for (const i of seen) groups[tree.status(i)].push(i);
  const tiny = base < 2;
  for (const status of STATUS_ORDER) {
    const nodes = groups[status];
    if (!nodes.length) continue;
    context.fillStyle = context.strokeStyle = theme.status[status];
    if (tiny) {
      const side = Math.max(1.2, 2 * base);
      for (const i of nodes) context.fillRect(atX(scene, i) - side / 2, atY(scene, i) - side / 2, side, side);
      continue;
    }
    context.lineWidth = Math.min(2, base / 2);
    context.beginPath();
    for (const i of nodes) {
      mark(context, status, atX(scene, i), atY(scene, i), sizeOf(tree, i, base));
    }
    if (status === "pruned") context.stroke();
    else if (status === "solved") {
      context.fillStyle = theme.background;
      context.fill();
      context.stroke();
    } else context.fill();
  }
  for (const number of scene.folded) {
    const i = tree.place(number);
    if (i === undefined || !scene.layout.shown[i] || !tree.children[i]!.length) continue;
    context.fillStyle = theme.faint;
    context.font = "11px system-ui, sans-serif";
    context.textAlign = "left";
    context.fillText(`+${tree.subtree[i]! - 1}`, atX(scene, i) + base + 5, atY(scene, i) + 4);
  }
}

/** One mark: circles are new, squares are kept, crosses are pruned, diamonds end the episode. */
function mark(context: CanvasRenderingContext2D, status: Status, x: number, y: number, r: number): void {
  switch (status) {
    case "novel":
    case "solved":
      context.moveTo(x + r, y);
      context.arc(x, y, r, 0, 2 * Math.PI);
      break;
    case "kept":
      context.rect(x - 0.85 * r, y - 0.85 * r, 1.7 * r, 1.7 * r);
      break;
    case "pruned":
      context.moveTo(x - 0.8 * r, y - 0.8 * r);
      context.lineTo(x + 0.8 * r, y + 0.8 * r);
      context.moveTo(x - 0.8 * r, y + 0.8 * r);
      context.lineTo(x + 0.8 * r, y - 0.8 * r);
      break;
    case "terminal":
      context.moveTo(x, y - 1.4 * r);
      context.lineTo(x + 1.4 * r, y);
      context.lineTo(x, y + 1.4 * r);
      context.lineTo(x - 1.4 * r, y);
      context.closePath();
      break;
  }
}

/** Rewards on the edges that pay them: a triangle up or down, and how much where there is room. */
function drawRewards(context: CanvasRenderingContext2D, scene: Scene, seen: Int32Array, base: number): void {
  const { tree, theme } = scene;
  const words = base > 3.4;
  const side = Math.max(2, Math.min(5, base));
  context.font = "600 11px system-ui, sans-serif";
  context.textAlign = "center";
  for (const i of seen) {
    const reward = tree.reward[i]!;
    const parent = tree.parent[i]!;
    if (!reward || parent < 0) continue;
    const x = 0.4 * atX(scene, parent) + 0.6 * atX(scene, i);
    const y = 0.25 * atY(scene, parent) + 0.75 * atY(scene, i) - side - 2;
    const up = reward > 0 ? -1 : 1;
    context.fillStyle = reward > 0 ? theme.reward : theme.loss;
    context.beginPath();
    context.moveTo(x, y + up * side);
    context.lineTo(x + side, y - up * side);
    context.lineTo(x - side, y - up * side);
    context.fill();
    if (words) context.fillText(`${reward > 0 ? "+" : ""}${Number(reward.toPrecision(4))}`, x, y - side - 3);
  }
}

/** The names of the root's actions at its children, the chosen one strong, where there is room for them. */
function drawActions(context: CanvasRenderingContext2D, scene: Scene, base: number): void {
  const { tree, theme, actions } = scene;
  const children = tree.children[0]!.filter((i) => scene.layout.shown[i]);
  const near = children.some((i, at) => at > 0 && Math.abs(atY(scene, i) - atY(scene, children[at - 1]!)) < 24);
  if (near || STEP * scene.view.sx < 26) return;
  context.textAlign = "center";
  for (const i of children) {
    const chosen = tree.action[i] === tree.head.chosen;
    const [x, y] = [atX(scene, i), atY(scene, i) - sizeOf(tree, i, base) - 5];
    const name = actions[tree.action[i]!] ?? "";
    context.font = `${chosen ? "700 " : ""}10.5px system-ui, sans-serif`;
    context.lineWidth = 3;
    context.strokeStyle = theme.background;
    context.strokeText(name, x, y); // so that it can be read above edges
    context.fillStyle = chosen ? theme.best : theme.faint;
    context.fillText(name, x, y);
  }
}
