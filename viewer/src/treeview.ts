// A lookahead that can be moved, zoomed, folded and walked through, by pointer and by keys.

import type { Scene, View } from "./draw.ts";
import { drawScene, MANY } from "./draw.ts";
import type { Layout } from "./layout.ts";
import { layOut, LANE, STEP } from "./layout.ts";
import { isStill, theme } from "./theme.ts";
import type { Tree } from "./tree.ts";

const MOVING = 180;
const REACH = 16;
/** How much wider than the window a large tree is drawn, on each side; and when it stands still again. */
const MARGIN = 0.25;
const SETTLED = 120;
const EDGE = { left: 34, right: 46, top: 26, bottom: 34 };
/** On phones, where buttons stand above the tree. */
const NARROW = 500;
const NARROW_TOP = 56;

export interface Listener {
  /** Somebody points at a node, or at none. */
  hover(tree: Tree, i: number | null): void;
  select(tree: Tree, i: number | null): void;
}

export class TreeView {
  tree: Tree | null = null;
  selected: number | null = null;
  /** The names of actions. */
  actions: readonly string[] = [];
  readonly canvas = document.createElement("canvas");
  private readonly context: CanvasRenderingContext2D;
  private readonly label = document.createElement("p");
  private target: Layout | null = null;
  private shown: Layout | null = null;
  private from: { x: Float32Array; y: Float32Array } | null = null;
  private began = 0;
  private view: View = { sx: 1, sy: 1, dx: 0, dy: 0 };
  private viewFrom: View | null = null;
  private viewTo: View | null = null;
  private fitted = true;
  private hovered: number | null = null;
  private readonly folded = new Set<number>();
  private executed: readonly number[] = [];
  private newest: readonly number[] = [];
  private wanted = false;
  private readonly pointers = new Map<number, { x: number; y: number }>();
  private moved = false;
  /** A large tree as it was last drawn in full, wider than the window: while it is moved, that is moved. */
  private readonly still = document.createElement("canvas");
  private stillView: View | null = null;
  private refresh = 0;

  constructor(
    readonly place: HTMLElement,
    name: string,
    private readonly listener: Listener,
  ) {
    this.canvas.tabIndex = 0;
    this.canvas.setAttribute("role", "application");
    this.canvas.setAttribute("aria-roledescription", "tree");
    this.canvas.setAttribute("aria-label", name);
    this.context = this.canvas.getContext("2d", { alpha: false })!;
    this.label.className = "caption";
    place.append(this.canvas, this.label);
    new ResizeObserver(() => {
      this.resize();
    }).observe(place);
    addEventListener("theme", () => {
      this.draw();
    });
    this.listen();
  }

  /** Show a lookahead; nodes that were there before move to their new places. */
  show(tree: Tree, executed: readonly number[], growing: boolean, caption: string): void {
    const before = this.tree;
    const old = this.shown;
    this.tree = tree;
    this.label.textContent = caption;
    this.executed = executed;
    this.newest = growing ? tree.newest() : [];
    this.target = layOut(tree, this.folded);
    if (this.selected !== null && before) this.selected = tree.place(before.number[this.selected]!) ?? null;
    this.hovered = null;
    if (before && old && !isStill() && tree.size <= MANY && before.size <= MANY) this.moveFrom(before, old);
    else {
      this.shown = this.target;
      this.from = null;
    }
    if (this.fitted) this.fit(before !== null && !isStill());
    this.draw();
  }

  clear(): void {
    this.tree = this.target = this.shown = this.from = null;
    this.selected = this.hovered = null;
    this.folded.clear();
  }

  private moveFrom(before: Tree, old: Layout): void {
    const tree = this.tree!;
    const target = this.target!;
    const x = new Float32Array(tree.size);
    const y = new Float32Array(tree.size);
    for (let i = 0; i < tree.size; i++) {
      const was = before.place(tree.number[i]!);
      const parent = Math.max(0, tree.parent[i]!);
      x[i] = was === undefined ? (i ? x[parent]! : target.x[i]!) : old.x[was]!;
      y[i] = was === undefined ? (i ? y[parent]! : target.y[i]!) : old.y[was]!;
    }
    this.from = { x, y };
    this.shown = { ...target, x: x.slice(), y: y.slice() };
    this.began = performance.now();
  }

