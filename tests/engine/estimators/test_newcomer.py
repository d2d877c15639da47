"""What a newcomer may pass by mistake: the error names the argument and the remedy."""

import warnings

import numpy as np
import pytest
from sklearn.decomposition import NMF

from stickbreaker import engine
from stickbreaker.engine.corpora.rows import CorpusError
from stickbreaker.engine.runs.checkpoint import CheckpointError
from stickbreaker.engine.runs.count_check import CheckPlan, check_count

COUNTS = np.random.default_rng(0).poisson(0.6, (60, 30))


@pytest.fixture(scope="module")
def fitted():
    """A model of the counts."""
    return engine.OnlineHDP(random_state=0, max_topics=5).fit(COUNTS)


@pytest.mark.parametrize("name", ["OnlineFreeHDP", "OnlineFreeDPMixture"])
def test_a_whole_number_for_a_concentration_gives_the_same_model_as_a_fraction(name):
    models = [
        getattr(engine, name)(word_concentration=value, random_state=0).fit(COUNTS)
        for value in (1, 1.0)
    ]
    np.testing.assert_array_equal(*(model.components_ for model in models))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            {"random_state": -1},
            "random_state is -1: give a whole number from 0 to 4294967295, or None",
        ),
        ({"random_state": "a"}, "random_state is 'a': give a whole number, None"),
        ({"unused_topics": "typo"}, "unused_topics is 'typo': choose one of keep, drop"),
    ],
)
def test_a_wrong_parameter_is_refused_before_anything_is_learned(given, message):
    with pytest.raises(ValueError, match=message):
        engine.OnlineHDP(**given).fit(COUNTS)


@pytest.mark.parametrize(
    ("plan", "message"),
    [
        (CheckPlan(passes=2.5), "passes is 2.5: give a whole number of at least 1"),
        (CheckPlan(passes=0), "passes is 0: give a whole number of at least 1"),
        (CheckPlan(seed=-1), "seed is -1: give a whole number of at least 0"),
    ],
)
def test_a_check_of_the_count_names_the_wrong_argument(fitted, plan, message):
    corpus = fitted.to_corpus(COUNTS)
    with pytest.raises(ValueError, match=message):
        check_count(fitted.algorithm, fitted.config_, fitted.state_, corpus, plan)


@pytest.mark.parametrize(
    "use",
    [
        engine.stability_of,
        engine.Recorder,
        lambda counts: engine.store_corpus(counts, "never made"),
        lambda counts: engine.from_sklearn(NMF(2).fit(counts), counts),
        lambda counts: engine.prepare(engine.REGISTRY[0], engine.REGISTRY[0].config(), counts),
    ],
)
def test_counts_in_place_of_a_corpus_are_refused_with_the_remedy(use):
    with pytest.raises(TypeError, match="corpus is a ndarray: give a Corpus"):
        use(COUNTS)


def test_a_checkpoint_of_other_settings_names_them(tmp_path):
    path = tmp_path / "fit.npz"
    engine.OnlineHDP(random_state=0, batch_size=5).fit(COUNTS, checkpoint=path)
    expected = "was written with another delay and batch_size: use the same settings, or delete it"
    with pytest.raises(ValueError, match=expected):
        engine.OnlineHDP(random_state=0, batch_size=6).fit(COUNTS, checkpoint=path)


def test_a_file_that_is_no_model_is_refused_with_the_remedy(tmp_path):
    np.savez(tmp_path / "other.npz", a=1)
    with pytest.raises(
        CheckpointError, match=r"other\.npz is not a complete checkpoint .*: give a file"
    ):
        engine.load(tmp_path / "other.npz")
    for read in (engine.load, lambda path: engine.OnlineHDP().fit(COUNTS, checkpoint=path)):
        with pytest.raises(CheckpointError, match="is a folder: give the path of a checkpoint"):
            read(tmp_path)


