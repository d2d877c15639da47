"""Exports of the page arrive as files."""

import re

from PIL import Image
from playwright.sync_api import expect

from stickbreaker.app.export.figures import FORMATS

READ = re.compile("all 10,384 documents, including held-out ones")
HELDOUT = "state-of-the-union-held-out-log-likelihood"
# The height of the figure to save once it is seen in this format. Pages that were opened before keep their
# figures, hidden.
SHOWN_HEIGHT = """([name, backend]) => Bokeh.index.query_one(({model, el}) => model.type === "Figure"
  && model.output_backend === backend && model.toolbar.tools.some(tool => tool.attributes.filename === name)
  && el.checkVisibility() && el.clientHeight > 0)?.el.clientHeight"""


def go_to_export(dashboard):
    dashboard.button("Export").last.click()
    expect(dashboard.page.get_by_text(READ)).to_be_visible()


def take(dashboard, name, folder):
    """Press a button and wait for its file."""
    button = dashboard.button(name).last
    expect(button).to_be_enabled()
    with dashboard.page.expect_download() as download:
        button.click()
    path = folder / download.value.suggested_filename
    download.value.save_as(path)
    return path


def test_figures_are_saved_as_pictures(look_at_finished, tmp_path):
    finished = look_at_finished()
    go_to_export(finished)
    for kind, begins in {"PNG": b"\x89PNG", "SVG": b"<svg"}.items():
        finished.button(kind).click()
        expect(finished.page.get_by_text("State after 9,384 documents.")).to_be_visible()
        height = finished.page.wait_for_function(SHOWN_HEIGHT, arg=[HELDOUT, FORMATS[kind]])
        path = take(finished, "Save figure", tmp_path)
        assert path.name == f"{HELDOUT}.{kind.lower()}"
        assert path.read_bytes().startswith(begins)
        if kind == "PNG":
            with Image.open(path) as picture:
                assert picture.height == 2 * height.json_value()


def test_a_figure_is_printed_to_pdf_on_a_page_of_its_size(look_at_finished):
    finished = look_at_finished()
    finished.page.add_init_script("window.print = () => top.printed = document.head.innerHTML")
    go_to_export(finished)
    finished.button("PDF").click()
    expect(finished.page.get_by_text("Choose “Save as PDF”")).to_be_visible()
    height = finished.page.wait_for_function(SHOWN_HEIGHT, arg=[HELDOUT, FORMATS["PDF"]])
    finished.button("Save figure").last.click()
    printed = finished.page.wait_for_function("window.printed").json_value()
    assert f"<title>{HELDOUT}</title>" in printed
    assert re.search(rf"@page {{ size: \d+px {height.json_value()}px; margin: 0 }}", printed)
