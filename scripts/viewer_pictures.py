"""The pictures of docs/watch.md and the README, taken of the viewer itself: `python scripts/viewer_pictures.py`.

It needs chromium and playwright. An episode of Breakout is played to a decision with many rewards ahead, looked at
there in all ways, and filmed as GIF.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import imageio_ffmpeg
from playwright.sync_api import sync_playwright

DOCS = Path(__file__).parent.parent / "docs"
_WINDOW = {"width": 1280, "height": 800}
_FRAMES, _RATE = 60, 10


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--decision", type=int, default=36)
    parser.add_argument("--browser", default="/usr/bin/chromium")
    parser.add_argument("--still", action="store_true", help="leave the animation as it is")
    chosen = parser.parse_args()
    command = [sys.executable, "-m", "noveltree", "watch", "breakout", "--no-open", "--port", "0"]
    with (
        subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server,
        sync_playwright() as playwright,
    ):
        assert server.stdout is not None
        found = re.search(r"http\S+", server.stdout.readline())
        assert found is not None
        browser = playwright.chromium.launch(executable_path=chosen.browser, args=["--no-sandbox"])
        try:
            page = browser.new_context(viewport=_WINDOW, color_scheme="dark").new_page()
            page.goto(found[0] + f"#decision={chosen.decision}")
            _until(page, f"document.body.dataset.shown === '{chosen.decision}:done'")
            _take(page, chosen.still)
        finally:
            browser.close()
            server.terminate()


def _take(page: Any, still: bool) -> None:
    page.wait_for_timeout(500)
    page.screenshot(path=DOCS / "watch.png")
    page.locator("#tree-a canvas").focus()
    page.keyboard.press("ArrowRight")
    for key in ["ArrowRight", "ArrowDown"] * 30:
        page.keyboard.press(key)
        page.wait_for_timeout(200)
        if "Novel: first" in page.evaluate("document.getElementById('inspector').innerText"):
            break
    page.wait_for_timeout(400)
    page.screenshot(path=DOCS / "watch-why.png")
    page.keyboard.press("Escape")
    page.locator("#compare").select_option("iw1")
    _until(page, "document.querySelector('#tree-b .caption').textContent.includes('chooses')")
    page.evaluate("document.activeElement.blur()")
    page.wait_for_timeout(400)
    page.keyboard.press("t")
    page.wait_for_timeout(200)
    page.screenshot(path=DOCS / "watch-compare.png")
    if not still:
        page.keyboard.press("t")
        page.locator("#compare").select_option("")
        page.locator("#speed").select_option("0.25")
        page.evaluate("document.activeElement.blur()")
        page.keyboard.press("k")
        _film(page)


def _film(page: Any) -> None:
    """An animation of the page while it plays slowly."""
    with tempfile.TemporaryDirectory() as place:
        for number in range(_FRAMES):
            page.screenshot(path=Path(place) / f"{number:03}.png")
        look = "scale=960:-1:flags=lanczos,split[a][b];[a]palettegen=max_colors=96:stats_mode=diff[p];"
        look += "[b][p]paletteuse=dither=none:diff_mode=rectangle"
        frames = str(Path(place) / "%03d.png")
        encode = [imageio_ffmpeg.get_ffmpeg_exe(), "-loglevel", "error", "-y", "-framerate", str(_RATE)]
        subprocess.run([*encode, "-i", frames, "-filter_complex", look, str(DOCS / "watch.gif")], check=True)


def _until(page: Any, expression: str) -> None:
    end = time.monotonic() + 300
    while not page.evaluate(expression):
        if time.monotonic() > end:
            raise TimeoutError(expression)
        page.wait_for_timeout(100)


if __name__ == "__main__":
    main()
