"""A user's own text, from the file to a run. Nothing in it is ever treated as markup."""

import io
import random
import re
from contextlib import suppress
from pathlib import Path

import pandas as pd
import pytest
from playwright.sync_api import Locator, expect

from stickbreaker.engine.corpora.library import delete_own, list_own
from tests.browser.dashboard import PHONE, WIDE
from tests.browser.test_looks import OVERFLOWS, find_barriers
from tests.patience import limit_ms

EVIL = "<img src=x onerror=window.isTaken=1>"
SUBJECTS = (
    "peace treaty nation alliance border envoy embassy",
    "cotton tariff trade duty wool harbour merchant",
    "river farm harvest rain soil seed orchard",
)
POINT_TRIES = 10
MARKUP = "() => window.isTaken ?? 0"
# Where the map draws its first dot, in the window's coordinates.
FIND_DOT = """() => {
  const find = (view) => {
    if (view.model?.type === "Figure" && view.model.renderers.some(r => r.data_source && "words" in r.data_source.data)
        && view.el.getBoundingClientRect().width) return view
    for (const child of view.child_views ?? []) { const found = find(child); if (found) return found }
    return null
  }
  const view = Object.values(Bokeh.index).map(find).find(Boolean)
  if (!view) return null
  const dots = view.model.renderers.find(r => r.data_source && "words" in r.data_source.data).data_source.data
  const area = view.canvas_view.el.getBoundingClientRect()
  return [area.x + view.frame.x_scale.compute(dots.x[0]), area.y + view.frame.y_scale.compute(dots.y[0])]
}"""


def write_speeches(num_rows: int = 300) -> bytes:
    """A table of speeches of three kinds with malicious titles; one row has no date."""
    draw = random.Random(0)
    rows = [
        {
            "speech": " ".join(draw.choices(SUBJECTS[i % 3].split(), k=30)),
            "when": f"{1900 + i // 3}",
            "who": f"{EVIL} {i}",
        }
        for i in range(num_rows)
    ]
    rows[7]["when"] = "soon"
    rows[8]["speech"] = f"{EVIL} " + rows[8]["speech"]
    return pd.DataFrame(rows).to_csv(index=False).encode()


def write_counts(num_documents: int = 300) -> tuple[bytes, bytes]:
    """Word counts in the format LDA-C, with a vocabulary of malicious words."""
    draw = random.Random(0)
    lines = []
    for number in range(num_documents):
        words = draw.sample(range(10 * (number % 3), 10 * (number % 3) + 10), 6)
        lines.append(f"6 {' '.join(f'{word}:{draw.randint(1, 3)}' for word in words)}")
    return "\n".join(lines).encode(), "\n".join(f"{EVIL}{word}" for word in range(30)).encode()


@pytest.fixture(autouse=True)
def emptied():
    """Deletes the corpora that a test has built."""
    yield
    for own in list_own():
        delete_own(own.name)


@pytest.fixture
def paused_page(used_page):
    """A shared page with a paused run; its dialog shows what an earlier test has chosen."""
    used_page.button("Restart").wait_for()
    used_page.leave()
    yield used_page
    used_page.page.keyboard.press("Escape")
    expect(find_dialog(used_page.page)).to_be_hidden()


def find_dialog(page) -> Locator:
    return page.get_by_role("heading", name="Bring your own text")


def drop(dashboard, *files: tuple[str, bytes]) -> None:
    """Choose these files in the dialog; its button opens it."""
    page = dashboard.page
    if not find_dialog(page).is_visible():
        dashboard.button("Bring your own text").press("Enter")
    payload = [
        {"name": name, "mimeType": "text/plain", "buffer": content} for name, content in files
    ]
    page.get_by_role("dialog").locator("input[type=file]").set_input_files(payload)


def expect_preview(page) -> None:
    expect(page.get_by_text(re.compile("a vocabulary of"))).to_be_visible()


def expect_no_markup(page) -> None:
    assert page.evaluate(MARKUP) == 0
    expect(page.locator("img[src=x]")).to_have_count(0)


