// Icons drawn here: fonts do not have them everywhere.

const PATHS = {
  play: "M7 5v14l12-7z",
  pause: "M7 5h3.5v14H7zM13.5 5H17v14h-3.5z",
  decision: "M5 5v14l9-7zM16 5h3v14h-3z",
  rollout: "M3 11h7l-3-3 1.5-1.4L14 12l-5.500 5.400L7 16l3-3H3zM14 6.600 15.500 5 22 12l-6.500 7-1.500-1.600 5-5.400z",
  restart: "M12 5V2L7.500 6 12 10V7a5 5 0 1 1-5 5H5a7 7 0 1 0 7-7z",
  fit: "M4 4h6v2H6v4H4zM14 4h6v6h-2V6h-4zM4 14h2v4h4v2H4zM18 14h2v6h-6v-2h4z",
  centre: "M11 2h2v4h-2zM11 18h2v4h-2zM2 11h4v2H2zM18 11h4v2h-4zM12 8a4 4 0 1 1 0 8 4 4 0 0 1 0-8z",
  fold: "M4 4h16v16H4zm2 2v12h12V6zm2 5h8v2H8z",
  link: "M10 13a4 4 0 0 0 6 .4l3-3a4 4 0 0 0-5.700-5.700L12 6l1.400 1.400 1.300-1.300a2 2 0 0 1 2.900 2.900l-3 3a2 2 0 0 1-3-.2zM14 11a4 4 0 0 0-6-.4l-3 3a4 4 0 0 0 5.700 5.700L12 18l-1.400-1.400-1.300 1.300a2 2 0 0 1-2.900-2.900l3-3a2 2 0 0 1 3 .2z",
  theme: "M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18zm0 2v14a7 7 0 0 1 0-14z",
  hand: "M7 11V6a1.500 1.500 0 0 1 3 0v4h.5V4.500a1.500 1.500 0 0 1 3 0V10h.5V6a1.500 1.500 0 0 1 3 0v8c0 4-2.500 7-6 7-3 0-4.500-1.500-6-4.500l-1.800-3.700a1.400 1.400 0 0 1 2.500-1.300z",
} as const;

export type Icon = keyof typeof PATHS;

/** An icon as an element. */
export function icon(name: Icon): SVGSVGElement {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("viewBox", "0 0 24 24");
  svg.setAttribute("class", "drawn");
  svg.setAttribute("aria-hidden", "true");
  const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
  path.setAttribute("d", PATHS[name]);
  svg.append(path);
  return svg;
}
