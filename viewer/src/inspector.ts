// Everything about a node: its screen with what made it novel, its path, values, policy, and why.

import { find, make, shown } from "./dom.ts";
import type { NodeHead } from "./messages.ts";
import { bits, decode } from "./pictures.ts";
import { theme } from "./theme.ts";

/** What features are called, where it is not what they are of. */
const NAMES: Record<string, string> = {
  pixels: "pixel values",
  tiles: "features of tiles, which are framed on its screen",
};

export class Inspector {
  private readonly place = find("inspector");
  private latest = 0;

  constructor(
    private readonly jump: (number: number, side: "a" | "b") => void,
    private readonly close: () => void,
  ) {}

  hide(): void {
    this.latest++;
    this.place.hidden = true;
  }

  /** Show a node: beside the tree, which makes room, or above its left or right side, where the node is not. */
  async show(head: NodeHead, data: Uint8Array, actions: string[], where: "beside" | "left" | "right"): Promise<void> {
    const mine = ++this.latest;
    const picture = head.screen ? (await decode(head.screen, data))[0] : undefined;
    if (mine !== this.latest) return;
    const parts: HTMLElement[] = [];
    const name = head.depth === 0 ? "The root" : `Node ${head.number}`;
    const titled = make("h2", {}, name);
    if (where === "beside") {
      const button = make("button", { class: "icon", "aria-label": "Close", title: "Close (Escape)" }, "✕");
      button.addEventListener("click", this.close);
      titled.append(button);
    }
    parts.push(titled, make("p", { class: "labels" }, ...labels(head)));
    if (picture) parts.push(this.screen(picture, head));
    else if (head.text !== undefined) parts.push(make("pre", {}, head.text));
    parts.push(this.why(head));
    parts.push(path(head, actions), numbers(head));
    if (head.policy) parts.push(policy(head, actions));
    this.place.replaceChildren(...parts);
    this.place.dataset.where = where;
    this.place.hidden = false;
  }

  /** The screen, with the places of the features that made the node novel. */
  private screen(picture: ImageData, head: NodeHead): HTMLElement {
    const scale = Math.max(1, Math.round(320 / picture.width));
    const canvas = make("canvas", { width: picture.width * scale, height: picture.height * scale, role: "img" });
    canvas.className = "node-screen";
    const places = head.why?.places;
    canvas.setAttribute(
      "aria-label",
      `Screen of node ${head.number}${head.why?.first ? `, ${head.why.first} of its features were new` : ""}`,
    );
    const context = canvas.getContext("2d")!;
    const small = new OffscreenCanvas(picture.width, picture.height);
    small.getContext("2d")!.putImageData(picture, 0, 0);
    context.imageSmoothingEnabled = false;
    context.drawImage(small, 0, 0, canvas.width, canvas.height);
    if (places && head.why?.of !== "bytes" && head.why?.first && head.why.first < places.rows * places.columns) {
      const marked = bits(places.bits, places.rows * places.columns);
      const [wide, high] = [canvas.width / places.columns, canvas.height / places.rows];
      context.fillStyle = "rgba(0, 0, 0, 0.45)";
      context.fillRect(0, 0, canvas.width, canvas.height);
      for (let i = 0; i < marked.length; i++) {
        if (!marked[i]) continue;
        const x = (i % places.columns) * wide;
        const y = Math.floor(i / places.columns) * high;
        context.drawImage(small, (x / canvas.width) * small.width, (y / canvas.height) * small.height,
          (wide / canvas.width) * small.width, (high / canvas.height) * small.height, x, y, wide, high);
        context.strokeStyle = "#ff4fd8";
        context.lineWidth = 1.5;
        context.strokeRect(x, y, wide, high);
      }
    }
    return canvas;
  }

