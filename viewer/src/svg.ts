// A lookahead as SVG, for papers: what is on the canvas.

import type { Scene } from "./draw.ts";
import { atX, atY, radius, sizeOf, visible, WIDTHS, widthOf } from "./draw.ts";
import { CACHED } from "./tree.ts";

const escape = (text: string) => text.replace(/[&<>"]/g, (letter) => `&#${letter.charCodeAt(0)};`);

export function sceneToSvg(scene: Scene, title: string): string {
  const { tree, theme, width, height } = scene;
  const base = radius(scene.view, tree.size);
  const seen = visible(scene, base);
  const round = (value: number) => Number(value.toFixed(1));
  const X = (i: number) => round(atX(scene, i));
  const Y = (i: number) => round(atY(scene, i));
  const link = (from: number, to: number) => {
    const middle = round((atX(scene, from) + atX(scene, to)) / 2);
    return `M${X(from)} ${Y(from)}C${middle} ${Y(from)} ${middle} ${Y(to)} ${X(to)} ${Y(to)}`;
  };
  const parts: string[] = [];
  for (const kept of [true, false]) {
    WIDTHS.forEach((wide, width) => {
      const links = [...seen].filter(
        (i) => tree.parent[i]! >= 0 && Boolean(tree.label[i]! & CACHED) === kept && widthOf(tree.share[i]!) === width,
      );
      if (!links.length) return;
      const path = links.map((i) => link(tree.parent[i]!, i)).join("");
      const colour = kept ? theme.edgeKept : theme.edge;
      parts.push(`<path d="${path}" fill="none" stroke="${colour}" stroke-width="${wide}"/>`);
    });
  }
  const paths: [readonly number[], string, number, string][] = [
    [tree.best, theme.best, 3.4, ""],
    [scene.executed, theme.executed, 1.6, ' stroke-dasharray="4 4"'],
  ];
  for (const [path, colour, wide, dash] of paths) {
    const drawn = path.slice(1).map((i, at) => link(path[at]!, i));
    if (drawn.length) {
      parts.push(`<path d="${drawn.join("")}" fill="none" stroke="${colour}" stroke-width="${wide}"${dash}/>`);
    }
  }
  for (const i of seen) {
    const status = tree.status(i);
    const colour = theme.status[status];
    const r = sizeOf(tree, i, base);
    const [x, y] = [X(i), Y(i)];
    const a = round(0.8 * r);
    const d = round(1.4 * r);
    const about = `<title>node ${tree.number[i]!}: ${status}, V = ${Number(tree.value[i]!.toPrecision(4))}</title>`;
    switch (status) {
      case "novel":
        parts.push(`<circle cx="${x}" cy="${y}" r="${round(r)}" fill="${colour}">${about}</circle>`);
        break;
      case "solved":
        parts.push(
          `<circle cx="${x}" cy="${y}" r="${round(r)}" fill="${theme.background}" stroke="${colour}" ` +
            `stroke-width="1.6">${about}</circle>`,
        );
        break;
      case "kept":
        parts.push(
          `<rect x="${round(x - a)}" y="${round(y - a)}" width="${2 * a}" height="${2 * a}" fill="${colour}">` +
            `${about}</rect>`,
        );
        break;
      case "pruned":
        parts.push(
          `<path d="M${x - a} ${y - a}l${2 * a} ${2 * a}m0 ${-2 * a}l${-2 * a} ${2 * a}" stroke="${colour}" ` +
            `stroke-width="1.8" fill="none">${about}</path>`,
        );
        break;
      case "terminal":
        parts.push(`<path d="M${x} ${y - d}l${d} ${d}l${-d} ${d}l${-d} ${-d}z" fill="${colour}">${about}</path>`);
        break;
    }
    const reward = tree.reward[i]!;
    const parent = tree.parent[i]!;
    if (reward && parent >= 0) {
      const rx = round(0.4 * atX(scene, parent) + 0.6 * atX(scene, i));
      const ry = round(0.25 * atY(scene, parent) + 0.75 * atY(scene, i) - 8);
      const text = `${reward > 0 ? "▲ +" : "▼ "}${Number(reward.toPrecision(4))}`;
      parts.push(
        `<text x="${rx}" y="${ry}" fill="${reward > 0 ? theme.reward : theme.loss}" font-size="11" ` +
          `font-family="sans-serif" text-anchor="middle">${text}</text>`,
      );
    }
  }
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}">` +
    `<title>${escape(title)}</title><rect width="100%" height="100%" fill="${theme.background}"/>` +
    `${parts.join("\n")}</svg>\n`
  );
}
