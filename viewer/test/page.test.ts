import { describe, expect, it } from "vitest";
import { short } from "../src/bars.ts";
import { joystick } from "../src/keys.ts";
import { layOut, STEP } from "../src/layout.ts";
import { unpack, type TreeHead } from "../src/messages.ts";
import { bits } from "../src/pictures.ts";
import { DARK, LIGHT } from "../src/colours.ts";
import { Tree } from "../src/tree.ts";

interface Row {
  parent: number;
  action?: number;
  reward?: number;
  value?: number;
  label?: number;
}

/** A lookahead as the server sends it: nodes are numbered from 7 on. */
function tree(rows: Row[], chosen: number | null = null): Tree {
  const size = rows.length;
  const data = new ArrayBuffer(size * 27);
  const columns: [number, (row: Row, n: number, at: number, view: DataView) => void][] = [
    [4, (row, _, at, view) => { view.setInt32(at, row.parent, true); }],
    [4, (_, n, at, view) => { view.setInt32(at, 7 + n, true); }],
    [4, (row, _, at, view) => { view.setFloat32(at, row.reward ?? 0, true); }],
    [4, (row, _, at, view) => { view.setFloat32(at, row.value ?? 0, true); }],
    [4, (_, __, at, view) => { view.setFloat32(at, 0.5, true); }],
    [4, (_, n, at, view) => { view.setInt32(at, n, true); }],
    [2, (row, _, at, view) => { view.setUint16(at, row.action ?? 0, true); }],
    [1, (row, _, at, view) => { view.setUint8(at, row.label ?? 1); }],
  ];
  let start = 0;
  for (const [width, put] of columns) {
    rows.forEach((row, n) => {
      put(row, n, start + n * width, new DataView(data));
    });
    start += width * size;
  }
  const head = { nodes: size, done: chosen !== null, chosen } as TreeHead;
  return new Tree(head, new Uint8Array(data), 1);
}

//        0            0 by 0: 1, by 1: 2
//      1   2          1 by 0: 3, by 1: 4; 4 by 0: 5
//    3  4
//       5
const ROWS: Row[] = [
  { parent: -1 },
  { parent: 0, action: 0, value: 3 },
  { parent: 0, action: 1, label: 0 },
  { parent: 1, action: 0, value: 1, label: 1 | 4 },
  { parent: 1, action: 1, reward: 1, value: 2, label: 1 | 2 },
  { parent: 4, action: 0, reward: 2, label: 1 | 8 },
];

describe("names of actions", () => {
  it("are short, and tell all actions of the joystick apart", () => {
    const ways = ["", "UP", "DOWN", "LEFT", "RIGHT", "UPLEFT", "UPRIGHT", "DOWNLEFT", "DOWNRIGHT"];
    const names = ["NOOP", "FIRE", ...ways.slice(1).flatMap((way) => [way, `${way}FIRE`])].map(short);
    expect(new Set(names).size).toBe(18);
    expect(Math.max(...names.map((name) => name.length))).toBeLessThanOrEqual(7);
    expect([short("DOWNRIGHTFIRE"), short("LEFT"), short("pick up"), short("")]).toEqual(["↘ FIRE", "← LEFT", "pick up", ""]);
  });
});

describe("a lookahead", () => {
  it("knows depths, subtrees and statuses", () => {
    const made = tree(ROWS);
    expect([...made.depth]).toEqual([0, 1, 1, 2, 2, 3]);
    expect([...made.subtree]).toEqual([6, 4, 1, 1, 2, 1]);
    expect(ROWS.map((_, i) => made.status(i))).toEqual(["novel", "novel", "pruned", "kept", "solved", "terminal"]);
    expect(made.place(11)).toBe(4);
    expect(made.place(6)).toBeUndefined();
  });

  it("has a best path that begins with the chosen action and follows reward and value", () => {
    expect(tree(ROWS, 0).best).toEqual([0, 1, 4, 5]);
    expect(tree(ROWS, 1).best).toEqual([0, 2]);
    expect(tree(ROWS).best).toEqual([]);
  });

  it("follows executed actions as far as there are nodes", () => {
    expect(tree(ROWS).along([0, 1, 1, 0])).toEqual([0, 1, 4]);
  });

  it("finds the rollout that was made last, from the root on", () => {
    expect(tree(ROWS).newest()).toEqual([0, 1, 4, 5]);
    expect(tree(ROWS.slice(0, 4)).newest()).toEqual([]); // the last one is kept, so nothing is new
  });
});

