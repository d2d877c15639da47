"""The page of a sweep contains all of its runs, loads nothing, and is made from files on disk."""

import json
import re
import sys
from dataclasses import replace

import pytest

from stickbreaker import engine
from stickbreaker.app.export import explorable
from stickbreaker.app.frames.word_table import list_shares, topics_frame
from stickbreaker.app.model.disk_space import UserFiles
from stickbreaker.app.model.kept_runs import KeptRunError
from stickbreaker.app.model.recorded_run import learn
from stickbreaker.app.model.saved_sweeps import read_runs
from stickbreaker.app.model.sweep_plan import SweepState, end_point, plan_sweep
from tests.app.small_runs import HDP, LDA, NAME, load_small, small_corpus, small_spec

HOSTILE = "</script><img src=x onerror=alert(1)>"
GRID = {"forgetting_rate": (0.6, 0.8), "batch_size": (5, 20)}


@pytest.fixture(scope="module")
def records():
    """Finished runs of a sweep over a corpus with a hostile word."""
    words = engine.Vocabulary((HOSTILE, *small_corpus().vocabulary.words[1:]))
    corpus = engine.Corpus(
        NAME, small_corpus().counts, words, small_corpus().dates, small_corpus().titles
    )
    return [learn(spec, corpus) for spec in plan_sweep(small_spec(), (), GRID)]


@pytest.fixture
def files(records, tmp_path):
    """The files of a user with a sweep whose runs were kept."""
    files = UserFiles(tmp_path)
    ended = [record.progress(1) for record in records]
    plan = tuple(record.spec for record in records)
    for record, progress in zip(records, ended, strict=True):
        files.kept.keep(progress, record.model(), checkpoint=record.save())
    points = tuple(map(end_point, plan, ended))
    files.sweeps.write("key", SweepState("finished", plan=plan, points=points))
    return files


def read_state(page):
    return json.loads(re.search(r'id="state">(.*?)</script>', page, re.DOTALL)[1])


def test_the_page_has_all_runs_as_json_and_loads_nothing(records, tmp_path):
    runs = [record.progress(1) for record in records]
    explorable.write_explorable(tmp_path / "page.html", runs)
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "<img" not in page
    assert not re.search(r"<[^>]*\b(src|href)=|@import|url\(", page)
    assert set(re.findall(r"https?://[\w./]*", page)) == {"http://www.w3.org/2000/svg"}
    state = read_state(page)
    assert [axis["values"] for axis in state["axes"]] == [["0.6", "0.8"], ["5", "20"]]
    assert [run["place"] for run in state["runs"]] == [[0, 0], [0, 1], [1, 0], [1, 1]]
    assert HOSTILE in state["words"]
    for run, written in zip(runs, state["runs"], strict=True):
        assert [column[0] for column in written["columns"]] == [
            moment.documents_seen for moment in run.columns
        ]
        assert dict(written["pieces"][-1]) == list_shares(run.columns[-1])
        assert written["heldout"][-1][1] == pytest.approx(run.heldout["nats_per_word"][-1], 1e-5)
        frame = topics_frame(run.columns[-1], run.vocabulary, by_relevance=True)
        for topic_id, words in zip(frame["topic_id"], frame["words"], strict=True):
            cells = [row[-1] for row in written["lists"][str(topic_id)]]
            assert tuple(state["words"][cell // len(state["signs"])] for cell in cells) == words


def test_settings_that_follow_others_have_no_slider_and_algorithms_have_one(records):
    runs = [record.progress(1) for record in records]
    follow = [
        replace(run, config=replace(run.config, delay=float(place)))
        for place, run in enumerate(runs)
    ]
    assert len(explorable.gather(follow)["axes"]) == 2
    other = learn(small_spec(), small_corpus()).progress(1)
    two = explorable.gather([other, replace(other, algorithm=LDA.name)])
    assert [axis["values"] for axis in two["axes"]] == [sorted([HDP.title, LDA.title])]


@pytest.mark.parametrize("study", ["", "open-runs/{}"])
def test_the_command_reads_a_kept_sweep_from_its_file_or_folder(
    files, study, tmp_path, monkeypatch, capsys
):
    monkeypatch.setattr(explorable, "load_by_name", load_small)
    (sweep,) = files.sweeps.list_newest()
    page = tmp_path / "page.html"
    given = tmp_path / study.format(sweep.name)
    monkeypatch.setattr(sys, "argv", ["explorable", str(given), "--to", str(page)])
    explorable.main()
    assert "4 runs" in capsys.readouterr().out
    assert len(read_state(page.read_text(encoding="utf-8"))["runs"]) == 4


def test_the_page_says_how_many_runs_have_been_removed(files):
    files.kept.list_models()[0].unlink()
    runs, num_removed = read_runs(files.sweeps.load("key"), files.kept, load_small)
    assert (len(runs), num_removed) == (3, 1)
    about = explorable.gather(runs, num_removed)["toDo"]
    assert "Not shown: 1 run whose model has been removed." in about
    assert "removed" not in explorable.gather(runs)["toDo"]


def test_without_a_sweep_or_its_models_the_command_says_what_to_do(
    files, tmp_path, monkeypatch, capsys
):
    empty = tmp_path / "empty"
    empty.mkdir()
    monkeypatch.setattr(sys, "argv", ["explorable", str(empty), "--to", str(tmp_path / "a.html")])
    with pytest.raises(SystemExit):
        explorable.main()
    assert "There is no sweep in" in capsys.readouterr().err
    for path in files.kept.list_models():
        path.unlink()
    with pytest.raises(KeptRunError, match="run the sweep again"):
        read_runs(files.sweeps.load("key"), files.kept, load_small)