  /** See all of it. */
  fit(smoothly = false): void {
    const { target, canvas } = this;
    this.fitted = true;
    if (!target || !canvas.clientWidth) return;
    const wide = canvas.clientWidth - EDGE.left - EDGE.right;
    const above = canvas.clientWidth < NARROW ? NARROW_TOP : EDGE.top;
    const high = canvas.clientHeight - above - EDGE.bottom;
    const { right, top, bottom } = target.bounds;
    const sx = Math.max(0.02, Math.min(1.7, wide / Math.max(right, STEP)));
    const sy = Math.max(0.002, Math.min(2.2, high / Math.max(bottom - top, LANE)));
    const view = { sx, sy, dx: EDGE.left, dy: above + high / 2 - (sy * (top + bottom)) / 2 };
    if (smoothly) [this.viewFrom, this.viewTo] = [{ ...this.view }, view];
    else [this.view, this.viewTo] = [view, null];
    if (smoothly && !this.from) this.began = performance.now();
    this.draw();
  }

  /** Bring the root to the left edge, half way down, in readable size. */
  centre(): void {
    this.fitted = false;
    this.viewTo = null;
    const { shown } = this;
    if (!shown) return;
    this.view = { sx: 1.2, sy: 1.4, dx: EDGE.left + 20, dy: 0 };
    this.view.dy = this.canvas.clientHeight / 2 - shown.y[0]! * this.view.sy;
    this.draw();
  }

  zoom(factor: number, x = this.canvas.clientWidth / 2, y = this.canvas.clientHeight / 2): void {
    const { view } = this;
    const by = Math.max(0.02 / view.sx, Math.min(12 / view.sx, factor));
    this.move({ sx: view.sx * by, sy: view.sy * by, dx: x - (x - view.dx) * by, dy: y - (y - view.dy) * by });
  }

  pan(dx: number, dy: number): void {
    this.move({ ...this.view, dx: this.view.dx + dx, dy: this.view.dy + dy });
  }

  /** Hide what is below a node, or show it again. */
  fold(i = this.selected): void {
    if (i === null || !this.tree) return;
    const number = this.tree.number[i]!;
    if (!this.folded.delete(number)) this.folded.add(number);
    this.show(this.tree, this.executed, false, this.label.textContent);
  }

  select(i: number | null, reveal = false): void {
    this.selected = i;
    if (this.tree) this.listener.select(this.tree, i);
    if (i !== null && reveal) this.reveal(i);
    this.draw();
  }

  private reveal(i: number): void {
    const x = this.x(i);
    const y = this.y(i);
    const { clientWidth: width, clientHeight: height } = this.canvas;
    const dx = x < 20 ? 60 - x : x > width - 20 ? width - 60 - x : 0;
    const dy = y < 20 ? 60 - y : y > height - 20 ? height - 60 - y : 0;
    if (dx || dy) this.pan(dx, dy);
  }

  scene(width = this.canvas.clientWidth, height = this.canvas.clientHeight): Scene | null {
    const { tree, shown, view, selected, hovered, executed, newest, folded } = this;
    if (!tree || !shown) return null;
    const { actions } = this;
    return { tree, layout: shown, view, width, height, theme: theme(), selected, hovered, executed, newest, folded, actions };
  }

  /** Where a node is seen. */
  x(i: number): number {
    return this.shown!.x[i]! * this.view.sx + this.view.dx;
  }

  y(i: number): number {
    return this.shown!.y[i]! * this.view.sy + this.view.dy;
  }