@pytest.mark.parametrize(
    ("given", "kind", "message"),
    [
        (
            {"model": engine.GibbsHDP()},
            TypeError,
            "give an estimator with partial_fit, such as OnlineHDP",
        ),
        ({"model": engine.OnlineHDP}, TypeError, "give an estimator with partial_fit"),
        (
            {"corpus_size": "9"},
            ValueError,
            "corpus_size is '9': give a whole number of at least 1, or None",
        ),
        (
            {"corpus_size": 10**400},
            ValueError,
            "corpus_size is larger than 1,000,000,000,000,000,000: give a smaller",
        ),
        ({"corpus_size": 0}, ValueError, "corpus_size is 0"),
        ({"is_population": True}, ValueError, "is_population=True needs corpus_size"),
        ({"drop_after": True}, ValueError, "drop_after is True: give a whole number"),
        ({"choices": "german"}, TypeError, "choices is 'german': give WordChoices"),
        (
            {"choices": engine.WordChoices(max_words=1), "drop_after": 1},
            ValueError,
            "max_words is 1: drop_after needs at least 2 columns",
        ),
    ],
)
def test_a_follower_refuses_wrong_arguments_at_once(given, kind, message):
    with pytest.raises(kind, match=message):
        engine.Follower(**{"model": engine.OnlineHDP(), **given})


@pytest.mark.parametrize(
    "source", [["war and peace"], ["ab"], [(1863, None)], [(1863, "war", "peace")]]
)
def test_a_stream_that_is_not_of_pairs_of_a_date_and_a_text_is_refused(source):
    with pytest.raises(CorpusError, match="give pairs of a date"):
        list(engine.Follower(engine.OnlineHDP(batch_size=2)).follow(source))


def test_a_table_in_a_followed_folder_is_skipped_with_a_remedy_that_works(tmp_path):
    (tmp_path / "table.csv").write_text("text\nwar peace\n")
    follower = engine.Follower(
        engine.OnlineHDP(batch_size=1, max_topics=5), engine.WordChoices(min_documents=1)
    )
    with pytest.warns(UserWarning, match=r"table\.csv is skipped, .*: write its rows to a .jsonl"):
        assert list(follower.follow(tmp_path)) == []
    (tmp_path / "table.jsonl").write_text('{"text": "war peace"}\n')
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert len(list(follower.follow(tmp_path))) == 1


@pytest.mark.parametrize("missing", [None, float("nan")])
def test_a_missing_text_is_named(missing):
    with pytest.raises(
        CorpusError, match="Document 2 is .*: give a text, or leave the document out"
    ):
        engine.CorpusVectorizer().fit_transform(["war and peace", missing])


def test_a_build_without_rows_leaves_nothing_in_the_way_of_the_next(tmp_path):
    table = tmp_path / "table.csv"
    table.write_text("text,note\n" + "peace war,\n" * 30)
    with pytest.raises(CorpusError, match=r"table\.csv has no usable rows"):
        engine.build(table, to=tmp_path / "corpus", text="note")
    words = engine.WordChoices(max_share=1.0)
    assert engine.build(table, to=tmp_path / "corpus", text="text", words=words).num_documents == 30


def test_a_build_without_words_leaves_nothing_in_the_way_of_the_next(tmp_path):
    table = tmp_path / "table.csv"
    table.write_text("text\n" + "peace war\n" * 30)
    with pytest.raises(CorpusError, match=r"table\.csv: No words remain in 30 rows"):
        engine.build(table, to=tmp_path / "corpus", text="text")
    corpus = engine.build(
        table, to=tmp_path / "corpus", text="text", words=engine.WordChoices(max_share=1.0)
    )
    assert corpus.vocabulary.words == ("peace", "war")


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        (
            lambda: engine.load_corpus(None),
            TypeError,
            "name_or_path is a NoneType: give a name or a path",
        ),
        (lambda: engine.preview("missing-folder"), CorpusError, "File not found: .*missing-folder"),
        (
            lambda: engine.load_corpus("table.csv", words="german"),
            TypeError,
            "words is 'german': give WordChoices",
        ),
        (
            lambda: list(engine.Follower(engine.OnlineHDP()).follow(5)),
            TypeError,
            "source is 5: give the path",
        ),
        (
            lambda: list(engine.Follower(engine.OnlineHDP()).follow(None)),
            TypeError,
            "source is None: give the path",
        ),
        (
            lambda: list(engine.Follower(engine.OnlineHDP()).follow("")),
            CorpusError,
            "source is '': give the path",
        ),
        (
            lambda: list(engine.Follower(engine.OnlineHDP()).follow("a\0b")),
            CorpusError,
            "source is .*: give the path",
        ),
        (
            lambda: list(engine.Follower(engine.OnlineHDP()).follow("missing.jsonl")),
            CorpusError,
            (
                r"missing.jsonl cannot be read \(No such file or directory\): give the path of a"
                r" JSON-lines file"
            ),
        ),
        (
            lambda: engine.WordChoices(languages=5),
            ValueError,
            "languages is 5. Use a tuple of names",
        ),
    ],
)
def test_other_mistakes_have_a_remedy(call, kind, message):
    with pytest.raises(kind, match=message):
        call()


