"""If the engine fails, the page keeps what was computed, shows the reason, and can restart."""

import pytest
from playwright.sync_api import expect

from tests.browser.serve_dying_engine import REASON

pytestmark = [pytest.mark.browser, pytest.mark.extended]


def test_a_dead_engine_is_reported_and_a_restart_learns_again(visit, dying_address):
    dashboard = visit(at=dying_address)
    page = dashboard.page
    dashboard.expect_state("Failed")
    expect(dashboard.note).to_contain_text(REASON)
    expect(dashboard.note).to_have_attribute("role", "alert")
    expect(dashboard.notifications.filter(has_text=REASON).first).to_be_visible()
    assert dashboard.num_seen() == 4 * 256
    expect(page.locator("li")).to_have_count(5)
    expect(page.get_by_text("Mini-batch 4 of")).to_be_visible()
    page.get_by_role("button", name="Hoffman 2013").click()
    dashboard.button("Restart").click()
    dashboard.expect_state("Running")
    expect(page.get_by_text("κ 0.9, τ₀ 1, S 500").last).to_be_visible()
    dashboard.finish()
