"""Names of topics are kept for a corpus, and return to the topics of a later run that have their
words.
"""

from types import SimpleNamespace

import numpy as np
import pytest

from stickbreaker.app.frames.summary_texts import describe_names
from stickbreaker.app.model.progress import ReturnedNames
from stickbreaker.app.model.reading import Model
from stickbreaker.app.model.run_names import MAX_NAME, RunNames
from stickbreaker.app.model.topic_names import (
    FULL,
    MAX_NAMES,
    NamedTopic,
    TopicNameError,
    TopicNames,
    describe_topics,
    match_names,
)
from stickbreaker.engine import Corpus, Vocabulary
from stickbreaker.engine.algorithm import TopicSummary
from stickbreaker.engine.evaluation.topic_space import LARGEST_DIVERGENCE, divergences

WAR = NamedTopic("war", {"army": 0.75, "navy": 0.25})
TRADE = NamedTopic("trade", {"tariff": 0.5, "port": 0.5})
WORDS = ("army", "navy", "tariff", "port", "corn")


def make_model(topics, tokens=None, ids=None):
    """A model with these topics (K, V), all of the same size unless tokens are given."""
    topics = np.asarray(topics, float)
    tokens = np.full(len(topics), 100.0) if tokens is None else np.asarray(tokens, float)
    ids = np.arange(len(topics)) if ids is None else np.asarray(ids)
    summary = TopicSummary(ids, topics, tokens / tokens.sum(), tokens)
    dates = np.full(1, "NaT", "datetime64[Y]")
    corpus = Corpus("small", np.ones((1, len(WORDS)), int), Vocabulary(WORDS), dates, ("",))
    algorithm = SimpleNamespace(summarize=lambda config, state: summary)
    return Model(1, algorithm, None, None, corpus, corpus, 10)


@pytest.fixture
def kept(tmp_path):
    return TopicNames(tmp_path / "names")


def test_names_are_kept_for_their_corpus_and_for_no_other(kept, tmp_path):
    kept.change("mine", [WAR, TRADE])
    kept.change("a name: with / signs", [TRADE])
    again = TopicNames(tmp_path / "names")
    assert again.read("mine") == (WAR, TRADE)
    assert again.read("a name: with / signs") == (TRADE,)
    assert again.read("another") == ()
    assert (again.count("mine"), again.count("another")) == (2, 0)


def test_a_name_that_is_given_again_takes_the_place_of_the_earlier_one_and_a_forgotten_one_goes(
    kept,
):
    kept.change("mine", [WAR, TRADE])
    later = NamedTopic("war", {"navy": 1.0})
    kept.change("mine", [later], forgotten={"trade"})
    assert kept.read("mine") == (later,)
    kept.remove("mine")
    kept.remove("mine")
    assert kept.read("mine") == ()


def test_a_damaged_file_is_named_and_never_overwritten(kept, tmp_path):
    kept.change("mine", [WAR])
    (path,) = (tmp_path / "names").iterdir()
    content = path.read_bytes()
    damaged = content.replace(b"PK", b"XX")
    path.write_bytes(damaged)
    for attempt in (lambda: kept.read("mine"), lambda: kept.change("mine", [TRADE])):
        with pytest.raises(TopicNameError, match="delete the file"):
            attempt()
    assert path.read_bytes() == damaged
    assert kept.count("mine") == 0


def test_files_of_two_corpora_that_were_exchanged_are_refused(kept, tmp_path):
    kept.change("mine", [WAR])
    kept.change("yours", [TRADE])
    one, other = (tmp_path / "names").iterdir()
    content = one.read_bytes()
    one.write_bytes(other.read_bytes())
    other.write_bytes(content)
    for name in ("mine", "yours"):
        with pytest.raises(TopicNameError, match="the file was renamed.*: delete the file"):
            kept.read(name)


def test_names_beyond_the_limit_are_refused_and_none_is_forgotten(kept):
    many = [NamedTopic(f"name {number}", {"army": 1.0}) for number in range(MAX_NAMES + 1)]
    with pytest.raises(TopicNameError, match="Remove some names"):
        kept.change("mine", many)
    assert kept.read("mine") == tuple(many[:MAX_NAMES])
    with pytest.raises(TopicNameError) as caught:
        kept.change("mine", [WAR])
    assert str(caught.value) == FULL
    assert kept.count("mine") == MAX_NAMES


def test_a_topic_is_described_by_its_words_and_their_probabilities():
    model = make_model([[0.75, 0.25, 0.0, 0.0, 0.0], [0.0, 0.0, 0.5, 0.5, 0.0]], ids=[4, 7])
    described = describe_topics(model, {7: "trade", 9: "of no topic", 4: ""})
    assert [topic.name for topic in described] == ["trade"]
    assert {word: share for word, share in described[0].words.items() if share} == TRADE.words


