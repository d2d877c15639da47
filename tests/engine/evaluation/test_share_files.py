"""Topic shares in Parquet files: the same as `transform`, for corpora in memory and on disk,
without loading them.
"""

import numpy as np
import pandas as pd
import pytest

from stickbreaker.engine import OnlineHDP, OnlineLDA, store_corpus
from stickbreaker.engine.evaluation import held_out, share_files
from stickbreaker.engine.evaluation.held_out import score_own
from stickbreaker.engine.files import whole_files
from stickbreaker.engine.files.whole_files import FileError
from stickbreaker.engine.inference.held_words import split_words


@pytest.fixture(scope="module")
def passages(state_of_the_union):
    return state_of_the_union.select(np.arange(0, 10_000, 25))


@pytest.fixture(scope="module")
def stored(passages, tmp_path_factory):
    return store_corpus(
        passages, tmp_path_factory.mktemp("stored") / "passages", shard_documents=90
    )


@pytest.fixture(scope="module")
def hdp(passages):
    return OnlineHDP(max_topics=20, random_state=0).fit(passages)


@pytest.fixture
def small_parts(monkeypatch):
    """Ten documents at once, and forty in a file; loading a corpus is an error."""
    monkeypatch.setattr(share_files, "DOCUMENTS_AT_ONCE", 10)
    monkeypatch.setattr(share_files, "FILE_DOCUMENTS", 40)
    monkeypatch.setattr(held_out, "DOCUMENTS_AT_ONCE", 64)
    monkeypatch.setattr("stickbreaker.engine.corpora.stored.MAX_LOADED", 0)


@pytest.mark.parametrize("unused_topics", ["keep", "drop"])
@pytest.mark.usefixtures("small_parts")
def test_files_have_the_shares_of_transform(hdp, passages, stored, tmp_path, unused_topics):
    hdp.set_params(unused_topics=unused_topics)
    folder = hdp.transform_to(stored, tmp_path / "shares")
    assert [path.name for path in sorted(folder.iterdir())] == [
        f"shares-{n:05}.parquet" for n in range(10)
    ]
    frame = pd.read_parquet(folder)
    assert list(frame.columns) == ["doc_id", *hdp.get_feature_names_out()]
    np.testing.assert_array_equal(frame["doc_id"], passages.doc_ids)
    np.testing.assert_array_equal(frame.iloc[:, 1:], hdp.transform(passages).astype(np.float32))
    np.testing.assert_array_equal(hdp.transform(stored), hdp.transform(passages))


def test_shares_of_counts_without_a_corpus_are_written(passages, tmp_path):
    lda = OnlineLDA(max_topics=5, random_state=0).fit(passages.counts)
    frame = pd.read_parquet(lda.transform_to(passages.counts, tmp_path / "shares", verbose=True))
    np.testing.assert_array_equal(
        frame.iloc[:, 1:], lda.transform(passages.counts).astype(np.float32)
    )


@pytest.mark.usefixtures("small_parts")
def test_held_out_words_of_a_stored_corpus_are_scored_in_parts(hdp, passages, stored):
    split = split_words(passages.documents(), passages.doc_ids, 0)
    whole = score_own(hdp.algorithm, hdp.config_, hdp.state_, split)
    assert hdp.score(stored) == pytest.approx(whole, rel=1e-12)


def fill_up(*given):
    raise OSError(28, "No space left")


@pytest.mark.usefixtures("small_parts")
def test_shares_are_written_completely_or_not_at_all(hdp, stored, tmp_path, monkeypatch):
    with monkeypatch.context() as stopped:
        stopped.setattr(whole_files, "open_synced", fill_up)
        with pytest.raises(FileError, match="Cannot write .*shares .No space left"):
            hdp.transform_to(stored, tmp_path / "shares")
    assert list(tmp_path.iterdir()) == []
    hdp.transform_to(stored, tmp_path / "shares")
    with pytest.raises(FileError, match="shares already exists: delete it"):
        hdp.transform_to(stored, tmp_path / "shares")


def test_shares_are_not_written_to_an_address(tiny_corpus, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(
        FileError, match="Cannot write to the address s3://bucket/shares: name a folder"
    ):
        share_files.write_shares("s3://bucket/shares", tiny_corpus, None)
    assert list(tmp_path.iterdir()) == []
