"""Prints the ten slowest tests of each tier, from reports of pytest: python .ci/slowest.py FILE.xml
...
"""

import sys
from collections import defaultdict
from xml.etree import ElementTree

NUMBER = 10


def read_tiers(paths: list[str]) -> dict[str, list[tuple[float, str]]]:
    """The seconds and the name of each test, by tier."""
    found = defaultdict(list)
    for path in paths:
        for case in ElementTree.parse(path).iter("testcase"):
            tier = case.find("properties/property[@name='tier']")
            if tier is not None:
                name = f"{case.get('classname')}::{case.get('name')}"
                found[tier.get("value")].append((float(case.get("time")), name))
    return dict(found)


if __name__ == "__main__":
    for tier, tests in read_tiers(sys.argv[1:]).items():
        print(
            f"{tier}: {len(tests)} tests, {sum(seconds for seconds, _ in tests) / 60:.1f} minutes"
            " of one process"
        )
        for seconds, name in sorted(tests, reverse=True)[:NUMBER]:
            print(f"  {seconds:6.1f} s  {name}")
