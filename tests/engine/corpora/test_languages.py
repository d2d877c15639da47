"""Words of texts without spaces: found by the library of their language, or by a user's function."""

import json
import pickle
from dataclasses import replace

import pytest

from stickbreaker.engine import load as load_model
from stickbreaker.engine.corpora import languages
from stickbreaker.engine.corpora.build_stored import build as build_stored
from stickbreaker.engine.corpora.load import load_corpus
from stickbreaker.engine.corpora.preview import preview
from stickbreaker.engine.corpora.rows import CorpusError
from stickbreaker.engine.corpora.word_choices import WordChoices
from stickbreaker.engine.corpora.words import find_words
from stickbreaker.engine.estimators import CorpusVectorizer, Follower, OnlineLDA
from tests.engine.corpora.small_files import refuses

# By language: its library, a text, its words that are counted, and one of its function words.
EXAMPLES = {
    "chinese": (
        "jieba",
        "港口的商人买卖棉花，关税影响了贸易。",
        ["港口", "商人", "买卖", "棉花", "关税", "影响", "贸易"],
        "的",
    ),
    "japanese": (
        "fugashi",
        "港の船が綿花を運びました。関税は貿易に影響する。",
        ["港", "船", "綿花", "運ぶ", "関税", "貿易", "影響"],
        "が",
    ),
    "thai": (
        "pythainlp",
        "เรือนำฝ้ายมาที่ท่าเรือ ภาษีศุลกากรมีผลต่อการค้า",
        ["เรือ", "ฝ้าย", "ท่าเรือ", "ภาษีศุลกากร", "การค้า"],
        "ที่",
    ),
    "korean": (
        "kiwipiepy",
        "항구의 배가 면화를 날랐다. 관세가 무역에 영향을 미쳤다.",
        ["항구", "면화", "나르다", "관세", "무역", "영향", "미치다"],
        "의",
    ),
}
BURMESE = "ထိုနေ့တွင်ငြိမ်းချမ်းရေးစာချုပ်ကိုလက်မှတ်ရေးထိုးခဲ့သည်"
ALL = WordChoices(min_documents=1, max_share=1.0)


@pytest.fixture(params=EXAMPLES)
def example(request):
    library, *others = EXAMPLES[request.param]
    pytest.importorskip(library)
    return request.param, *others


def write_table(folder, texts):
    path = folder / "a.csv"
    path.write_text("text\n" + "".join(f"{text}\n" for text in texts), encoding="utf-8")
    return path


def split_pairs(text):
    return [text[place : place + 2] for place in range(0, len(text), 2)]


@pytest.mark.parametrize("number", [3, 300])
def test_a_library_finds_the_words_unasked_and_a_note_says_so(tmp_path, caplog, example, number):
    language, text, words, function_word = example
    path = write_table(tmp_path, [f"COVID19 {text}"] * number)
    corpus = load_corpus(path, words=ALL)
    assert set(words) <= set(corpus.vocabulary)
    assert function_word not in corpus.vocabulary
    assert "covid19" in corpus.vocabulary
    assert corpus.word_choices == replace(ALL, tokenizer=language)
    said = f"The texts are in {language.capitalize()}: {EXAMPLES[language][0]} finds the words"
    assert said in caplog.text
    seen = preview(path)
    assert any(said in note for note in seen.notes)
    effect = seen.measure(ALL)
    assert set(effect.words) == set(corpus.vocabulary)
    # Function words are tokens.
    assert effect.num_tokens < effect.raw_tokens


def test_a_corpus_on_disk_has_the_same_words(tmp_path, caplog, example):
    language, text, words, _ = example
    path = write_table(tmp_path, [f"{word} {text}" for word in words])
    stored = build_stored(path, to=tmp_path / "stored", words=ALL)
    assert stored.word_choices == replace(ALL, tokenizer=language)
    assert list(stored.vocabulary) == list(load_corpus(path, words=ALL).vocabulary)
    assert "finds the words" in caplog.text


def test_words_have_their_places_in_the_text(example):
    language, text, words, _ = example
    found = find_words(f"New York: {text}", WordChoices(tokenizer=language))
    assert [word.word for word in found[:2]] == ["new", "york"]
    assert set(words) <= {word.word for word in found}
    places = [word.start for word in found]
    assert places == sorted(places)
    stems = {"運ぶ": "運び", "나르다": "날", "미치다": "미쳤"}
    for word in found[2:]:
        shown = f"New York: {text}"[word.start : word.end]
        assert shown.startswith(stems.get(word.word, word.word))