def test_own_text_is_dropped_previewed_built_learned_downloaded_and_deleted(dashboard):
    page = dashboard.page
    dashboard.pause()
    drop(dashboard, ("speeches.csv", write_speeches()))
    expect_preview(page)
    for name, value in {"Text": "speech", "Date": "when", "Title": "who"}.items():
        expect(page.get_by_role("combobox", name=name, exact=True)).to_have_text(value)
    expect(page.get_by_text("300 rows with text. Dates from 1900 to 1999.")).to_be_visible()
    page.get_by_text("Skipped: 1 row").click()
    expect(
        page.get_by_text(re.compile(r"^speeches\.csv, row 9: 'soon' is not a date"))
    ).to_be_visible()
    expect(page.get_by_text(f"{EVIL} 0")).to_be_visible()
    expect_no_markup(page)
    assert find_barriers(page) == []
    page.get_by_role("button", name="Word choices").click()
    page.get_by_label("Minimum letters per word").fill("7")
    page.keyboard.press("Tab")
    expect(page.get_by_text(re.compile("a vocabulary of 6 words"))).to_be_visible()
    page.get_by_label("Your stop words").fill("alliance, embassy")
    expect(page.get_by_text(re.compile("a vocabulary of 4 words"))).to_be_visible()
    page.get_by_label("Minimum letters per word").fill("0")
    page.keyboard.press("Tab")
    expect(page.get_by_text("min_letters is 0: give a whole number from 1 to 30")).to_be_visible()
    page.get_by_label("Minimum letters per word").fill("3")
    page.keyboard.press("Tab")
    expect(page.get_by_text(re.compile("a vocabulary of 19 words"))).to_be_visible()
    page.get_by_label("Corpus name").fill(f"mine {EVIL}")
    dashboard.button("Build the corpus").click()
    expect(page.get_by_text(re.compile("is built: 299 documents, 19 words"))).to_be_visible()
    dashboard.button("Run now").click()
    expect(page.locator(".bar .corpus")).to_have_text(f"mine {EVIL}")
    expect(page.get_by_role("combobox", name="Corpus", exact=True)).to_have_text(f"mine {EVIL}")
    dashboard.finish()
    dashboard.button("Documents").click()
    expect(page.get_by_role("button", name=re.compile("^open: ")).first).to_be_visible()
    expect_no_markup(page)
    dashboard.button("Live").click()
    dashboard.button("Bring your own text").click()
    with page.expect_download() as saving:
        dashboard.button("Download as Parquet").click()
    frame = pd.read_parquet(io.BytesIO(saving.value.path().read_bytes()))
    assert (len(frame), frame["title"][0], frame["date"][0]) == (299, f"{EVIL} 0", "1900")
    dashboard.button("Delete").click()
    dashboard.button("Confirm deletion").click()
    expect(page.get_by_text(f"mine {EVIL} deleted.")).to_be_visible()
    assert list_own() == ()
    page.keyboard.press("Escape")
    expect(find_dialog(page)).to_be_hidden()


@pytest.mark.extended
def test_escape_closes_the_dialog_right_after_the_button_with_the_focus_has_disappeared(
    look_at_finished,
):
    dashboard = look_at_finished()
    page = dashboard.page
    dashboard.button("Bring your own text").click()
    expect(find_dialog(page)).to_be_visible()
    page.get_by_role("dialog").locator("button").first.focus()
    page.keyboard.press("Shift")
    page.evaluate("""() => {
          document.activeElement.blur()
          document.body.dispatchEvent(new KeyboardEvent("keydown", {key: "Escape", bubbles: true}))
        }""")
    expect(find_dialog(page)).to_be_hidden()


@pytest.mark.extended
def test_words_that_are_markup_are_shown_as_text_in_every_view(dashboard):
    page = dashboard.page
    dashboard.pause()
    counts, words = write_counts()
    drop(dashboard, ("evil.ldac", counts), ("evil.vocab", words))
    expect_preview(page)
    dashboard.button("Build the corpus").click()
    dashboard.button("Run now").click()
    expect(page.locator(".bar .corpus")).to_have_text("my texts")
    dashboard.finish()
    expect(page.locator("td").filter(has_text=EVIL).first).to_be_visible()
    expect(page.locator("li").filter(has_text=EVIL).first).to_be_visible()
    expect_no_markup(page)
    dashboard.button("Topics").click()
    expect(page.get_by_text(re.compile("all 300 documents"))).to_be_visible()
    page.wait_for_function(f"() => ({FIND_DOT})() !== null")
    page.get_by_role("heading", name="Map of topics").evaluate("node => node.scrollIntoView()")
    tooltip = page.locator(".bk-Tooltip, .bk-tooltip-row-value").filter(has_text=EVIL).first
    for _ in range(POINT_TRIES):
        # A dot may have moved since its place was found.
        page.mouse.move(0, 0)
        page.mouse.move(*page.evaluate(FIND_DOT))
        with suppress(AssertionError):
            expect(tooltip).to_be_visible(timeout=limit_ms(2))
            break
    expect(tooltip).to_be_visible()
    expect_no_markup(page)
    for name in ("Time", "Documents", "Live"):
        dashboard.button(name).click()
        dashboard.settle()
        expect_no_markup(page)


