"""The commands of tests/benchmarks run on a part of a small corpus, and their rows are right."""

import ast
import json
import pickle
import sys
import time
from dataclasses import replace
from itertools import permutations
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array

from stickbreaker.engine import RunSettings, find_algorithm, load_corpus, store_corpus
from stickbreaker.engine.algorithm import Phase
from stickbreaker.engine.corpora.corpus import Vocabulary
from stickbreaker.engine.inference.held_words import split_tokens
from stickbreaker.engine.runs import remote_steps
from stickbreaker.engine.runs.prepared import split_corpus
from tests.benchmarks import (
    busy,
    cluster,
    coherence,
    compare_versions,
    corpora,
    dates,
    digests,
    groups,
    heldout,
    imports,
    libraries,
    machine,
    mutations,
    printed,
    profile,
    results,
    scale,
    size,
    soak,
    speed,
    stability,
    systems,
    topic_count,
    zipf_texts,
)
from tests.benchmarks.heldout import to_matrix
from tests.engine.runs.test_remote_steps import PickledCalls
from tests.patience import limit

NAME = "state-of-the-union"


@pytest.fixture(scope="module")
def few():
    """200 passages, as a function that loads them for any name."""
    corpus = load_corpus(NAME).select(np.arange(0, 10_000, 50))
    return lambda name: corpus


@pytest.fixture
def only_few(few, monkeypatch):
    """The benchmarks read the small corpus by every name."""
    corpora.divide.cache_clear()
    monkeypatch.setattr(corpora, "load", lambda name, documents=None, split=None: few(name))
    yield
    corpora.divide.cache_clear()


class FixedVersion:
    """A version whose runs take these seconds, one after the other."""

    def __init__(self, name, seconds, measured):
        self.name, self.seconds, self.measured = name, list(seconds), measured

    def measure(self):
        """The seconds of the next run."""
        self.measured.append(self.name)
        return {"run": self.seconds.pop(0)}


def test_two_versions_take_turns_and_a_ratio_is_of_one_round_without_the_first_round():
    measured = []
    before = FixedVersion("b", (9.0, 1.0, 2.0, 4.0), measured)
    after = FixedVersion("a", (1.0, 3.0, 2.0, 2.0), measured)
    table = compare_versions.summarize(compare_versions.take_turns(before, after, 3))
    assert "".join(measured) == "abbaabba"
    (row,) = table.to_dict("records")
    assert (row["before"], row["after"]) == (2.0, 2.0)
    assert (row["ratio_min"], row["ratio_median"], row["ratio_max"]) == (0.5, 1.0, 3.0)


def test_runs_of_a_version_use_its_own_code(tmp_path):
    texts = tmp_path / "texts.csv"
    texts.write_text("text\n" + "war and peace\ncotton and grain\n" * 30, "utf-8")
    version = compare_versions.RunningVersion(compare_versions.ROOT, str(texts))
    try:
        seconds = version.measure()
    finally:
        version.close()
    kinds = compare_versions.KINDS
    assert list(seconds) == [f"run, {kind}{what}" for kind in kinds for what in ("", ", processor")]
    assert all(value > 0 for value in seconds.values())


def test_runs_of_a_folder_without_a_version_end_with_an_error(tmp_path):
    version = compare_versions.RunningVersion(tmp_path, NAME)
    with pytest.raises(RuntimeError, match="has ended"):
        version.measure()
    version.close()


def test_a_command_next_to_busy_loops_leaves_its_minutes_and_its_exit_code():
    row = busy.measure([sys.executable, "-c", "import sys; sys.exit(3)"], 1)
    assert (row["busy_loops"], row["exit_code"]) == (1, 3)
    assert row["minutes"] > 0


def test_busy_loops_run_until_the_end_of_the_command():
    with busy.keep_busy(2) as loops:
        assert [loop.poll() for loop in loops] == [None, None]
    assert None not in [loop.poll() for loop in loops]


