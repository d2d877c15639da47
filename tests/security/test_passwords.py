"""Attacks on passwords with many names and from many addresses."""

import re
import tracemalloc

import pytest

from stickbreaker.app.server.login_delay import (
    ADDRESS_SECONDS,
    ADDRESS_TRIES,
    ALL_SECONDS,
    ALL_TRIES,
    MAX_ENTRIES,
    LoginGuard,
)
from tests.security.conftest import PASSWORDS, serving_users
from tests.security.served import ask, open_page

HERE = "192.0.2.7"
OPTIONS = ("--use-xheaders", "--plugins", "stickbreaker.app.health")


class Clock:
    """A clock that a test sets."""

    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def guard(clock):
    return LoginGuard(clock)


def try_all(guard, tries):
    """The number of passwords that are looked at."""
    looked_at = 0
    for user, address in tries:
        if guard.seconds_left(user, address) == 0:
            guard.fail(user, address)
            looked_at += 1
    return looked_at


def test_one_password_over_many_names_is_slowed_for_its_address_only_and_never_for_long(
    guard, clock
):
    tries = [(f"user {number}", HERE) for number in range(1_000)]
    assert try_all(guard, tries) == ADDRESS_TRIES
    assert 0 < guard.seconds_left("anna", HERE) <= ADDRESS_SECONDS
    assert guard.seconds_left("anna", "198.51.100.9") == 0
    clock.now += 12 * ADDRESS_SECONDS
    assert try_all(guard, tries[500:]) == 12


def test_one_password_from_many_addresses_is_slowed_and_never_for_long(guard, clock):
    tries = [(f"user {number}", f"198.51.100.{number}") for number in range(1_000)]
    assert try_all(guard, tries) == ALL_TRIES
    assert 0 < guard.seconds_left("anna", HERE) <= ALL_SECONDS
    clock.now += 10 * ALL_SECONDS
    assert try_all(guard, tries[500:]) == 10


def test_a_user_who_has_logged_in_before_waits_for_their_own_wrong_passwords_only(guard):
    guard.succeed("anna", HERE)
    try_all(guard, [(f"user {number}", HERE) for number in range(100)])
    assert guard.seconds_left("ben", HERE) > 0
    assert guard.seconds_left("anna", HERE) == 0
    assert try_all(guard, [("anna", HERE)] * 100) == 3
    assert guard.seconds_left("anna", HERE) == 1


def test_a_class_that_mistypes_its_passwords_does_not_wait(guard, clock):
    for student in range(30):
        assert guard.seconds_left(f"student {student}", HERE) == 0
        guard.fail(f"student {student}", HERE)
        clock.now += 4
        assert guard.seconds_left(f"student {student}", HERE) == 0
        guard.succeed(f"student {student}", HERE)
        clock.now += 4


def test_what_a_guard_remembers_is_bounded(guard):
    for number in range(MAX_ENTRIES + 10):
        guard.succeed(f"user {number}", HERE)
    for number in range(30):
        guard.fail(f"guess {number}", HERE)
    assert guard.seconds_left("user 0", HERE) > 0
    assert guard.seconds_left(f"user {MAX_ENTRIES}", HERE) == 0


def test_long_user_names_are_not_remembered_in_full(guard):
    tracemalloc.start()
    for number in range(5):
        guard.fail(f"{number}{'x' * 1_000_000}", HERE)
    assert tracemalloc.get_traced_memory()[0] < 100_000
    tracemalloc.stop()
    assert all(guard.seconds_left(f"{number}", HERE) == 0 for number in range(5))


@pytest.fixture(scope="module")
def proxied(tmp_path_factory):
    """A server with a login that takes the address of a visitor from the headers of a proxy."""
    with serving_users(tmp_path_factory.mktemp("proxied"), options=OPTIONS) as found:
        yield found


def log_in(address, user, password, ip):
    """The status of one attempt to log in, with an address that the client names itself."""
    form = {"username": user, "password": password}
    return ask(address, "/login", {"X-Real-Ip": ip}, form).status


def test_guesses_with_many_names_and_forged_addresses_are_slowed_and_a_known_user_still_logs_in(
    proxied,
):
    assert log_in(proxied, "anna", PASSWORDS["anna"], HERE) == 302
    statuses = [log_in(proxied, f"user {number}", "guess", HERE) for number in range(60)]
    assert statuses[:ADDRESS_TRIES] == [401] * ADDRESS_TRIES
    assert statuses.count(429) >= 30
    statuses = [
        log_in(proxied, "ben", "guess", f"198.51.{number // 250}.{number % 250}")
        for number in range(200)
    ]
    assert statuses[0] == 401
    assert statuses.count(429) >= 50
    assert log_in(proxied, "anna", PASSWORDS["anna"], HERE) == 302
    shown = ask(proxied, "/metrics").body.decode()
    counts = dict(re.findall(r'event="(login_\w+)"} (\d+)', shown))
    assert int(counts["login_failed"]) >= ADDRESS_TRIES
    assert int(counts["login_delayed"]) >= 80


def test_cookies_are_sent_over_https_only_if_a_proxy_serves_https(proxied):
    form = {"username": "anna", "password": PASSWORDS["anna"]}
    answer = ask(proxied, "/login", {"X-Real-Ip": HERE, "X-Forwarded-Proto": "https"}, form)
    assert len(answer.cookies) >= 2
    assert all("Secure" in cookie for cookie in answer.cookies)


def test_the_health_check_and_the_metrics_show_no_names_without_a_login(proxied):
    cookie = ask(
        proxied, "/login", {"X-Real-Ip": HERE}, {"username": "anna", "password": PASSWORDS["anna"]}
    ).cookie
    assert open_page(proxied, cookie=cookie).status == 200
    for path in ("/healthz", "/metrics"):
        shown = ask(proxied, path)
        assert shown.status == 200
        for secret in ("anna", "state-of-the-union", "token", HERE):
            assert secret not in shown.body.decode()
