"""Every page of the dashboard looks as in its stored picture.

    STICKBREAKER_WRITE_EXPECTED=1 python -m pytest tests/browser/test_expected.py

writes the pictures in `tests/browser/expected` again. Look at the changes before you commit them.

The pages show a finished run of the default seed. Fonts, the order of equal values and measured
speeds differ between machines, so pictures are compared by the mean luminance of coarse blocks. The
limit follows from the stored pictures: a page may differ from its own picture by half the distance
to the nearest other page of the same size and theme. A page that is empty, has the other theme or
lacks a part differs by more. The test waits until Under the hood has computed its view of the
finished model, which takes some seconds the first time in a process.
"""

import io
import os
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import expect

from stickbreaker.engine.corpora.library import FOLDER_VARIABLE
from tests.browser.conftest import read_everything, serving
from tests.browser.dashboard import HOOD, PAGES, PHONE, WIDE

FOLDER = Path(__file__).with_name("expected")
IS_WRITING = os.environ.get("STICKBREAKER_WRITE_EXPECTED") == "1"
BLOCK_PIXELS = 30
SHARE_OF_DISTANCE = 0.5
SETTLE_MILLISECONDS, PATIENCE = 500, 16
# Weights of red, green and blue in the luminance (ITU-R BT.709).
LUMINANCE = np.array([0.2126, 0.7152, 0.0722])


@pytest.fixture(scope="module")
def only_run(browser, tmp_path_factory):
    """The address of a run that has read everything, the only one that its server has kept."""
    folder = tmp_path_factory.mktemp("fresh")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(FOLDER_VARIABLE, str(folder))
        with serving(["-m", "panel", "serve"], folder / "log.txt") as address:
            yield read_everything(browser, address)


def measure_blocks(picture):
    """Mean luminance of the blocks of a PNG picture, 0 to 255; (rows * columns,)."""
    light = np.asarray(Image.open(io.BytesIO(picture)).convert("RGB")) @ LUMINANCE
    rows, columns = (length // BLOCK_PIXELS for length in light.shape)
    whole = light[: rows * BLOCK_PIXELS, : columns * BLOCK_PIXELS]
    return whole.reshape(rows, BLOCK_PIXELS, columns, BLOCK_PIXELS).mean((1, 3)).ravel()


def is_like(dashboard, name, expected):
    """Whether the page looks as expected before the time is over."""
    own = expected[name]
    limit = SHARE_OF_DISTANCE * min(
        np.abs(own - other).mean()
        for page, other in expected.items()
        if page != name and other.shape == own.shape
    )
    distances = []
    for _ in range(PATIENCE):
        distances.append(np.abs(measure_blocks(dashboard.page.screenshot()) - own).mean())
        if distances[-1] <= limit:
            return True
        dashboard.page.wait_for_timeout(SETTLE_MILLISECONDS)
    return False


def take_settled(page):
    """A picture of the page, as soon as three in a row are the same."""
    pictures = [page.screenshot()]
    while len(pictures) < 3 or len(set(pictures[-3:])) > 1:
        page.wait_for_timeout(2 * SETTLE_MILLISECONDS)
        pictures.append(page.screenshot())
    return pictures[-1]


def look_through(dashboard, size_name, theme):
    """Pages unlike their pictures. STICKBREAKER_WRITE_EXPECTED writes pictures instead."""
    files = {
        name: FOLDER / f"{name.lower().replace(' ', '-')}-{size_name}-{theme}.png" for name in PAGES
    }
    if not IS_WRITING:
        expected = {name: measure_blocks(file.read_bytes()) for name, file in files.items()}
    strange = []
    for name, file in files.items():
        dashboard.button(name).click()
        dashboard.page.mouse.move(0, 0)
        if name == HOOD:
            computed = dashboard.page.get_by_text("The model after 9,384 documents.", exact=True)
            expect(computed).to_be_visible()
        if IS_WRITING:
            file.write_bytes(take_settled(dashboard.page))
        elif not is_like(dashboard, name, expected):
            strange.append(file.name)
    return strange


@pytest.mark.parametrize(("size_name", "size"), [("1440x900", WIDE), ("390x844", PHONE)])
def test_every_page_looks_as_it_did_in_light_and_dark(visit, only_run, size_name, size):
    dashboard = visit(size, only_run)
    dashboard.expect_state("Finished")
    strange = look_through(dashboard, size_name, "light")
    dashboard.go_dark()
    strange += look_through(dashboard, size_name, "dark")
    assert strange == []