def test_a_busy_loop_ends_when_the_process_that_started_it_is_gone():
    with busy.keep_busy(1) as (loop,):
        loop.stdin.close()
        assert loop.wait(limit(60)) == 0


def test_the_parts_of_a_profile_add_up_to_the_whole_run(few, monkeypatch):
    monkeypatch.setattr(profile, "load_corpus", few)
    monkeypatch.setattr(profile, "NUM_ROUNDS", 1)
    rows = profile.measure(NAME)
    assert sum(row["share"] for row in rows) == pytest.approx(1.0)
    assert {"expectations", "global step", "local step, warm-up", "moments"} <= {
        row["part"] for row in rows
    }
    assert all(row["seconds"] >= 0 for row in rows)


def test_a_row_of_the_speed_table_has_the_minimum_median_and_maximum_of_its_rounds_and_memory():
    known = {"contestant": "gensim HdpModel", "corpus": NAME, "threads": 1, "predictive": "fold_in"}
    known |= {"our_seconds": 1.0, "their_seconds": 3.0, "our_nats": -7.0, "their_nats": -8.0}
    memory = {NAME: {"hdp": 10.0, "gensim": 20.0}}
    (row,) = speed.summarize([{**known, "ratio": ratio} for ratio in (3.0, 1.0, 8.0)], memory)
    assert (row["ratio_min"], row["ratio_median"], row["ratio_max"]) == (1.0, 3.0, 8.0)
    assert (row["our_mb"], row["their_mb"]) == (10.0, 20.0)


def test_the_memory_of_a_pass_is_that_which_it_adds(few):
    with machine.watch_memory() as memory:
        held = np.ones(20_000_000)
        time.sleep(0.1)
    assert memory["peak"] - memory["before"] == pytest.approx(held.nbytes / 1e6, rel=0.2)
    del held
    with machine.watch_growth() as memory:
        np.ones(10_000_000)
    assert memory["added"] == pytest.approx(80, rel=0.2)


@pytest.fixture(scope="module")
def sampled(few):
    """A sampler after twenty passes over nine tenths of the tokens, and the split."""
    corpus, settings = few(NAME), RunSettings(passes=20, score_next_batch=False)
    split = split_tokens(corpus.documents(), corpus.doc_ids, 0)
    with pytest.MonkeyPatch.context() as patched:
        patched.setitem(systems.SYSTEMS, "gibbs", ("gibbs-hdp", {"burn_in": 10, "sample_every": 2}))
        kept = replace(corpus, counts=to_matrix(split.observed, corpus.vocab_size))
        return systems.Fitted("gibbs", kept, settings, split), split


def test_the_fold_in_of_a_sampler_uses_the_concentration_that_it_has_drawn(sampled):
    fitted, _ = sampled
    assert fitted.prior().sum() == pytest.approx(fitted.finished.state.doc_concentration)
    assert fitted.prior().sum() != pytest.approx(fitted.config.doc_concentration, abs=1e-6)


def test_a_sampler_predicts_known_documents_by_the_mean_over_its_samples(sampled):
    fitted, split = sampled
    each = [
        float((split.counts * np.log(one)).sum() / split.num_tokens) for one in fitted.predictions
    ]
    assert len(each) == 5
    # The logarithm of a mean is above the mean of logarithms.
    assert fitted.score_known(split)[0] > np.mean(each)
    assert fitted.score_known(split)[0] > -np.log(fitted.summary.topics.shape[1])


def test_a_row_of_the_systems_table_has_the_keys_of_the_held_out_table_and_the_memory(only_few):
    rows = systems.measure_both("hdp", NAME, None, "shuffled", 0)
    setup = heldout.Setup(NAME, None, None, ("disjoint_words",))
    known, *_ = heldout.measure(setup, "shuffled", heldout.Entry("hdp"), 0)
    own = {"passes", "peak_mb", "processor_seconds"}
    assert all(set(row) == set(known) - {"seconds"} | own for row in rows)
    assert {"importance_sampling", "within_documents"} <= {row["protocol"] for row in rows}
    assert all(-10 < row["nats_per_word"] < -5 for row in rows)
    assert len(systems.tabulate(rows)) == 1


