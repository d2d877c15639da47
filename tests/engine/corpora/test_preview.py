"""Previews of files, and their agreement with the corpora built from them."""

from hashlib import sha256

import numpy as np
import pandas as pd
import pytest

from stickbreaker.engine.corpora import preview as previews
from stickbreaker.engine.corpora.build import build_corpus
from stickbreaker.engine.corpora.columns import Columns
from stickbreaker.engine.corpora.preview import preview
from stickbreaker.engine.corpora.sources import find_source
from stickbreaker.engine.corpora.word_choices import WordChoices
from stickbreaker.engine.corpora.words import measure_words
from tests.engine.corpora.small_files import refuses

TEXTS = [
    "The treaty of peace with them",
    "The treaty and the tariff",
    "Tariff on cotton",
    "Peace, peace at last",
]


def write(tmp_path, **columns):
    path = tmp_path / "mine.csv"
    pd.DataFrame(columns).to_csv(path, index=False)
    return path


def test_a_preview_tells_the_share_that_is_read_and_can_be_cancelled(tmp_path):
    path, shares = write(tmp_path, text=TEXTS * 500), []
    preview(path, callback=shares.append)
    assert len(shares) > 1
    assert shares == sorted(shares)
    assert shares[-1] == 1.0

    def stop(share):
        raise InterruptedError

    with pytest.raises(InterruptedError):
        preview(path, callback=stop)


def test_a_preview_agrees_with_the_built_corpus(tmp_path):
    years = ["1900", "1901", "soon", "1903"]
    path = write(
        tmp_path,
        published=years,
        body=[*TEXTS[:3], ""],
        headline=["A", "B", "C", "D"],
        pages=[7, 7, 7, 7],
    )
    seen = preview(path)
    assert seen.chosen == Columns("body", "published", "headline")
    assert seen.kind == "CSV"
    assert seen.num_rows == 3
    assert seen.num_undated == 1
    assert seen.date_span == ("1900", "1901")
    assert (seen.language, seen.is_sample) == ("english", False)
    assert seen.first[0] == ("A", "1900", TEXTS[0])
    built = build_corpus(
        find_source(path), seen.chosen, WordChoices(min_documents=1, max_share=1.0)
    )
    assert [row.row for row in seen.bad] == [row.row for row in built.bad.listed] == [4, 5]
    assert seen.num_bad == built.bad.count


def test_given_columns_are_used_and_a_column_can_be_omitted(tmp_path):
    path = write(tmp_path, published=["1900"] * 4, body=TEXTS, headline=list("ABCD"))
    seen = preview(path, text="headline", date="", title="")
    assert seen.chosen == Columns("headline")
    assert (seen.num_undated, seen.date_span, seen.first[0]) == (0, None, ("row 2", "", "A"))
    with refuses("has no column 'bdy'. Choose one of 'published', 'body', 'headline'"):
        preview(path, text="bdy")


@pytest.mark.parametrize(
    ("columns", "chosen"),
    [
        ({"a": TEXTS, "b": ["1900-01-02"] * 4}, Columns("a", "b")),
        ({"number": [1001, 1002, 1003, 1004], "a": TEXTS}, Columns("a")),
        ({"year": [1001, 1002, 1003, 1004], "a": TEXTS}, Columns("a", "year")),
        ({"long": ["x" * 60] * 4, "text": TEXTS}, Columns("text")),
        (
            {"price": [12.5, 3.0, 4.0, 9.0], "a": TEXTS, "who": list("ABCD")},
            Columns("a", None, "who"),
        ),
        ({"who": ["same"] * 4, "a": TEXTS}, Columns("a")),
        ({"a": TEXTS}, Columns("a")),
        ({"written": ["1 February 1900"] * 4, "a": ["Peace"] * 4}, Columns("a", "written")),
        ({"n": range(4), "a": [f"{n}年10月に、港で平和条約が。" for n in range(4)]}, Columns("a")),
        ({"n": range(4), "a": [f"{{peace,treaty,of,{n}}}" for n in range(4)]}, Columns("a")),
        ({"Datum": ["2 Messidor V"] * 4, "a": ["Peace"] * 4}, Columns("a")),
        ({"year": [1900, 1901, "", ""], "a": [*TEXTS[:2], "", ""]}, Columns("a", "year")),
    ],
)
def test_columns_are_guessed_from_their_content_and_names(tmp_path, columns, chosen):
    columns = {
        name: [str(cell) * (2 if name == "who" else 1) for cell in cells]
        for name, cells in columns.items()
    }
    assert preview(write(tmp_path, **columns)).chosen == chosen


