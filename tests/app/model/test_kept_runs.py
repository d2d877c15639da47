import dataclasses
import json

import numpy as np
import pytest
from scipy.sparse import csr_array

from stickbreaker.app.frames.compare_frames import (
    differing_settings,
    match_runs,
    overlay_frame,
    quality_cells,
    run_rows,
    topic_title,
)
from stickbreaker.app.frames.word_table import NO_TOPIC
from stickbreaker.app.model.kept_runs import KEPT_RUN, MAX_KEPT, KeptRunError, KeptRuns, Listing
from stickbreaker.app.model.page_notes import read_spec
from stickbreaker.app.model.progress import HELDOUT_COLUMNS, Curve, Moment, Progress
from stickbreaker.app.model.reading import Model, begin_reading, complete_reading
from stickbreaker.app.server.disk_store import ReadingLink
from stickbreaker.engine.algorithm import TopicSummary
from stickbreaker.engine.evaluation.coherence import measure_quality, sum_up
from stickbreaker.engine.files.verified_files import read_parts, write_parts
from tests.app.small_runs import HDP, NAME, SETTINGS, begin, keep_small, small_config, small_corpus

ONE_PASS = dataclasses.replace(SETTINGS, passes=1)


def summarize_evenly(config, tokens):
    """Topics of one word each, with equal shares of these tokens."""
    topics = np.eye(config.max_topics, 20, dtype=np.float32)
    weights = np.full(config.max_topics, 1 / config.max_topics)
    return TopicSummary(np.arange(config.max_topics), topics, weights, weights * tokens)


EVEN = dataclasses.replace(HDP, summarize=summarize_evenly)


def make_moment(tokens):
    arrays = np.arange(3), np.array(tokens) / sum(tokens), np.array(tokens), np.zeros((3, 1), int)
    return Moment(100, None, *arrays, num_topics=3)


def make_progress(**values):
    rows = [(50, np.datetime64("1800"), 0.5, -8.1), (100, np.datetime64("1850"), 1.0, -7.9)]
    now = make_moment(tokens=(50, 30, 20))
    usual = {
        "status": "finished",
        "label": "Online HDP, κ 0.6",
        "corpus_name": NAME,
        "algorithm": "hdp",
        "config": small_config(),
        "settings": ONE_PASS,
        "documents_seen": 100,
        "documents_total": 100,
        "heldout": Curve.build(HELDOUT_COLUMNS, rows),
        "now": now,
        "names": {1: "<b>war</b>"},
    }
    return Progress(**usual | values)


def make_model(config=None, tokens=100):
    return Model(1, EVEN, config or small_config(), tokens, small_corpus(), small_corpus(), 100)


def replace_model(reading, **values):
    return dataclasses.replace(reading, model=dataclasses.replace(reading.model, **values))


@pytest.fixture
def kept(tmp_path):
    return KeptRuns(tmp_path / "runs")


def test_a_kept_run_is_loaded_as_it_was_kept(kept, tmp_path):
    progress = make_progress()
    run = kept.keep(progress, make_model())
    again = KeptRuns(tmp_path / "runs")
    assert again.listing().runs == (run,)
    assert run.heldout == -7.9
    assert run.num_topics == 3
    assert run.config["max_topics"] == 3
    assert run.topic_names == {"1": "<b>war</b>"}
    assert set(run.versions) == {"stickbreaker", "numpy", "numba"}
    content = again.load(run.key)
    for column in HELDOUT_COLUMNS:
        np.testing.assert_array_equal(content.heldout[column], progress.heldout[column])
    assert content.words[content.top_words[:, 0]].tolist() == ["word0", "word1", "word2"]
    np.testing.assert_array_equal(content.top_shares[:, 0], 1)
    np.testing.assert_allclose(content.weights.sum(), 1, rtol=1e-12)


def test_a_kept_run_has_the_coherence_of_its_topics_and_their_labels(kept, tmp_path):
    run = kept.keep(make_progress(labels={1: "war, peace", 2: "tax"}), make_model())
    assert KeptRuns(tmp_path / "runs").listing().runs == (run,)
    summary = summarize_evenly(small_config(), 100)
    quality = measure_quality(
        summary.topic_ids, summary.topics, summary.expected_tokens, small_corpus().counts
    )
    assert run.quality == sum_up(quality)._asdict()
    (row,) = run_rows([run], ())
    assert row["cells"][3:6] == list(quality_cells(run.quality))
    content = kept.load(run.key)
    titles = {int(content.topic_ids[place]): topic_title(run, content, place) for place in range(3)}
    assert titles == {0: "topic 0", 1: "<b>war</b>", 2: "tax"}


