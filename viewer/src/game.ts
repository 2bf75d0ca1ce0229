// The screen of the game: films between decisions, at sixty frames a second.

import type { FilmHead } from "./messages.ts";
import { decode } from "./pictures.ts";

const RATE = 60;

export class Game {
  private readonly context: CanvasRenderingContext2D;
  private film: ImageData[] = [];
  private began = 0;
  private shown = -1;
  private speed = 1;
  private done: (() => void) | null = null;
  private latest = 0;

  constructor(
    private readonly canvas: HTMLCanvasElement,
    private readonly text: HTMLElement,
  ) {
    this.context = canvas.getContext("2d", { alpha: false })!;
    requestAnimationFrame(this.step);
  }

  setSpeed(speed: number): void {
    this.speed = speed;
  }

  /** Play a film, or show its last frame only; tells when it is over. */
  async play(head: FilmHead, data: Uint8Array, still: boolean, done: (() => void) | null = null): Promise<void> {
    const mine = ++this.latest;
    if (head.text !== undefined) {
      this.canvas.hidden = true;
      this.text.hidden = false;
      this.text.textContent = head.text;
      if (done) setTimeout(done, 250 / (this.speed || 8));
      return;
    }
    const film = await decode(head, data);
    if (mine !== this.latest) return; // another one came in the meantime
    this.canvas.hidden = false;
    this.text.hidden = true;
    if (this.canvas.width !== head.width || this.canvas.height !== head.height) {
      this.canvas.width = head.width;
      this.canvas.height = head.height;
      this.canvas.style.aspectRatio = `${head.width} / ${head.height}`;
    }
    this.film = still ? film.slice(-1) : film;
    this.shown = -1;
    this.began = performance.now();
    this.done = done;
    if (document.hidden) this.finish();
  }

  private finish(): void {
    const { done } = this;
    this.done = null;
    done?.();
  }

  private readonly step = (now: number): void => {
    requestAnimationFrame(this.step);
    if (!this.film.length) return;
    const rate = RATE * (this.speed || 16);
    const frame = Math.min(this.film.length - 1, Math.max(0, Math.floor(((now - this.began) / 1000) * rate)));
    if (frame !== this.shown) {
      this.shown = frame;
      this.context.putImageData(this.film[frame]!, 0, 0);
    }
    if (this.done && now - this.began >= (this.film.length / rate) * 1000) this.finish();
  };
}
