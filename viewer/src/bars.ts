// The decision: Q of the root's actions as bars, the chosen one and ties marked, and what it took.

import { find, make, shown } from "./dom.ts";
import type { TreeHead } from "./messages.ts";

export class Bars {
  private readonly place = find("bars");
  private readonly account = find("account");
  private rows: HTMLElement[] = [];
  private names: string[] = [];

  constructor(private readonly act: (action: number) => void) {}

  /** One row for each action. */
  begin(names: string[]): void {
    if (names.join("\n") === this.names.join("\n")) return;
    this.names = names;
    this.rows = names.map((name, action) => {
      const row = make(
        "button",
        { class: "bar", role: "listitem", tabindex: -1, title: `Execute ${name} yourself` },
        make("span", { class: "name" }, name),
        make("span", { class: "track" }, make("span", { class: "fill" })),
        make("span", { class: "q" }, "–"),
        make("span", { class: "flag" }),
      );
      row.addEventListener("click", () => {
        this.act(action);
      });
      return row;
    });
    this.place.replaceChildren(...this.rows);
    this.place.classList.toggle("many", names.length > 9);
  }

  show(head: TreeHead): void {
    const values = head.values.filter((value): value is number => value !== null);
    const most = Math.max(0, ...values);
    const least = Math.min(0, ...values);
    const width = most - least || 1;
    this.rows.forEach((row, action) => {
      const value = head.values[action] ?? null;
      const chosen = head.chosen === action;
      const tied = head.tied.includes(action);
      row.classList.toggle("chosen", chosen);
      row.classList.toggle("tied", tied);
      const fill = row.querySelector<HTMLElement>(".fill")!;
      fill.style.left = `${((Math.min(0, value ?? 0) - least) / width) * 100}%`;
      fill.style.width = `${(Math.abs(value ?? 0) / width) * 100}%`;
      row.querySelector(".q")!.textContent = head.done ? shown(value) : "…";
      row.querySelector(".flag")!.textContent = chosen ? "▶ chosen" : tied ? "= tied" : "";
      const what = chosen ? ", chosen" : tied ? ", tied" : "";
      row.setAttribute("aria-label", `${this.names[action]!}: Q ${head.done ? shown(value) : "not known yet"}${what}`);
    });
    const spent = head.budget === null ? shown(head.interactions) : `${shown(head.interactions)} / ${shown(head.budget)}`;
    const facts: [string, string][] = [
      ["interactions", spent],
      ["kept", shown(head.cached)],
      ["pruned", shown(head.pruned)],
      ["depth", shown(head.depth)],
      ["nodes", shown(head.nodes)],
      ["time", head.seconds ? `${shown(head.seconds * 1000, 3)} ms` : "–"],
    ];
    if (head.solved) facts.push(["root", "solved"]);
    this.account.replaceChildren(
      ...facts.map(([name, value]) => make("div", {}, make("dt", {}, name), make("dd", {}, value))),
    );
  }
}
