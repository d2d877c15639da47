"""Word choices stay with a corpus; function words of languages, and languages guessed from them."""

from dataclasses import replace

import numpy as np
import pytest

from stickbreaker.engine import (
    Corpus,
    CorpusVectorizer,
    OnlineLDA,
    Vocabulary,
    WordChoices,
    build,
    load,
    load_corpus,
)
from stickbreaker.engine.corpora.shards import MANIFEST, STORED_CORPUS
from stickbreaker.engine.corpora.stored import store_corpus
from stickbreaker.engine.corpora.word_choices import LANGUAGES, guess_language, stop_words
from stickbreaker.engine.files.verified_files import read_seal, seal_folder
from tests.engine.corpora.small_files import assert_same_corpora, refuses


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
        ("japanese", "平和と関税について話す"),
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


def test_new_texts_are_counted_as_those_of_a_corpus_or_model_were(tmp_path, caplog):
    """Phrases have no stop words inside, and the share of unknown words is said."""
    old = tmp_path / "old.csv"
    old.write_text("text\nwar of independence\nUnited States cotton\nunited states and war\n")
    new = tmp_path / "new.csv"
    new.write_text("text\nrailways\nWar of independence and railways\nThe United States\n")
    corpus = load_corpus(old, words=WordChoices(max_ngram=2))
    OnlineLDA(max_topics=2, random_state=0).fit(corpus).save(tmp_path / "model.npz")
    model = load(tmp_path / "model.npz")
    caplog.clear()
    for like in (corpus, model):
        found = load_corpus(new, like=like)
        assert found.vocabulary == corpus.vocabulary
        assert (found.word_choices, found.rows.tolist()) == (corpus.word_choices, [3, 4])
        assert [list_words(found, row) for row in range(2)] == [
            ["independence", "war", "war independence"],
            ["states", "united", "united states"],
        ]
        assert "33.3% of the words are not in the given vocabulary" in caplog.text
    texts = ["War of independence and railways", "The United States"]
    assert model.transform(texts).tobytes() == model.transform(found).tobytes()
    assert model.to_corpus(texts).word_choices == corpus.word_choices
    (tmp_path / "vocab.txt").write_text("railways\nunited states\nwar\n")
    (tmp_path / "counts.ldac").write_text("2 0:1 2:3\n1 1:2\n")
    counted = load_corpus(tmp_path / "counts.ldac", like=model)
    assert [list_words(counted, row) for row in range(2)] == [["war"], ["united states"]]


@pytest.mark.parametrize("order", [1, -1])
def test_a_corpus_on_disk_has_the_words_of_another_corpus(tmp_path, caplog, order):
    """They keep their order, and the share of unknown words is said."""
    words = tuple(sorted(("independence", "peace", "war", "war independence")))[::order]
    dates = np.full(1, "NaT", "datetime64[D]")
    like = Corpus("old", [[1, 1, 1, 1]], Vocabulary(words), dates, ("One",))
    path = tmp_path / "new.csv"
    path.write_text("text\nrailways\nwar of independence, railways\npeace and war\n")
    in_memory = load_corpus(path, like=like)
    (said,) = [each for each in caplog.messages if "vocabulary" in each]
    caplog.clear()
    built = build(path, to=tmp_path / "built", like=like, shard_documents=1)
    assert_same_corpora(built, in_memory)
    assert built.vocabulary.words == words
    assert said in caplog.messages
    with refuses("no word is in the vocabulary"):
        build(path, to=tmp_path / "other", like=replace(like, vocabulary=Vocabulary("abcd")))
    assert [each.name for each in tmp_path.iterdir() if each.name.startswith(".")] == []


def test_transform_warns_if_most_words_or_all_words_of_a_text_are_unknown(tiny_corpus):
    model = OnlineLDA(max_topics=2, random_state=0).fit(tiny_corpus)
    first, second = tiny_corpus.vocabulary.words[:2]
    # An error here: all warnings are.
    model.transform([f"{first} {second} railways"])
    with pytest.warns(UserWarning, match=r"66\.7% of the words .* most often railways\.$"):
        model.transform([f"{first} railways railways"])
    with pytest.warns(UserWarning, match=r"12\.5% .* Documents without known words: 1 of 2\."):
        shares = model.transform([f"{first} " * 7, "railways"])
    assert shares.shape == (2, 2)
    with pytest.warns(UserWarning, match=r"^Documents without known words: 1 of 1\."):
        model.transform([""])


def list_words(corpus, row):
    documents = corpus.select([row]).documents()
    return [corpus.vocabulary[word] for word in documents.words]


def test_unknown_word_choices_count_all_words_and_phrases_of_the_vocabulary(tmp_path):
    texts = ["Of war and x, war of independence"]
    vocabulary = ("of", "of independence", "war", "x")
    dates = np.full(1, "NaT", "datetime64[D]")
    corpus = Corpus("unknown", [[1, 1, 1, 1]], Vocabulary(vocabulary), dates, ("One",))
    path = tmp_path / "new.csv"
    path.write_text(f'text\n"{texts[0]}"\n')
    assert load_corpus(path, like=corpus).counts.toarray().tolist() == [[2, 1, 2, 1]]
    found = CorpusVectorizer(vocabulary=vocabulary, token_pattern=r"\w+").transform(texts)
    assert found.counts.toarray().tolist() == [[2, 1, 2, 1]]


def test_errors_for_words_that_cannot_be_used_name_the_remedy(tiny_corpus, tmp_path):
    path = tmp_path / "new.csv"
    path.write_text("text\nrailways\n")
    with pytest.raises(TypeError, match="give a Corpus or a fitted model"):
        load_corpus(path, like=OnlineLDA())
    with refuses("no word is in the vocabulary"):
        load_corpus(path, like=tiny_corpus)
    with refuses("Omit words"):
        load_corpus(path, like=tiny_corpus, words=CHOICES)
    with refuses("does not know its words"):
        load_corpus(path, like=OnlineLDA(max_topics=2).fit(tiny_corpus.counts))


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
