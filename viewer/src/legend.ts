// What the marks mean.

import { find, make } from "./dom.ts";
import { STATUSES } from "./tree.ts";

const MARKS: Record<string, string> = { novel: "●", solved: "○", kept: "■", pruned: "✕", terminal: "◆" };
const MEANINGS: Record<string, string> = {
  novel: "novel: shows something that was not seen before",
  solved: "solved: nothing is left to look at below",
  kept: "kept from the time step before",
  pruned: "pruned: nothing new",
  terminal: "the game ends here",
};

export function fillLegend(): void {
  const entry = (kind: string, mark: string, name: string, title: string) =>
    make("li", { title }, make("span", { class: `mark ${kind}`, "aria-hidden": true }, mark), name);
  find("legend").replaceChildren(
    ...STATUSES.map((status) => entry(status, MARKS[status]!, status, MEANINGS[status]!)),
    entry("best", "━", "best path", "The path of the greatest values"),
    entry("executed", "┅", "executed", "What the episode did from here on"),
    entry("newest", "─", "newest rollout", "The rollout that was made last"),
    entry("reward", "▲", "reward", "A reward on the edge that pays it"),
  );
}
