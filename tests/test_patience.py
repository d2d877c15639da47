"""Limits of waits grow with the slowness of the machine, and the slowest tests of each tier are
found in reports.
"""

import runpy
from pathlib import Path

from tests import patience

SLOWEST = Path(__file__).parents[1] / ".ci" / "slowest.py"
TESTS = (
    ("tests.a", "one", "0.5", "fast"),
    ("tests.a", "two", "1.5", "fast"),
    ("tests.b", "three", "2.0", "chaos"),
)
CASE = (
    '<testcase classname="{}" name="{}" time="{}"><properties>'
    '<property name="tier" value="{}"/></properties></testcase>'
)


def test_a_limit_is_scaled_by_the_slowness_that_the_session_has_measured(monkeypatch):
    monkeypatch.setenv(patience.VARIABLE, "3.00")
    assert (patience.limit(20), patience.limit_ms(20)) == (60, 60_000)
    monkeypatch.delenv(patience.VARIABLE)
    monkeypatch.setattr(patience, "measure_slowness", lambda: 5.0)
    assert patience.limit(20) == 20 * patience.MARGIN * 5
    # Processes that start later inherit it.
    monkeypatch.setattr(patience, "measure_slowness", lambda: 1.0)
    assert patience.find_slowness() == patience.MARGIN * 5


def test_the_tests_in_a_report_are_listed_by_tier_with_their_seconds(tmp_path):
    cases = "".join(CASE.format(*test) for test in TESTS)
    (tmp_path / "report.xml").write_text(f"<testsuites><testsuite>{cases}</testsuite></testsuites>")
    found = runpy.run_path(str(SLOWEST))["read_tiers"]([str(tmp_path / "report.xml")])
    assert found == {
        "fast": [(0.5, "tests.a::one"), (1.5, "tests.a::two")],
        "chaos": [(2.0, "tests.b::three")],
    }
