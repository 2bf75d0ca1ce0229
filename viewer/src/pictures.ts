// Pictures as they travel: deflated, each as its difference to the one before (see viewer/pictures.py).

import type { PictureHead } from "./messages.ts";

export async function inflate(data: Uint8Array): Promise<Uint8Array> {
  const stream = new Blob([data as BlobPart]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** The pictures of a message, ready to be drawn. */
export async function decode(head: PictureHead, data: Uint8Array): Promise<ImageData[]> {
  if (head.frames === 0) return [];
  return paint(head, await inflate(data));
}

/** From differences of colours' numbers, or of red, green and blue, to pictures. */
export function paint(head: PictureHead, raw: Uint8Array): ImageData[] {
  const size = head.width * head.height * head.channels;
  const palette = new Uint32Array(256);
  const colours = head.palette ?? "";
  for (let i = 0; i * 6 < colours.length; i++) {
    const colour = parseInt(colours.slice(i * 6, i * 6 + 6), 16);
    palette[i] = 0xff000000 | ((colour & 255) << 16) | (colour & 0xff00) | (colour >> 16);
  }
  const pictures = [];
  for (let frame = 0; frame < head.frames; frame++) {
    const now = raw.subarray(frame * size, (frame + 1) * size);
    if (frame) for (let i = 0, before = (frame - 1) * size; i < size; i++) now[i]! ^= raw[before + i]!;
    const picture = new ImageData(head.width, head.height);
    const pixels = new Uint32Array(picture.data.buffer);
    if (head.channels === 1) {
      for (let i = 0; i < size; i++) pixels[i] = palette[now[i]!]!;
    } else {
      for (let i = 0, at = 0; at < size; i++, at += 3) {
        pixels[i] = 0xff000000 | (now[at + 2]! << 16) | (now[at + 1]! << 8) | now[at]!;
      }
    }
    pictures.push(picture);
  }
  return pictures;
}

/** Which places of a grid are marked. */
export function bits(text: string, count: number): Uint8Array {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const marked = new Uint8Array(count);
  for (let i = 0; i < count; i++) marked[i] = (bytes[i >> 3]! >> (7 - (i & 7))) & 1;
  return marked;
}
