"""The worksheet asks what its answers say, and texts of the corpus cannot become markup."""

import re
from dataclasses import replace
from html import unescape

import numpy as np
import pytest

from stickbreaker import engine
from stickbreaker.app.export.worksheet import NUM_BLANKS, make_parts, write_worksheet
from stickbreaker.app.model.reading import begin_reading
from tests.app.small_runs import NAME, learn, small_corpus, small_spec

HOSTILE = "<script>alert(1)</script>"


@pytest.fixture(scope="module")
def read():
    """A reading of the small corpus, one of whose words is hostile, and the progress of its run."""
    words = engine.Vocabulary((HOSTILE, *small_corpus().vocabulary.words[1:]))
    corpus = engine.Corpus(
        NAME, small_corpus().counts, words, small_corpus().dates, small_corpus().titles
    )
    spec = small_spec()
    record = learn(corpus, spec)
    return begin_reading(record.model()), record.progress(1)


def test_each_question_has_an_answer_that_is_missing_or_among_its_options(read):
    names, *choices = make_parts(*read)
    for question, answer in zip(names.questions, names.answers, strict=True):
        missing = answer.split(", ")
        assert question.count('class="blank"') == len(missing) == NUM_BLANKS
        listed = re.split(r", |<br>", unescape(question))
        assert not set(missing) & set(listed)
        assert all(word in unescape(names.asked) for word in missing)
    assert all(part.questions for part in choices)
    for part in choices:
        for question, answer in zip(part.questions, part.answers, strict=True):
            assert answer in [unescape(each) for each in re.findall(r"<li>(.*?)</li>", question)]


def test_the_file_is_one_page_without_scripts_whose_answers_are_printed_on_a_new_sheet(
    read, tmp_path
):
    path = tmp_path / "sheet.html"
    write_worksheet(*read, path)
    text = path.read_text(encoding="utf-8")
    assert "<script" not in text
    assert "&lt;script&gt;" in text
    assert "default-src 'none'" in text
    assert "http:" not in text
    assert "break-before: page" in text
    assert text.index("Complete the topics") < text.index('class="answers"')


def test_a_run_that_goes_on_has_no_question_about_columns_and_one_without_topics_no_worksheet(
    read, tmp_path
):
    reading, progress = read
    *_, first = make_parts(reading, replace(progress, status="paused"))
    assert first.questions == ()
    silent = _without_tokens(reading.summary)
    empty = replace(
        reading,
        used=np.zeros(0, int),
        model=replace(
            reading.model,
            corpus=replace(small_corpus(), dates=np.full(110, "NaT", "datetime64[D]")),
            algorithm=replace(reading.model.algorithm, summarize=lambda config, state: silent),
        ),
    )
    with pytest.raises(ValueError, match="No topic"):
        write_worksheet(empty, replace(progress, status="paused"), tmp_path / "sheet.html")


def _without_tokens(summary):
    return summary._replace(expected_tokens=np.zeros(len(summary.topic_ids)))