  private resize(): void {
    const ratio = Math.min(2, devicePixelRatio);
    const { clientWidth, clientHeight } = this.canvas;
    this.canvas.width = Math.max(1, Math.round(clientWidth * ratio));
    this.canvas.height = Math.max(1, Math.round(clientHeight * ratio));
    if (this.fitted) this.fit();
    this.draw();
  }

  draw(): void {
    if (this.wanted) return;
    this.wanted = true;
    requestAnimationFrame((now) => {
      this.wanted = false;
      this.step(now);
      const scene = this.scene();
      if (!scene?.width) return;
      const ratio = this.canvas.width / scene.width;
      this.context.setTransform(ratio, 0, 0, ratio, 0, 0);
      if (scene.tree.size <= MANY) drawScene(this.context, scene);
      else this.drawLarge(scene, ratio);
    });
  }

  /** A large tree takes longer than a frame: what was drawn is moved, and drawn again when it stands still. */
  private drawLarge(scene: Scene, ratio: number): void {
    const { context, still, stillView } = this;
    const { width, height, view } = scene;
    if (stillView && this.moving) {
      const [kx, ky] = [view.sx / stillView.sx, view.sy / stillView.sy];
      context.fillStyle = scene.theme.background;
      context.fillRect(0, 0, width, height);
      context.imageSmoothingEnabled = false;
      const [mx, my] = [width * MARGIN, height * MARGIN];
      context.drawImage(
        still,
        view.dx - stillView.dx * kx - mx * kx,
        view.dy - stillView.dy * ky - my * ky,
        (width + 2 * mx) * kx,
        (height + 2 * my) * ky,
      );
      return;
    }
    const [mx, my] = [width * MARGIN, height * MARGIN];
    still.width = Math.round((width + 2 * mx) * ratio);
    still.height = Math.round((height + 2 * my) * ratio);
    const wide = still.getContext("2d", { alpha: false })!;
    wide.setTransform(ratio, 0, 0, ratio, 0, 0);
    const shifted = { ...view, dx: view.dx + mx, dy: view.dy + my };
    drawScene(wide, { ...scene, view: shifted, width: width + 2 * mx, height: height + 2 * my, hovered: null }, my);
    this.stillView = { ...view };
    context.drawImage(still, -mx, -my, width + 2 * mx, height + 2 * my);
  }

  /** Whether somebody is moving the tree right now. */
  private moving = false;

  private move(view: View): void {
    this.fitted = false;
    this.viewTo = null;
    this.view = view;
    this.moving = true;
    clearTimeout(this.refresh);
    this.refresh = setTimeout(() => {
      this.moving = false;
      this.draw();
    }, SETTLED);
    this.draw();
  }

  /** Let what moves move on. */
  private step(now: number): void {
    const share = Math.min(1, (now - this.began) / MOVING);
    const eased = 1 - (1 - share) ** 3;
    const { from, target, shown } = this;
    if (from && target && shown) {
      for (let i = 0; i < from.x.length; i++) {
        shown.x[i] = from.x[i]! + (target.x[i]! - from.x[i]!) * eased;
        shown.y[i] = from.y[i]! + (target.y[i]! - from.y[i]!) * eased;
      }
      if (share === 1) this.from = null;
    }
    const { viewFrom, viewTo } = this;
    if (viewFrom && viewTo) {
      const between = (one: number, other: number) => one + (other - one) * eased;
      this.view = {
        sx: between(viewFrom.sx, viewTo.sx),
        sy: between(viewFrom.sy, viewTo.sy),
        dx: between(viewFrom.dx, viewTo.dx),
        dy: between(viewFrom.dy, viewTo.dy),
      };
      if (share === 1) this.viewTo = null;
    }
    if (share < 1 && (this.from ?? this.viewTo)) this.draw();
  }

  /** The node nearest to a point, if one is near. */
  nearest(x: number, y: number): number | null {
    const { tree, shown } = this;
    if (!tree || !shown) return null;
    let best: number | null = null;
    let least = REACH * REACH;
    for (let i = 0; i < tree.size; i++) {
      if (!shown.shown[i]) continue;
      const dx = this.x(i) - x;
      const dy = this.y(i) - y;
      const distance = dx * dx + dy * dy;
      if (distance < least) [least, best] = [distance, i];
    }
    return best;
  }

