"""A topic in groups of documents of the tiny corpus."""

from dataclasses import replace

import numpy as np
import pytest

from stickbreaker.app.frames.group_frames import all_group_words, group_frame, group_words_frame
from stickbreaker.app.model import grouped_runs
from stickbreaker.engine.evaluation.group_shares import find_groups
from stickbreaker.engine.evaluation.group_words import OTHERS


def give_groups(reading, groups, titles, **more):
    """The reading with other groups of its documents."""
    groups = np.asarray(groups, np.int64)
    corpus = replace(reading.corpus, groups=groups, group_titles=titles, **more)
    return replace(reading, model=replace(reading.model, corpus=corpus))


@pytest.fixture
def parties(job):
    """The reading with three parties, the last of one document."""
    number = job.reading.corpus.num_documents
    groups = np.minimum(np.arange(number) % 3, 1)
    groups[-1] = 2
    return give_groups(job.reading, groups, ("Whigs", "Tories", "Others"))


def test_shares_by_group_are_sums_by_hand_in_falling_order(parties):
    position = parties.used[0]
    frame = group_frame(parties, find_groups(parties.corpus), position, None)
    tokens = parties.doc_tokens
    shares = parties.doc_shares.toarray()[:, position]
    assert frame["share"].tolist() == sorted(frame["share"], reverse=True)
    assert set(frame["group"]) == {"Whigs", "Tories", "Others"}
    for row in frame.itertuples():
        own = parties.corpus.groups == parties.corpus.group_titles.index(row.group)
        assert row.share == pytest.approx((shares * tokens)[own].sum() / tokens[own].sum())
        assert row.documents == own.sum()
        assert row.low <= row.share <= row.high
    assert frame["whole"].tolist() == pytest.approx([(shares * tokens).sum() / tokens.sum()] * 3)


def test_the_groups_with_the_most_tokens_in_the_span_are_shown(parties, monkeypatch):
    monkeypatch.setattr(grouped_runs, "MOST_GROUPS", 1)
    dates = parties.corpus.dates.astype("datetime64[D]")
    span = (np.sort(dates)[1], np.sort(dates)[5])
    inside = (dates >= span[0]) & (dates <= span[1])
    sizes = np.bincount(parties.corpus.groups, parties.doc_tokens * inside)
    assert len(set(sizes)) == 3
    frame = group_frame(parties, find_groups(parties.corpus), parties.used[0], span)
    assert frame["group"].tolist() == [parties.corpus.group_titles[sizes.argmax()]]
    assert frame["documents"].tolist() == [inside[parties.corpus.groups == sizes.argmax()].sum()]


def test_words_of_all_groups_are_those_of_each_group_and_all_others(parties):
    groups = find_groups(parties.corpus)
    table = all_group_words(parties, groups, parties.used[0])
    for name in groups.names:
        one = group_words_frame(parties, groups, parties.used[0], None, (name, OTHERS))
        one = one[one["z"] > 0]
        found = table[table["group"] == name]
        assert found["word"].tolist() == one["word"].tolist()
        assert found["rank"].tolist() == list(range(1, len(one) + 1))
        for column, same in {"z": "z", "log_odds": "log_odds", "tokens": "first"}.items():
            assert found[column].tolist() == pytest.approx(one[same].tolist())
    assert len(table) > 0


def test_a_corpus_of_single_documents_or_of_one_group_has_no_groups(job):
    number = job.reading.corpus.num_documents
    own = give_groups(job.reading, np.arange(number), tuple(map(str, range(number))))
    assert find_groups(own.corpus) is None
    assert find_groups(give_groups(own, np.zeros(number), ("all",)).corpus) is None


def test_groups_of_state_of_the_union_are_presidents_whose_addresses_are_drawn(state_of_the_union):
    groups = find_groups(state_of_the_union)
    assert "Abraham Lincoln" in groups.names
    assert not any(name[0].isdigit() for name in groups.names)
    for row in (0, 5000, state_of_the_union.num_documents - 1):
        assert groups.names[groups.of_document[row]] in state_of_the_union.titles[row]
    assert groups.texts is state_of_the_union.groups
