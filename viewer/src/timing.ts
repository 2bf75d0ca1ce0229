// How long it takes until a decision is seen, for whoever measures (scripts/viewer_speed.py).

/** Note when what was just shown has been painted; `made` is when it was made, in milliseconds since 1970. */
export function noteDrawn(made: number): void {
  requestAnimationFrame(() => {
    const painted = new MessageChannel(); // its message comes after this frame
    painted.port1.onmessage = () => {
      performance.clearMeasures("decision");
      performance.measure("decision", { start: Math.max(0, made - performance.timeOrigin) });
    };
    painted.port2.postMessage(null);
  });
}