  private why(head: NodeHead): HTMLElement {
    const { why } = head;
    const place = make("section", { class: "why" }, make("h3", {}, "Why"));
    if (!why) place.append(make("p", {}, "This agent prunes nothing by novelty."));
    else if (!why.tested) {
      const kept = "Kept from the time step before, and not tested again.";
      if (!why.words?.length) place.append(make("p", {}, head.cached ? kept : "Not tested."));
    } else if (head.novel || (why.first ?? 0) > 0) {
      const count = why.first ?? 0;
      const word = NAMES[why.of ?? ""] ?? why.of ?? "features";
      place.append(
        make("p", {}, `${head.novel ? "Novel: " : ""}first to have ${shown(count)} of its ${shown(why.features)} `, word, "."),
      );
      if (why.of === "pixels" && count < 3000) place.append(make("p", { class: "key" }, "They are framed on its screen."));
    }
    if (why?.tested && !head.novel) {
      const before = `Pruned: all ${shown(why.features)} of its features were there before.`;
      place.append(make("p", {}, why.first ? "Pruned by another rule of the agent than novelty." : before));
    }
    if (why?.of === "bytes" && why.places && (why.first ?? 0) > 0) place.append(bytes(why.places.bits));
    if (why?.words?.length) {
      const more = (why.first ?? 0) - why.words.length;
      place.append(
        make("ul", { class: "words" }, ...why.words.map((word) => make("li", {}, word)),
          ...(more > 0 ? [make("li", {}, `and ${shown(more)} more`)] : [])),
      );
    }
    if (why?.holders?.length) {
      const list = make("ul", { class: "holders" });
      for (const holder of why.holders) {
        const button = make("button", { title: `Go to node ${holder.number}` }, `node ${holder.number}`);
        button.addEventListener("click", () => {
          this.jump(holder.number, head.side);
        });
        list.append(make("li", {}, button, ` had ${shown(holder.features)} first`));
      }
      place.append(make("p", { class: "key" }, head.novel ? "The others were seen by" : "Seen first by"), list);
    }
    return place;
  }
}

function labels(head: NodeHead): HTMLElement[] {
  const names: [boolean, string, string][] = [
    [head.terminal, "terminal", "◆ terminal"],
    [!head.novel, "pruned", "✕ pruned"],
    [head.novel && !head.cached, "novel", "● novel"],
    [head.cached, "kept", "■ kept"],
    [head.solved, "solved", "○ solved"],
  ];
  return names.filter(([is]) => is).map(([, status, text]) => make("span", { class: `label ${status}` }, text));
}

function path(head: NodeHead, actions: string[]): HTMLElement {
  const steps = head.path.map((action) => actions[action] ?? String(action));
  return make("p", { class: "path" }, make("span", { class: "key" }, `depth ${head.depth} `), steps.join(" → ") || "now");
}

function numbers(head: NodeHead): HTMLElement {
  const facts: [string, string, string][] = [
    ["reward", shown(head.reward), "What the action that leads here paid"],
    ["collected", shown(head.collected), "Rewards from the root to here"],
    ["V", shown(head.value), "Value, as of the last backup"],
    ["Q", shown(head.q), "Value of the action that leads here"],
    ["Vᵀ", shown(head.termination_cost), "Termination cost: what a network says this state is worth"],
  ];
  if (head.visits !== null) facts.push(["visits", shown(head.visits), "Simulations through this node"]);
  return make(
    "dl",
    { class: "facts" },
    ...facts.map(([name, value, title]) => make("div", { title }, make("dt", {}, name), make("dd", {}, value))),
  );
}

function policy(head: NodeHead, actions: string[]): HTMLElement {
  const place = make("section", {}, make("h3", {}, head.uniform ? "Base policy π_b: uniform" : "Base policy π_b"));
  if (head.uniform) return place;
  const most = Math.max(...head.policy!);
  for (const [action, probability] of head.policy!.entries()) {
    const fill = make("span", { class: "fill" });
    fill.style.width = `${(probability / most) * 100}%`;
    place.append(
      make("div", { class: "bar small" }, make("span", { class: "name" }, actions[action] ?? String(action)),
        make("span", { class: "track" }, fill), make("span", { class: "q" }, shown(probability, 2))),
    );
  }
  return place;
}

/** The 128 bytes of memory, with those marked that are new. */
function bytes(text: string): HTMLElement {
  const canvas = make("canvas", { width: 16 * 18, height: 8 * 18, role: "img", "aria-label": "Bytes of memory" });
  const context = canvas.getContext("2d")!;
  const colours = theme();
  bits(text, 128).forEach((marked, i) => {
    context.fillStyle = marked ? colours.status.novel : colours.grid;
    context.fillRect((i % 16) * 18, Math.floor(i / 16) * 18, 16, 16);
    context.fillStyle = marked ? colours.background : colours.faint;
    context.font = "9px ui-monospace, monospace";
    context.fillText(i.toString(16).padStart(2, "0").toUpperCase(), (i % 16) * 18 + 2, Math.floor(i / 16) * 18 + 12);
  });
  return canvas;
}