  /** Go from the selected node to another one: to its parent, its best child, or a neighbour at the same depth. */
  walk(key: string): void {
    const { tree, shown } = this;
    if (!tree || !shown) return;
    const at = this.selected;
    if (at === null) {
      this.select(0, true);
      return;
    }
    if (key === "ArrowLeft") this.select(Math.max(0, tree.parent[at]!), true);
    else if (key === "ArrowRight") {
      const below = tree.children[at]!.filter((child) => shown.shown[child]);
      const best = tree.best.find((i) => below.includes(i));
      const next = best ?? below.reduce<number | undefined>(
        (most, child) => (most === undefined || tree.subtree[child]! > tree.subtree[most]! ? child : most),
        undefined,
      );
      if (next !== undefined) this.select(next, true);
    } else {
      const down = key === "ArrowDown" ? 1 : -1;
      let next: number | null = null;
      for (let i = 0; i < tree.size; i++) {
        const away = (shown.y[i]! - shown.y[at]!) * down;
        if (!shown.shown[i] || tree.depth[i] !== tree.depth[at] || away <= 0) continue;
        if (next === null || away < (shown.y[next]! - shown.y[at]!) * down) next = i;
      }
      if (next !== null) this.select(next, true);
    }
  }

  private listen(): void {
    const { canvas } = this;
    const place = (event: MouseEvent) => {
      const box = canvas.getBoundingClientRect();
      return { x: event.clientX - box.left, y: event.clientY - box.top };
    };
    canvas.addEventListener(
      "wheel",
      (event) => {
        event.preventDefault();
        const { x, y } = place(event);
        this.zoom(Math.exp(-event.deltaY * 0.0016), x, y);
      },
      { passive: false },
    );
    canvas.addEventListener("pointerdown", (event) => {
      canvas.setPointerCapture(event.pointerId);
      this.pointers.set(event.pointerId, place(event));
      this.moved = false;
    });
    canvas.addEventListener("pointermove", (event) => {
      const now = place(event);
      const before = this.pointers.get(event.pointerId);
      if (!before) {
        this.point(this.nearest(now.x, now.y));
        return;
      }
      const others = [...this.pointers].filter(([id]) => id !== event.pointerId).map(([, at]) => at);
      const other = others[0];
      if (other) {
        const far = (at: { x: number; y: number }) => Math.hypot(at.x - other.x, at.y - other.y);
        this.zoom(far(now) / Math.max(1, far(before)), (now.x + other.x) / 2, (now.y + other.y) / 2);
        this.moved = true;
      } else if (this.moved || Math.hypot(now.x - before.x, now.y - before.y) > 3) {
        this.moved = true;
        this.pan(now.x - before.x, now.y - before.y);
      } else return;
      this.pointers.set(event.pointerId, now);
    });
    const end = (event: PointerEvent) => {
      this.pointers.delete(event.pointerId);
      if (event.type !== "pointerup" || this.moved) return;
      const { x, y } = place(event);
      this.select(this.nearest(x, y));
    };
    canvas.addEventListener("pointerup", end);
    canvas.addEventListener("pointercancel", end);
    canvas.addEventListener("pointerleave", () => {
      this.point(null);
    });
    canvas.addEventListener("dblclick", (event) => {
      const { x, y } = place(event);
      this.fold(this.nearest(x, y));
    });
    canvas.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.key.startsWith("Arrow")) this.walk(event.key);
      else if (event.key === "Enter") this.fold();
      else if (event.key === "Escape") this.select(null);
      else return;
      event.preventDefault();
      event.stopPropagation();
    });
  }

  private point(i: number | null): void {
    if (i === this.hovered || !this.tree) return;
    this.hovered = i;
    this.canvas.style.cursor = i === null ? "grab" : "pointer";
    this.listener.hover(this.tree, i);
    this.draw();
  }
}
