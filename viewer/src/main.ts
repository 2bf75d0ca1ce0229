// The page: what comes in is shown, and what people do goes out.

import { Bars, short } from "./bars.ts";
import { find, make, shown } from "./dom.ts";
import type { Scene } from "./draw.ts";
import { Game } from "./game.ts";
import { Inspector } from "./inspector.ts";
import type { Control } from "./keys.ts";
import { face, install, joystick } from "./keys.ts";
import { knownOf } from "./known.ts";
import { fillLegend } from "./legend.ts";
import type { Command, Decision, FilmHead, Message, NodeHead, Side, State, TreeHead, World } from "./messages.ts";
import { savePng, saveSvg, saveVideo } from "./saving.ts";
import type { Source } from "./source.ts";
import { Connection, Recording } from "./source.ts";
import type { Moment } from "./strip.ts";
import { Strip } from "./strip.ts";
import { noteDrawn } from "./timing.ts";
import * as themes from "./theme.ts";
import { Tree } from "./tree.ts";
import { TreeView } from "./treeview.ts";

const SPEEDS: [number, string][] = [[0.1, "⅒×"], [0.25, "¼×"], [0.5, "½×"], [1, "1×"], [2, "2×"], [4, "4×"], [0, "max"]];
const MOST_FILMS = 40;
const HOVER = 60;
/** Letters of a name for which there is no room above a tree. */
const LONG = 9;
/** How long something is said that passes. */
const PASSING = 8000;

class Page {
  private source!: Source;
  private world: World | null = null;
  private state: State | null = null;
  private decisions: Decision[] = [];
  private readonly differs = new Set<number>();
  private readonly films = new Map<number, { head: FilmHead; data: Uint8Array }>();
  /** The decision that is shown; null: the one that is being made. */
  private cursor: number | null = null;
  private playingBack = false;
  private hands = false;
  private waiting = false;
  private readonly held = new Set<string>();
  private asked: { side: Side; number: number } | null = null;
  private timer = 0;
  private linked: number | null = null;
  private passing = 0;
  private noted = false;
  private readonly nodes = new Map<string, { head: NodeHead; data: Uint8Array }>();

  private readonly game = new Game(find("screen"), find("screen-text"));
  private readonly bars = new Bars((action) => {
    this.act(action);
  });
  private readonly views: Record<Side, TreeView> = {
    a: this.makeView("a"),
    b: this.makeView("b"),
  };
  private readonly strip = new Strip(find("strip"), (t, last) => {
    this.go(t, last);
  });
  private readonly inspector = new Inspector(
    (number, side) => {
      const view = this.views[side];
      const i = view.tree?.place(number);
      if (i !== undefined) view.select(i, true);
    },
    () => {
      this.views.a.select(null);
      this.views.b.select(null);
    },
  );

  async start(): Promise<void> {
    const link = new URLSearchParams(location.hash.slice(1));
    // Whoever looked at an earlier decision finds it again after a reload.
    const wanted = link.get("decision") ?? sessionStorage.getItem("decision");
    this.linked = wanted === null ? null : Number(wanted);
    const messages = await Recording.inPage();
    const listener = {
      message: (message: Message) => {
        this.take(message);
      },
      connected: (yes: boolean) => {
        document.body.classList.toggle("lost", !yes);
        this.say(yes ? "" : "The connection is lost; trying again …");
      },
    };
    if (messages) {
      document.body.classList.add("recording");
      this.source = new Recording(listener, messages);
    } else {
      this.source = new Connection(listener, link.get("session") ?? sessionStorage.getItem("session"));
    }
    this.controls();
    fillLegend();
    themes.apply();
    if (this.source instanceof Recording) {
      this.source.start();
      this.go(this.linked ?? 0, true);
    }
  }

  // -- what comes in --------------------------------------------------------------------------------------------

