"""Checkpoints are read bit for bit as they were written, and are written completely
or not at all.
"""

import json
from dataclasses import asdict, fields, replace

import numpy as np
import pytest

from stickbreaker.engine.algorithm import Reads
from stickbreaker.engine.algorithms import REGISTRY, find_algorithm
from stickbreaker.engine.corpora.corpus import Vocabulary
from stickbreaker.engine.files.verified_files import read_parts, write_parts
from stickbreaker.engine.runs import checkpoint
from stickbreaker.engine.runs.checkpoint import (
    CHECKPOINT,
    NEW_NAMES,
    Checkpoint,
    CheckpointError,
    load,
    save,
)
from stickbreaker.engine.runs.prepared import prepare
from stickbreaker.engine.runs.run import run
from stickbreaker.engine.runs.settings import RunSettings


def flat(state):
    return dict(checkpoint.flatten("state", state))


def assert_same_bits(one, other):
    one, other = flat(one), flat(other)
    assert one.keys() == other.keys()
    for name, array in one.items():
        assert array.dtype == other[name].dtype, name
        assert array.tobytes() == other[name].tobytes(), name


def checkpoint_after(algorithm, corpus, num_steps):
    """A run of the algorithm after some steps."""
    config, settings = algorithm.config(), RunSettings(passes=6, num_evaluations=2)
    if algorithm.reads is Reads.BATCHES:
        config, settings = replace(config, batch_size=3), replace(settings, passes=2)
    choices = {each.name: each.metadata.get("choices") or () for each in fields(config)}
    if "tolerance" in choices and "warm" in choices.get("start", ()):
        # The warm-up lasts longer than these passes, so no tolerance ends the run.
        config = replace(config, start="warm")
    updates = run(prepare(algorithm, config, corpus, settings))
    stepped = [next(updates).stepped for _ in range(num_steps)][-1]
    return Checkpoint(
        algorithm.name, config, settings, stepped.state, stepped.documents_seen, stepped.seconds
    )


@pytest.mark.parametrize("algorithm", REGISTRY, ids=lambda each: each.name)
def test_what_is_loaded_is_what_was_saved_bit_for_bit(algorithm, tiny_corpus, tmp_path):
    checkpoint = checkpoint_after(algorithm, tiny_corpus, 2)
    save(tmp_path / "run.npz", checkpoint)
    loaded = load(tmp_path / "run.npz")
    assert_same_bits(loaded.state, checkpoint.state)
    for name in ("algorithm", "config", "settings", "documents_seen", "seconds"):
        assert getattr(loaded, name) == getattr(checkpoint, name)
    assert [path.name for path in tmp_path.iterdir()] == ["run.npz"]


@pytest.mark.parametrize("algorithm", REGISTRY, ids=lambda each: each.name)
def test_a_run_saved_and_resumed_equals_one_uninterrupted_bit_for_bit(
    algorithm, tiny_corpus, tmp_path
):
    for num_steps in (1, 3, 5):
        checkpoint = checkpoint_after(algorithm, tiny_corpus, num_steps)
        save(tmp_path / "run.npz", checkpoint)
        prepared = prepare(algorithm, checkpoint.config, tiny_corpus, checkpoint.settings)
        resumed = list(run(prepared, resume=load(tmp_path / "run.npz")))
        whole = list(run(prepared))
        assert_same_bits(resumed[-1].state, whole[-1].state)
        scores = [
            [each.nats_per_word for update in updates for each in update.scores]
            for updates in (resumed, whole)
        ]
        assert scores[0] == scores[1][-len(scores[0]) :]


