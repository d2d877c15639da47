"""Which words are counted, and the measured effect of each choice."""

import json
import re

import numpy as np
import pytest

from stickbreaker.engine.corpora.build_stored import build as build_stored
from stickbreaker.engine.corpora.load import load_corpus
from stickbreaker.engine.corpora.preview import preview
from stickbreaker.engine.corpora.word_choices import MAX_VOCABULARY, WordChoices
from stickbreaker.engine.corpora.words import (
    MAX_LETTERS,
    WordCounter,
    count_words,
    measure_words,
)
from tests.engine.corpora.small_files import TEXTS, build


@pytest.mark.parametrize(
    ("choices", "words"),
    [
        ({}, ["tariff", "treaty", "verträge"]),
        ({"min_letters": 1}, ["tariff", "treaty", "uk", "verträge"]),
        ({"min_letters": 7}, ["verträge"]),
        (
            {"languages": ("english", "german"), "own_stop_words": "tariff, Vertra\u0308ge"},
            ["treaty"],
        ),
        ({"languages": (), "min_letters": 8}, ["verträge"]),
        ({"max_ngram": 2, "min_documents": 2}, ["tariff", "treaty", "treaty tariff"]),
        ({"min_documents": 2}, ["tariff", "treaty"]),
        ({"max_share": 0.4}, ["verträge"]),
        ({"max_words": 1}, ["treaty"]),
    ],
)
def test_each_word_choice_changes_the_counted_words(tmp_path, choices, words):
    path = tmp_path / "a.csv"
    path.write_text(
        "text\nthe treaty tariff\nThe treaty treaty tariff\nUK Vertra\u0308ge\n", encoding="utf-8"
    )
    choices = WordChoices(**{"min_documents": 1, "max_share": 1.0} | choices)
    assert list(load_corpus(path, words=choices).vocabulary) == words


def test_the_error_for_a_word_choice_outside_its_bounds_names_the_bounds():
    with pytest.raises(
        ValueError, match=rf"max_words is 200000: give a whole number from 1 to {MAX_VOCABULARY}"
    ):
        WordChoices(max_words=200_000)
    with pytest.raises(
        ValueError, match="No stop words for 'klingon'. Choose from english, german"
    ):
        WordChoices(languages=("klingon",))
    with pytest.raises(
        ValueError, match="own_stop_words is .* Use one string of words, separated by spaces"
    ):
        WordChoices(own_stop_words=["peace", "war"])
    assert WordChoices(languages="german").languages == ("german",)


def test_the_measured_effect_on_all_documents_equals_the_corpus():
    choices = WordChoices(min_documents=2, max_share=0.6)
    effect = measure_words(TEXTS, choices)
    counts, words = count_words(TEXTS, 2, 0.6)
    assert (effect.num_terms, effect.num_tokens) == (len(words), counts.sum())
    assert effect.raw_tokens == sum(len(re.findall(r"\w+", text)) for text in TEXTS)
    assert effect.words[0] == "peace"
    assert effect.num_empty == int((np.diff(counts.indptr) == 0).sum())
    sample = measure_words(TEXTS[:2], WordChoices(min_documents=2, max_share=1.0), of_documents=4)
    assert (sample.num_terms, sample.num_documents, sample.of_documents) == (3, 2, 4)


def test_vowel_signs_and_joiners_do_not_split_words(tmp_path):
    # Hindi, Tamil, Persian with a joiner, and a letter whose mark has no form together with it.
    words = ["भारत", "महान", "தமிழ்", "மொழி", "می\u200cخواهم", "m\u0304akua"]
    path = tmp_path / "a.csv"
    path.write_text("text\n" + "\n".join([*words, "12 _3"]) + "\n", encoding="utf-8")
    choices = WordChoices(languages=(), min_documents=1, max_share=1.0)
    assert set(load_corpus(path, words=choices).vocabulary) == set(words)


def test_a_word_without_an_end_is_not_counted():
    texts = [f"{'x' * MAX_LETTERS} war", f"{'x' * (MAX_LETTERS + 1)} navy", "y" * 1_000_000]
    _, words = count_words(texts, min_documents=1, max_share=1.0)
    assert words == ["navy", "war", "x" * MAX_LETTERS]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("covid19 co2 h2o 4chan", ["4chan", "co2", "covid19", "h2o"]),
        ("new_york peace_NOUN __treaty__ _war_ a_", ["new_york", "peace_noun", "treaty", "war"]),
        ("1863 3.14 12_5 2020-01-01", []),
        ("don't peace's covid19's", ["covid19", "peace"]),
        ("평화 조약 을 가 관세", ["관세", "조약", "평화"]),
        ("今天 天气 很 好", ["今天", "天气", "好", "很"]),
        ("平和 と 条約 コンピュータ", ["と", "コンピュータ", "平和", "条約"]),
        ("kid19 ab x", ["kid19"]),
    ],
)
def test_words_are_as_short_as_their_script_allows_and_may_have_digits(tmp_path, text, words):
    counted = WordChoices(min_documents=1, max_share=1.0)
    _, found = measure(text, counted)
    assert found == sorted(words)
    total, plain = measure(text, WordChoices(min_documents=1, max_share=1.0, keeps_digits=False))
    is_whole = [re.search(rf"(?<!\w){word}(?!\w)", text.lower()) for word in sorted(words)]
    plain_words = [word for word, found in zip(sorted(words), is_whole, strict=True) if found]
    assert plain == [word for word in plain_words if word.isalpha()]
    assert total in (0, len(re.findall(r"[^\W_]\w*", text)))


