// What the server sends: a JSON object, and bytes behind it (see viewer/messages.py).

export type Side = "a" | "b";

export interface World {
  kind: "world";
  begin: boolean;
  session: string;
  game: string;
  actions: string[];
  agent: string;
  agents: string[];
  compared: string | null;
  features: string | null;
  budget: number | null;
  seed: number;
  index: number;
  /** How long a decision takes at the speed of the console. */
  seconds: number;
  lives: number | null;
  t: number;
  discount: number;
  not_planned: string | null;
  recorded: Recorded | null;
}

/** The strip of an episode that was recorded, a column for each. */
export interface Recorded {
  action: number[];
  reward: number[];
  interactions: number[];
  cached: number[];
  pruned: number[];
  depth: number[];
  end: string;
}

export interface Decision {
  kind: "decision";
  t: number;
  action: number;
  reward: number;
  value: number | null;
  interactions: number;
  cached: number;
  pruned: number;
  depth: number;
  lives: number | null;
  by: "agent" | "human";
  agent: string;
  over: boolean;
  score: number;
}

export interface TreeHead {
  kind: "tree";
  t: number;
  side: Side;
  agent: string;
  nodes: number;
  done: boolean;
  values: (number | null)[];
  chosen: number | null;
  tied: number[];
  interactions: number;
  budget: number | null;
  cached: number;
  pruned: number;
  depth: number;
  solved: boolean;
  seconds: number;
  note: string;
  differs: boolean;
  /** When it was made, in milliseconds since 1970; not in files. */
  made?: number;
}

export interface PictureHead {
  width: number;
  height: number;
  frames: number;
  channels: number;
  palette?: string;
}

export interface FilmHead extends PictureHead {
  kind: "film";
  t: number;
  text?: string;
}

export interface Places {
  rows: number;
  columns: number;
  bits: string;
}

export interface Why {
  tested: boolean;
  features?: number;
  first?: number;
  holders?: { number: number; features: number }[];
  of?: string;
  places?: Places | null;
  words?: string[];
}

export interface NodeHead {
  kind: "node";
  t: number;
  side: Side;
  number: number;
  depth: number;
  path: number[];
  reward: number;
  collected: number;
  value: number;
  q: number | null;
  policy: number[] | null;
  uniform: boolean;
  termination_cost: number | null;
  visits: number | null;
  novel: boolean;
  solved: boolean;
  cached: boolean;
  terminal: boolean;
  lives: number | null;
  why: Why | null;
  screen?: PictureHead;
  text?: string;
}

export interface State {
  kind: "state";
  goal: "play" | "pause" | "decision" | "rollout" | "seek";
  speed: number;
  t: number;
  seek_to: number | null;
  over: boolean;
  error: string;
}

export type Head =
  | World
  | Decision
  | TreeHead
  | FilmHead
  | NodeHead
  | State
  | { kind: "history"; decisions: Decision[] }
  | { kind: "gone"; t: number }
  | { kind: "filming"; done: number; total: number }
  | { kind: "filmed" }
  | { kind: "lost" | "failed" | "refused"; error: string };

export interface Message {
  head: Head;
  payload: Uint8Array;
}

/** Take a message apart. */
export function unpack(data: ArrayBuffer): Message {
  const length = new DataView(data).getUint32(0, true);
  const text = new TextDecoder().decode(new Uint8Array(data, 4, length));
  return { head: JSON.parse(text) as Head, payload: new Uint8Array(data, 4 + length) };
}

export type Command =
  | { do: "play" | "pause" | "decision" | "rollout" | "restart" | "film" }
  | { do: "speed"; speed: number }
  | { do: "budget"; budget: number }
  | { do: "agent"; agent: string }
  | { do: "compare"; agent: string | null }
  | { do: "act"; action: number }
  | { do: "seek" | "rewind" | "see"; t: number }
  | { do: "node"; t: number; number: number; side: Side };
