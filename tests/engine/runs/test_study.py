"""Studies: cells and their keys, results that are kept, failures and processes."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from stickbreaker import engine
from stickbreaker.engine import prepare, run
from stickbreaker.engine.algorithms import find_algorithm
from stickbreaker.engine.evaluation.held_out import lda_bound_as_printed
from stickbreaker.engine.runs import cells, study
from stickbreaker.engine.runs.settings import RunSettings
from stickbreaker.engine.runs.study import Study, run_study
from tests.engine.runs import dying_cell
from tests.engine.runs.dying_cell import NamedCell

GRID = {"forgetting_rate": (0.6, 0.9), "batch_size": (4,)}
QUIET = {"report": lambda progress: None}


@pytest.fixture
def notes(tmp_path):
    """The path of forty undated notes of five words."""
    rng = np.random.default_rng(0)
    words = ["army", "cotton", "navy", "peace", "ship", "tariff", "treaty", "trade"]
    rows = [" ".join(rng.choice(words, 5)) for _ in range(40)]
    path = tmp_path / "notes.csv"
    path.write_text("text\n" + "\n".join(rows))
    return str(path)


@pytest.fixture
def declared(notes):
    """Two values of κ, two seeds, three topics."""
    return Study(("hdp",), (notes,), GRID, seeds=(0, 1), fixed={"max_topics": 3})


@pytest.fixture
def measured(monkeypatch):
    """The cells that have been run in the test."""
    cells_run, measure = [], study.measure

    def note(cell):
        cells_run.append(cell)
        return measure(cell)

    monkeypatch.setattr(study, "measure", note)
    return cells_run


def test_a_study_gives_a_row_for_each_score_of_each_cell(declared, tmp_path):
    frame = run_study(declared, tmp_path / "cells", **QUIET)
    assert len(frame) == 4
    assert frame[["forgetting_rate", "seed"]].to_numpy().tolist() == [
        [0.6, 0],
        [0.6, 1],
        [0.9, 0],
        [0.9, 1],
    ]
    assert (frame["protocol"] == "disjoint_words").all()
    assert (frame["documents_seen"] == 36).all()
    assert frame["nats_per_word"].between(-5, -0.1).all()
    assert frame["error"].isna().all()


def test_finished_cells_are_read_from_disk_and_only_new_ones_run(declared, tmp_path, measured):
    first = run_study(declared, tmp_path, **QUIET)
    again = run_study(declared, tmp_path, **QUIET)
    assert len(measured) == 4
    pd.testing.assert_frame_equal(first, again)
    wider = Study(
        declared.systems, declared.corpora, GRID | {"batch_size": (4, 8)}, (0, 1), declared.fixed
    )
    assert len(run_study(wider, tmp_path, **QUIET)) == 8
    assert [cell.config.batch_size for cell in measured[4:]] == [8] * 4


def test_an_interrupted_study_continues_with_the_missing_cells(declared, tmp_path, measured):
    class StoppedError(Exception):
        """Ends the study of this test."""

    def stop(progress):
        if progress.num_done == 3:
            raise StoppedError

    with pytest.raises(StoppedError):
        run_study(declared, tmp_path / "cells", report=stop)
    next((tmp_path / "cells").glob("*.cell")).write_bytes(b"cut off")
    run_study(declared, tmp_path / "cells", **QUIET)
    assert len(measured) == 5


def test_a_cell_that_fails_is_kept_with_its_error_and_the_others_are_run(
    declared, tmp_path, monkeypatch
):
    measure, told = study.measure, []

    def fail(cell):
        if cell.run.seed == 1:
            raise MemoryError("too little of it")
        return measure(cell)

    monkeypatch.setattr(study, "measure", fail)
    frame = run_study(declared, tmp_path, report=told.append)
    assert frame["error"].dropna().tolist() == ["MemoryError: too little of it"] * 2
    assert frame["nats_per_word"].notna().sum() == 2
    assert str(told[-1]) == "4 of 4 cells, 2 failed, about 0.0 min left"
    monkeypatch.setattr(study, "measure", measure)
    assert run_study(declared, tmp_path, **QUIET)["error"].notna().sum() == 2
    assert run_study(declared, tmp_path, retry_failed=True, **QUIET)["error"].isna().all()


def test_a_study_in_which_every_cell_fails_has_the_usual_columns(declared, tmp_path):
    scores = list(run_study(declared, tmp_path / "good", **QUIET))
    frame = run_study(replace(declared, num_documents=1), tmp_path / "bad", **QUIET)
    assert frame["error"].notna().all()
    assert list(frame) == scores


def test_the_key_of_a_cell_changes_with_each_setting_each_version_and_each_word_of_the_corpus(
    notes, monkeypatch
):
    def key(**changes):
        return Study(**({"systems": ("hdp",), "corpora": (notes,)} | changes)).cells()[0].key()

    keys = [
        key(),
        key(systems=("direct-hdp",)),
        key(corpora=("state-of-the-union",)),
        key(seeds=(1,)),
        key(fixed={"max_topics": 3}),
        key(num_documents=30),
        key(run=RunSettings(passes=2)),
        key(protocols=("tokens_90_10",)),
    ]
    assert key(fixed={"forgetting_rate": 0.6}) == keys[0]
    cells.digest_corpus.cache_clear()
    Path(notes).write_text(Path(notes).read_text().replace("peace", "mercy"))
    keys.append(key())
    monkeypatch.setattr(cells, "find_versions", lambda: {"engine": "another"})
    keys.append(key())
    assert len(set(keys)) == len(keys)
    cells.digest_corpus.cache_clear()


def test_two_processes_give_the_same_bits_as_one(declared, tmp_path):
    one = run_study(declared, tmp_path / "one", **QUIET)
    two = run_study(declared, tmp_path / "two", num_processes=2, **QUIET)
    pd.testing.assert_frame_equal(
        one.drop(columns="seconds"), two.drop(columns="seconds"), check_exact=True
    )


def test_only_the_cell_whose_process_has_ended_fails(tmp_path):
    tasks = [(NamedCell(name), tmp_path / f"{name}.cell") for name in ("good", "bad", "better")]
    found = {
        cell.name: frame["error"][0]
        for (cell, _), frame in study.run_all(dying_cell.measure, tasks, 2)
    }
    assert found["good"] is found["better"] is None
    assert found["bad"].startswith("BrokenProcessPool")
    assert study.read_cell(tmp_path / "bad.cell")["error"][0] == found["bad"]


@pytest.mark.parametrize("system", ["hdp", "lda", "free-dp-mixture", "dp-mixture"])
def test_every_further_protocol_gives_finite_scores(notes, tmp_path, system):
    protocols = [
        name
        for name in cells.FURTHER_PROTOCOLS
        if "mixture" not in system or name != "perplexity_bound"
    ]
    frame = run_study(Study((system,), (notes,), protocols=protocols), tmp_path, **QUIET)
    assert set(frame["protocol"]) == {"disjoint_words", *protocols}
    assert frame["error"].isna().all()
    has_topics_part = frame["predictive"] == "as its authors ran it"
    assert has_topics_part.any() == (system == "lda")
    assert frame["nats_per_word"][~has_topics_part].between(-5, -0.1).all()
    assert frame["nats_per_word"][has_topics_part].between(-10, -0.1).all()


@pytest.mark.parametrize(
    ("system", "chosen"), [("lda", {"concentrations": "asymmetric"}), ("batch-lda", {})]
)
def test_the_bounds_of_an_lda_have_the_concentrations_of_its_model(system, chosen, tiny_corpus):
    algorithm = find_algorithm(system)
    config = algorithm.config(max_topics=3, **chosen)
    prepared = prepare(algorithm, config, tiny_corpus, RunSettings(passes=20, num_test=3))
    *_, update = run(prepared)
    alpha, eta = np.full(3, 1 / 3), config.word_concentration
    if system == "lda":
        alpha, eta = update.state.concentrations.doc.mean, update.state.concentrations.word
        assert len({*alpha}) == 3
        assert eta != config.word_concentration
    expected = lda_bound_as_printed(
        prepared.test.documents(), update.state.topic_counts, alpha, eta
    )
    assert cells.score_further("perplexity_bound", prepared, update.state)["as printed"] == expected


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"systems": ("hdq",)}, "Unknown algorithm 'hdq'"),
        ({"grid": {"kappa": (0.6,)}}, "has a setting 'kappa'"),
        ({"grid": {"forgetting_rate": (0.6, 2.0)}}, "forgetting_rate is 2.0"),
        ({"protocols": ("disjoint_words",)}, "is not a further protocol"),
        ({"systems": "hdp"}, "systems is 'hdp': give a tuple of at least one"),
        ({"systems": ()}, r"systems is \(\)"),
        ({"corpora": "rfc"}, "corpora is 'rfc'"),
        ({"seeds": 5}, "seeds is 5"),
        ({"grid": {"forgetting_rate": ()}}, r"forgetting_rate is \(\)"),
        ({"num_documents": -5}, "num_documents is -5: give a whole number of at least 1"),
        ({"num_documents": 2.5}, "num_documents is 2.5"),
        ({"protocols": "tokens_90_10"}, "protocols is 'tokens_90_10': give a tuple"),
    ],
)
def test_an_impossible_study_is_refused_when_it_is_declared(wrong, message):
    with pytest.raises(ValueError, match=message):
        Study(**({"systems": ("hdp",)} | wrong))


@pytest.mark.parametrize("number", [0, -1, "2", 2.5, None])
def test_an_impossible_number_of_processes_is_named(number, tmp_path):
    with pytest.raises(ValueError, match="num_processes is .*: give a whole number of at least 1"):
        run_study(Study(("hdp",)), tmp_path / "study", num_processes=number)


def test_a_corpus_of_a_study_may_be_a_path(tmp_path):
    path = tmp_path / "mine"
    assert Study(("hdp",), (path,)).cells() == Study(("hdp",), (str(path),)).cells()


def test_a_changed_file_is_another_corpus(declared, notes):
    before = declared.cells()[0].key()
    Path(notes).write_text("text\n" + "army navy\npeace ship\n" * 50)
    assert declared.cells()[0].key() != before


def test_a_folder_or_own_corpus_that_is_built_again_is_another_corpus(
    declared, notes, tmp_path, monkeypatch
):
    monkeypatch.setenv("STICKBREAKER_DATA", str(tmp_path))
    folder, keys = tmp_path / "corpora" / "mine", set()
    for _ in range(2):
        engine.build(notes, to=folder)
        keys |= {
            replace(declared, corpora=(name,)).cells()[0].key() for name in ("mine", str(folder))
        }
        Path(notes).write_text("text\n" + "army navy\npeace ship\n" * 50)
        engine.delete_own("mine")
    assert len(keys) == 2