def test_one_change_of_the_printed_system_has_a_score_and_two_bounds_after_its_last_step(
    only_few, monkeypatch
):
    monkeypatch.setattr(printed, "FIRST_SCORED", 1)
    monkeypatch.setitem(
        printed.SYSTEMS, "small", (printed.ON_TOPICS, printed.PRINTED | {"batch_size": 64})
    )
    first, second, last = printed.measure("small", *corpora.divide(NAME, "shuffled", 0))
    assert [row["step"] for row in (first, second, last)] == [1, 2, 3]
    assert "Eq. 14, equal slots" not in second
    assert -10 < last["held out"] < -6
    for name in ("Eq. 14, equal slots", "Eq. 14, slots on topics"):
        assert -20 < last[name] < last["held out"]


def test_a_row_of_the_coherence_table_lists_its_topics_and_stability_compares_seeds(
    few, monkeypatch
):
    monkeypatch.setattr(coherence, "load", lambda name, documents: few(name))
    rows = [coherence.measure(NAME, None, "hdp, one pass", seed) for seed in range(2)]
    assert all(len(row["listed"]) == row["topics"] for row in rows)
    assert rows[0]["npmi"] == pytest.approx(np.mean([topic["npmi"] for topic in rows[0]["listed"]]))
    (line,) = coherence.tabulate(pd.DataFrame(rows)).to_dict("records")
    assert 0 <= line["stability"] < 1
    assert coherence.find_stability(pd.DataFrame([rows[0], rows[0]])) == pytest.approx(1.0)


def test_libraries_learn_from_the_same_documents_with_the_size_that_completes_others_best(
    few, monkeypatch
):
    monkeypatch.setattr(libraries, "load", few)
    parts = libraries.divide(NAME, 150)
    assert [part.num_documents for part in parts] == [122, 13, 15]
    assert len(set(np.concatenate([part.doc_ids for part in parts]).tolist())) == 150
    # The process of a fit is this one.
    monkeypatch.setattr(libraries, "in_process", libraries.measure)
    rows = list(libraries.measure_all(NAME, parts, "scikit-learn NMF", 2, (2, 4)))
    best = max(rows[:2], key=lambda row: row["chosen_nats"])
    assert [(row["seed"], row["size"]) for row in rows] == [(0, 2), (0, 4), (1, best["size"])]
    assert list(libraries.measure_all(NAME, parts, "scikit-learn NMF", 1, (2, 4), rows)) == rows[:2]
    (line,) = libraries.tabulate(libraries.summarize(rows)).to_dict("records")
    assert (line["system"], int(line["MB"]) < 100) == ("scikit-learn NMF", True)
    (theirs,) = libraries.summarize([best])
    ours = {**theirs, "system": "hdp", "weighted_npmi": 1, "diversity": 0.5, "stability": 1}
    ours |= {"nats": 0.0, "megabytes": 9e9, "seconds": 1.05 * theirs["seconds"]}
    found = results.compare_libraries([ours, theirs])
    assert [(row["where"], row["better"]) for row in found] == [
        (f"{NAME}, diversity", results.OTHER),
        (f"{NAME}, seconds", results.NEITHER),
        (f"{NAME}, added memory (MB)", results.OTHER),
    ]
    assert found[0]["compared with"] == "scikit-learn NMF"


def test_a_summary_that_is_measured_again_replaces_the_stored_one(monkeypatch):
    old = {"system": "hdp", "nats": -9, "settings": "old", "commit": "a"}
    stored = [old | {"corpus": name} for name in ("rfc", "25 topics")]
    new = {"corpus": "rfc", "system": "hdp", "nats": -7, "settings": "new"}
    monkeypatch.setattr(libraries, "summarize", lambda rows: [new | {"corpus": NAME}, new])
    found = results.replace(stored, [], {"commit": "b"})
    assert [(row["corpus"], row["nats"]) for row in found] == [
        (NAME, -7),
        ("rfc", -7),
        ("25 topics", -9),
    ]
    table = libraries.list_settings(found)
    assert table["settings"].tolist() == ["new", "old"]
    assert table["corpus"].tolist() == [f"{NAME}, rfc", "25 topics"]