  private take({ head, payload }: Message): void {
    switch (head.kind) {
      case "world":
        this.begin(head);
        break;
      case "history":
        this.decisions = head.decisions;
        if (this.cursor !== null && this.cursor >= this.decisions.length) this.cursor = null;
        this.showEpisode();
        break;
      case "decision":
        this.decisions.length = head.t;
        this.decisions.push(head);
        this.waiting = false;
        if (this.cursor === null) this.nodes.clear();
        this.showEpisode();
        break;
      case "state": {
        const first = this.state === null;
        this.state = head;
        this.showState();
        if (first) this.ready(head);
        break;
      }
      case "film":
        this.keepFilm(head, payload);
        if (this.cursor === null) void this.game.play(head, payload, themes.isStill() || this.state?.goal === "seek");
        else if (head.t === this.cursor - 1 && !this.playingBack) void this.game.play(head, payload, true);
        else if (head.t === this.cursor && this.playingBack) this.playFilm(head, payload);
        break;
      case "tree":
        if (head.differs) this.differs.add(head.t);
        else if (head.done) this.differs.delete(head.t);
        if (head.t === this.t && (this.state?.goal !== "seek" || head.done)) this.showTree(head, payload);
        break;
      case "node":
        this.nodes.set(`${head.t} ${head.side} ${head.number}`, { head, data: payload });
        this.showNode(head, payload);
        break;
      case "gone":
        this.say(`The lookahead of decision ${head.t} is not kept any more.`);
        break;
      case "filming":
        this.say(`Making the video: ${head.done} of ${head.total} decisions.`);
        break;
      case "filmed":
        this.say("The video is made.", "passing");
        if (this.world) saveVideo(this.world.session, `${this.world.game} ${this.world.agent}`);
        break;
      case "lost":
      case "failed":
      case "refused":
        this.say(head.error, head.kind === "failed" ? "state" : "passing");
        break;
    }
  }

  private begin(world: World): void {
    this.world = world;
    if (world.begin || world.t < this.decisions.length) {
      this.decisions.length = Math.min(this.decisions.length, world.t);
      this.films.clear();
      this.nodes.clear();
      this.differs.clear();
      this.cursor = null;
      if (world.begin) for (const view of Object.values(this.views)) view.clear();
    }
    if (this.source instanceof Connection) {
      this.source.stay(world.session);
      sessionStorage.setItem("session", world.session);
    }
    document.title = `${world.game} · noveltree`;
    find("title").textContent = world.game;
    const record = world.recorded ? `recorded, ${shown(world.recorded.action.length)} decisions · ` : "";
    find("subtitle").textContent =
      `${record}${world.agent}${world.features ? ` · ${world.features}` : ""} · seed ${world.seed}` +
      (world.index ? `, episode ${world.index}` : "");
    this.bars.begin(world.actions, world.compared !== null);
    for (const view of Object.values(this.views)) view.actions = world.actions;
    fill(find("agent"), world.agents.map((agent) => [agent, agent]), world.agent);
    fill(find("compare"), [["", "nobody"], ...world.agents.map((agent): [string, string] => [agent, agent])], world.compared ?? "");
    find<HTMLInputElement>("budget").value = world.budget === null ? "" : String(world.budget);
    find("lives").textContent = shown(world.lives);
    find("tree-b").hidden = world.compared === null;
    if (world.compared === null) this.views.b.clear();
    if (world.not_planned) this.say(world.not_planned);
    this.showEpisode();
  }

  /** The page knows everything that there was before it: go where its address says, or begin to play. */
  private ready(state: State): void {
    if (!this.source.live) return;
    const { linked } = this;
    this.linked = null;
    if (linked !== null) this.go(linked, true);
    else if (!this.decisions.length && state.goal === "pause" && !state.over) this.send({ do: "play" });
  }

  /** The decision that is shown. */
  private get t(): number {
    return this.cursor ?? this.decisions.length;
  }

  private keepFilm(head: FilmHead, data: Uint8Array): void {
    this.films.delete(head.t);
    this.films.set(head.t, { head, data });
    if (this.films.size > MOST_FILMS) this.films.delete(this.films.keys().next().value!);
  }