@pytest.mark.extended
def test_an_unreadable_file_is_reported_in_the_dialog_and_a_long_build_can_be_cancelled(
    paused_page,
):
    page = paused_page.page
    drop(paused_page, ("picture.csv", bytes(range(256)) * 40))
    expect(
        page.get_by_role("alert").filter(has_text="picture.csv is a binary file, not text")
    ).to_be_visible()
    drop(paused_page, ("speeches.csv", write_speeches(60_000)))
    expect_preview(page)
    expect(
        page.get_by_text(re.compile(r"In a sample of [\d,]+ of 60,000 documents"))
    ).to_be_visible()
    expect(
        page.get_by_role("alert").filter(has_text="These choices leave no words")
    ).to_be_visible()
    expect(paused_page.button("Build the corpus")).to_be_disabled()
    page.get_by_role("button", name="Word choices").click()
    page.get_by_label("Maximum document frequency").fill("1")
    page.keyboard.press("Tab")
    paused_page.button("Build the corpus").click()
    expect(page.get_by_role("progressbar", name="Progress")).to_be_visible()
    paused_page.button("Cancel").click()
    expect(
        page.get_by_role("alert").filter(has_text="Cancelled; nothing was built.")
    ).to_be_visible()
    assert list_own() == ()


@pytest.mark.extended
@pytest.mark.parametrize("size", [WIDE, PHONE], ids=["wide", "narrow"])
def test_the_dialog_fits_and_is_accessible_in_dark_mode(visit, size):
    dashboard = visit(size)
    page = dashboard.page
    dashboard.pause()
    dashboard.go_dark()
    if size == PHONE:
        page.get_by_label("Open drawer").click()
    drop(dashboard, ("speeches.csv", write_speeches()))
    expect_preview(page)
    assert page.evaluate(OVERFLOWS) == []
    # panel-material-ui gives the drawer of a phone, which lies beneath, no name. Colours fade for a
    # moment.
    unnamed = "aria-dialog-name" if size == PHONE else "none"
    barriers, tries = find_barriers(page), 10
    while any(unnamed not in each for each in barriers) and tries:
        page.wait_for_timeout(300)
        barriers, tries = find_barriers(page), tries - 1
    assert [each for each in barriers if unnamed not in each] == []
    # What had the focus may have been drawn again, and the key goes to what has it now.
    page.get_by_role("button", name="Word choices").press("Escape")
    expect(find_dialog(page)).to_be_hidden()


def write_folder(folder: Path, num_files: int) -> Path:
    """A folder of two folders with text files of the same names, and a hidden file."""
    for year in (1900, 1901):
        (folder / str(year)).mkdir(parents=True)
        for number in range(num_files // 2):
            words = SUBJECTS[number % 3].replace(" ", f" {EVIL} ")
            (folder / str(year) / f"speech {number}.txt").write_text(words)
    (folder / ".hidden").write_text("peace")
    return folder


def drop_path(page, path: Path) -> None:
    """Drop a file or folder of this machine on the dialog."""
    page.get_by_text("or drop files here").scroll_into_view_if_needed()
    area = page.get_by_text("or drop files here").bounding_box()
    session = page.context.new_cdp_session(page)
    data = {"items": [], "files": [str(path)], "dragOperationsMask": 1}
    for kind in ("dragEnter", "dragOver", "drop"):
        place = {"x": area["x"] + area["width"] / 2, "y": area["y"] + area["height"] / 2}
        session.send("Input.dispatchDragEvent", {"type": kind, "data": data, **place})


# Different numbers, since the dialog still shows the other folder.
@pytest.mark.extended
@pytest.mark.parametrize(
    ("way", "num_files"), [("chosen", 40), ("dropped", 42)], ids=["chosen", "dropped"]
)
def test_a_folder_is_uploaded_with_its_inner_folders(paused_page, tmp_path, way, num_files):
    page = paused_page.page
    folder = write_folder(tmp_path / f"{way} speeches", num_files)
    paused_page.button("Bring your own text").press("Enter")
    if way == "chosen":
        with page.expect_file_chooser() as choosing:
            page.get_by_role("dialog").get_by_role("button", name="Choose a folder").click()
        choosing.value.set_files(folder)
    else:
        drop_path(page, folder)
    expect_preview(page)
    expect(page.get_by_text(re.compile(f"In all {num_files} documents"))).to_be_visible()
    expect(page.get_by_text("1900/speech 2", exact=True)).to_be_visible()
    expect(page.get_by_label("Corpus name")).to_have_value(f"{way} speeches")
    expect_no_markup(page)


@pytest.mark.extended
def test_a_large_upload_can_be_cancelled_and_another_file_chosen(dashboard, tmp_path):
    page = dashboard.page
    dashboard.pause()
    large = tmp_path / "large.csv"
    large.write_text("text\n" + "peace and war and all the treaties\n" * 4_000_000)
    dashboard.button("Bring your own text").press("Enter")
    page.get_by_role("dialog").locator("input[type=file]").set_input_files(large)
    expect(page.get_by_role("progressbar", name="Upload")).to_be_visible()
    dashboard.button("Cancel upload").click()
    expect(page.get_by_role("alert").filter(has_text="Upload cancelled.")).to_be_visible()
    expect(page.get_by_role("progressbar", name="Upload")).to_be_hidden()
    drop(dashboard, ("speeches.csv", write_speeches()))
    expect_preview(page)
    expect(page.get_by_role("alert").filter(has_text="Upload cancelled.")).to_be_hidden()