def test_a_topic_of_word_frequencies_completes_documents_with_these():
    train, chosen, _ = libraries.divide("25 topics", 200)
    frequencies = np.asarray(train.counts.sum(0), float) + 0.5
    frequencies /= frequencies.sum()
    found = libraries.Fit(frequencies[None], np.array([100.0]))
    held = libraries.split_words(chosen.documents(), chosen.doc_ids, libraries.TEST_SEED)
    expected = held.counts @ np.log(frequencies[held.words]) / held.num_tokens
    assert libraries.complete(found, train, chosen, (1.0, 0.1)) == pytest.approx(expected, abs=1e-5)


def most_common(ours, theirs):
    """The most words that two lists of topics, matched one to one, share in all."""
    small, large = sorted((ours, theirs), key=len)
    common = [[len(set(a) & set(b)) for b in large] for a in small]
    return max(
        sum(row[place] for row, place in zip(common, places, strict=True))
        for places in permutations(range(len(large)), len(small))
    )


def test_a_topic_comes_back_if_its_partner_has_half_of_its_words():
    ours = np.array([[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11]])
    theirs = np.array([[0, 1, 20, 21], [4, 22, 23, 24], [25, 26, 27, 28], [11, 10, 9, 8]])
    assert coherence.has_partner(ours, theirs).tolist() == [True, False, True]
    assert coherence.has_partner(theirs, ours).tolist() == [True, False, False, True]
    # One topic of theirs is the partner of one topic only.
    assert coherence.has_partner(np.array([[0, 1], [1, 0]]), np.array([[0, 1]])).sum() == 1


def test_topics_are_matched_so_that_they_share_most_words():
    rng = np.random.default_rng(0)
    ours = np.array([rng.permutation(12)[:4] for _ in range(4)])
    theirs = np.array([rng.permutation(12)[:4] for _ in range(6)])
    best = most_common(ours, theirs)
    assert 2 * coherence.has_partner(ours, theirs).sum() <= best
    assert coherence.has_partner(ours, theirs).sum() == coherence.has_partner(theirs, ours).sum()
    assert coherence.has_partner(ours, ours[::-1, ::-1]).all()


def test_a_row_of_stability_has_a_consensus_of_each_set_of_runs_if_they_have_one(few, monkeypatch):
    monkeypatch.setattr(stability, "load", lambda name, documents: few(name).select(range(60)))
    row = stability.measure(NAME, 1, 2)
    assert len(row["topics"]) == len(row["nats"]) == 4
    assert all(0 < row[name] <= 1 for name in ("consensus_stability", "consensus_stability_words"))
    assert len(row["consensus_nats"]) == 2
    none = {name: value for name, value in row.items() if "consensus" not in name}
    table = stability.tabulate([row, none | {"corpus": "random", "consensus_topics": [0, 0]}])
    assert table["model"].tolist() == ["one run", "consensus of 2"] * 2
    assert table["topics"].tolist()[3] == "0"
    assert table["by words"].tolist()[3] == "-"


def test_intervals_of_random_groups_hold_the_share_of_all_documents(few, monkeypatch):
    shares = np.random.default_rng(0).dirichlet(np.ones(3), 200)
    effects = SimpleNamespace(topics=range(3))
    fake = SimpleNamespace(estimate_effect=lambda model, design, random_state: effects)
    monkeypatch.setitem(sys.modules, "stm", fake)
    monkeypatch.setattr(groups, "load", lambda name, documents: few(name))
    corpus, periods = groups.draw_corpus(200, 500)
    assert corpus.vocab_size == 500
    assert set(periods) == {0, 1, 2, 3}
    model = SimpleNamespace(theta_=shares[: corpus.num_documents])
    effects.parameters = {
        k: [(np.array([model.theta_[:, k].mean(), 0.0]), np.eye(2) * 1e-12)] * 2 for k in range(3)
    }
    held = groups.cover(model, np.asarray(corpus.counts.sum(1)).ravel(), corpus)
    assert held["estimate_effect"] == 1.0
    assert held["ours"] > 0.9


