"""Too many pages, and pages whose clients have left."""

import pytest

from tests.chaos.abandoned import measure
from tests.security.conftest import PASSWORDS, serving_users
from tests.security.served import ask, open_page

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
        # Pages that are closed count until they are removed; here none is removed during the test.
        with serving_users(tmp_path_factory.mktemp("small"), lifetime=()) as found:
            yield found


def test_more_pages_than_a_limit_are_refused_with_a_reason_and_others_are_made(small_address):
    def log_in(user):
        return ask(small_address, "/login", form={"username": user, "password": PASSWORDS[user]}).cookie

    anna, ben = log_in("anna"), log_in("ben")
    assert [open_page(small_address, cookie=anna).status for _ in range(3)] == [200, 200, 503]
    refused = open_page(small_address, cookie=anna)
    assert b"You have 2 open pages" in refused.body
    assert b"Close one, and try again" in refused.body
    assert open_page(small_address, cookie=ben).status == 200
    full = open_page(small_address, cookie=ben)
    assert (full.status, b"This server has 3 open pages" in full.body) == (503, True)
