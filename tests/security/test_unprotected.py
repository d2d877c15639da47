"""Attacks on a page that is served without its hooks, where the client makes its own
session token.
"""

import asyncio
from pathlib import Path

import pytest
from bokeh.util.token import generate_jwt_token, generate_session_id

from stickbreaker.app.server.visitors import find_data
from stickbreaker.engine.corpora.build_stored import BuildRequest, build_own
from stickbreaker.engine.corpora.columns import Columns
from stickbreaker.engine.corpora.library import FOLDER_VARIABLE
from stickbreaker.engine.corpora.word_choices import WordChoices
from tests.browser.conftest import serving
from tests.security.served import Page, connect
from tests.security.test_rights import find, press, set_model_data

pytestmark = pytest.mark.extended

SECRET = "these words are secret"
OF_ANNA = "letters of anna"
# The process that reads text needs a few seconds to start.
SECONDS_TO_READ = 12


@pytest.fixture(scope="module", params=["file", "function"])
def unprotected(request, tmp_path_factory):
    """A server without our hooks, on which the user anna has a corpus."""
    folder = tmp_path_factory.mktemp("unprotected")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(FOLDER_VARIABLE, str(folder / "data"))
        text = folder / "text.csv"
        text.write_text("text\n" + f"{SECRET}\n" * 10)
        build = BuildRequest(
            text, OF_ANNA, Columns("text"), WordChoices(min_documents=1, max_share=1.0)
        )
        build_own(build, folder=find_data("anna") / "corpora")
        script = str(Path(__file__).with_name("serve_unprotected.py"))
        with serving([script, request.param], folder / "log.txt") as found:
            yield found, text


async def open_forged(address, user):
    """Open a page with a token that the client has made, with all rights of this user."""
    rights = {"stickbreaker": {"user": user, "rights": ["manage", "paths"]}}
    token = generate_jwt_token(
        generate_session_id(signed=False), signed=False, extra_payload=rights
    )
    page = Page(await connect(address, token))
    await page.receive("ACK")
    await page.send_event("document_ready")
    return page


async def name_path(page, path):
    """Name a path in the hidden field of the dialog.

    Returns what the page then holds, as soon as it has the file.
    """
    await page.send_event("dom_event", **press(await find(page, "Bring your own text")))
    field = await find(page, "Path on the server")
    for attribute in ("value_input", "value"):
        await page.patch(set_model_data(await page.pull(), field, attribute, str(path)))
    for _ in range(SECONDS_TO_READ):
        await asyncio.sleep(1)
        said = str(await page.pull())
        if SECRET in said:
            break
    return said


def test_a_token_that_a_client_has_made_reads_no_path(unprotected):
    address, path = unprotected

    async def attack():
        page = await open_forged(address, None)
        said = await name_path(page, path)
        await page.close()
        return said

    said = asyncio.run(attack())
    assert "Corpus name" in said
    assert SECRET not in said


def test_a_token_that_a_client_has_made_shows_no_corpora_of_the_user_it_names(unprotected):
    async def attack():
        page = await open_forged(unprotected[0], "anna")
        await find(page, "Bring your own text")
        said = str(await page.pull())
        await page.close()
        return said

    said = asyncio.run(attack())
    assert "state-of-the-union" in said
    assert OF_ANNA not in said