  private showTree(head: TreeHead, payload: Uint8Array): void {
    const tree = new Tree(head, payload, this.world?.discount ?? 1);
    const view = this.views[head.side];
    const later = this.actionsFrom(head.t);
    const executed = later.length ? tree.along(later) : [];
    const growing = !head.done && this.state?.goal !== "seek";
    const full = head.chosen === null ? "" : (this.world?.actions[head.chosen] ?? "");
    const name = full.length > LONG ? short(full) : full;
    const what = head.done ? ` · chooses ${name}` : tree.newest().length ? " · planning" : "";
    view.show(tree, executed, growing, `${head.agent} · ${shown(head.nodes)} ${head.nodes === 1 ? "node" : "nodes"}${what}`);
    this.bars.show(head);
    if (head.side === "a") {
      if (head.done && head.note) this.say(head.note, "note");
      else if (this.noted) this.say("");
    }
    if (head.made !== undefined && head.done && head.side === "a") noteDrawn(head.made);
    document.body.dataset.shown = `${head.t}:${head.done ? "done" : "growing"}`;
    if (view.selected !== null && head.done) this.ask(head.side, tree.number[view.selected]!);
  }

  /** The actions that were executed from a decision on, as far as they are known. */
  private actionsFrom(t: number): number[] {
    const recorded = this.world?.recorded?.action ?? [];
    const known = this.decisions.map((decision) => decision.action);
    return [...known, ...recorded.slice(known.length)].slice(t);
  }

  private showNode(head: NodeHead, data: Uint8Array): void {
    if (head.t !== this.t || this.asked?.number !== head.number || this.asked.side !== head.side) return;
    const pinned = this.views.a.selected !== null || this.views.b.selected !== null;
    const view = this.views[head.side];
    const i = view.tree?.place(head.number);
    const place = pinned ? "beside" : i !== undefined && view.x(i) > view.canvas.clientWidth / 2 ? "left" : "right";
    void this.inspector.show(head, data, this.world?.actions ?? [], place);
    if (!pinned) return;
    const status = head.terminal ? "terminal" : head.novel ? (head.cached ? "kept" : "novel") : "pruned";
    const last = head.path.at(-1);
    const by = last === undefined ? "the root" : `by ${this.world?.actions[last] ?? String(last)}`;
    find("said").textContent =
      `Node ${head.number}, depth ${head.depth}, ${by}, ${status}${head.solved ? ", solved" : ""}, ` +
      `value ${shown(head.value)}, reward ${shown(head.reward)}.`;
  }

  private showState(): void {
    const { state } = this;
    if (!state) return;
    const playing = this.playingBack || state.goal === "play";
    face(find("play"), playing ? "pause" : "play", playing ? "pause" : "play");
    this.game.setSpeed(state.speed);
    find<HTMLSelectElement>("speed").value = String(state.speed);
    const progress = find<HTMLProgressElement>("progress");
    progress.hidden = state.seek_to === null;
    if (state.seek_to !== null) {
      progress.max = Math.max(1, state.seek_to);
      progress.value = state.t;
      this.say(`Planning up to decision ${state.seek_to}: ${state.t} are done.`);
    } else if (state.error) this.say(state.error, "passing");
    else if (state.over) this.say("The game is over.");
    else if (find("message").textContent.startsWith("Planning up")) this.say("");
    document.body.dataset.goal = state.goal;
  }

  private showEpisode(): void {
    const moments: Moment[] = this.decisions.map((decision) => ({
      score: decision.score,
      value: decision.value === null ? null : decision.value,
      interactions: decision.interactions,
      pruned: decision.pruned,
      differs: this.differs.has(decision.t),
      by: decision.by,
      recorded: false,
    }));
    const recorded = this.world?.recorded;
    let score = moments.at(-1)?.score ?? 0;
    if (recorded) {
      for (let t = moments.length; t < recorded.action.length; t++) {
        score += recorded.reward[t]!;
        moments.push({
          score,
          value: null,
          interactions: recorded.interactions[t]!,
          pruned: recorded.pruned[t]!,
          differs: false,
          by: "agent",
          recorded: true,
        });
      }
    }
    const { t } = this;
    this.strip.show(moments, t, this.decisions.length);
    if (this.source.live) {
      if (this.cursor === null) sessionStorage.removeItem("decision");
      else sessionStorage.setItem("decision", String(this.cursor));
    }
    const before = this.decisions[t - 1];
    find("score").textContent = shown(t ? (moments[t - 1]?.score ?? 0) : 0, 9);
    find("step").textContent = shown(t, 9);
    if (before) find("lives").textContent = shown(before.lives);
    document.body.dataset.decisions = String(this.decisions.length);
  }

