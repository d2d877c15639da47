"""Which words are counted, and the measured effect of each choice."""

import re

import numpy as np
import pytest

from stickbreaker.engine.corpora.load import load_corpus
from stickbreaker.engine.corpora.words import (
    MAX_LETTERS,
    MAX_VOCABULARY,
    WordChoices,
    count_words,
    measure_words,
)
from tests.engine.corpora.small_files import TEXTS


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
    path.write_text("text\n" + "\n".join([*words, "x1 _y"]) + "\n", encoding="utf-8")
    choices = WordChoices(languages=(), min_documents=1, max_share=1.0)
    assert set(load_corpus(path, words=choices).vocabulary) == set(words)


def test_a_word_without_an_end_is_not_counted():
    texts = [f"{'x' * MAX_LETTERS} war", f"{'x' * (MAX_LETTERS + 1)} navy", "y" * 1_000_000]
    _, words = count_words(texts, min_documents=1, max_share=1.0)
    assert words == ["navy", "war", "x" * MAX_LETTERS]