def test_a_folder_needs_no_chosen_columns(tmp_path):
    for year, text in zip(range(1900, 1904), TEXTS, strict=True):
        (tmp_path / f"{year} speech.txt").write_text(text)
    seen = preview(tmp_path)
    assert (seen.chosen, seen.date_span) == (Columns("text", "date", "title"), ("1900", "1903"))
    assert seen.first[3] == ("1903 speech", "1903", TEXTS[3])


def test_a_large_file_is_measured_on_a_sample_of_all_its_parts(tmp_path, monkeypatch):
    monkeypatch.setattr(previews, "MAX_SAMPLE", 100)
    texts = [f"early peace {i}" if i < 500 else f"late tariff {i}" for i in range(1000)]
    path = write(tmp_path, text=texts)
    seen = preview(path)
    assert seen.is_sample
    assert 50 <= len(seen.sample) <= 100
    assert np.mean(["early" in text for text in seen.sample]) == pytest.approx(0.5, abs=0.02)
    effect = seen.measure(WordChoices(min_documents=1, max_share=1.0))
    assert (effect.num_documents, effect.of_documents) == (len(seen.sample), 1000)
    assert set(effect.words) == {"early", "peace", "late", "tariff"}
    assert seen.without_sample().sample == ()


def test_each_word_choice_changes_the_measured_effect(tmp_path):
    seen = preview(write(tmp_path, text=TEXTS))
    broad = seen.measure(WordChoices(min_documents=1, max_share=1.0, languages=(), min_letters=1))
    assert broad.num_tokens == broad.raw_tokens == sum(len(text.split()) for text in TEXTS)
    narrow = [
        {"min_letters": 6},
        {"languages": ("english",)},
        {"max_words": 2},
        {"min_documents": 2},
    ]
    for change in narrow:
        settings = {
            "min_documents": 1,
            "max_share": 1.0,
            "languages": (),
            "min_letters": 1,
        } | change
        effect = seen.measure(WordChoices(**settings))
        assert effect.num_terms < broad.num_terms
        assert effect == measure_words(TEXTS, WordChoices(**settings))


def test_a_file_of_counts_is_shown_and_measured(tmp_path):
    (tmp_path / "vocab.txt").write_text("cotton\npeace\nthe\n")
    (tmp_path / "mine.ldac").write_text("2 0:1 2:3\n1 1:2\n9\n")
    seen = preview(tmp_path / "mine.ldac")
    assert (seen.kind, seen.columns, seen.num_rows, seen.num_bad) == ("LDA-C", (), 3, 1)
    assert seen.first[0].text == "the ×3, cotton ×1"
    effect = seen.measure(WordChoices(max_share=1.0))
    assert (effect.num_terms, effect.num_tokens, effect.raw_tokens) == (2, 3, 6)
    assert seen.without_sample().counted is None


@pytest.mark.parametrize(
    "others", [{}, {"author": ["Jane Austen", "Mary Anne Evans", "Ann Radcliffe", "Anna Seward"]}]
)
def test_dates_and_authors_are_not_guessed_as_the_text_if_the_text_is_empty(tmp_path, others):
    said = "row 2: the text is empty. Put text into the column 'text', or choose another column."
    with refuses(said):
        preview(write(tmp_path, text=[""] * 4, date=["1900-01-02"] * 4, **others))


def test_hashes_are_not_guessed_as_titles(tmp_path):
    hashes = [sha256(text.encode()).hexdigest() for text in TEXTS]
    subjects = [f"Peace of {place}" for place in range(len(TEXTS))]
    assert preview(write(tmp_path, text=TEXTS, id=hashes)).chosen.title is None
    assert (
        preview(write(tmp_path, text=TEXTS, commit=hashes, subject=subjects)).chosen.title
        == "subject"
    )


def test_a_column_with_texts_is_guessed_before_an_empty_one_with_a_better_name(tmp_path):
    assert preview(write(tmp_path, comment=[""] * len(TEXTS), answer=TEXTS)).chosen.text == "answer"


def test_a_sample_of_one_document_keeps_its_words():
    effect = measure_words(["peace treaty peace"], WordChoices(), of_documents=1_000)
    assert (effect.num_documents, effect.of_documents, effect.num_tokens) == (1, 1_000, 3)


def test_an_empty_path_is_not_the_current_folder():
    with refuses("The path is empty"):
        preview("")


def test_the_error_for_a_file_without_usable_rows_names_the_first_row(tmp_path):
    with refuses("no usable rows. First problem: .*row 2: the text is empty"):
        preview(write(tmp_path, text=[" "], year=["1900"]), text="text")
    with refuses("File not found"):
        preview(tmp_path / "none.csv")


