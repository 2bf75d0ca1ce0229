// By day or by night, as the system has it or as somebody chose; and whether things may move.

import type { Theme } from "./colours.ts";
import { DARK, LIGHT } from "./colours.ts";

export type Choice = "auto" | "light" | "dark";

const wanted = matchMedia("(prefers-color-scheme: dark)");
let chosen: Choice | null = null;
const stored = (): Choice => {
  if (chosen) return chosen;
  try {
    const value = localStorage.getItem("theme");
    return value === "light" || value === "dark" ? value : "auto";
  } catch {
    return "auto"; // nothing is stored for files
  }
};

export function isDark(): boolean {
  const value = stored();
  return value === "auto" ? wanted.matches : value === "dark";
}

export function theme(): Theme {
  return isDark() ? DARK : LIGHT;
}

export function choose(next: Choice): void {
  chosen = next;
  try {
    localStorage.setItem("theme", next);
  } catch {
    // it is chosen for as long as the page is open
  }
  apply();
}

export function apply(): void {
  document.documentElement.dataset.theme = isDark() ? "dark" : "light";
  dispatchEvent(new Event("theme"));
}

wanted.addEventListener("change", apply);

const still = matchMedia("(prefers-reduced-motion: reduce)");
/** Whether things should move as little as possible. */
export function isStill(): boolean {
  return still.matches;
}
