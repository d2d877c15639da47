"""Readings on disk: found by their model and corpus, and made again if they cannot be read."""

import os
from dataclasses import replace

import numpy as np
import pytest

from stickbreaker.app.model.disk_space import READINGS, limit_saved_readings, list_items
from stickbreaker.app.model.limits import ALL_SAVED_READINGS, SAVED_READINGS
from stickbreaker.app.model.run_store import RunStore
from stickbreaker.app.model.saved_readings import SavedReadings, digest_model
from stickbreaker.app.server import reader as readers
from stickbreaker.app.server.reader import Reader
from tests.app.small_runs import begin, small_spec


def make_record(**values):
    """A run after each of its mini-batches."""
    record = begin(small_spec(**values))
    record.advance()
    return record


class Readings(RunStore):
    """Keeps readings only."""

    def __init__(self, saved):
        self._saved = saved
        self.find_shares = saved.find

    def keep_reading(self, reading, is_new):
        self._saved.write(reading.model, reading.doc_shares)


@pytest.fixture
def saved(tmp_path):
    return SavedReadings(tmp_path / READINGS)


@pytest.fixture
def read(saved):
    """Read the corpus with a model; returns the reading and whether documents were read for it."""

    def read(model, monkeypatch):
        asked = []
        original = readers.read_shares
        monkeypatch.setattr(
            readers, "read_shares", lambda *values: asked.append(1) or original(*values)
        )
        reader = Reader(lambda: model, lambda: None, store=Readings(saved))
        reader.ask()
        reader.join()
        assert reader.job.status == "ready"
        monkeypatch.undo()
        return reader.job.reading, bool(asked)

    return read


def test_a_model_is_read_once_also_by_another_process(read, monkeypatch):
    first, was_read = read(make_record().model(), monkeypatch)
    again, is_read_again = read(make_record().model(), monkeypatch)
    assert (was_read, is_read_again) == (True, False)
    assert (first.doc_shares != again.doc_shares).nnz == 0
    assert again.doc_shares.dtype == first.doc_shares.dtype
    np.testing.assert_array_equal(first.summary.expected_tokens, again.summary.expected_tokens)
    np.testing.assert_array_equal(first.used, again.used)


def test_another_model_setting_or_corpus_is_another_reading(saved):
    record = make_record()
    model = record.model()
    shorter = replace(model, corpus=model.train)
    digests = {digest_model(each) for each in (model, shorter, make_record(max_slots=2).model())}
    record.advance()
    assert len(digests | {digest_model(record.model())}) == 4
    assert saved.find(model) is None


def test_a_damaged_reading_is_made_again(saved, read, monkeypatch, tmp_path, caplog):
    model = make_record().model()
    read(model, monkeypatch)
    (path,) = (tmp_path / READINGS).iterdir()
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(bytes(content))
    assert saved.find(model) is None
    assert "left out" in caplog.text
    assert read(model, monkeypatch)[1]
    assert saved.find(model) is not None


def test_a_reading_that_cannot_be_saved_is_shown_all_the_same(tmp_path, monkeypatch, caplog):
    (tmp_path / READINGS).write_text("a file in place of the folder")
    model, saved = make_record().model(), SavedReadings(tmp_path / READINGS)
    reader = Reader(lambda: model, lambda: None, store=Readings(saved))
    reader.ask()
    reader.join()
    assert reader.job.status == "ready"
    assert "could not be saved" in caplog.text


def test_the_oldest_readings_are_removed_beyond_the_limits_of_a_user_and_of_all(
    tmp_path, set_limit
):
    models = [make_record(delay=float(delay)).model() for delay in (1, 2, 4)]
    shares = readers.read_shares(
        models[0].algorithm, models[0].config, models[0].state, models[0].corpus
    )
    users = [tmp_path / name for name in ("one", "two")]
    for user in users:
        for number, model in enumerate(models):
            SavedReadings(user / READINGS).write(model, shares)
            os.utime(user / READINGS / f"{digest_model(model)}.npz", (number, number))
    size = (users[0] / READINGS / f"{digest_model(models[0])}.npz").stat().st_size
    assert [item.size for item in list_items(users[0], {}) if item.name.startswith("Readings")] == [
        3 * size
    ]
    set_limit(SAVED_READINGS, 2.5 * size / 1e9)
    SavedReadings(users[0] / READINGS).write(models[2], shares)
    found = [
        [SavedReadings(user / READINGS).find(model) is not None for model in models]
        for user in users
    ]
    assert found == [[False, True, True], [True, True, True]]
    set_limit(ALL_SAVED_READINGS, 4.5 * size / 1e9)
    limit_saved_readings(users)
    assert [len(list((user / READINGS).iterdir())) for user in users] == [2, 2]