def test_vectorizer_and_follower_use_the_library(example):
    language, text, words, _ = example
    vectorizer = CorpusVectorizer()
    long_words = {word for word in words if len(word) > 1}
    assert long_words <= set(vectorizer.fit_transform([text] * 3).vocabulary)
    counted = pickle.loads(pickle.dumps(vectorizer)).transform([text])
    assert counted.num_tokens >= len(long_words)
    follower = Follower(
        OnlineLDA(max_topics=2, batch_size=2, random_state=0),
        replace(ALL, max_words=50),
        corpus_size=100,
    )
    (event,) = follower.follow([(None, text)] * 2)
    assert set(words) <= set(event.new_words)
    assert follower.model.word_choices_.tokenizer == language


@pytest.mark.parametrize("language", EXAMPLES)
@pytest.mark.parametrize("number", [3, 300])
def test_without_the_library_the_command_that_installs_it_is_named(
    tmp_path, monkeypatch, caplog, language, number
):
    monkeypatch.setattr(languages, "find_spec", lambda name: None)
    text = EXAMPLES[language][1]
    path = write_table(tmp_path, [text] * number)
    command = rf"pip install 'stickbreaker\[{language}\]'"
    with refuses(f"tokenizer='{language}' needs .*{command}"):
        load_corpus(path, words=WordChoices(tokenizer=language))
    assert f"stickbreaker[{language}]" in preview(path).notes[-1]
    if language == "korean":
        # Words have spaces, but particles are parts of them.
        assert "관세가" in load_corpus(path, words=ALL).vocabulary
        assert f"stickbreaker[{language}]" in caplog.text
        return
    for read in (load_corpus, lambda path: CorpusVectorizer().fit_transform([text] * number)):
        with refuses(f"{command} finds them; or separate the words with spaces first"):
            read(path)


def test_scripts_without_a_library_are_refused_with_the_remedy(tmp_path):
    path = write_table(tmp_path, [BURMESE])
    with refuses(r"separate the words with spaces first, or give WordChoices\(tokenizer"):
        load_corpus(path)
    words = WordChoices(tokenizer=split_pairs, min_letters=1)
    assert BURMESE[:2] in load_corpus(path, words=words).vocabulary


def test_words_that_are_separated_stay_as_they_are(tmp_path):
    path = write_table(
        tmp_path, ["新华社记者 报道 港口 的 商人 买卖", "上海市长 报道", "평화 조약 을 가 관세 는"]
    )
    corpus = load_corpus(path, words=ALL)
    assert {"新华社记者", "上海市长", "조약"} <= set(corpus.vocabulary)
    assert corpus.word_choices.tokenizer == "spaces"
    path = write_table(tmp_path, [EXAMPLES["chinese"][1]])
    corpus = load_corpus(path, words=replace(ALL, tokenizer="spaces"))
    assert set(corpus.vocabulary) == {"港口的商人买卖棉花", "关税影响了贸易"}


def test_single_texts_without_spaces_are_read_in_their_language(tmp_path):
    pytest.importorskip("jieba")
    pytest.importorskip("fugashi")
    texts = ["the treaty of the harbour and its tariffs"] * 300
    path = write_table(tmp_path, [*texts, EXAMPLES["chinese"][1], EXAMPLES["japanese"][1]])
    corpus = load_corpus(path, words=ALL)
    assert {"treaty", "棉花", "綿花", "運ぶ"} <= set(corpus.vocabulary)


def test_single_texts_without_their_library_are_said(tmp_path, monkeypatch, caplog):
    monkeypatch.setattr(languages, "find_spec", lambda name: None)
    texts = ["the treaty of the harbour and its tariffs"] * 300
    path = write_table(tmp_path, [*texts, EXAMPLES["chinese"][1], BURMESE])
    said = "2 of the texts have no spaces between words, so that clauses count as words"
    assert "treaty" in load_corpus(path, words=ALL).vocabulary
    assert said in caplog.text
    caplog.clear()
    build_stored(path, to=tmp_path / "stored", words=ALL)
    assert said in caplog.text