def test_memory_of_a_session_is_measured_after_the_first_third_and_speeds_are_compared_within_a_round():
    rows = [
        {"closed_sessions": 5 * n, "megabytes": 400 - 50 * max(0, 3 - n) + 2.0 * n}
        for n in range(9)
    ]
    speeds = [
        {"0": 100.0, "1": 90.0, "5": 50.0},
        {"0": 200.0, "1": 160.0, "5": 140.0},
        {"0": 50.0, "1": 50.0, "5": 20.0},
    ]
    found = soak.summarize(rows, speeds)
    assert found["megabytes_a_session"] == pytest.approx(0.4)
    assert found["engine_with_1_browsers"] == pytest.approx(0.9)
    assert found["engine_with_5_browsers"] == pytest.approx(0.5)


def test_test_documents_are_equal_for_all_seeds_and_are_not_used_to_choose_a_learning_rate(
    only_few, monkeypatch
):
    setup, read = heldout.Setup(NAME, None, None, ("disjoint_words",)), set()

    def spy(split, *arguments):
        read.update(split.doc_ids.tolist())
        return split_corpus(split, *arguments)

    parts = [setup.divide("shuffled", seed) for seed in (2, 1, 0)]
    tests = [set(test.doc_ids.tolist()) for _, test in parts]
    assert tests[0] == tests[1] == tests[2]
    assert all(not tests[0] & set(train.doc_ids.tolist()) for train, _ in parts)
    monkeypatch.setattr(heldout, "split_corpus", spy)
    chosen = heldout.choose(setup, "shuffled", heldout.Entry("lda", 5))
    assert chosen.chosen in heldout.CHOICES
    # Only the training documents were split; the test documents of seed 0 came from the cache.
    assert read == set(parts[-1][0].doc_ids.tolist())


def test_words_of_simulated_documents_follow_zipfs_law(few):
    model = zipf_texts.learn_model(400, few(NAME))
    counts = zipf_texts.draw_counts(model, 4_000, np.random.default_rng(0))
    shares = counts.sum(0) / counts.sum()
    expected = 1 / np.arange(1, 401) / (1 / np.arange(1, 401)).sum()
    # The lift of a word's topics averages to one over topics, which documents do not use equally.
    assert np.corrcoef(np.log(shares[:100]), np.log(expected[:100]))[0, 1] > 0.9
    assert counts.sum(1).mean() == pytest.approx(
        zipf_texts.MEAN_TOKENS, abs=5 * np.sqrt(60 / 4_000)
    )


def test_a_corpus_on_disk_is_built_from_simulated_texts_and_learned_in_pieces(
    few, tmp_path, monkeypatch
):
    monkeypatch.setattr(zipf_texts, "load_corpus", few)
    monkeypatch.setattr(scale, "VOCAB_SIZE", 300)
    monkeypatch.setattr(scale, "CONFIG", replace(scale.CONFIG, batch_size=100, max_topics=5))
    texts, folder = tmp_path / "600.parquet", tmp_path / "600"
    scale.write_texts(texts, 600)
    rows = [scale.build_corpus(texts, folder, 600, minutes) for minutes in (0, 10)]
    assert [row["words"] for row in rows] == [None, load_corpus(folder).vocab_size]
    pieces = [scale.learn(folder, 100, 5, minutes) for minutes in (0, 10)]
    assert [(piece["from"], piece["to"]) for piece in pieces] == [(0, 100), (100, 540)]
    assert pieces[1]["nats"] < 0
    table = scale.tabulate(pieces)
    assert "ratio" in table
    assert table.count("learn") == 2