def test_names_given_to_topics_later_take_the_place_of_those_at_the_end_of_the_run(kept, tmp_path):
    run = kept.keep(make_progress(), make_model())
    kept.name_topics(run.key, {1: "", 2: "tax"})
    (again,) = KeptRuns(tmp_path / "runs").listing().runs
    assert again == dataclasses.replace(run, topic_names={"2": "tax"})
    kept.delete(run.key)
    kept.name_topics(run.key, {1: "war"})
    assert kept.listing().runs == ()


def test_a_run_without_topics_has_no_coherence(kept):
    run = kept.keep(make_progress(), make_model(tokens=0.5))
    assert run.quality == {}
    assert run_rows([run], ())[0]["cells"][3:6] == ["", "", ""]


def test_the_table_says_that_no_topic_explains_a_word(kept):
    run = kept.keep(make_progress(now=make_moment(tokens=(0.5, 0.4, 0.1))), make_model())
    other = kept.keep(make_progress(), make_model())
    rows = run_rows([run, other], ())
    assert [(row["cells"][2], row["note"]) for row in rows] == [("0", NO_TOPIC), ("3", "")]


@pytest.mark.parametrize("is_read_first", [False, True])
def test_a_kept_run_takes_the_shares_of_the_reading_of_its_last_model(kept, is_read_first):
    model, link = make_model(), ReadingLink(kept)
    doc_shares = csr_array(np.tile([0.5, 0.3, 0.2], (model.corpus.num_documents, 1)))
    reading = complete_reading(begin_reading(model), doc_shares)
    reading = dataclasses.replace(
        reading, quality=reading.quality._replace(npmi=reading.quality.npmi + 1.0)
    )
    run = kept.keep(make_progress(), model)
    assert not kept.load(run.key).is_read
    link.take_reading(replace_model(reading, documents_seen=50))
    for take in (link.take_reading, link.take_run)[:: 1 if is_read_first else -1]:
        take(*((reading,) if take == link.take_reading else (run.key, model)))
    content = kept.load(run.key)
    shares = dict(zip(content.topic_ids.tolist(), content.sizes.tolist(), strict=True))
    assert shares == pytest.approx({0: 0.5, 1: 0.3, 2: 0.2})
    assert kept.listing().runs[0].quality == run.quality
    assert run.quality != sum_up(reading.quality)._asdict()
    kept.delete(run.key)
    kept.take_reading(run.key, reading)


def test_a_run_that_is_left_before_its_first_score_is_not_kept(kept):
    assert (
        kept.keep(
            make_progress(status="paused", heldout=Curve.build(HELDOUT_COLUMNS)), make_model()
        )
        is None
    )
    assert kept.keep(make_progress(status="paused"), make_model()).status == "paused"
    assert len(kept.listing().runs) == 1


def test_the_fifty_newest_stay_and_those_with_a_name_longest(kept):
    first = kept.keep(make_progress(label="run 0"), make_model())
    kept.rename(first.key, "  the  first ")
    for i in range(1, MAX_KEPT + 2):
        kept.keep(make_progress(label=f"run {i}"), make_model())
    titles = [run.title for run in kept.listing().runs]
    assert len(titles) == MAX_KEPT
    assert (titles[0], titles[-1], titles[-2]) == (f"run {MAX_KEPT + 1}", "the first", "run 3")