describe("a layout", () => {
  it("puts time on the horizontal axis and lets no two nodes of a depth touch", () => {
    const made = tree(ROWS);
    const { x, y, bounds } = layOut(made, new Set());
    expect([...x]).toEqual([0, 1, 1, 2, 2, 3].map((depth) => depth * STEP));
    expect(Math.abs(y[1]! - y[2]!)).toBeGreaterThan(10);
    expect(bounds.right).toBe(3 * STEP);
  });

  it("leaves out what is below a folded node", () => {
    expect([...layOut(tree(ROWS), new Set([8])).shown]).toEqual([1, 1, 1, 0, 0, 0]);
  });

  it("takes a lookahead of ten thousand nodes", () => {
    const rows: Row[] = [{ parent: -1 }];
    for (let i = 1; i < 10_000; i++) rows.push({ parent: Math.floor((i - 1) / 2), action: i % 2 });
    expect(layOut(tree(rows), new Set()).shown.reduce((sum, each) => sum + each)).toBe(10_000);
  });
});

describe("messages", () => {
  it("are a JSON object and what follows it", () => {
    const text = new TextEncoder().encode('{"kind":"gone","t":3}   ');
    const data = new Uint8Array(4 + text.length + 2);
    new DataView(data.buffer).setUint32(0, text.length, true);
    data.set(text, 4);
    data.set([5, 6], 4 + text.length);
    const { head, payload } = unpack(data.buffer);
    expect(head).toEqual({ kind: "gone", t: 3 });
    expect([...payload]).toEqual([5, 6]);
  });

  it("mark places bit by bit, the highest first", () => {
    expect([...bits(btoa(String.fromCharCode(0b10100000, 0b10000000)), 9)]).toEqual([1, 0, 1, 0, 0, 0, 0, 0, 1]);
  });
});

describe("colours", () => {
  /** The ratio of WCAG 2, from 1 to 21. */
  const contrast = (one: string, other: string): number => {
    const luminance = (colour: string) => {
      const [red, green, blue] = [1, 3, 5].map((at) => {
        const part = parseInt(colour.slice(at, at + 2), 16) / 255;
        return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
      }) as [number, number, number];
      return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
    };
    const [dark, light] = [luminance(one), luminance(other)].sort((a, b) => a - b) as [number, number];
    return (light + 0.05) / (dark + 0.05);
  };

  it.each([["light", LIGHT], ["dark", DARK]] as const)("of the canvas can be seen: %s", (_, theme) => {
    for (const colour of [theme.text, theme.faint, theme.best, theme.reward, theme.loss, theme.status.novel, theme.status.pruned]) {
      expect(contrast(colour, theme.background)).toBeGreaterThanOrEqual(4.5); // words are written in these
    }
    for (const colour of [...Object.values(theme.status), theme.newest, theme.executed, theme.edge]) {
      expect(contrast(colour, theme.background)).toBeGreaterThanOrEqual(3); // marks and lines
    }
  });
});

describe("the joystick", () => {
  const actions = ["NOOP", "FIRE", "RIGHT", "LEFT", "UPRIGHT", "RIGHTFIRE"];
  it("means what is held together, or what of it there is", () => {
    expect(joystick(new Set(["ArrowLeft"]), actions)).toBe(3);
    expect(joystick(new Set(["ArrowRight", " "]), actions)).toBe(5);
    expect(joystick(new Set(["ArrowLeft", " "]), actions)).toBe(3);
    expect(joystick(new Set(["ArrowUp", "ArrowRight"]), actions)).toBe(4);
    expect(joystick(new Set(["ArrowUp"]), actions)).toBeNull();
  });
});
