"""Word choices stay with a corpus; function words of languages, and languages guessed from them."""

import pytest

from stickbreaker.engine import OnlineLDA, WordChoices, build, load, load_corpus
from stickbreaker.engine.corpora.shards import MANIFEST, STORED_CORPUS
from stickbreaker.engine.corpora.stored import store_corpus
from stickbreaker.engine.corpora.word_choices import LANGUAGES, guess_language, stop_words
from stickbreaker.engine.files.verified_files import read_seal, seal_folder


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


CHOICES = WordChoices(
    min_letters=2, max_ngram=2, languages=("german", "french"), own_stop_words="und", max_words=9
)


def test_word_choices_stay_with_a_corpus_its_folder_and_a_model(tmp_path):
    path = tmp_path / "words.csv"
    path.write_text("text\n" + "Krieg und Frieden\nFrieden im Handel\n" * 3)
    corpus = load_corpus(path, words=CHOICES)
    kept = [
        corpus,
        corpus.select([0, 2]),
        corpus.merge_groups("whole"),
        store_corpus(corpus, tmp_path / "stored"),
        build(path, to=tmp_path / "built", words=CHOICES).load(),
    ]
    model = OnlineLDA(max_topics=2, random_state=0).fit(corpus)
    model.save(tmp_path / "model.npz")
    kept.append(load(tmp_path / "model.npz").to_corpus(corpus.counts))
    assert [each.word_choices for each in kept] == [CHOICES] * 6
    assert load_corpus(path).word_choices == WordChoices()


def test_the_words_of_files_of_earlier_versions_are_counted_in_an_unknown_way(
    tiny_corpus, tmp_path
):
    """Their description has no word choices; the other values of the description stay."""
    folder = store_corpus(tiny_corpus, tmp_path / "stored").folder
    about = dict(read_seal(folder / MANIFEST, STORED_CORPUS).about)
    assert about.pop("word_choices") is None
    names = [path.name for path in folder.iterdir() if path.name != MANIFEST]
    seal_folder(folder, MANIFEST, STORED_CORPUS, about, names)
    assert load_corpus(folder).word_choices is None
    OnlineLDA(max_topics=2, random_state=0).fit(tiny_corpus).save(tmp_path / "model.npz")
    assert load(tmp_path / "model.npz").word_choices_ is None