def test_damaged_files_are_left_out_with_a_sentence_each(kept, tmp_path):
    run = kept.keep(make_progress(), make_model())
    folder, good = tmp_path / "runs", (tmp_path / "runs" / f"{run.key}.npz").read_bytes()
    (folder / "cut.npz").write_bytes(good[: len(good) // 2])
    (folder / "empty.npz").write_bytes(b"")
    about = json.dumps({"format": 1, **dataclasses.asdict(run), "num_topics": "many"})
    np.savez(folder / "wrong.npz", about=np.array(about))
    np.savez(
        folder / "pickled.npz", about=np.array([{"format": 1}], dtype=object), allow_pickle=True
    )
    (folder / "notes.txt").write_text("not a run")
    listing = kept.listing()
    assert listing.runs == (run,)
    assert [fault.split()[3] for fault in listing.faults] == [
        "cut.npz",
        "empty.npz",
        "pickled.npz",
        "wrong.npz",
    ]
    assert all("delete the file" in fault for fault in listing.faults)


def test_a_run_that_cannot_be_written_is_reported_until_one_can(kept, tmp_path):
    (tmp_path / "runs").touch()
    with pytest.raises(
        KeptRunError, match=r"could not be kept in .*runs \(File exists\): free some space"
    ):
        kept.keep(make_progress(), make_model())
    (tmp_path / "runs").unlink()
    assert kept.version == 1
    assert "could not be kept" in kept.listing().faults[0]
    kept.keep(make_progress(), make_model())
    assert kept.listing().faults == ()


def test_damaged_curves_are_reported(kept, tmp_path):
    run = kept.keep(make_progress(), make_model())
    about = dataclasses.asdict(run)
    arrays = read_parts(tmp_path / "runs" / f"{run.key}.npz", KEPT_RUN)[1]
    for damage in (
        {"top_words": arrays["top_words"] + 99},
        {"heldout.seconds": np.zeros(1)},
        {"words": np.zeros(0)},
    ):
        write_parts(tmp_path / "runs" / f"{run.key}.npz", KEPT_RUN, about, arrays | damage)
        with pytest.raises(KeptRunError, match=run.key):
            kept.load(run.key)


def test_a_run_that_an_earlier_version_has_kept_still_loads(kept, tmp_path):
    run = kept.keep(make_progress(), make_model())
    path = tmp_path / "runs" / f"{run.key}.npz"
    arrays = read_parts(path, KEPT_RUN)[1]
    np.savez_compressed(
        path, about=np.array(json.dumps({"format": 1, **dataclasses.asdict(run)})), **arrays
    )
    again = KeptRuns(tmp_path / "runs")
    assert again.listing() == Listing((run,))
    np.testing.assert_array_equal(again.load(run.key).words, arrays["words"])


def test_one_flipped_byte_in_a_kept_run_leaves_the_others_listed(kept, tmp_path):
    runs = [kept.keep(make_progress(label=f"run {i}"), make_model()) for i in range(2)]
    path = tmp_path / "runs" / f"{runs[0].key}.npz"
    good = path.read_bytes()
    for place in range(0, len(good), 97):
        path.write_bytes(good[:place] + bytes([good[place] ^ 255]) + good[place + 1 :])
        listing = KeptRuns(tmp_path / "runs").listing()
        assert runs[1] in listing.runs
        assert len(listing.runs) + len(listing.faults) == 2


def test_a_key_names_no_file_outside_the_folder(kept, tmp_path):
    other = tmp_path / "other.npz"
    other.write_bytes(b"")
    with pytest.raises(KeptRunError):
        kept.delete("../other")
    assert other.exists()


def test_a_run_matched_with_itself_in_another_order_finds_every_topic(kept):
    run = kept.keep(make_progress(), make_model(small_config(max_topics=5)))
    content = kept.load(run.key)
    order = np.array([3, 0, 4, 2, 1])
    turned = dataclasses.replace(
        content,
        topic_ids=content.topic_ids[order],
        weights=content.weights[order],
        top_words=content.top_words[order],
        top_shares=content.top_shares[order],
    )
    matched = match_runs(content, turned)
    assert sorted((i, order[j]) for i, j, _ in matched.pairs) == [(i, i) for i in range(5)]
    np.testing.assert_allclose([distance for *_, distance in matched.pairs], 0, atol=1e-12)


def test_topics_that_share_no_word_have_no_partner(kept):
    few, many = (
        kept.load(kept.keep(make_progress(), make_model(small_config(max_topics=k))).key)
        for k in (2, 3)
    )
    matched = match_runs(few, many)
    assert [(i, j) for i, j, _ in matched.pairs] == [(0, 0), (1, 1)]
    assert (matched.only_left, matched.only_right) == ((), (2,))
    empty = kept.load(kept.keep(make_progress(), make_model(tokens=0)).key)
    assert match_runs(empty, many) == ((), (), (0, 1, 2))


def test_only_what_differs_between_two_runs_is_listed(kept):
    left = kept.keep(make_progress(), make_model())
    config, settings = small_config(forgetting_rate=0.8), dataclasses.replace(SETTINGS, passes=2)
    right = kept.keep(make_progress(config=config, settings=settings), make_model())
    assert differing_settings(left, left).empty
    differences = [["Forgetting rate κ", "0.6", "0.8"], ["Passes", "1", "2"]]
    assert differing_settings(left, right).to_numpy().tolist() == differences


def test_a_run_that_leaves_its_passes_to_the_algorithm_is_listed_with_their_number(kept):
    settings = dataclasses.replace(SETTINGS, passes=None)
    left = kept.keep(make_progress(settings=settings), make_model())
    right = kept.keep(make_progress(settings=dataclasses.replace(settings, passes=2)), make_model())
    assert HDP.passes == 1
    assert differing_settings(left, right).to_numpy().tolist() == [["Passes", "1", "2"]]


def test_algorithms_and_switches_are_compared_in_words(kept):
    left = kept.keep(make_progress(), make_model())
    settings = dataclasses.replace(ONE_PASS, score_next_batch=not ONE_PASS.score_next_batch)
    right = kept.keep(make_progress(settings=settings, algorithm="lda"), make_model())
    switches = ["on", "off"] if ONE_PASS.score_next_batch else ["off", "on"]
    assert differing_settings(left, right).to_numpy().tolist() == [
        ["Algorithm", "Online HDP", "Online LDA"],
        ["Next-batch scores", *switches],
    ]


def test_runs_of_several_systems_share_one_axis(kept):
    runs = [kept.keep(make_progress(label=label), make_model()) for label in ("one", "other")]
    frame = overlay_frame([(run, kept.load(run.key)) for run in runs], "seconds")
    assert frame["title"].tolist() == ["one", "other"]
    assert frame["color"].nunique() == 2
    assert [x.tolist() for x in frame["x"]] == [[0.5, 1.0]] * 2
    assert [row["cells"][1] for row in run_rows(runs, ())] == ["−7.900"] * 2


def test_a_finished_run_is_kept_with_its_model_and_the_present_names_of_its_topics(kept):
    run = keep_small(kept)
    kept.name_topics(run.key, {1: "war"})
    checkpoint = kept.load_checkpoint(run.key)
    record = begin(read_spec(checkpoint))
    record.restore(checkpoint)
    progress = record.progress(1)
    assert progress.status == "finished"
    assert progress.documents_seen == 100
    assert progress.names == {1: "war"}
    assert run_rows([run], (), kept.listing().sizes)[0]["has_model"]
    kept.delete(run.key)
    with pytest.raises(KeptRunError, match="not on disk"):
        kept.load_checkpoint(run.key)


def test_the_model_of_another_run_is_refused(kept, tmp_path):
    one, other = keep_small(kept), keep_small(kept, batch_size=20)
    places = [tmp_path / "runs" / f"{run.key}.model" for run in (one, other)]
    contents = [place.read_bytes() for place in places]
    for place, content in zip(places, reversed(contents), strict=True):
        place.write_bytes(content)
    for run in (one, other):
        with pytest.raises(
            KeptRunError, match="is the model of another run: delete it, or run again"
        ):
            kept.load_checkpoint(run.key)


def test_a_run_that_is_kept_again_loses_its_earlier_model(kept):
    keep_small(kept, key="a")
    kept.keep(make_progress(), make_model(), key="a")
    with pytest.raises(KeptRunError, match="not on disk"):
        kept.load_checkpoint("a")


def test_models_that_exceed_their_limit_are_removed_from_the_oldest_runs_without_a_name(
    kept, monkeypatch
):
    named, oldest = keep_small(kept), keep_small(kept)
    kept.rename(named.key, "mine")
    size = kept.listing().sizes[named.key].model
    monkeypatch.setenv("STICKBREAKER_KEPT_MODELS", str(2.5 * size / 1e9))
    newest = keep_small(kept)
    sizes = kept.listing().sizes
    assert [sizes[run.key].model > 0 for run in (named, oldest, newest)] == [True, False, True]
    assert kept.load(oldest.key).topic_ids.size


def test_a_run_that_was_left_and_continued_takes_the_place_of_what_was_kept_and_keeps_its_name(
    kept,
):
    early = kept.keep(make_progress(status="paused"), make_model(), key="a")
    kept.rename(early.key, "mine")
    kept.keep(make_progress(), make_model(), key="a")
    (run,) = kept.listing().runs
    assert (run.key, run.status, run.name) == ("a", "finished", "mine")