def test_a_function_of_the_user_finds_the_words_and_is_kept_by_its_name(tmp_path, monkeypatch):
    path = write_table(tmp_path, ["WarPeace", "PeaceNavy"])
    words = replace(ALL, tokenizer=split_capitals, own_stop_words="navy")
    corpus = load_corpus(path, words=words)
    assert list(corpus.vocabulary) == ["peace", "war"]
    assert words.tokenizer == f"{__name__}:split_capitals"
    OnlineLDA(max_topics=2, random_state=0).fit(corpus).save(tmp_path / "model.npz")
    assert load_model(tmp_path / "model.npz").word_choices_ == words
    assert json.loads(json.dumps(words.tokenizer)) == words.tokenizer
    carried = pickle.dumps(words)
    # Another session, which does not know the function.
    monkeypatch.setattr(languages, "_GIVEN", {})
    kept = load_model(tmp_path / "model.npz").word_choices_
    with refuses(r"the function split_capitals of .*test_languages.*WordChoices\(tokenizer=split"):
        load_corpus(path, words=kept)
    # A worker gets the function with the choices.
    assert load_corpus(path, words=pickle.loads(carried)).num_tokens == corpus.num_tokens
    WordChoices(tokenizer=split_capitals)
    assert list(load_corpus(path, words=kept).vocabulary) == ["peace", "war"]


def split_capitals(text):
    return text.replace("P", " P").replace("N", " N").split()


def test_no_function_is_imported_because_a_file_names_it(tmp_path):
    path = write_table(tmp_path, ["echo"])
    with pytest.raises(CorpusError, match="which this session does not know"):
        load_corpus(path, words=WordChoices(tokenizer="os:system"))


def test_wrong_tokenizers_are_named(tmp_path):
    for wrong in ("klingon", 3):
        with pytest.raises(ValueError, match="tokenizer is .*: give 'chinese', 'japanese'"):
            WordChoices(tokenizer=wrong)
    path = write_table(tmp_path, ["war and peace"])
    with pytest.raises(TypeError, match="returned a str: a tokenizer returns a list of words"):
        load_corpus(path, words=WordChoices(tokenizer=str.upper))


def test_words_that_are_not_in_the_text_have_no_place():
    found = find_words("The nations", WordChoices(tokenizer=lambda text: ["The", "nation", "x"]))
    assert [tuple(word) for word in found] == [("the", 0, 3), ("nation", 4, 10), ("x", 10, 10)]


def test_forms_of_a_word_count_as_its_lemma(tmp_path, monkeypatch):
    pytest.importorskip("simplemma")
    path = write_table(tmp_path, ["The nations' harbours", "a nation traded; trade unions"])
    words = replace(ALL, lemmas="en", own_stop_words="traded", max_ngram=2)
    corpus = load_corpus(path, words=words)
    assert {"nation", "harbour", "nation harbour", "trade union"} <= set(corpus.vocabulary)
    assert corpus.vocabulary.index("nation") in corpus.counts[[1]].indices
    assert "nations" not in corpus.vocabulary
    # The stop word is a form, and its lemma is counted elsewhere.
    assert corpus.counts[:, [corpus.vocabulary.index("trade")]].sum() == 1
    stored = build_stored(path, to=tmp_path / "stored", words=words)
    assert (stored.word_choices, *stored.vocabulary) == (words, *corpus.vocabulary)
    found = find_words("Nations", words)
    assert [tuple(word) for word in found] == [("nation", 0, 7)]
    assert set(preview(path).measure(words).words) == set(corpus.vocabulary)
    monkeypatch.setattr(languages, "find_spec", lambda name: None)
    with refuses(r"lemmas='en' needs simplemma: .*pip install 'stickbreaker\[lemmas\]'"):
        load_corpus(path, words=words)


def test_counted_forms_of_a_word_are_added(tmp_path):
    pytest.importorskip("simplemma")
    (tmp_path / "vocab.txt").write_text("harbours\nnation\nnations\n")
    path = tmp_path / "mine.ldac"
    path.write_text("3 0:1 1:2 2:3\n")
    corpus = load_corpus(path, words=replace(ALL, lemmas="en"))
    assert list(corpus.vocabulary) == ["harbour", "nation"]
    assert corpus.counts.toarray().tolist() == [[1, 5]]


def test_unknown_languages_of_lemmas_are_named_with_all_codes():
    with pytest.raises(ValueError, match="No lemmas for 'english'. Choose from ar, ast, .*, en, "):
        WordChoices(lemmas="english")


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("アップルスマートフォンアップデート", "japanese"),
        ("ソフトウェア アップデート コミュニケーション", "spaces"),
        ("ソフトウェア・アップデート", "japanese"),
        ("コンピューター", "spaces"),
    ],
)
def test_several_words_in_katakana_without_spaces_are_japanese(text, language):
    assert languages.find_language([text] * 10)[0] == language
