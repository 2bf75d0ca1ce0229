// Where messages come from: the server, which may go away and come back, or a recording in the page itself.

import type { Command, Message } from "./messages.ts";
import { unpack } from "./messages.ts";

export interface Source {
  readonly live: boolean;
  send(command: Command): void;
}

export interface Listener {
  message(message: Message): void;
  connected(yes: boolean): void;
}

const SHORTEST_WAIT = 250;
const LONGEST_WAIT = 5000;
/** The code with which a server closes a connection for which it has no room, having said so. */
const FULL = 1013;

/** A connection that is made again whenever it is lost, to the session that was watched. */
export class Connection implements Source {
  readonly live = true;
  private socket: WebSocket | null = null;
  private wait = SHORTEST_WAIT;

  constructor(
    private readonly listener: Listener,
    private session: string | null,
  ) {
    this.connect();
    addEventListener("online", () => {
      this.connect();
    });
  }

  /** The session to come back to. */
  stay(session: string): void {
    this.session = session;
  }

  send(command: Command): void {
    if (this.socket?.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(command));
  }

  private connect(): void {
    if (this.socket && this.socket.readyState <= WebSocket.OPEN) return;
    const query = this.session === null ? "" : `?session=${encodeURIComponent(this.session)}`;
    const socket = new WebSocket(`ws://${location.host}/watch${query}`);
    this.socket = socket;
    socket.binaryType = "arraybuffer";
    let welcome = false;
    socket.onmessage = (event: MessageEvent<ArrayBuffer>) => {
      const message = unpack(event.data);
      if (!welcome && message.head.kind !== "failed") {
        welcome = true;
        this.wait = SHORTEST_WAIT;
        this.listener.connected(true);
      }
      this.listener.message(message);
    };
    socket.onclose = (event) => {
      if (socket !== this.socket) return;
      if (event.code !== FULL) this.listener.connected(false);
      setTimeout(() => {
        this.connect();
      }, this.wait);
      this.wait = Math.min(LONGEST_WAIT, 2 * this.wait);
    };
  }
}

/** The messages of a page that was exported: nothing can be planned, everything can be looked at. */
export class Recording implements Source {
  readonly live = false;
  private readonly kept = new Map<string, Message[]>();

  constructor(
    private readonly listener: Listener,
    private readonly messages: Message[],
  ) {}

  /** Tell everything but what belongs to single decisions, which is kept. */
  start(): void {
    this.listener.connected(true);
    for (const message of this.messages) {
      const { head } = message;
      if (head.kind === "tree" || head.kind === "film" || head.kind === "node") {
        const key = head.kind === "node" ? `node ${head.t} ${head.number}` : `${head.kind} ${head.t}`;
        this.kept.set(key, [...(this.kept.get(key) ?? []), message]);
      } else this.listener.message(message);
    }
  }

  /** The decisions whose lookaheads are here. */
  get range(): [number, number] {
    const all = [...this.kept.keys()].filter((key) => key.startsWith("tree ")).map((key) => Number(key.slice(5)));
    return [Math.min(...all), Math.max(...all)];
  }

  knows(t: number, number: number): boolean {
    return this.kept.has(`node ${t} ${number}`);
  }

  send(command: Command): void {
    if (command.do === "speed") {
      for (const { head, payload } of this.messages) {
        if (head.kind === "state") this.listener.message({ head: { ...head, speed: command.speed }, payload });
      }
    }
    const keys =
      command.do === "see" || command.do === "seek"
        ? [`film ${command.t - 1}`, `film ${command.t}`, `tree ${command.t}`]
        : command.do === "node"
          ? [`node ${command.t} ${command.number}`]
          : [];
    for (const key of keys) for (const message of this.kept.get(key) ?? []) this.listener.message(message);
  }

  /** Messages that an export has put into the page, if there are any. */
  static async inPage(): Promise<Message[] | null> {
    const data = document.getElementById("recording")?.textContent;
    if (!data) return null;
    const bytes = Uint8Array.from(atob(data.trim()), (letter) => letter.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    const all = await new Response(stream).arrayBuffer();
    const messages = [];
    const view = new DataView(all);
    for (let at = 0; at < all.byteLength; ) {
      const length = view.getUint32(at, true);
      messages.push(unpack(all.slice(at + 4, at + 4 + length)));
      at += 4 + length;
    }
    return messages;
  }
}
