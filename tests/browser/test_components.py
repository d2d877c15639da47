"""The values of components: Panel's own send back each value that they have drawn,
and ours do not.
"""

from pathlib import Path

import pytest
from playwright.sync_api import expect

from stickbreaker.app.fixes.page import COMPONENTS
from tests.browser.conftest import serving

# Notes what is written into the model of the button while the server changes it; gives what was
# written besides.
CHANGE = """async () => {
  const data = [...Bokeh.documents[0].all_models].find((model) => model.class_name === "Button").data
  const write = Object.getPrototypeOf(data).setv, written = []
  data.setv = function (...values) { written.push(values[0]); return write.apply(this, values) }
  write.call(data, {disabled: true})
  await new Promise((resolve) => setTimeout(resolve, 500))
  return written
}"""
READ = (
    "() => [...Bokeh.documents[0].all_models].find((model) => model.class_name ==="
    ' "Switch").data.value'
)


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    """A page of plain Panel."""
    script = str(Path(__file__).with_name("serve_switch.py"))
    with serving([script], tmp_path_factory.mktemp("plain") / "log.txt") as found:
        yield found


@pytest.mark.parametrize(
    ("script", "echoes"), [("", [{"disabled": True}]), (COMPONENTS, [])], ids=["panel", "ours"]
)
def test_a_component_sends_back_what_it_has_drawn_unless_its_model_has_its_values(
    page, plain, script, echoes
):
    def add_script(route):
        response = route.fetch()
        route.fulfill(response=response, body=f"{response.text()};{script}")

    page.route("**/panel.min.js*", add_script)
    page.goto(plain)
    button, switch = page.get_by_role("button", name="Run"), page.get_by_label("On")
    expect(button).to_be_enabled()
    assert page.evaluate(CHANGE) == echoes
    expect(button).to_be_disabled()
    switch.click()
    expect(switch).to_be_checked()
    assert page.evaluate(READ)
