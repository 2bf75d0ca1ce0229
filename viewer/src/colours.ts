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
  edge: "#8090a0",
  edgeKept: "#c5ced6",
  best: "#a05f00",
  executed: "#17202a",
  newest: "#8a3ffc",
  reward: "#a05f00",
  loss: "#b3261e",
  status: { novel: "#0072b2", solved: "#00795a", kept: "#7b8894", pruned: "#bd5200", terminal: "#5b4b00" },
};
