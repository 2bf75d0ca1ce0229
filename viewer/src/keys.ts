// Keys: what each control is called, what it does, and by which key; `?` lists them.

import { find, make } from "./dom.ts";
import type { Icon } from "./icons.ts";
import { icon } from "./icons.ts";

export interface Control {
  /** The id of its button or field on the page, if it has one. */
  id?: string;
  keys: string[];
  /** What stands on the button. */
  icon?: Icon;
  face?: string;
  name: string;
  /** Whether it needs somebody who plans: a page that was exported does without. */
  live?: true;
  run: () => void;
}

const NAMES: Record<string, string> = { " ": "Space", ArrowLeft: "←", ArrowRight: "→", ArrowUp: "↑", ArrowDown: "↓" };
const shownKey = (key: string) => NAMES[key] ?? key;

const TAKEN_OVER: [string, string] = ["← → ↑ ↓ Space 1–9", "after taking over: play with the keyboard"];
const MORE: [string, string][] = [
  ["← → ↑ ↓", "on the tree: to the parent, the best child, the neighbours"],
  ["Enter", "on the tree: fold or unfold the node; a double click does so too"],
  ["Escape", "let the node go"],
  ["← → Page Home End", "on the strip: go to a decision"],
  ["wheel, drag, pinch", "zoom and move the tree"],
];

/** Give controls their names, tooltips and keys. */
export function install(all: Control[], live: boolean, intercept: (event: KeyboardEvent) => boolean): void {
  const controls = all.filter((control) => live || !control.live);
  for (const control of controls) {
    if (control.id === undefined) continue;
    const element = find(control.id);
    const keys = control.keys.map(shownKey).join(" or ");
    const title = keys ? `${control.name} (${keys})` : control.name;
    element.title = title;
    element.setAttribute("aria-label", control.name);
    if (control.keys[0] !== undefined) element.setAttribute("aria-keyshortcuts", shownKey(control.keys[0]));
    if (element instanceof HTMLButtonElement) face(element, control.icon, control.face);
    if (element instanceof HTMLButtonElement) {
      element.addEventListener("click", () => {
        control.run();
      });
    }
  }
  const dialog = find<HTMLDialogElement>("keys");
  const rows = [
    ...controls.filter((control) => control.keys.length).map((control): [string, string] => [
      control.keys.map(shownKey).join(" "),
      control.name,
    ]),
    ...MORE,
    ...(live ? [TAKEN_OVER] : []),
  ];
  const close = make("button", { class: "icon", "aria-label": "Close" }, "✕");
  close.addEventListener("click", () => {
    dialog.close();
  });
  dialog.append(
    make("h2", {}, "Keys", close),
    make("dl", {}, ...rows.flatMap(([key, name]) => [make("dt", {}, make("kbd", {}, key)), make("dd", {}, name)])),
  );
  dialog.addEventListener("click", (event) => {
    if (event.target === dialog) dialog.close();
  });
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || dialog.open) return;
    const target = event.target as HTMLElement;
    if (target.matches("input, select, textarea")) return;
    if (intercept(event)) {
      event.preventDefault();
      return;
    }
    const control = controls.find(({ keys }) => keys.includes(event.key));
    if (!control) return;
    // A focused button is pressed by the space bar; that is its own business.
    if (event.key === " " && target.matches("button")) return;
    event.preventDefault();
    control.run();
  });
}

/** What stands on a button. */
export function face(button: HTMLElement, drawn: Icon | undefined, text = ""): void {
  button.replaceChildren(...(drawn ? [icon(drawn)] : []), ...(text ? [make("span", {}, text)] : []));
}

/** Which action is meant by the keys that are held, by the names of the console's joystick. */
export function joystick(held: ReadonlySet<string>, actions: readonly string[]): number | null {
  const vertical = held.has("ArrowUp") ? "UP" : held.has("ArrowDown") ? "DOWN" : "";
  const horizontal = held.has("ArrowLeft") ? "LEFT" : held.has("ArrowRight") ? "RIGHT" : "";
  const fire = held.has(" ") ? "FIRE" : "";
  const wanted = [
    vertical + horizontal + fire,
    vertical + horizontal,
    horizontal + fire,
    vertical + fire,
    horizontal,
    vertical,
    fire,
  ];
  const names = actions.map((name) => name.toUpperCase());
  for (const name of wanted) {
    if (name && names.includes(name)) return names.indexOf(name);
  }
  return null;
}
