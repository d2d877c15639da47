"""Function words of languages, and languages guessed from them."""

import pytest

from stickbreaker.engine.corpora.stop_words import LANGUAGES, guess_language, stop_words


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("english", "The peace and the tariff of this nation"),
        ("german", "Der Friede und die Zölle, von denen wir reden"),
        ("french", "La paix et les droits de douane dont nous parlons"),
        ("spanish", "La paz y los aranceles de los que hablamos"),
        ("italian", "La pace e i dazi di cui parliamo con gli altri"),
        ("portuguese", "A paz e as tarifas de que falamos com os outros, não"),
        ("dutch", "De vrede en de tarieven waarover wij het hebben"),
        ("swedish", "Freden och tullarna som vi talar om är inte nya"),
        ("unspaced", "平和と関税について話す"),
        ("", "zxq vbnm wrtp"),
    ],
)
def test_a_language_is_guessed_from_its_stop_words(language, text):
    assert guess_language([text])[0] == language


def test_stop_words_are_lower_case_and_whole():
    for language in LANGUAGES:
        words = stop_words(language)
        assert len(words) > 150
        assert all(word == word.lower() and word.isalpha() for word in words)