  /** Say something: for as long as it is so, as a note on the decision that is shown, or for a while. */
  private say(text: string, how: "state" | "note" | "passing" = "state"): void {
    clearTimeout(this.passing);
    this.noted = how === "note";
    find("message").textContent = text;
    if (how === "passing") {
      this.passing = setTimeout(() => {
        this.say("");
      }, PASSING);
    }
  }

  // -- time -----------------------------------------------------------------------------------------------------

  /** Show the decision that is being made. */
  private follow(): void {
    this.cursor = null;
    this.playingBack = false;
    this.nodes.clear();
    this.showEpisode();
  }

  /** Show a decision: at once if it is kept, otherwise by planning up to there. */
  private go(t: number, last: boolean): void {
    const head = this.decisions.length;
    this.playingBack = false;
    if (this.source instanceof Recording) {
      const [first, final] = this.source.range;
      t = Math.max(first, Math.min(final, t));
    }
    if (t < head || !this.source.live) {
      this.cursor = t;
      this.nodes.clear();
      this.send({ do: "see", t });
      this.showEpisode();
      if (this.state?.goal === "play") this.send({ do: "pause" });
    } else if (last) {
      this.follow();
      if (t > head) this.send({ do: "seek", t });
      else this.send({ do: "see", t: head });
    } else this.strip.show([], t, head);
    if (!last) this.showEpisode();
  }

  private toggle(): void {
    if (this.hands) this.takeOver();
    if (this.cursor !== null) {
      this.playingBack = !this.playingBack;
      if (this.playingBack) this.playBack();
      this.showState();
      return;
    }
    this.send({ do: this.state?.goal === "pause" ? "play" : "pause" });
  }

  /** Play what is kept from the cursor on, then go on with what is planned. */
  private playBack(): void {
    const film = this.films.get(this.cursor!);
    if (film) this.playFilm(film.head, film.data);
    else this.send({ do: "see", t: this.cursor! });
  }

  private playFilm(head: FilmHead, data: Uint8Array): void {
    void this.game.play(head, data, false, () => {
      if (!this.playingBack || this.cursor === null) return;
      const next = this.cursor + 1;
      if (next >= this.decisions.length && this.source.live) {
        this.follow();
        this.send({ do: "see", t: next });
        this.send({ do: "play" });
      } else if (this.source instanceof Recording && next > this.source.range[1]) this.playingBack = false;
      else {
        this.cursor = next;
        this.send({ do: "see", t: next });
        this.showEpisode();
      }
      this.showState();
    });
  }

  private step(what: "decision" | "rollout"): void {
    if (this.cursor !== null) {
      const next = this.cursor + 1;
      this.go(next, true);
      return;
    }
    this.send({ do: what });
  }

  // -- what people do -------------------------------------------------------------------------------------------

  private send(command: Command): void {
    this.source.send(command);
  }

  private makeView(side: Side): TreeView {
    const name = side === "a" ? "Lookahead" : "Lookahead of the agent that is compared";
    return new TreeView(find(`tree-${side}`), name, {
      hover: (tree, i) => {
        clearTimeout(this.timer);
        if (this.views.a.selected !== null || this.views.b.selected !== null) return;
        if (i === null) {
          this.asked = null;
          this.inspector.hide();
        } else {
          this.timer = setTimeout(() => {
            this.ask(side, tree.number[i]!);
          }, HOVER);
        }
      },
      select: (tree, i) => {
        if (i === null) {
          this.asked = null;
          this.inspector.hide();
          return;
        }
        const other = this.views[side === "a" ? "b" : "a"];
        if (other.selected !== null) other.selected = null;
        this.ask(side, tree.number[i]!);
      },
    });
  }

