"""Draw README's animation: the first half minute of a run with the default settings, as a browser shows it.

    python .docs/animate.py app/animation.gif

Needs the groups `docs` and `test`, and Chromium.
"""

import argparse
import io
import os
import secrets
import subprocess
import sys
import tempfile
import time
from itertools import pairwise
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page, sync_playwright

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / ".import"), str(ROOT)]

from tests.browser.conftest import find_address  # noqa: E402
from tests.conftest import BROWSER_FLAGS, find_browser  # noqa: E402

SECONDS = 30.0
FRAMES_PER_SECOND = 2.0
SIZE = {"width": 1440, "height": 900}
SHOWN_WIDTH = 800
NUM_COLORS = 128
LAST_FRAME_SECONDS = 3.0


def record(page: Page) -> tuple[list[Image.Image], list[float]]:
    """Pictures of the page from now on, and the seconds until each was taken."""
    frames, seconds = [], []
    began = time.monotonic()
    while time.monotonic() - began < SECONDS:
        due = began + len(frames) / FRAMES_PER_SECOND
        page.wait_for_timeout(max(0.0, 1000 * (due - time.monotonic())))
        seconds.append(time.monotonic() - began)
        frames.append(Image.open(io.BytesIO(page.screenshot())).convert("RGB"))
    return frames, seconds


def write(frames: list[Image.Image], seconds: list[float], file: Path) -> None:
    """Write the pictures as one GIF that repeats, at their own times, with the same colours throughout."""
    width, height = frames[0].size
    size = (SHOWN_WIDTH, SHOWN_WIDTH * height // width)
    small = [frame.resize(size, Image.Resampling.LANCZOS) for frame in frames]
    palette = small[-1].quantize(NUM_COLORS)
    drawn = [frame.quantize(palette=palette, dither=Image.Dither.NONE) for frame in small]
    times = [*seconds, seconds[-1] + LAST_FRAME_SECONDS]
    durations = [round(1000 * (end - start)) for start, end in pairwise(times)]
    drawn[0].save(file, save_all=True, append_images=drawn[1:], duration=durations, loop=0, optimize=True)


def main() -> None:
    """Serve the page, watch its first half minute, and write the file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path, help="where to write the GIF")
    file = parser.parse_args().file
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log.txt"
        variables = {"STICKBREAKER_DATA": folder, "STICKBREAKER_TOKEN": secrets.token_urlsafe(32)}
        environment = os.environ | variables | {"PYTHONPATH": os.pathsep.join(sys.path[:2])}
        command = [sys.executable, "-m", "panel", "serve", "app", "--port", "0"]
        with log.open("w") as output:
            server = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=output, stderr=output)
        try:
            with sync_playwright() as playwright:
                browser = playwright.chromium.launch(executable_path=find_browser(), args=list(BROWSER_FLAGS))
                page = browser.new_page(viewport=SIZE)
                page.goto(find_address(server, log))
                page.locator(".bar .documents").filter(has_text="of").wait_for(timeout=120_000)
                write(*record(page), file)
                browser.close()
        finally:
            server.terminate()
            server.wait()
    print(f"{file}: {file.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