def test_a_failed_save_leaves_the_old_checkpoint_and_nothing_else(
    tiny_corpus, tmp_path, monkeypatch
):
    path, checkpoint = tmp_path / "run.npz", checkpoint_after(REGISTRY[0], tiny_corpus, 1)
    save(path, checkpoint)
    before = path.read_bytes()

    def fail(*_, **__):
        raise OSError("disk full")

    monkeypatch.setattr(np.lib.format, "write_array", fail)
    with pytest.raises(CheckpointError, match=r"Cannot write .*run\.npz \(disk full\)"):
        save(path, checkpoint)
    assert path.read_bytes() == before
    assert [each.name for each in tmp_path.iterdir()] == ["run.npz"]


def test_the_error_for_a_missing_truncated_or_foreign_file_names_it(tiny_corpus, tmp_path):
    path = tmp_path / "run.npz"
    with pytest.raises(CheckpointError, match="no checkpoint at .*run.npz"):
        load(path)
    save(path, checkpoint_after(REGISTRY[0], tiny_corpus, 1))
    whole = path.read_bytes()
    for damaged in (b"", b"text", whole[: len(whole) // 2], whole[:-30]):
        path.write_bytes(damaged)
        # The advice of NumPy to trust a pickle is not part of the message.
        with pytest.raises(
            CheckpointError, match="not a complete checkpoint .it is not an .npz file"
        ):
            load(path)


def test_a_checkpoint_of_the_previous_format_loads(tiny_corpus, tmp_path):
    path, checkpoint = tmp_path / "run.npz", checkpoint_after(REGISTRY[0], tiny_corpus, 1)
    header = {
        name: getattr(checkpoint, name) for name in ("algorithm", "documents_seen", "seconds")
    }
    header |= {
        "format": 3,
        "config": asdict(checkpoint.config),
        "settings": asdict(checkpoint.settings),
    }
    np.savez(path, header=np.array(json.dumps(header)), **flat(checkpoint.state))
    assert_same_bits(load(path).state, checkpoint.state)
    np.savez(path, header=np.array(json.dumps(header | {"format": 2})))
    with pytest.raises(CheckpointError, match="has format 2, not 4: run again"):
        load(path)


def test_names_of_earlier_versions_are_read(tiny_corpus, tmp_path):
    path = tmp_path / "run.npz"
    for name in ("hdp", "cv-hdp"):
        saved = checkpoint_after(find_algorithm(name), tiny_corpus, 1)
        save(path, saved)
        found, parts = read_parts(path, CHECKPOINT)
        old_names = {new: old for old, new in NEW_NAMES.items()}
        about = {**found.about, "config": {}, "settings": {}}
        for kind in ("config", "settings"):
            about[kind] = {
                old_names.get(key, key): value for key, value in found.about[kind].items()
            }
        old_parts = {old_names.get(key, key): part for key, part in parts.items()}
        assert about != found.about
        assert (old_parts.keys() != parts.keys()) == (name == "hdp")
        write_parts(path, CHECKPOINT, about, old_parts)
        loaded = load(path)
        assert (loaded.config, loaded.settings) == (saved.config, saved.settings)
        assert_same_bits(loaded.state, saved.state)


def test_a_resumed_run_must_be_of_the_same_algorithm(tiny_corpus):
    checkpoint = checkpoint_after(REGISTRY[0], tiny_corpus, 1)
    other = Checkpoint("other", *list(vars(checkpoint).values())[1:])
    with pytest.raises(ValueError, match="by 'other'"):
        run(prepare(REGISTRY[0], checkpoint.config, tiny_corpus, checkpoint.settings), resume=other)


def test_a_resumed_run_must_be_prepared_with_the_settings_of_the_checkpoint(tiny_corpus):
    checkpoint = checkpoint_after(REGISTRY[0], tiny_corpus, 1)
    for config, settings in (
        (replace(checkpoint.config, word_concentration=0.5), checkpoint.settings),
        (checkpoint.config, replace(checkpoint.settings, seed=7)),
    ):
        with pytest.raises(ValueError, match="use the same settings, or delete it"):
            run(prepare(REGISTRY[0], config, tiny_corpus, settings), resume=checkpoint)


def test_a_resumed_run_must_be_of_a_corpus_with_as_many_words(tiny_corpus):
    checkpoint = checkpoint_after(REGISTRY[0], tiny_corpus, 1)
    fewer = replace(
        tiny_corpus,
        counts=tiny_corpus.counts[:, 1:],
        vocabulary=Vocabulary(tiny_corpus.vocabulary.words[1:]),
    )
    with pytest.raises(ValueError, match="resume it with its own corpus"):
        run(prepare(REGISTRY[0], checkpoint.config, fewer, checkpoint.settings), resume=checkpoint)


def test_settings_that_are_numbers_of_numpy_are_saved(tiny_corpus, tmp_path):
    algorithm = REGISTRY[0]
    config = algorithm.config(max_topics=np.int64(5), forgetting_rate=np.float32(0.5))
    state = algorithm.init(config, tiny_corpus.vocab_size, np.random.default_rng(0))
    save(
        tmp_path / "run.npz",
        Checkpoint(algorithm.name, config, RunSettings(seed=np.int64(3)), state, 0, 0.0),
    )
    found = load(tmp_path / "run.npz")
    assert found.config.max_topics == 5
    assert found.config.forgetting_rate == 0.5
    assert found.settings.seed == 3


@pytest.mark.parametrize("name", ["hdp", "gibbs-lda"])
def test_a_run_that_writes_a_checkpoint_continues_from_it_bit_for_bit(name, tiny_corpus, tmp_path):
    algorithm, path = find_algorithm(name), tmp_path / "run.npz"
    config = algorithm.config()
    if algorithm.reads is Reads.BATCHES:
        config = replace(config, batch_size=3)
    prepared = prepare(algorithm, config, tiny_corpus, RunSettings(passes=6, num_evaluations=2))
    whole = list(run(prepared))
    updates = run(prepared, checkpoint=path, every=np.inf)
    first = [next(updates) for _ in range(3)]
    assert not path.exists()
    updates.close()
    assert load(path).documents_seen == first[2].stepped.documents_seen
    updates = run(prepared, checkpoint=path, every=0.0)
    first.append(next(updates))
    assert load(path).documents_seen == first[3].stepped.documents_seen
    del updates
    rest = list(run(prepared, checkpoint=path))
    assert_same_bits(rest[-1].state, whole[-1].state)
    assert len(first) + len(rest) == len(whole)
    assert list(run(prepared, checkpoint=path)) == []
    assert_same_bits(load(path).state, whole[-1].state)


def test_a_position_before_the_first_step_is_a_run_that_begins(tiny_corpus, tmp_path):
    algorithm = find_algorithm("hdp")
    settings = RunSettings(passes=2, num_evaluations=0)
    save(
        tmp_path / "run.npz",
        Checkpoint("hdp", algorithm.config(batch_size=3), settings, None, 0, 0.0),
    )
    start = load(tmp_path / "run.npz")
    assert start.state is None
    assert start.documents_seen == 0
    assert start.config == algorithm.config(batch_size=3)
    prepared = prepare(algorithm, start.config, tiny_corpus, settings)
    *_, resumed = run(prepared, resume=start)
    *_, whole = run(prepared)
    assert_same_bits(resumed.state, whole.state)


def test_a_changed_setting_is_in_the_checkpoint(tiny_corpus, tmp_path):
    algorithm, path = REGISTRY[0], tmp_path / "run.npz"
    prepared = prepare(
        algorithm, replace(algorithm.config(), batch_size=3), tiny_corpus, RunSettings(passes=2)
    )
    updates = run(prepared, checkpoint=path)
    next(updates)
    updates.send(replace(prepared.config, forgetting_rate=0.9))
    updates.close()
    checkpoint = load(path)
    assert checkpoint.config.forgetting_rate == 0.9
    with pytest.raises(ValueError, match="written with another"):
        run(prepared, checkpoint=path)
    with pytest.raises(ValueError, match="not both"):
        run(prepared, checkpoint=path, resume=checkpoint)
