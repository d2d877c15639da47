"""Decisions are indexed and short, and name what replaced them; the glossary defines each term once."""

import re
from pathlib import Path

import pytest

DECISIONS = Path(__file__).parents[1] / "engine" / "decisions"
INDEX = DECISIONS / "README.md"
PATHS = sorted(path for path in DECISIONS.glob("*.md") if path != INDEX)
SECTIONS = ["Context", "Decision", "Consequences"]
MAX_WORDS, MAX_TABLES = 200, 1
PACKAGES = {name: Path(__file__).parents[1] / name for name in ("app", "engine")}
GLOSSARY = PACKAGES["app"] / "README.md"

STATUS = r"accepted|superseded by \[(?P<next>\d{4})\]\((?P<successor>[^)]+)\)"
TABLE_RULE = re.compile(r"^\s*\|?[ :]*-{3,}[-| :]*$", re.MULTILINE)
LINK = re.compile(r"\]\((?P<target>\d{4}-[^)]+\.md)\)")


def read_header(text: str) -> re.Match[str] | None:
    """Match of the title and the two lines below it."""
    header = rf"# (?P<number>\d{{4}}): \S.*\n\n- Status: (?P<status>{STATUS})\n"
    return re.match(header + r"- Date: (?P<date>\d{4}-\d{2}-\d{2})\n\n## ", text)


def count_words(text: str) -> int:
    """The number of words of a document; code and cells of tables count, and Markdown signs alone do not.

    >>> count_words("| `a b` | 1.5 |")
    3
    """
    return sum(bool(re.search(r"\w", word)) for word in text.split())


def test_no_two_decisions_have_the_same_number():
    numbers = [int(path.name[:4]) for path in PATHS]
    assert numbers[0] == 1
    assert len(set(numbers)) == len(numbers)


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_a_decision_has_a_number_a_title_a_status_a_date_and_three_sections(path):
    text = path.read_text("utf-8")
    assert re.fullmatch(r"\d{4}(-[a-z0-9]+)+\.md", path.name)
    header = read_header(text)
    assert header, text.split("\n## ")[0]
    assert header["number"] == path.name[:4]
    assert re.findall(r"^## (.+)$", text, re.MULTILINE) == SECTIONS
    assert all(part.strip() for part in re.split(r"^## .+$", text, flags=re.MULTILINE)[1:])


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_a_decision_has_at_most_200_words_and_one_table(path):
    text = path.read_text("utf-8")
    assert count_words(text) <= MAX_WORDS
    assert len(TABLE_RULE.findall(text)) <= MAX_TABLES


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_links_between_decisions_lead_to_files(path):
    missing = [target for target in LINK.findall(path.read_text("utf-8")) if not (DECISIONS / target).is_file()]
    assert missing == []


def test_a_superseded_decision_names_a_later_one_that_exists():
    headers = {path: read_header(path.read_text("utf-8")) for path in PATHS}
    superseded = {path: header for path, header in headers.items() if header and header["successor"]}
    assert superseded
    for path, header in superseded.items():
        successor = DECISIONS / header["successor"]
        assert successor in PATHS
        assert successor.name[:4] == header["next"]
        assert successor.name > path.name


def test_the_index_lists_each_decision_once_in_order_with_its_title():
    lines = [line for line in INDEX.read_text("utf-8").splitlines() if re.match(r"- \[\d{4}\]", line)]
    expected = []
    for path in PATHS:
        title = path.read_text("utf-8").splitlines()[0].removeprefix(f"# {path.name[:4]}: ")
        expected.append(f"- [{path.name[:4]}]({path.name}) {title}")
    assert [line.split(" (superseded by ")[0] for line in lines] == expected


def test_the_index_marks_the_superseded_decisions_and_no_others():
    lines = [line for line in INDEX.read_text("utf-8").splitlines() if re.match(r"- \[\d{4}\]", line)]
    marked = {line[3:7]: line[-5:-1] for line in lines if " (superseded by " in line}
    headers = [read_header(path.read_text("utf-8")) for path in PATHS]
    assert marked == {header["number"]: header["next"] for header in headers if header and header["successor"]}


def test_the_glossary_defines_each_term_once():
    _, after = GLOSSARY.read_text("utf-8").split("\n## Glossary\n")
    glossary, _ = after.split("\n## Map\n")
    cells = re.findall(r"^\| ([^|]+?) \| ", glossary, re.MULTILINE)
    terms = [term for cell in cells if cell != "term" for term in cell.split(", ")]
    assert len(terms) > 80
    assert sorted(terms) == sorted(set(terms))


def test_the_guide_for_a_server_has_each_variable_that_the_code_reads_and_no_other():
    code = [path.read_text("utf-8") for place in PACKAGES.values() for path in place.rglob("*.py")]
    guide = (PACKAGES["app"] / "SERVER.md").read_text("utf-8")
    read, explained = (set(re.findall(r"STICKBREAKER_[A-Z_]+", text)) for text in ("\n".join(code), guide))
    assert read == explained


def read_map(text: str) -> dict[str, list[str]]:
    """The files that a map names, by folder; "" is the package itself. A row with the name of a folder begins it.

    >>> read_map("## Map\\n| `a`, `b` | two |\\n| **`c/`** | a folder |\\n| `d` | one |\\n## More")
    {'': ['a', 'b'], 'c': ['d']}
    """
    section = re.split(r"^## ", text.split("## Map\n")[1], flags=re.MULTILINE)[0]
    folder, named = "", {"": []}
    for cell, about in re.findall(r"^\| (.+?) \|(.*)\|$", section, re.MULTILINE):
        if start := re.fullmatch(r"\*\*`(\w+)/`\*\*", cell):
            folder = start[1]
            named[folder] = []
        elif alone := re.fullmatch(r"`(\w+)/`", cell):
            # A folder in one row names its files in the description.
            named[alone[1]] = re.findall(r"`(\w+)`", about)
        else:
            named[folder] += [name for name in re.findall(r"`(\w+)`", cell) if name != "__init__"]
    return named


@pytest.mark.parametrize("package", PACKAGES)
def test_the_map_names_each_file_once_and_no_file_that_is_gone(package):
    place = PACKAGES[package]
    named = read_map((place / "README.md").read_text("utf-8"))
    files: dict[str, list[str]] = {}
    for path in (*place.glob("*.py"), *place.glob("*/*.py")):
        if path.stem != "__init__":
            files.setdefault("" if path.parent == place else path.parent.name, []).append(path.stem)
    assert {folder: sorted(names) for folder, names in named.items()} == {
        folder: sorted(names) for folder, names in files.items()
    }


def test_every_paper_of_the_readme_can_be_cited():
    root = Path(__file__).parents[1]
    papers = (root / "README.md").read_text(encoding="utf-8").partition("## The papers\n")[2]
    listed = re.findall(r"^\* .*[a-z]{2}\. (.+)\. [A-Z]+ .*\d{4}\.$", papers, re.MULTILINE)
    text = (root / ".github" / "CITATION.cff").read_text(encoding="utf-8").partition("references:")[2]
    assert sorted(listed) == sorted(re.findall(r"^    title: (.+)$", text, re.MULTILINE))
    assert len(listed) == 5