def test_the_same_steps_are_timed_for_each_corpus(few, monkeypatch):
    for name, value in {"NUM_WARM": 1, "IN_MEMORY": 200}.items():
        monkeypatch.setattr(scale, name, value)
    monkeypatch.setattr(scale, "CONFIG", replace(scale.CONFIG, batch_size=50, max_topics=5))
    rows = scale.time_steps({"one": few(NAME), "other": few(NAME)}, num_steps=2)
    assert [(row["number"], row["read"], row["steps"]) for row in rows] == [
        (2, 100, "of the warm-up")
    ] * 2
    assert rows[0]["tokens"] == rows[1]["tokens"] > 0
    assert "| other |" in scale.tabulate(rows)


def test_a_step_that_searches_for_redundant_topics_is_timed_separately(few):
    warm = scale.HDP.init(replace(scale.CONFIG, max_topics=5), 5, np.random.default_rng(0))
    later = warm._replace(phase=Phase.TWO_LEVEL)
    steps = ((warm, later), (later, later), (later, later._replace(decided_at=1.0)))
    assert tuple(scale.name_kind(*pair) for pair in steps) == scale.KINDS


def test_what_is_learned_from_a_large_vocabulary_is_compared_with_the_truth(few, monkeypatch):
    monkeypatch.setattr(zipf_texts, "load_corpus", few)
    rows = [scale.learn_models(300, 400, None, seed) for seed in range(2)]
    assert all(row["nats"] < 0 < row["topics"] and 0 < row["distance"] < 1 for row in rows)
    assert "| nats, deviation |" in scale.tabulate_models(rows)
    model = zipf_texts.learn_model(300)
    true = np.diff(model.cumulative, axis=1, prepend=0.0)
    assert scale.measure_distance(model, true[::-1]) == pytest.approx(0.0, abs=1e-12)


def test_steps_of_a_cluster_are_timed_and_those_of_other_networks_computed(
    few, tmp_path, monkeypatch
):
    calls = PickledCalls()
    monkeypatch.setattr(remote_steps, "connect", lambda client, find_environment: calls)
    for name, value in {
        "MAX_TOPICS": 5,
        "NUM_SHARDS": 3,
        "NUM_STEPS": 2,
        "NUM_BATCHES": 10,
    }.items():
        monkeypatch.setattr(cluster, name, value)
    corpus = store_corpus(few(NAME), tmp_path / "corpus")
    row = cluster.measure("client", corpus, 18)
    assert row.pop("phase") == "two-level"
    assert all(value > 0 for value in row.values())
    tasks = calls.sent[:3]
    assert sum(len(task.documents.places) for task in tasks) == 18
    assert row["megabytes"] > sum(len(pickle.dumps(task, 5)) for task in tasks) / 1e6
    fast = {
        "S": 4,
        "here": 90.0,
        "local": 80.0,
        "empty": 20.0,
        "processes": 95.0,
        "megabytes": 12.5,
    }
    table = cluster.tabulate([fast])
    assert "| 40.0 | 130.0 |" in table
    *_, processes, fast, slow = table.splitlines()
    assert processes == "processes: does not pay up to S = 4"
    assert fast == "8 machines, 10 Gb/s: pays from S = 4"
    assert slow == "8 machines, 1 Gb/s: does not pay up to S = 4"


def test_digests_are_equal_for_equal_runs_and_differ_for_each_choice():
    algorithm, corpus = find_algorithm("batch-lda"), digests.simulate_corpus(40)
    found = []
    for chosen in digests.list_choices(algorithm) * 2:
        config = digests.make_config(algorithm, chosen)
        found.append(
            digests.digest_run(algorithm, config, corpus, RunSettings(passes=2, num_test=4))
        )
    half = len(found) // 2
    assert found[:half] == found[half:]
    assert half == len(set(found)) == 4


