// The decision: Q of the root's actions as bars, the chosen one and ties marked, and what it took.

import { find, make, shown } from "./dom.ts";
import type { Side, TreeHead } from "./messages.ts";

/** Actions above which there is room for short names and marks only. */
const MANY = 9;
const ARROWS: Record<string, string> = {
  UP: "↑", DOWN: "↓", LEFT: "←", RIGHT: "→", UPLEFT: "↖", UPRIGHT: "↗", DOWNLEFT: "↙", DOWNRIGHT: "↘",
};

/** A short name of an action of the joystick, which tells it apart; others keep theirs. */
export function short(name: string): string {
  const [, way = "", fire = ""] = /^((?:UP|DOWN)?(?:LEFT|RIGHT)?)(FIRE)?$/.exec(name) ?? [];
  return way && fire ? `${ARROWS[way]!} ${fire}` : way ? `${ARROWS[way]!} ${way.length > 5 ? "" : way}`.trim() : name;
}

export class Bars {
  private readonly place = find("bars");
  private readonly account = find("account");
  private rows: HTMLElement[] = [];
  private names: string[] = [];
  /** The decision of the agent that plays, and that of the one it is compared with. */
  private heads: Partial<Record<Side, TreeHead>> = {};

  constructor(private readonly act: (action: number) => void) {}

  /** One row for each action. */
  begin(names: string[], compared: boolean): void {
    if (!compared) {
      delete this.heads.b;
      this.showRows();
    }
    this.place.classList.toggle("two", compared);
    if (names.join("\n") === this.names.join("\n")) return;
    this.names = names;
    const many = names.length > MANY;
    this.rows = names.map((name, action) => {
      const row = make(
        "button",
        { class: "bar", role: "listitem", tabindex: -1, title: `Execute ${name} yourself` },
        make("span", { class: "name" }, many ? short(name) : name),
        make("span", { class: "tracks" }, track("a"), track("b")),
        make("span", { class: "q" }, "–"),
        make("span", { class: "flag" }),
      );
      row.addEventListener("click", () => {
        this.act(action);
      });
      return row;
    });
    this.place.replaceChildren(...this.rows);
    this.place.classList.toggle("many", many);
  }

  show(head: TreeHead): void {
    this.heads[head.side] = head;
    if (this.heads.b && this.heads.b.t !== this.heads.a?.t) delete this.heads.b;
    this.showRows();
    if (head.side === "a") this.showAccount(head);
  }

  private showRows(): void {
    const { a, b } = this.heads;
    const values = [...(a?.values ?? []), ...(b?.values ?? [])].filter((value): value is number => value !== null);
    const most = Math.max(0, ...values);
    const least = Math.min(0, ...values);
    const width = most - least || 1;
    this.rows.forEach((row, action) => {
      for (const [side, head] of [["a", a], ["b", b]] as const) {
        const value = head?.values[action] ?? 0;
        const fill = row.querySelector<HTMLElement>(`.fill.${side}`)!;
        fill.style.left = `${((Math.min(0, value) - least) / width) * 100}%`;
        fill.style.width = `${(Math.abs(value) / width) * 100}%`;
      }
      const chosen = a?.chosen === action;
      const tied = a?.tied.includes(action) ?? false;
      const theirs = b?.chosen === action;
      row.classList.toggle("chosen", chosen);
      row.classList.toggle("tied", tied);
      row.classList.toggle("theirs", theirs);
      const known = a?.done ? shown(a.values[action]) : "…";
      const other = b ? shown(b.values[action]) : null;
      row.querySelector(".q")!.replaceChildren(known, ...(other === null ? [] : [make("small", {}, other)]));
      const many = this.rows.length > MANY;
      const mine = chosen ? (many ? "▶" : "▶ chosen") : tied ? (many ? "=" : "= tied") : "";
      const also = theirs ? [make("small", {}, many ? "▷" : `▷ ${b.agent}`)] : [];
      row.querySelector(".flag")!.replaceChildren(mine, ...also);
      const what = `${chosen ? ", chosen" : tied ? ", tied" : ""}${theirs ? `, chosen by ${b.agent}` : ""}`;
      row.setAttribute("aria-label", `${this.names[action]!}: Q ${a?.done ? known : "not known yet"}${what}`);
    });
  }

  private showAccount(head: TreeHead): void {
    const spent = head.budget === null ? shown(head.interactions) : `${shown(head.interactions)} / ${shown(head.budget)}`;
    const facts: [string, string, string][] = [
      ["interactions", spent, "Calls of the simulator in this decision, of how many it may make"],
      ["kept", shown(head.cached), "Nodes kept from the time step before"],
      ["pruned", shown(head.pruned), "Nodes that showed nothing new"],
      ["depth", shown(head.depth), "Of the deepest node that was added"],
      ["nodes", shown(head.nodes), "Nodes of the lookahead"],
      ["time", head.seconds ? `${shown(head.seconds * 1000, 3)} ms` : "–", "What planning took"],
    ];
    if (head.solved) facts.push(["root", "solved", "Nothing is left to look at"]);
    this.account.replaceChildren(
      ...facts.map(([name, value, title]) => make("div", { title }, make("dt", {}, name), make("dd", {}, value))),
    );
  }
}

function track(side: Side): HTMLElement {
  return make("span", { class: `track ${side}` }, make("span", { class: `fill ${side}` }));
}
