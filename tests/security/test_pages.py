"""Too many pages, and pages whose clients have left."""

import pytest

from tests.chaos.abandoned import measure
from tests.security.conftest import PASSWORDS, serving_users
from tests.security.served import ask, knock, open_page

NUMBER = 40


def test_pages_of_clients_that_have_left_are_not_made(address):
    row = measure(address, NUMBER)
    assert row["healthy"]
    # Some are begun before their clients have left.
    assert row["pages_made"] < NUMBER / 2
    assert open_page(address).status == 200


@pytest.fixture(scope="module")
def small_address(tmp_path_factory):
    """A server with a login that allows three pages, and two for each user."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("STICKBREAKER_PAGES", "3")
        patch.setenv("STICKBREAKER_PAGES_PER_USER", "2")
        # No session is removed during the tests.
        with serving_users(tmp_path_factory.mktemp("small"), lifetime=()) as found:
            yield found


def log_in(address, user):
    return ask(address, "/login", form={"username": user, "password": PASSWORDS[user]}).cookie


def test_a_closed_page_no_longer_counts(small_address):
    anna = log_in(small_address, "anna")

    def open_and_close():
        page = open_page(small_address, cookie=anna)
        return page.status, knock(small_address, page.token, cookie=anna)

    assert [open_and_close() for _ in range(4)] == [(200, 101)] * 4


def test_more_pages_than_a_limit_are_refused_with_a_reason_and_others_are_made(small_address):
    anna, ben = log_in(small_address, "anna"), log_in(small_address, "ben")
    assert [open_page(small_address, cookie=anna).status for _ in range(3)] == [200, 200, 503]
    refused = open_page(small_address, cookie=anna)
    assert b"You have 2 open pages" in refused.body
    assert b"Close one, and try again" in refused.body
    assert open_page(small_address, cookie=ben).status == 200
    full = open_page(small_address, cookie=ben)
    assert (full.status, b"This server has 3 open pages" in full.body) == (503, True)
