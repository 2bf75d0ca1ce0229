// The episode over time: score, value of the root, interactions and pruned share; drag to go to a decision.

import { theme } from "./theme.ts";

export interface Moment {
  score: number;
  value: number | null;
  interactions: number;
  pruned: number;
  /** Whether a re-planned decision does not agree with the record. */
  differs: boolean;
  by: "agent" | "human";
  /** Whether it was only recorded, and is not planned yet. */
  recorded: boolean;
}

const LEFT = 12;
const RIGHT = 12;
/** Where the plot begins: names stand above it. */
const TOP = 18;

export class Strip {
  private readonly context: CanvasRenderingContext2D;
  private moments: Moment[] = [];
  private cursor = 0;
  private head = 0;
  private wanted = false;

  constructor(
    private readonly canvas: HTMLCanvasElement,
    private readonly go: (t: number, finally_: boolean) => void,
  ) {
    this.context = canvas.getContext("2d")!;
    new ResizeObserver(() => {
      const ratio = Math.min(2, devicePixelRatio);
      canvas.width = Math.round(canvas.clientWidth * ratio);
      canvas.height = Math.round(canvas.clientHeight * ratio);
      this.draw();
    }).observe(canvas);
    addEventListener("theme", () => {
      this.draw();
    });
    let held = false;
    const at = (event: PointerEvent) => this.t(event.clientX - canvas.getBoundingClientRect().left);
    canvas.addEventListener("pointerdown", (event) => {
      held = true;
      canvas.setPointerCapture(event.pointerId);
      this.go(at(event), false);
    });
    canvas.addEventListener("pointermove", (event) => {
      if (held) this.go(at(event), false);
    });
    canvas.addEventListener("pointerup", (event) => {
      if (held) this.go(at(event), true);
      held = false;
    });
    canvas.addEventListener("keydown", (event) => {
      const by = { ArrowLeft: -1, ArrowRight: 1, PageUp: -10, PageDown: 10 }[event.key];
      const to = event.key === "Home" ? 0 : event.key === "End" ? this.last() : by === undefined ? null : this.cursor + by;
      if (to === null) return;
      event.preventDefault();
      event.stopPropagation();
      this.go(Math.max(0, Math.min(this.last(), to)), true);
    });
  }

  show(moments: Moment[], cursor: number, head: number): void {
    this.moments = moments;
    this.cursor = cursor;
    this.head = head;
    this.canvas.setAttribute("aria-valuemax", String(this.last()));
    this.canvas.setAttribute("aria-valuenow", String(cursor));
    this.canvas.setAttribute("aria-valuetext", `decision ${cursor} of ${this.last()}`);
    this.draw();
  }

  private last(): number {
    return Math.max(this.head, this.moments.length - (this.moments.at(-1)?.recorded ? 1 : 0));
  }

  private x(t: number): number {
    return LEFT + (t / Math.max(20, this.last() + 1)) * (this.canvas.clientWidth - LEFT - RIGHT);
  }

  private t(x: number): number {
    const share = (x - LEFT) / (this.canvas.clientWidth - LEFT - RIGHT);
    return Math.max(0, Math.min(this.last(), Math.floor(share * Math.max(20, this.last() + 1))));
  }

  private draw(): void {
    if (this.wanted) return;
    this.wanted = true;
    requestAnimationFrame(() => {
      this.wanted = false;
      this.paint();
    });
  }

  private paint(): void {
    const { context, canvas, moments } = this;
    const ratio = canvas.width / Math.max(1, canvas.clientWidth);
    const colours = theme();
    const [width, height] = [canvas.clientWidth, canvas.clientHeight];
    const floor = height - 17;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, height);
    const most = Math.max(1, ...moments.map((moment) => moment.interactions));
    const slot = Math.max(1, this.x(1) - this.x(0));
    moments.forEach((moment, t) => {
      const x = this.x(t);
      const high = (moment.interactions / most) * (floor - TOP - 6);
      const share = Math.min(1, moment.pruned / Math.max(1, moment.interactions));
      context.globalAlpha = moment.recorded ? 0.35 : 0.8;
      context.fillStyle = colours.edgeKept;
      context.fillRect(x, floor - high, Math.max(0.8, slot - 1), high);
      context.fillStyle = colours.status.pruned;
      context.globalAlpha *= 0.75;
      context.fillRect(x, floor - high * share, Math.max(0.8, slot - 1), high * share);
      context.globalAlpha = 1;
      if (moment.by === "human") {
        context.fillStyle = colours.status.terminal;
        context.fillRect(x, floor + 1, Math.max(1.5, slot - 1), 2);
      }
      if (moment.differs) {
        context.fillStyle = colours.loss;
        context.fillText("≠", x, floor - high - 2);
      }
    });
    this.line(colours.status.novel, (moment) => moment.score, floor, []);
    this.line(colours.best, (moment) => moment.value, floor, [4, 3]);
    const x = this.x(this.cursor) + slot / 2;
    context.fillStyle = colours.text;
    context.fillRect(x - 0.75, TOP, 1.5, floor - TOP);
    context.beginPath();
    context.arc(x, TOP + 3, 4, 0, 2 * Math.PI);
    context.fill();
    context.font = "11px system-ui, sans-serif";
    context.textBaseline = "alphabetic";
    context.textAlign = x > width - 60 ? "right" : x < 60 ? "left" : "center";
    context.fillText(`decision ${this.cursor}`, x, height - 4);
    let at = LEFT;
    context.textAlign = "left";
    const named: [string, string][] = [
      ["— score", colours.status.novel],
      ["- - value of the root", colours.best],
      ["▮ interactions", colours.faint],
      ["▮ pruned", colours.status.pruned],
    ];
    for (const [name, colour] of named) {
      context.fillStyle = colour;
      context.fillText(name, at, 12);
      at += context.measureText(name).width + 14;
      if (at > width - 60) break;
    }
  }

  private line(colour: string, of: (moment: Moment) => number | null, floor: number, dash: number[]): void {
    const values = this.moments.map(of);
    const known = values.filter((value): value is number => value !== null);
    const [low, high] = [Math.min(0, ...known), Math.max(1, ...known)];
    const { context } = this;
    context.strokeStyle = colour;
    context.lineWidth = 2;
    context.setLineDash(dash);
    context.beginPath();
    let pen = false;
    values.forEach((value, t) => {
      if (value === null) {
        pen = false;
        return;
      }
      const y = floor - 2 - ((value - low) / (high - low)) * (floor - TOP - 8);
      if (pen) context.lineTo(this.x(t + 1), y);
      else context.moveTo(this.x(t + 1), y);
      pen = true;
    });
    context.stroke();
    context.setLineDash([]);
  }
}
