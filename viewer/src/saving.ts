// What can be taken along: a decision as PNG or SVG, an episode as MP4.

import { make } from "./dom.ts";
import type { Scene } from "./draw.ts";
import { drawScene } from "./draw.ts";
import { sceneToSvg } from "./svg.ts";

/** How much finer than on the page a PNG is. */
const SCALE = 2;

export function savePng(scene: Scene, name: string): void {
  const canvas = document.createElement("canvas");
  canvas.width = scene.width * SCALE;
  canvas.height = scene.height * SCALE;
  const context = canvas.getContext("2d")!;
  context.setTransform(SCALE, 0, 0, SCALE, 0, 0);
  drawScene(context, { ...scene, hovered: null });
  canvas.toBlob((blob) => {
    if (blob) saveBlob(blob, `${name}.png`);
  });
}

export function saveSvg(scene: Scene, name: string): void {
  saveBlob(new Blob([sceneToSvg(scene, name)], { type: "image/svg+xml" }), `${name}.svg`);
}

/** Save the video that the server has made for a session. */
export function saveVideo(session: string, name: string): void {
  save(`/videos/${encodeURIComponent(session)}`, `${name}.mp4`);
}

function saveBlob(blob: Blob, name: string): void {
  const address = URL.createObjectURL(blob);
  save(address, name);
  setTimeout(() => {
    URL.revokeObjectURL(address);
  }, 1000);
}

function save(address: string, name: string): void {
  make("a", { href: address, download: name.replace(/[^\w. -]/g, "") }).click();
}
