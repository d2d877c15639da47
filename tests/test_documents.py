"""Decisions are indexed and short, and name files that exist.

The glossary defines each term once.
"""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
INDEX = ROOT / "engine" / "decisions" / "README.md"
PAGES = sorted(path for path in INDEX.parent.glob("*.md") if path != INDEX)
MAX_WORDS = 400
PACKAGES = {name: ROOT / name for name in ("app", "engine")}
GLOSSARY = PACKAGES["app"] / "README.md"

NAMED_FILE = re.compile(r"`((?:app|engine|notebooks|tests|\.ci|\.docs|\.import)/[^ `]*)")
LINK = re.compile(r"\]\((?!https?:)([^)#]+)(?:#[^)]*)?\)")
NAMED_PAGE = re.compile(r"decisions/([\w-]+\.md)")


def count_words(text: str) -> int:
    """The number of words of a document.

    Code and cells of tables count, and Markdown signs alone do not.

    >>> count_words("| `a b` | 1.5 |")
    3
    """
    return sum(bool(re.search(r"\w", word)) for word in text.split())


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_a_decision_is_short_and_names_only_files_that_exist(path):
    text = path.read_text("utf-8")
    assert count_words(text) <= MAX_WORDS
    assert [name for name in NAMED_FILE.findall(text) if not (ROOT / name).exists()] == []
    assert [target for target in LINK.findall(text) if not (path.parent / target).exists()] == []


def test_the_index_lists_each_decision_once_with_its_title():
    listed = re.findall(r"^- \[(.+)\]\((.+)\)$", INDEX.read_text("utf-8"), re.MULTILINE)
    titles = [
        (path.read_text("utf-8").splitlines()[0].removeprefix("# "), path.name) for path in PAGES
    ]
    assert sorted(listed) == sorted(titles)


def test_code_and_documents_name_only_decisions_that_exist():
    folders = (".github", "app", "engine", "notebooks", "tests")
    files = [
        path
        for folder in folders
        for path in (ROOT / folder).rglob("*")
        if path.suffix in {".md", ".py"}
    ]
    named = {
        name
        for path in (ROOT / "README.md", *files)
        for name in NAMED_PAGE.findall(path.read_text("utf-8"))
    }
    assert "number-of-topics.md" in named
    assert [name for name in sorted(named) if not (INDEX.parent / name).is_file()] == []


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
    read, explained = (
        set(re.findall(r"STICKBREAKER_[A-Z_]+", text)) for text in ("\n".join(code), guide)
    )
    assert read == explained


def read_map(text: str) -> dict[str, list[str]]:
    """The files that a map names, by folder.

    "" is the package itself. A row with the name of a folder begins it.

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
    papers = (ROOT / "README.md").read_text(encoding="utf-8").partition("## The papers\n")[2]
    listed = re.findall(r"^\* .*[a-z]{2}\. (.+)\. [A-Z]+ .*\d{4}\.$", papers, re.MULTILINE)
    text = (
        (ROOT / ".github" / "CITATION.cff").read_text(encoding="utf-8").partition("references:")[2]
    )
    assert sorted(listed) == sorted(re.findall(r"^    title: (.+)$", text, re.MULTILINE))
    assert len(listed) == 5
