"""Texts are in plain English: words that a native speaker would not use here are found, with file and line.

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
# Still to be edited; an empty list means that every text is checked.
NOT_YET: tuple[str, ...] = (
    "app/app_hooks.py",
    "app/export/offline.py",
    "app/export/tables.py",
    "app/frames/anatomy_captions.py",
    "app/frames/compare_frames.py",
    "app/frames/corpus_descriptions.py",
    "app/frames/progress_frames.py",
    "app/model/anatomy.py",
    "app/model/first_readings.py",
    "app/model/kept_runs.py",
    "app/model/progress.py",
    "app/model/reading.py",
    "app/model/sweep_plan.py",
    "app/notebook.py",
    "app/plots/anatomy_plots.py",
    "app/plots/curve_plots.py",
    "app/plots/reading_plots.py",
    "app/server/runner.py",
    "app/server/service.py",
    "app/server/text_worker.py",
    "app/server/visitors.py",
    "app/session/links.py",
    "app/session/page.py",
    "app/session/pages.py",
    "app/session/session.py",
    "app/theme.py",
    "app/views/bring_corpus.py",
    "app/views/calendar.py",
    "app/views/controls.py",
    "app/views/export_panel.py",
    "app/views/header.py",
    "app/views/sharing.py",
    "app/views/sweep.py",
    "app/views/under_the_hood.py",
    "app/widgets/config_form.py",
    "app/widgets/corpus_menu.py",
    "app/widgets/sliders.py",
    "app/widgets/uploads.py",
    "data/passages.py",
    "engine/algorithm.py",
    "engine/algorithms/cv_hdp.py",
    "engine/algorithms/free_hdp.py",
    "engine/algorithms/gibbs_hdp.py",
    "engine/algorithms/gibbs_lda.py",
    "engine/algorithms/hdp.py",
    "engine/corpora/bundled.py",
    "engine/corpora/corpus.py",
    "engine/corpora/count_files.py",
    "engine/corpora/library.py",
    "engine/corpora/preview.py",
    "engine/corpora/sources.py",
    "engine/estimators.py",
    "engine/evaluation/anatomy.py",
    "engine/evaluation/held_out.py",
    "engine/evaluation/topic_frames.py",
    "engine/evaluation/topic_space.py",
    "engine/inference/batch.py",
    "engine/inference/collapsed.py",
    "engine/inference/concentrations.py",
    "engine/inference/gibbs.py",
    "engine/inference/merging.py",
    "engine/inference/topic_counts.py",
    "engine/inference/two_level.py",
    "engine/inference/warm_up.py",
    "engine/kernels/bounds.py",
    "engine/kernels/collapsed.py",
    "engine/kernels/counts.py",
    "engine/kernels/dirichlet.py",
    "engine/kernels/gibbs.py",
    "engine/kernels/held_out.py",
    "engine/kernels/importance.py",
    "engine/kernels/likeness.py",
    "engine/kernels/mixture.py",
    "engine/kernels/special.py",
    "engine/kernels/vectors.py",
    "engine/parallel.py",
    "engine/runs/cells.py",
    "engine/runs/checkpoint.py",
    "engine/runs/run.py",
    "engine/runs/settings.py",
    "engine/runs/study.py",
    "engine/schedules.py",
    "engine/whole_files.py",
    "tests/app/frames/test_known_then.py",
    "tests/app/frames/test_progress_frames.py",
    "tests/app/server/test_service.py",
    "tests/app/server/test_text_worker.py",
    "tests/app/server/test_uploads.py",
    "tests/app/server/test_watching.py",
    "tests/app/session/test_links.py",
    "tests/app/session/test_session.py",
    "tests/app/test_notebook.py",
    "tests/app/views/test_bring_corpus.py",
    "tests/app/views/test_controls.py",
    "tests/app/views/test_export_panel.py",
    "tests/app/widgets/test_config_form.py",
    "tests/benchmarks/claims.py",
    "tests/benchmarks/collapsed.py",
    "tests/benchmarks/heldout.py",
    "tests/benchmarks/machine.py",
    "tests/benchmarks/profile.py",
    "tests/benchmarks/race.py",
    "tests/benchmarks/robust.py",
    "tests/benchmarks/samplers.py",
    "tests/benchmarks/soak.py",
    "tests/benchmarks/speed.py",
    "tests/benchmarks/systems.py",
    "tests/benchmarks/trials.py",
    "tests/browser/conftest.py",
    "tests/browser/dashboard.py",
    "tests/browser/test_bringing.py",
    "tests/browser/test_expected.py",
    "tests/browser/test_keyboard.py",
    "tests/browser/test_running.py",
    "tests/browser/test_settings.py",
    "tests/browser/test_word_lists.py",
    "tests/engine/algorithms/test_gibbs.py",
    "tests/engine/algorithms/test_lda.py",
    "tests/engine/corpora/test_formats.py",
    "tests/engine/corpora/test_library.py",
    "tests/engine/corpora/test_load.py",
    "tests/engine/evaluation/test_topic_space.py",
    "tests/engine/inference/test_concentrations.py",
    "tests/engine/inference/test_two_level.py",
    "tests/engine/runs/test_checkpoint.py",
    "tests/engine/runs/test_study.py",
    "tests/engine/test_estimators.py",
    "tests/engine/test_parallel.py",
    "tests/naive_collapsed.py",
    "tests/naive_gibbs.py",
    "tests/recovery/test_recovery.py",
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


@pytest.mark.parametrize("place", [each for each in list_files() if each not in (*EXEMPT, *NOT_YET)])
def test_a_file_is_in_plain_english(place):
    assert find_words(ROOT / place) == []


def test_what_is_exempt_exists():
    assert {*EXEMPT, *NOT_YET} <= set(list_files())


def test_words_are_found_in_strings_comments_and_names_of_tests_but_not_between_backticks(tmp_path):
    path = tmp_path / "test_it.py"
    lines = ['"""A.', "", 'Drawn anew."""', "# beside `anew`, besides", "def test_none_of_it():", '    f"so many {1}"']
    path.write_text("\n".join(lines))
    assert find_words(path) == ["3: anew", "4: beside", "5: none of", "6: so many"]