SMALL_FILES = {
    "engine/corpora/first.py": "import os\nfrom stickbreaker.engine.corpora import second\n",
    "engine/corpora/second.py": (
        "if TYPE_CHECKING:\n    from stickbreaker.engine.corpora.first import x\n"
    ),
    "engine/one.py": f"a, b = 1, 2  # Two.\n\ndef f(x):\n    return 1 if x else 2\n# {'x' * 100}\n",
    "app/main.py": 'def f():\n    c, d = g()\n    return os.environ["STICKBREAKER_DATA"]\n',
    "tests/app/test_main.py": "",
}


def test_the_size_of_a_small_project_is_counted(tmp_path):
    for name, text in SMALL_FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, "utf-8")
    found = size.measure(tmp_path)
    assert (found["layers"], found["variables"]) == (2, ["STICKBREAKER_DATA"])
    assert found["largest"] == dict(zip(SMALL_FILES, (2, 2, 5, 3), strict=False))
    rows = {row.pop("folder"): tuple(row.values()) for row in found["folders"]}
    # Files, lines, parallel and conditional per 1,000 of eight lines, long lines, comments, and
    # lines of a function.
    assert rows["engine"] == (3, 9, 125.0, 125.0, 1, 25.0, 2)
    assert rows["app"] == (1, 3, 0.0, 0.0, 0, 0.0, 3)
    assert rows["product"][:2] == (4, 12)
    assert list(rows) == ["product", "engine", "engine/corpora", "app", "tests", "tests/app"]
    assert "| engine/one.py | 5 |" in size.report(found)


def test_a_mistake_changes_one_line_of_a_module():
    mistakes = mutations.choose(0, 20)
    assert len({(row["file"], row["before"]) for row, _ in mistakes}) == 20
    for row, wrong in mistakes:
        right = ast.unparse(ast.parse((mutations.ROOT / row["file"]).read_text("utf-8")))
        pairs = zip(right.splitlines(), wrong.splitlines(), strict=True)
        ((before, after),) = ((one, other) for one, other in pairs if one != other)
        # A statement alone begins with "if", also where it is an "elif".
        assert before.endswith(row["before"].removeprefix("if"))
        assert after.endswith(row["after"].removeprefix("if"))


class OneTopic:
    """A sampler without mini-batches that has one uniform topic and counts its passes."""

    batch_size = None
    seconds = 0
    passes = 0

    def __init__(self, train, seed, size):
        self.vocab_size, self.size = train.vocab_size, size

    def learn(self, passes):
        """Count the passes."""
        self.passes += passes

    def infer(self, documents):
        """All in the one topic."""
        return np.ones((documents.num_documents, 1))

    def topics(self):
        """The one topic."""
        return np.full((1, self.vocab_size), 1.0 / self.vocab_size)

    def prior(self):
        """The prior of one topic."""
        return np.ones(1)

    def num_topics(self):
        """The passes, which a row then shows."""
        return self.passes


def test_a_sampler_of_another_library_makes_passes_and_has_no_next_batch(only_few, monkeypatch):
    monkeypatch.setattr(heldout, "TomotopyLDA", OneTopic)
    setup = heldout.Setup(NAME, None, None, ("next_batch", "disjoint_words"))
    rows = heldout.measure(setup, "shuffled", heldout.Entry("tomotopy-lda", 5), 0)
    assert [row["protocol"] for row in rows] == ["disjoint_words"] * 2
    for row in rows:
        assert (row["topics"], row["setting"]) == (heldout.SAMPLER_PASSES, 5)
        assert row["nats_per_word"] == pytest.approx(-np.log(load_corpus(NAME).vocab_size))