  private ask(side: Side, number: number): void {
    this.asked = { side, number };
    const known = this.nodes.get(`${this.t} ${side} ${number}`);
    if (known) this.showNode(known.head, known.data);
    else if (this.source instanceof Recording && !this.source.knows(this.t, number)) this.showKnown(side, number);
    else this.send({ do: "node", t: this.t, number, side });
  }

  /** Show what the lookahead itself says of a node that the file tells nothing more about. */
  private showKnown(side: Side, number: number): void {
    const tree = this.views[side].tree;
    const i = tree?.place(number);
    if (tree && i !== undefined) this.showNode(knownOf(tree, i, side, this.world?.discount ?? 1), new Uint8Array());
  }

  private act(action: number): void {
    if (!this.world || !this.source.live || this.waiting) return;
    if (this.cursor !== null) {
      this.send({ do: "rewind", t: this.cursor });
      this.follow();
    }
    this.waiting = true;
    setTimeout(() => (this.waiting = false), 400);
    this.send({ do: "act", action });
  }

  private takeOver(): void {
    this.hands = !this.hands;
    this.held.clear();
    document.body.classList.toggle("hands", this.hands);
    find("hands").hidden = !this.hands;
    face(find("take-over"), "hand", this.hands ? "hand back" : "take over");
    find("take-over").setAttribute("aria-pressed", String(this.hands));
    if (this.hands && this.state?.goal !== "pause") this.send({ do: "pause" });
  }

  /** Keys of somebody who has taken over. */
  private play(event: KeyboardEvent): boolean {
    if (!this.hands || !this.world) return false;
    if (/^[1-9]$/.test(event.key)) {
      const action = Number(event.key) - 1;
      if (action < this.world.actions.length) this.act(action);
      return true;
    }
    if (!event.key.startsWith("Arrow") && event.key !== " ") return false;
    this.held.add(event.key);
    const action = joystick(this.held, this.world.actions);
    if (action !== null) this.act(action);
    return true;
  }

