"""How fast the viewer draws, measured in chromium without a GPU: `python scripts/viewer_speed.py`.

Decisions of 100 interactions in Breakout, played at the speed of the console: from the moment one is made in its
planning process to the end of the frame that shows it. A lookahead of 10,000 nodes: times between frames while it
is moved and zoomed. It needs chromium and playwright.
"""

from __future__ import annotations

import argparse
import contextlib
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
from playwright.sync_api import sync_playwright

_LISTEN = """() => {
  window.drawn = [];
  new PerformanceObserver((list) => window.drawn.push(...list.getEntries().map((entry) => entry.duration)))
    .observe({ entryTypes: ["measure"] });
}"""
_MOVE = """(frames) => new Promise((done) => {
  const canvas = document.querySelector("#tree-a canvas");
  const times = [];
  let last = null;
  const usual = { bubbles: true, cancelable: true };
  const send = (kind, made) => canvas.dispatchEvent(new kind(made.type, { ...usual, ...made }));
  const pointer = (type, x) => send(PointerEvent, { type, clientX: x, clientY: 300, pointerId: 1 });
  canvas.setPointerCapture = () => {};
  const step = (now) => {
    if (last !== null) times.push(now - last);
    last = now;
    const n = times.length;
    if (n >= frames) return done(times);
    if (n % 120 === 0) pointer("pointerdown", 600);
    if (n % 120 < 60) pointer("pointermove", 600 + 200 * Math.sin(n / 10));
    if (n % 120 === 60) pointer("pointerup", 600);
    const zoom = n % 120 < 90 ? -20 : 20;
    if (n % 120 > 60) send(WheelEvent, { type: "wheel", clientX: 700, clientY: 350, deltaY: zoom });
    requestAnimationFrame(step);
  };
  requestAnimationFrame(step);
})"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--browser", default="/usr/bin/chromium")
    parser.add_argument("--decisions", type=int, default=40)
    parser.add_argument("--frames", type=int, default=600)
    chosen = parser.parse_args()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chosen.browser, args=["--no-sandbox"])
        with _page(browser) as page:
            page.evaluate(_LISTEN)
            _until(page, f"window.drawn.length >= {chosen.decisions}")
            _tell("100 interactions, from made to drawn", page.evaluate("window.drawn"))
        with _page(browser, "--agent", "bfs", "--budget", "10000") as page:
            page.keyboard.press("d")
            _until(page, "document.body.dataset.shown === '0:done' && document.body.dataset.goal === 'pause'")
            nodes = page.evaluate("document.querySelector('#tree-a .caption').textContent")
            page.wait_for_timeout(1000)
            _tell(f"{nodes}: between frames, moving and zooming", page.evaluate(_MOVE, chosen.frames))
        browser.close()


@contextlib.contextmanager
def _page(browser: Any, *options: str) -> Iterator[Any]:
    """A page on which Breakout is played."""
    command = [sys.executable, "-m", "noveltree", "watch", "breakout", "--no-open", "--port", "0", *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        found = re.search(r"http\S+", server.stdout.readline())
        assert found is not None
        try:
            page = browser.new_context(viewport={"width": 1280, "height": 800}).new_page()
            page.goto(found[0])
            _until(page, "document.body.dataset.goal === 'play'")
            yield page
            page.close()
        finally:
            server.terminate()


def _until(page: Any, expression: str) -> None:
    end = time.monotonic() + 300
    while not page.evaluate(expression):
        if time.monotonic() > end:
            raise TimeoutError(expression)
        page.wait_for_timeout(100)


def _tell(what: str, times: list[float]) -> None:
    median, near_most, most = np.percentile(times, [50, 95, 99])
    print(f"{what}: median {median:.1f} ms, 95% within {near_most:.1f} ms, 99% within {most:.1f} ms ({len(times)})")


if __name__ == "__main__":
    main()