@pytest.mark.parametrize(
    ("given", "kind", "message"),
    [
        (
            {"shard_documents": "10"},
            ValueError,
            "shard_documents is '10': give a whole number of at least 1",
        ),
        ({"shard_documents": 0}, ValueError, "shard_documents is 0: give a whole number"),
        (
            {"max_memory": "1 GB"},
            ValueError,
            "max_memory is '1 GB': give a whole number of at least 1",
        ),
        ({"words": "german"}, TypeError, "words is 'german': give WordChoices"),
        (
            {"source": None},
            TypeError,
            "source is None: give a file, a folder or an address, or a list of them",
        ),
        ({"source": ["table.csv", 5]}, TypeError, r"source is \['table.csv', 5\]: give a file"),
        ({"source": ""}, CorpusError, "The path of a source is empty. Name a file or a folder"),
        ({"to": None}, TypeError, "to is None: give the folder to make"),
        ({"to": ""}, CorpusError, "The path of the folder is empty: give the folder to make"),
        ({"to": "a\0b"}, CorpusError, r"Cannot write .*b.: choose a name without a NUL character"),
    ],
)
def test_a_build_refuses_wrong_arguments_and_makes_nothing(
    given, kind, message, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "table.csv").write_text("text\nwar\n")
    with pytest.raises(kind, match=message):
        engine.build(**{"source": "table.csv", "to": "corpus", **given})
    assert [path.name for path in tmp_path.iterdir()] == ["table.csv"]


def test_a_build_takes_whole_numbers_of_numpy(tmp_path):
    (tmp_path / "table.csv").write_text("text\nwar\n")
    size = np.int64(10)
    assert (
        engine.build(
            tmp_path / "table.csv", to=tmp_path / "corpus", shard_documents=size
        ).num_documents
        == 1
    )


def test_a_column_that_is_no_text_is_named(tmp_path):
    (tmp_path / "table.csv").write_text("text\nwar\n")
    with pytest.raises(CorpusError, match="3 is no name of a column: give its name as a text"):
        engine.load_corpus(tmp_path / "table.csv", text=3)


def test_whole_numbers_may_be_floats(tmp_path):
    table = tmp_path / "table.csv"
    table.write_text("text\nwar and navy\ntrade and cotton\n")
    built = engine.build(
        table, to=tmp_path / "built", text="text", max_memory=1e9, shard_documents=np.float64(500.0)
    )
    model = engine.OnlineLDA(max_topics=2, batch_size=2, random_state=0).partial_fit(
        built, corpus_size=1e3
    )
    expected = engine.OnlineLDA(max_topics=2, batch_size=2, random_state=0).partial_fit(
        built, corpus_size=1000
    )
    np.testing.assert_array_equal(model.components_, expected.components_)
    assert engine.Follower(engine.OnlineLDA(), drop_after=5.0).drop_after == 5
    with pytest.raises(ValueError, match="max_memory is inf: give a whole number of at least 1"):
        engine.build(table, to=tmp_path / "again", max_memory=float("inf"))
