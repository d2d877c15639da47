"""How the bundled corpora are built from texts: pages are stripped, passages are cut, words are
counted.
"""

import re

import pytest

from data.build_rfc import COUNTED_WORD, split_passages, strip_pages
from data.build_state_of_the_union import split_passages as split_sentences
from data.passages import Words, Writing, build_corpus


def paged(head, foot, bodies):
    """Return pages with the headers and footers of RFCs; `#` stands for the page number."""
    pages = enumerate(bodies, start=1)
    return "\n\f".join(
        f"{head}\n\n{body}\n\n{foot}".replace("#", str(number)) for number, body in pages
    )


@pytest.mark.parametrize(
    ("head", "foot"),
    [
        (
            "RFC 8446                 TLS                August 2018",
            "Rescorla        Standards Track        [Page #]",
        ),
        (
            "RFC 675            Specification of TCP      Dec. 74",
            "Cerf, Dalal & Sunshine                  [page #]",
        ),
        (
            "September 1981\n             Internet Protocol\n               Overview",
            "[Page #]          Postel",
        ),
        ("NWG/RFC 542     File Transfer Protocol", "                    - # -"),
    ],
)
def test_headers_and_footers_are_removed_and_the_text_stays(head, foot):
    bodies = [f"The {word} of the {word}" for word in ("host", "socket", "gateway", "terminal")]
    assert strip_pages(paged(head, foot, bodies)).split("\n") == bodies


def test_repeated_lines_inside_pages_with_headers_and_footers_stay():
    body = "   STATUS current\n   DESCRIPTION\n   STATUS current"
    text = paged(
        "RFC 1213          MIB-II          March 1991",
        "McCloghrie & Rose          [Page #]",
        [body] * 5,
    )
    assert strip_pages(text) == "\n".join([body] * 5)


@pytest.mark.parametrize(
    ("num_words", "sizes"), [(59, []), (60, [60]), (309, [309]), (310, [250, 60]), (500, [250] * 2)]
)
def test_passages_have_250_words_and_a_short_rest_is_added_to_the_last(num_words, sizes):
    text = " ".join(["of socket"] * num_words)
    passages = list(split_passages(text))
    assert [len(COUNTED_WORD.findall(passage)) for passage in passages] == sizes
    assert "".join(passages) == (text if sizes else "")


def test_addresses_are_cut_at_the_ends_of_sentences():
    sentences = [
        f"Mr. Speaker, in the year {year} " + "peace " * 49 + "reigned."
        for year in range(1900, 1910)
    ]
    passages = list(split_sentences(" ".join(sentences)))
    assert " ".join(passages) == " ".join(sentences)
    assert all(re.fullmatch(r"Mr\. .* reigned\.", passage) for passage in passages)
    assert len(passages) == 3


def test_texts_without_counted_words_give_no_passage_and_no_group():
    writings = [
        Writing("First", "1969-04", ["host host", "1 2 3", "socket socket"]),
        Writing("Second", "1969-05", ["4 5 6"]),
        Writing("Third", "1969-06", ["gateway host"]),
    ]
    limits = Words(min_documents=1, max_share=1.0, max_words=2)
    corpus, passages = build_corpus("made", writings, limits, split_by="group")
    assert passages == ["host host", "socket socket", "gateway host"]
    assert corpus.titles == ("First, passage 1", "First, passage 2", "Third, passage 1")
    assert (corpus.group_titles, corpus.groups.tolist()) == (("First", "Third"), [0, 0, 1])
    assert corpus.dates.astype(str).tolist() == ["1969-04", "1969-04", "1969-06"]
    assert (corpus.vocabulary.words, corpus.split_by) == (("host", "socket"), "group")
