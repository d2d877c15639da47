"""Texts are in plain English: words that a native speaker would not use are reported with file and line.

It reads strings and comments of the code, the documents, the text cells and code of the notebooks, and the names of
tests. `code` between backticks is exempt, and so is what EXEMPT names.
"""

import io
import json
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[1]
READ = (
    ".ci/run",
    ".docs/*.md",
    ".docs/*.py",
    ".github/*",
    ".github/ISSUE_TEMPLATE/*",
    "README.md",
    "app/**/*",
    "data/*",
    "engine/**/*",
    "notebooks/*",
    "tests/**/*.py",
)
SUFFIXES = {"", ".cff", ".css", ".html", ".ipynb", ".js", ".md", ".py", ".toml", ".yml"}

# Words to avoid, and what to write.
WORDS = {
    r"whatever": "any, or name the cases",
    r"anew": "again",
    r"beside": "next to, with, or besides",
    r"so many(?! that)": "the number",
    r"so much (?:a|an|for each|per)\b": "the amount",
    r"so-manieth": "n-th",
    r"of late": "recently",
    r"none of": "no, or not any",
    r"nobody": "no one, or say who can",
    r"as it goes": "during",
    r"c[oa]mes? to be": "become",
    r"of (?:his|her|their|one's) own (?:accord|making)": "by itself",
    r"of no kind": "unsupported",
    r"for good": "permanently",
    r"for ever": "permanently",
    r"strung together": "made from",
    r"take (?:it|them) home": "save",
    r"mend(?:ed|ing|s)?": "fix",
    r"heed(?:ed|s)?": "use",
    r"obey(?:ed|s)?": "apply",
    r"foresee[ns]?": "preview",
    r"thereof|therein|herein|whereof|wherein|whither|hither|thither|henceforth|lest": "a usual word",
    r"came apart": "failed",
    r"at one's leisure": "later",
    r"knows? nothing of": "does not use",
    r"stands? in (?:another|the same) order": "is in another order",
}
ANY = "|".join(f"(?:{word})" for word in WORDS).replace(" ", r"\s+")
PATTERN = re.compile(rf"(?<![\w-])(?:{ANY})(?![\w-])", re.IGNORECASE)

# The licence, the function words of languages, and the list above.
EXEMPT = (
    ".github/LICENSE",
    "engine/corpora/stop_words.py",
    "tests/test_plain_english.py",
)


class Text(NamedTuple):
    """A text, and the line of its file at which it begins."""

    line: int
    text: str


def list_files() -> list[str]:
    """Places of all files with texts, in order."""
    found = {path for pattern in READ for path in ROOT.glob(pattern) if path.is_file() and path.suffix in SUFFIXES}
    return sorted(path.relative_to(ROOT).as_posix() for path in found)


def texts_of(path: Path) -> Iterator[Text]:
    """The texts of a file that people read."""
    text = path.read_text("utf-8")
    if path.suffix == ".py":
        yield from texts_of_code(text, has_names=path.name.startswith("test_"))
    elif path.suffix == ".ipynb":
        for number, cell in enumerate(json.loads(text)["cells"]):
            source = "".join(cell["source"])
            parts = texts_of_code(source, has_names=False) if cell["cell_type"] == "code" else [Text(0, source)]
            yield from (Text(number, part.text.replace("\n", " ")) for part in parts)
    else:
        yield Text(1, text)


def texts_of_code(code: str, has_names: bool) -> Iterator[Text]:
    """Strings and comments of Python code, and the names of its tests where wanted.

    >>> list(texts_of_code("x = 'a'  # b", has_names=False))
    [Text(line=1, text="'a'"), Text(line=1, text='# b')]
    """
    for token in tokenize.generate_tokens(io.StringIO(code).readline):
        kind = tokenize.tok_name[token.type]
        if kind in {"COMMENT", "STRING", "FSTRING_MIDDLE"}:
            yield Text(token.start[0], token.string)
        elif has_names and kind == "NAME" and token.string.startswith("test_"):
            yield Text(token.start[0], token.string.replace("_", " "))


def find_words(path: Path) -> list[str]:
    """Each word to avoid in a file, as "line: word"; in a notebook, "cell: word"."""
    found: list[str] = []
    for line, text in texts_of(path):
        # Same length and lines, so that places stay.
        plain = re.sub(r"`[^`\n]+`", lambda code: "`" * len(code[0]), text)
        matches = list(PATTERN.finditer(plain))
        found += [f"{line + plain.count(chr(10), 0, each.start())}: {each[0]}" for each in matches]
    return found


@pytest.mark.parametrize("place", [each for each in list_files() if each not in EXEMPT])
def test_a_file_is_in_plain_english(place):
    assert find_words(ROOT / place) == []


def test_files_that_are_exempt_exist():
    assert set(EXEMPT) <= set(list_files())


def test_words_are_found_in_strings_comments_and_names_of_tests_but_not_between_backticks(tmp_path):
    path = tmp_path / "test_it.py"
    lines = ['"""A.', "", 'Drawn anew."""', "# beside `anew`, besides", "def test_none_of_it():", '    f"so many {1}"']
    path.write_text("\n".join(lines))
    assert find_words(path) == ["3: anew", "4: beside", "5: none of", "6: so many"]