def test_each_name_goes_to_the_topic_with_its_words_though_its_number_is_another():
    model = make_model(
        [[0.0, 0.1, 0.5, 0.4, 0.0], [0.0, 0.0, 0.0, 0.0, 1.0], [0.7, 0.3, 0.0, 0.0, 0.0]]
    )
    assert match_names([WAR, TRADE], model) == {2: "war", 0: "trade"}
    assert match_names([WAR, TRADE], model, taken=[2]) == {0: "trade"}
    assert (
        match_names([], model) == match_names([WAR], make_model([[1, 0, 0, 0, 0]]), taken=[0]) == {}
    )


def test_a_name_goes_to_no_topic_beyond_half_of_the_largest_divergence_and_to_none_that_is_not_in_use():
    corn = 0.0
    for share in np.linspace(0.0, 1.0, 21):
        topic = [0.75 * (1 - share), 0.25 * (1 - share), 0.0, 0.0, share]
        distance = divergences(np.array([topic, [0.75, 0.25, 0.0, 0.0, 0.0]]))[0, 1]
        assert match_names([WAR], make_model([topic])) == (
            {0: "war"} if distance <= LARGEST_DIVERGENCE else {}
        )
        corn = max(corn, distance)
    assert corn == pytest.approx(2 * LARGEST_DIVERGENCE)
    assert (
        match_names(
            [WAR], make_model([[0.75, 0.25, 0, 0, 0], [0, 0, 0, 0, 1.0]], tokens=[0.0, 100.0])
        )
        == {}
    )


def test_two_names_for_one_topic_leave_the_less_similar_one_without_a_topic():
    less = NamedTopic("fight", {"army": 0.5, "navy": 0.5})
    assert match_names([less, WAR], make_model([[0.75, 0.25, 0, 0, 0]])) == {0: "war"}


def test_a_near_pair_is_not_given_up_for_one_beyond_the_threshold():
    topics = [[0.75, 0.25, 0.0, 0.0, 0.0], [0.1, 0.0, 0.0, 0.0, 0.9]]
    assert match_names(
        [WAR, NamedTopic("corn", {"corn": 0.5, "army": 0.5})], make_model(topics)
    ) == {
        0: "war",
        1: "corn",
    }
    assert match_names(
        [WAR, NamedTopic("other", {"army": 0.9, "rye": 0.1})], make_model(topics)
    ) == {0: "war"}


def test_only_a_name_that_its_user_removes_is_forgotten():
    names = RunNames()
    names.give({1: "war", 2: "trade"}, 3)
    assert names.rename(3, " mine ") == ""
    assert names.own == {3: "mine"}
    # A name that has returned to a wrong topic may belong to another one.
    assert names.rename(1, "peace") == ""
    assert names.returned.given == {2: "trade"}
    assert names.rename(2, "") == "trade"
    assert names.rename(3, "yours") == "mine"
    names.rename(4, "yours")
    assert names.rename(4, "x" * 100) == ""
    assert names.copy() == {1: "peace", 2: "", 3: "yours", 4: "x" * MAX_NAME}


def test_names_that_returned_can_be_taken_back_and_those_of_a_person_stay():
    names = RunNames()
    names.rename(5, "mine")
    names.give({1: "war"}, 2)
    names.undo()
    assert (names.copy(), names.returned) == ({5: "mine"}, ReturnedNames())


def test_saved_names_return_with_those_that_were_given():
    names, again = RunNames(), RunNames()
    names.rename(5, "mine")
    names.give({1: "war", 2: "trade"}, 2)
    again.restore({**names.to_json(), "names": [[5, "mine"], [1, "war"], [2, "renamed later"]]})
    assert again.own == {5: "mine", 2: "renamed later"}
    assert again.returned == ReturnedNames({1: "war"}, 2)


@pytest.mark.parametrize(
    ("returned", "said"),
    [
        (ReturnedNames(), ""),
        (
            ReturnedNames({1: "war"}, 1),
            "The name kept for this corpus was given to the most similar topic: war.",
        ),
        (
            ReturnedNames(dict(enumerate("abcdefg")), 7),
            (
                "The 7 names kept for this corpus were given to the most similar topics: a, b, c,"
                " d, e and 2 others."
            ),
        ),
        (
            ReturnedNames({}, 2),
            "No topic of this run fits the 2 names kept for this corpus. They are kept",
        ),
        (
            ReturnedNames({}, 1),
            "No topic of this run fits the name kept for this corpus. It is kept for later runs.",
        ),
        (ReturnedNames({}, 2, "The disk is full."), "The disk is full."),
    ],
)
def test_the_page_says_what_happened_to_the_names(returned, said):
    assert describe_names(returned).startswith(said)
    assert bool(describe_names(returned)) == bool(said)
