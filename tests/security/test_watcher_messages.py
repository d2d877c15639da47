"""A watcher's browser sends 10,000 messages that its page would never send: the presenter's run
does not change.

A task for the class is open meanwhile: of all messages, each page that watches has one answer at
most.
"""

import asyncio
import random
import re
import time

import pytest

from tests.patience import limit
from tests.security.served import Page, make_event

pytestmark = pytest.mark.extended

NUM_MESSAGES, AT_ONCE, SEED = 10_000, 1_000, 7
RUN = re.compile(r"run=([\w-]+)")
WATCH = re.compile(r"\?watch=[\w-]+")
# The presenter also sees how many watch and have answered; the server counts beats.
OWN = ("beat", "watching", "counts", "said")
HOSTILE = (
    True,
    False,
    None,
    0,
    1,
    -1,
    1e308,
    "",
    "x" * 1_000,
    "<img src=x onerror=alert(1)>",
    "../../etc/passwd",
    [],
    ["Topics"],
    {"type": "map", "entries": [["value", 1]]},
)
MESSAGES = (
    "toggle",
    {"kind": "begin"},
    {"kind": "open", "name": "x.csv", "size": 1},
    {"kind": "part", "content": "eA=="},
    {"kind": "end"},
    {"kind": "next"},
    {"do": "delete", "key": "x"},
    {"do": "rename", "key": "x", "value": "mine"},
    {"topic": 0, "name": "mine"},
    {"kind": "rename", "topic": 0, "name": "mine"},
    {"task": 1, "option": 0},
    {"task": 1, "option": 5},
    {"task": 1, "option": 6},
    {"task": 2, "option": 0},
    {"task": [], "option": {}},
)


def draw_event(draw, models):
    """One change of a property, message of a component, or press of a button, for any model of the
    document.

    For the data of a figure it is a change of a column.
    """
    key = draw.choice(list(models))
    reference, kind = {"id": key}, draw.random()
    if models[key].get("name") == "ColumnDataSource":
        return draw_column_event(draw, reference, models[key])
    if kind < 0.5:
        names = [
            *models[key].get("attributes", {}),
            "value",
            "active",
            "clicks",
            "disabled",
            "visible",
            "is_fixed",
        ]
        return {
            "kind": "ModelChanged",
            "model": reference,
            "attr": draw.choice(names),
            "new": draw.choice(HOSTILE),
        }
    if kind < 0.75:
        return make_event(
            "dom_event",
            model=reference,
            node=draw.choice(("click", "change", "delete")),
            data=press(),
        )
    if kind < 0.95:
        said = draw.choice(MESSAGES)
        data = (
            {"type": "map", "entries": [list(each) for each in said.items()]}
            if isinstance(said, dict)
            else said
        )
        return make_event("data_event", model=reference, data=data)
    return make_event("button_click", model=reference)


def draw_column_event(draw, reference, source):
    """One change of a figure's data: a number, more numbers, or other columns."""
    names = [name for name, _ in source["attributes"]["data"].get("entries", [])]
    of_data = {"model": reference, "attr": "data"}
    return draw.choice(
        (
            {"kind": "ColumnsPatched", **of_data, "patches": {key: [[0, 666]] for key in names}},
            {
                "kind": "ColumnsStreamed",
                **of_data,
                "data": {key: [666] for key in names},
                "rollover": 1,
            },
            {
                "kind": "ColumnDataChanged",
                **of_data,
                "data": {key: [666] for key in names},
                "cols": names,
            },
        )
    )


def press():
    return {"type": "map", "entries": [["type", "click"]]}


async def press_button(page, label):
    """Press the button with this label, once there is one."""
    end = time.monotonic() + limit(60)
    while time.monotonic() < end:
        for key, model in (await page.pull()).items():
            if label in str(
                model.get("attributes", {}).get("label", find_data(model).get("label"))
            ):
                await page.send_event("dom_event", model={"id": key}, node="click", data=press())
                return
        await asyncio.sleep(0.3)
    raise AssertionError(f"no button {label}")


def find_data(model):
    data = model.get("attributes", {}).get("data")
    return data.get("attributes", {}) if isinstance(data, dict) else {}


async def resolve(page):
    """What the page shows, as soon as it has not changed for a second."""
    before = None
    for _ in range(60):
        shown = describe(await page.pull())
        if shown == before:
            return shown
        before = shown
        await asyncio.sleep(1.2)
    raise AssertionError(f"the page does not come to rest: {before}")


def describe(models):
    """Everything that a page shows about the run."""
    return {
        key: {
            name: refer(value)
            for name, value in model.get("attributes", {}).items()
            if name not in OWN
        }
        for key, model in models.items()
    }


def refer(value):
    """A value with ids in the place of the models in it, which are described on their own."""
    if isinstance(value, dict):
        if value.get("type") == "object" and "id" in value:
            return value["id"]
        return {name: refer(each) for name, each in value.items()}
    return [refer(each) for each in value] if isinstance(value, list) else value


async def wait_for_text(page, pattern):
    """The first place where the document has this text."""
    end = time.monotonic() + limit(60)
    while time.monotonic() < end:
        if found := pattern.search(str(await page.pull())):
            return found
        await asyncio.sleep(0.3)
    raise AssertionError(f"no {pattern.pattern}")


def count_answers(models):
    """The number of answers that the presenter's page has counted."""
    (counts,) = (
        data["counts"] for model in models.values() if "counts" in (data := find_data(model))
    )
    return sum(counts)


async def attack(address):
    presenter = await Page.open(address, "?page=Class")
    await wait_for_text(presenter, RUN)
    await wait_for_text(presenter, re.compile("[1-9][0-9,]* of 9,384 documents"))
    await press_button(presenter, "Pause")
    await press_button(presenter, "Share")
    await press_button(presenter, "Guess the period")
    link = (await wait_for_text(presenter, WATCH))[0]
    watcher = await Page.open(address, link)
    await wait_for_text(watcher, re.compile("Watching: "))
    before = await resolve(presenter)
    draw, num_pages = random.Random(SEED), 1
    for _ in range(NUM_MESSAGES // AT_ONCE):
        try:
            models = await watcher.pull()
        except AssertionError:
            watcher, num_pages = await Page.open(address, link), num_pages + 1
            models = await watcher.pull()
        for _ in range(AT_ONCE):
            await watcher.patch(draw_event(draw, models))
    after, num_answers = await resolve(presenter), count_answers(await presenter.pull())
    await watcher.close()
    await presenter.close()
    return before, after, num_answers, num_pages


def test_ten_thousand_messages_of_a_watcher_change_nothing_of_the_run(address):
    before, after, num_answers, num_pages = asyncio.run(attack(address))
    assert len(before) > 50
    assert after == before
    # Some messages are answers to the task of the class; each page has one.
    assert num_answers <= num_pages
