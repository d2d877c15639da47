"""A watcher's browser sends 10,000 messages that its page would never send: the presenter's run does not change."""

import asyncio
import random
import re
import time

import pytest

from tests.security.served import Page, make_event

NUM_MESSAGES, AT_ONCE, SEED = 10_000, 1_000, 7
RUN = re.compile(r"run=([\w-]+)")
WATCH = re.compile(r"\?watch=[\w-]+")
# How many watch is shown to the presenter too.
OWN = ("watching",)
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
)


def draw_event(draw, models):
    """One change of a property, message of a component, or press of a button, for any model of the document."""
    key = draw.choice(list(models))
    reference, kind = {"id": key}, draw.random()
    if kind < 0.5:
        names = [*models[key].get("attributes", {}), "value", "active", "clicks", "disabled", "visible", "is_fixed"]
        return {"kind": "ModelChanged", "model": reference, "attr": draw.choice(names), "new": draw.choice(HOSTILE)}
    if kind < 0.75:
        return make_event("dom_event", model=reference, node=draw.choice(("click", "change", "delete")), data=press())
    if kind < 0.95:
        said = draw.choice(MESSAGES)
        data = {"type": "map", "entries": [list(each) for each in said.items()]} if isinstance(said, dict) else said
        return make_event("data_event", model=reference, data=data)
    return make_event("button_click", model=reference)


def press():
    return {"type": "map", "entries": [["type", "click"]]}


async def press_button(page, label):
    """Press the button with this label, once there is one."""
    end = time.monotonic() + 30
    while time.monotonic() < end:
        for key, model in (await page.pull()).items():
            if label in str(model.get("attributes", {}).get("label", find_data(model).get("label"))):
                await page.send_event("dom_event", model={"id": key}, node="click", data=press())
                return
        await asyncio.sleep(0.3)
    raise AssertionError(f"no button {label}")


def find_data(model):
    data = model.get("attributes", {}).get("data")
    return data.get("attributes", {}) if isinstance(data, dict) else {}


async def resolve(page):
    """What the page shows, once two looks a second apart are the same."""
    before = None
    for _ in range(60):
        shown = describe(await page.pull())
        if shown == before:
            return shown
        before = shown
        await asyncio.sleep(1.2)
    raise AssertionError(f"the page does not come to rest: {before}")


def describe(models):
    """Everything that a page holds, without what is not of the run."""
    return {
        key: {name: refer(value) for name, value in model.get("attributes", {}).items() if name not in OWN}
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
    for _ in range(100):
        if found := pattern.search(str(await page.pull())):
            return found
        await asyncio.sleep(0.3)
    raise AssertionError(f"no {pattern.pattern}")


async def attack(address):
    presenter = await Page.open(address)
    await wait_for_text(presenter, RUN)
    await wait_for_text(presenter, re.compile("[1-9][0-9,]* of 9,384 documents"))
    await press_button(presenter, "Pause")
    await press_button(presenter, "Share")
    link = (await wait_for_text(presenter, WATCH))[0]
    watcher = await Page.open(address, link)
    await wait_for_text(watcher, re.compile("Watching: "))
    before = await resolve(presenter)
    draw = random.Random(SEED)
    for _ in range(NUM_MESSAGES // AT_ONCE):
        try:
            models = await watcher.pull()
        except AssertionError:
            watcher = await Page.open(address, link)
            models = await watcher.pull()
        for _ in range(AT_ONCE):
            await watcher.patch(draw_event(draw, models))
    after = await resolve(presenter)
    await watcher.close()
    await presenter.close()
    return before, after


@pytest.mark.timeout(400)
def test_ten_thousand_messages_of_a_watcher_change_nothing_of_the_run(address):
    before, after = asyncio.run(attack(address))
    assert len(before) > 50
    assert after == before
