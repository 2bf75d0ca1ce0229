"""Take the picture of a report that stands in the README; needs Debian's chromium and playwright.

python scripts/report_picture.py report.html docs/report.png
"""

from __future__ import annotations

import argparse
import shutil
from pathlib import Path

from playwright.sync_api import sync_playwright

WIDTH, HEIGHT = 1200, 1400


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("report", type=Path)
    parser.add_argument("picture", type=Path)
    options = parser.parse_args()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT})
        page.goto(options.report.resolve().as_uri())
        page.screenshot(path=options.picture)
        browser.close()


if __name__ == "__main__":
    main()
