"""A run written down: its topics get labels at the columns of the word lists, and keep their
titles.
"""

from dataclasses import replace

import pytest

from stickbreaker import engine
from stickbreaker.app.export.tables import write_model
from stickbreaker.app.frames.life_frames import summarize_life
from stickbreaker.app.model.reading import begin_reading
from stickbreaker.app.model.record import FALLEN, NOT_SETTLED, SETTLED
from stickbreaker.engine import executors
from tests.app.small_runs import HDP, begin, learn, small_corpus, small_spec


@pytest.fixture
def record():
    return begin(small_spec())


def test_topics_have_numbers_before_the_first_column_and_labels_of_their_top_words_from_then_on(
    record,
):
    record.advance()
    first = record.progress(1)
    assert not first.columns
    assert first.topic_title(first.now.topic_ids[0]) == f"topic {first.now.topic_ids[0]}"
    while not record.is_over:
        record.advance()
    last = record.progress(2)
    assert set(last.labels) == set(last.columns[-1].lists.topic_ids.tolist())
    for topic_id, words in zip(
        last.columns[-1].topic_ids.tolist(), last.columns[-1].top_words, strict=True
    ):
        listed = {last.vocabulary[int(word)] for word in words}
        assert set(last.topic_title(topic_id).split(", ")) <= listed


def test_a_name_replaces_the_label_and_an_empty_name_restores_it(record):
    while not record.is_over:
        record.advance()
    topic_id, label = next(iter(record.progress(1).labels.items()))
    record.topic_names.rename(topic_id, "weather")
    assert (
        record.progress(2).topic_title(topic_id) == record.progress(2).titles[topic_id] == "weather"
    )
    record.topic_names.rename(topic_id, "")
    assert record.progress(3).topic_title(topic_id) == record.progress(3).titles[topic_id] == label


def test_the_curve_the_life_of_topics_and_an_estimator_have_the_same_topics_in_use(tmp_path):
    spec = small_spec(max_topics=40)
    choices = engine.WordChoices(max_ngram=2)
    record = learn(replace(small_corpus(), word_choices=choices), spec)
    progress, model = record.progress(1), record.model()
    write_model(begin_reading(model), progress, tmp_path / "model.npz")
    loaded = engine.load(tmp_path / "model.npz")
    used, tokens = set(progress.columns[-1].lists.topic_ids.tolist()), progress.now.expected_tokens
    assert loaded.word_choices_ == choices
    assert used == set(loaded.topics_frame()["topic_id"])
    assert loaded.topic_labels() == {k: progress.labels[k] for k in loaded.topic_labels()}
    assert progress.steps["num_topics"][-1] == loaded.n_topics_ == len(used) < (tokens >= 1).sum()
    assert f"Of the {len(used)} topics in use now" in summarize_life(progress, ())


@pytest.mark.parametrize(("ending", "message"), [("has_fallen", FALLEN), ("has_converged", "")])
def test_a_run_that_ends_because_its_bound_would_fall_says_so(ending, message):
    def end(config, state, batch, rng):
        state, info = executors.step(HDP, config, state, batch, rng)
        return state, info._replace(**{ending: True})

    spec = replace(
        small_spec(), algorithm=replace(HDP, expect=None, local=None, blend=None, step=end)
    )
    record = begin(spec)
    record.advance()
    assert (record.status, record.message) == ("finished", message)


@pytest.mark.parametrize(
    ("is_pass_needed", "message"), [(False, SETTLED), (True, NOT_SETTLED), (None, "")]
)
def test_a_run_says_what_another_pass_would_do_if_the_algorithm_knows(is_pass_needed, message):
    def blend(config, state, statistics, batch):
        state, info = HDP.blend(config, state, statistics, batch)
        return state, info._replace(is_pass_needed=is_pass_needed)

    spec = replace(small_spec(), algorithm=replace(HDP, blend=blend))
    record = begin(spec)
    while record.status != "finished":
        record.advance()
    assert record.message == message