def measure(text, choices):
    """The tokens of a text before the choices, and the words that they keep."""
    effect = measure_words([text], choices)
    return effect.raw_tokens, sorted(effect.words)


@pytest.mark.parametrize(
    "text",
    ["今天 天气 很 好 公园", "วันนี้ อากาศ ดี มาก เรา ไป", "peace treaty 今天天气很好 tariff cotton"],
)
def test_separated_words_are_counted(tmp_path, text):
    path = tmp_path / "a.csv"
    path.write_text("text\n" + f"{text}\n" * 3, encoding="utf-8")
    corpus = load_corpus(path, words=WordChoices(min_documents=1, max_share=1.0))
    assert set(corpus.vocabulary) == {
        word for word in text.split() if len(word) > 2 or word > "\u3000"
    }


def test_words_that_pdf_files_and_web_pages_split_are_joined(tmp_path):
    path = tmp_path / "a.jsonl"
    texts = ["e\ufb03cient har\u00adbour", "Caf&eacute; &amp; treaty", "tar-\niff well-\nKnown"]
    path.write_text("".join(json.dumps({"text": text}) + "\n" for text in texts))
    words = WordChoices(languages=(), min_documents=1, max_share=1.0)
    assert set(load_corpus(path, words=words).vocabulary) == {
        "efficient",
        "harbour",
        "café",
        "treaty",
        "tariff",
        "well",
        "known",
    }


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('<p class="a b">The <b>har</b>bour<br/>tariff</p>', {"harbour", "tariff"}),
        ("<SCRIPT>var x = navy</SCRIPT><!-- wp:image -->peace<style>p {}</style>", {"peace"}),
        ("war <script>half closed", {"war", "half", "closed"}),
        ("a <b and c> peace < war", {"peace", "war"}),
        ("CafÃ© â€œtreatyâ€\x9d", {"café", "treaty"}),
        ("NÃO SÃO PEÇAS", {"não", "são", "peças"}),
        ("har\u200bbour \u200epeace\u200f", {"harbour", "peace"}),
        (r"war\n\npeace\ttreaty Caf\u00e9 \ud83d", {"war", "peace", "treaty", "café"}),
        ("Waſſer Wasser, İSTANBUL istanbul, trea¬\nty", {"wasser", "istanbul", "treaty"}),
        (r"$\nabla \times \text{navy}$", {"nabla", "times", "text", "navy"}),
    ],
)
def test_markup_and_letters_that_were_read_wrongly_are_repaired(text, words):
    counter = WordCounter(WordChoices())
    counter.add([text])
    assert set(counter.everything()[1]) == words


def test_a_note_says_how_many_texts_are_repaired_also_in_the_preview(tmp_path, caplog):
    path = tmp_path / "a.csv"
    path.write_text("text\n<p>peace</p>\nwar\ntreaty &amp; tariff\n")
    said = "Repaired in 2 texts: tags and entities of web pages are left out"
    assert said in preview(path).notes[0]
    load_corpus(path)
    assert said in caplog.text
    caplog.clear()
    build_stored(path, to=tmp_path / "stored", keeps_text=True)
    assert f"{said}, words that PDF files split are joined" in caplog.text


@pytest.mark.parametrize(
    "text", ["nan", "[deleted]", "[removed]", "NULL", "N/A", "none", "(blank)", "#REF!"]
)
def test_what_programs_write_without_a_text_is_no_document(tmp_path, text):
    path = tmp_path / "a.csv"
    path.write_text(f"text,year\n{text},1900\npeace,1901\n")
    built = build(path)
    assert built.corpus.num_documents == 1
    assert f"the text is only '{text}'" in str(built.bad.listed[0])


def test_texts_that_are_single_words_are_said(tmp_path, caplog):
    path = tmp_path / "a.csv"
    path.write_text("name,peace,war\n" + "".join(f"doc{place},1,0\n" for place in range(12)))
    said = "Nearly all texts are single words"
    assert preview(path).notes[0].startswith(said)
    load_corpus(path, text="name")
    assert said in caplog.text