@pytest.mark.parametrize(
    "other",
    [
        '{"type": "Feature", "geometry": {"type": "Point", "name": "harbour"}, "links": ["a"]}',
        str([0.25] * 60),
        "https://example.org/a/very/long/address/with-words-in-it/that-is-longer-than-prose.html",
        "/home/ann/archive/letters of 1959/a long name of a folder/scan_0001.tif",
        "d41d8cd98f00b204e9800998ecf8427e" * 5,
        "1200 3400 5600 7800 " * 10,
    ],
)
@pytest.mark.parametrize("names", [("said", "more"), ("a", "description")])
def test_prose_is_the_text_and_not_a_longer_column(tmp_path, other, names):
    prose = [
        "The treaty of peace between them was signed in the harbour",
        "Η ειρήνη και ο πόλεμος των λαών της θάλασσας",
        "平和条約は、港で。" * 5,
        "Der Zolltarif auf Baumwolle wurde im Mai gesenkt",
    ]
    said, more = names
    path = write(tmp_path, **{more: [other] * 4, said: prose})
    assert preview(path).chosen.text == said


def test_a_title_is_a_better_title_than_an_id(tmp_path):
    path = write(tmp_path, id=["a1", "b2", "c3", "d4"], text=TEXTS, title=["A", "B", "C", "C"])
    assert preview(path).chosen.title == "title"


def test_dates_that_cannot_be_read_are_named_and_are_no_titles(tmp_path):
    path = write(tmp_path, text=TEXTS, date=["Olympiad 3", "Olympiad 4", "Olympiad 5", "later"])
    seen = preview(path)
    assert (seen.chosen.date, seen.chosen.title) == (None, None)
    assert any("'date' is not read as dates: 'Olympiad 3' is not" in note for note in seen.notes)


@pytest.mark.parametrize(
    ("columns", "date", "said"),
    [
        ({"page": ["1500", "1502", "1507", "1509"]}, "page", "The numbers in 'page' are read as"),
        (
            {"loaded on": ["1999-01-01"] * 4, "put on": [f"1900-01-0{n}" for n in range(1, 5)]},
            "put on",
            "Dates are read from 'put on'. Columns with other dates: 'loaded on'.",
        ),
        (
            {"Jahr": ["1900"] * 4, "Monat": ["7"] * 4, "Tag": ["1", "2", "3", "31"]},
            "Jahr",
            "Only the year is read, without 'Monat', 'Tag'.",
        ),
        ({"year": ["1900"] * 4, "month": ["May", "mai", "5", "Mär."]}, "year", "without 'month'."),
        ({"date": ["1900", "", "", ""]}, None, "the column 'date', which is mostly empty"),
        ({"Fecha": ["Olimpiada 3"] * 4}, None, "The column 'Fecha' is not read as dates"),
        ({"year": ["1900"] * 4, "words": ["1500"] * 4}, "year", ""),
    ],
)
def test_the_preview_says_what_was_assumed_of_the_dates(tmp_path, columns, date, said):
    seen = preview(write(tmp_path, text=TEXTS, **columns))
    assert seen.chosen.date == date
    assert (said in " ".join(seen.notes)) if said else seen.notes == ()
    assert preview(tmp_path / "mine.csv", date="").notes == ()


@pytest.mark.parametrize("day_first", [None, True, False])
def test_the_preview_says_how_days_and_months_are_read_and_the_order_can_be_chosen(
    tmp_path, day_first
):
    path = write(tmp_path, text=TEXTS, when=["3/4/1863", "4/5/1863", "5/6/1863", "6/7/1863"])
    seen = preview(path, day_first=day_first)
    assert seen.first[0].date == ("1863-04-03" if day_first else "1863-03-04")
    assert any("set day_first" in note for note in seen.notes)


def test_numbers_are_dates_only_in_a_column_that_is_named_so(tmp_path):
    numbers = ["43831", "44197", "44562", "44927"]
    assert preview(write(tmp_path, text=TEXTS, zip=numbers)).chosen.date is None
    seen = preview(write(tmp_path, text=TEXTS, created=numbers))
    assert (seen.chosen.date, seen.date_span) == ("created", ("2020-01-01", "2023-01-01"))
    assert "'43831' is read as 2020-01-01." in seen.notes


def test_what_all_rows_repeat_is_not_the_text(tmp_path):
    path = tmp_path / "a.csv"
    licence = "This work may be used and copied and read by all people of the world and for any use"
    rows = [f"Peace of {place},the treaty of {place} ships,{licence}" for place in range(9)]
    path.write_text("\n".join(["headline,lead,licence", *rows]))
    assert preview(path).chosen.text == "lead"
