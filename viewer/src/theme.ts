// Colours that people who see few colours can tell apart (Okabe and Ito, 2008), by day and by night.

import type { Status } from "./tree.ts";

export interface Theme {
  background: string;
  grid: string;
  text: string;
  faint: string;
  edge: string;
  edgeKept: string;
  best: string;
  executed: string;
  newest: string;
  reward: string;
  loss: string;
  status: Record<Status, string>;
}

export const DARK: Theme = {
  background: "#0f1318",
  grid: "#1a2027",
  text: "#e8edf2",
  faint: "#8b98a6",
  edge: "#5b6b7c",
  edgeKept: "#3a4653",
  best: "#f0b43c",
  executed: "#ffffff",
  newest: "#f5ee9e",
  reward: "#f0b43c",
  loss: "#ff7a5c",
  status: { novel: "#56b4e9", solved: "#2fbf95", kept: "#8593a3", pruned: "#e2703a", terminal: "#f5e960" },
};

export const LIGHT: Theme = {
  background: "#fbfcfd",
  grid: "#eef1f4",
  text: "#17202a",
  faint: "#5c6b79",
  edge: "#8797a6",
  edgeKept: "#c5ced6",
  best: "#b06a00",
  executed: "#17202a",
  newest: "#8a3ffc",
  reward: "#b06a00",
  loss: "#b3261e",
  status: { novel: "#0072b2", solved: "#00795a", kept: "#7b8894", pruned: "#d55e00", terminal: "#5b4b00" },
};

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