  private controls(): void {
    const controls: Control[] = [
      { id: "play", keys: [" ", "k"], icon: "play", face: "play", name: "Play or pause", run: () => { this.toggle(); } },
      { id: "one-decision", keys: ["d", "."], icon: "decision", face: "decision", name: "One decision", run: () => { this.step("decision"); } },
      { id: "one-rollout", keys: ["r"], icon: "rollout", face: "rollout", name: "One rollout", live: true, run: () => { this.step("rollout"); } },
      { id: "restart", keys: ["n"], icon: "restart", face: "new", name: "Begin a new episode", live: true, run: () => { this.send({ do: "restart" }); } },
      { id: "speed", keys: [">"], name: "Faster", run: () => { this.faster(1); } },
      { keys: ["<"], name: "Slower", run: () => { this.faster(-1); } },
      { id: "budget", keys: ["b"], name: "Budget: interactions per decision", live: true, run: () => { find("budget").focus(); } },
      { id: "agent", keys: ["a"], name: "Agent", live: true, run: () => { find("agent").focus(); } },
      { id: "compare", keys: ["m"], name: "Compare with another agent at the same state", live: true, run: () => { find("compare").focus(); } },
      { id: "take-over", keys: ["h"], icon: "hand", face: "take over", name: "Take over with the keyboard, or hand back", live: true, run: () => { this.takeOver(); } },
      { keys: ["["], name: "The decision before", run: () => { this.go(Math.max(0, this.t - 1), true); } },
      { keys: ["]"], name: "The decision after", run: () => { this.go(this.t + 1, true); } },
      { id: "fit", keys: ["0"], icon: "fit", name: "See the whole tree", run: () => { this.each((view) => { view.fit(true); }); } },
      { id: "centre", keys: ["c"], icon: "centre", name: "Centre on the root", run: () => { this.each((view) => { view.centre(); }); } },
      { id: "fold", keys: ["f"], icon: "fold", name: "Fold or unfold the node", run: () => { this.each((view) => { view.fold(); }); } },
      { keys: ["+", "="], name: "Zoom in", run: () => { this.each((view) => { view.zoom(1.3); }); } },
      { keys: ["-"], name: "Zoom out", run: () => { this.each((view) => { view.zoom(1 / 1.3); }); } },
      { id: "link", keys: ["l"], icon: "link", name: "Copy a link to this decision", run: () => { void this.copyLink(); } },
      { id: "png", keys: ["p"], face: "PNG", name: "Save this decision as PNG", run: () => { this.save(savePng); } },
      { id: "svg", keys: ["v"], face: "SVG", name: "Save this decision as SVG", run: () => { this.save(saveSvg); } },
      { id: "mp4", keys: ["e"], face: "MP4", name: "Save the episode so far as MP4, with its lookaheads", live: true, run: () => { this.send({ do: "film" }); } },
      { id: "theme", keys: ["t"], icon: "theme", name: "Light or dark", run: () => { themes.choose(themes.isDark() ? "light" : "dark"); } },
      { id: "help", keys: ["?"], face: "?", name: "List the keys", run: () => { find<HTMLDialogElement>("keys").showModal(); } },
    ];
    fill(find("speed"), SPEEDS.map(([speed, name]) => [String(speed), name]), "1");
    install(controls, this.source.live, (event) => this.play(event));
    addEventListener("keyup", (event) => {
      this.held.delete(event.key);
    });
    for (const id of ["speed", "agent", "compare"]) {
      // Whoever has chosen with a pointer goes on with keys for the page, not for the list.
      find(id).addEventListener("change", () => {
        if (!find(id).matches(":focus-visible")) find(id).blur();
      });
    }
    find("speed").addEventListener("change", () => {
      this.send({ do: "speed", speed: Number(find<HTMLSelectElement>("speed").value) });
    });
    find("budget").addEventListener("change", () => {
      const budget = Math.round(Number(find<HTMLInputElement>("budget").value));
      if (budget >= 1 && budget <= 100_000) this.send({ do: "budget", budget });
    });
    find("agent").addEventListener("change", () => {
      this.follow();
      this.send({ do: "agent", agent: find<HTMLSelectElement>("agent").value });
    });
    find("compare").addEventListener("change", () => {
      const agent = find<HTMLSelectElement>("compare").value;
      this.send({ do: "compare", agent: agent || null });
    });
  }

  private each(what: (view: TreeView) => void): void {
    what(this.views.a);
    if (!find("tree-b").hidden) what(this.views.b);
  }

  private faster(by: number): void {
    const order = [...SPEEDS.map(([speed]) => speed)];
    const at = order.indexOf(this.state?.speed ?? 1);
    const next = order[Math.max(0, Math.min(order.length - 1, at + by))]!;
    this.send({ do: "speed", speed: next });
  }

  private async copyLink(): Promise<void> {
    const session = this.source.live && this.world ? `&session=${encodeURIComponent(this.world.session)}` : "";
    const link = `${location.origin === "null" ? location.href.split("#")[0]! : location.origin + location.pathname}#decision=${this.t}${session}`;
    history.replaceState(null, "", link);
    try {
      await navigator.clipboard.writeText(link);
      this.say(`A link to decision ${this.t} is copied.`, "passing");
    } catch {
      this.say(`The link to decision ${this.t} is in the address bar.`, "passing");
    }
  }

  private save(how: (scene: Scene, name: string) => void): void {
    const scene = this.views.a.scene();
    if (scene) how(scene, this.name());
  }

  private name(): string {
    return `${this.world?.game ?? "noveltree"} ${this.views.a.tree?.head.agent ?? ""} decision ${this.t}`;
  }
}

function fill(select: HTMLElement, options: [string, string][], value: string): void {
  if (!(select instanceof HTMLSelectElement)) return;
  const same = select.options.length === options.length && options.every(([each], n) => select.options[n]?.value === each);
  if (!same) select.replaceChildren(...options.map(([each, name]) => make("option", { value: each }, name)));
  select.value = value;
}

const page = new Page();
void page.start();