def test_topics_of_another_library_are_compared_with_the_true_ones(monkeypatch):
    topics = np.eye(3)
    corpus = topic_count.make_corpus(csr_array(np.full((4, 3), 5)), Vocabulary(("a", "b", "c")))
    monkeypatch.setattr(topic_count, "load", lambda name, seed: (corpus, topics))
    learned = (
        np.array([[1.0, 0.0, 0.0], [0.9, 0.1, 0.0], [0.3, 0.3, 0.4]]),
        np.array([30.0, 20.0, 10.0]),
        1.0,
    )
    monkeypatch.setitem(topic_count.coherence.SYSTEMS, "gensim-hdp", lambda *_: learned)
    row = topic_count.measure_other("any", "gensim-hdp", 0)
    assert [row[name] for name in ("counted", "true", "found", "repeated", "mixed")] == [
        3,
        3,
        1,
        1,
        1,
    ]


def test_a_difference_counts_if_it_is_larger_than_its_uncertainty():
    signs = [results.find_sign(difference, 0.2) for difference in (0.3, -0.3, 0.1, -0.2)]
    assert signs == [1, -1, 0, 0]
    row = {"contestant": "gensim", "ratio_median": 2.0}
    ranges = ((1.1, 3.0), (0.9, 3.0), (0.5, 0.9))
    rows = [{**row, "ratio_min": least, "ratio_max": most} for least, most in ranges]
    found = [results.compare_ratios("speed", "here", each, ("1", "2"))["better"] for each in rows]
    assert found == [results.OURS, results.NEITHER, results.OTHER]


def test_the_hdp_is_compared_with_the_best_size_of_each_library_seed_by_seed(tmp_path):
    place = {"corpus": NAME, "split": "document", "subset": None, "order": "shuffled"}
    place |= {"protocol": "disjoint_words", "predictive": "own"}
    scores = (
        ("hdp", None, -7.0),
        ("lda-warm", 50, -7.5),
        ("lda-warm", 100, -7.1),
        ("sklearn-lda", 50, -6.9),
    )
    rows = [
        {
            **place,
            "system": system,
            "setting": size,
            "seed": seed,
            "nats_per_word": nats - 0.1 * seed,
        }
        for system, size, nats in scores
        for seed in range(3)
    ]
    (tmp_path / "rows.json").write_text(json.dumps(rows), "utf-8")
    warm, other = results.compare_files([tmp_path / "rows.json"])
    assert warm["compared with"].endswith(": 100")
    assert (warm["difference"], warm["better"]) == ("+0.100 ± 0.000", results.OURS)
    assert (other["difference"], other["better"]) == ("-0.100 ± 0.000", results.OTHER)
    page = results.make_page({"commit": "c", "date": "d", "note": "", "comparisons": [warm, other]})
    assert page.partition("## Prediction")[0].count("scikit-learn LDA, best K: 50 -7.000") == 1


def test_the_page_of_results_is_printed_from_the_stored_comparisons():
    stored = json.loads(results.STORED.read_text("utf-8"))
    page = (Path(__file__).parents[1] / "engine" / "RESULTS.md").read_text("utf-8")
    assert page == results.make_page(stored) + "\n"


def test_a_date_with_another_precision_is_right_in_its_day_only():
    columns = [(["1863", "1864", "1865"], ["1863", "1864", "1865"])]
    assert dates.count_right(lambda cells: ["1863", "1864-01-01", "NaT"], columns) == (1, 2)


def test_every_kind_of_file_is_written_read_and_described(tmp_path, capsys):
    imports.main(["--rows", "60", "--json", str(tmp_path / "rows.json")])
    rows = json.loads((tmp_path / "rows.json").read_text())
    assert [row["kind"] for row in rows] == list(imports.KINDS)
    assert capsys.readouterr().out.count("\n") == len(rows) + 2
    for row in rows:
        size = 6 if "texts" in row["kind"] else 60
        if "word counts" in row["read as"] or any(map(row["kind"].count, ("files", ".xls)"))):
            size = 20
        assert row["documents"] + row["rows left out"] == size
        assert row["dates"].startswith(("18", "19")) or row["columns"] == ""
        assert ("row 3" in row["assumed"]) == ("lines above" in row["kind"])
