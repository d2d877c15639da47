"""Reading a corpus with a model, on request and in the background."""

import threading
from dataclasses import replace
from types import SimpleNamespace

from stickbreaker.app.model.reading import ReadingJob
from stickbreaker.app.server.reader import Reader
from tests.patience import limit


def test_a_reading_covers_all_documents_on_request_and_again_only_after_the_model_has_changed(
    model,
):
    jobs, models = [], [model]
    reader = Reader(lambda: models[-1], lambda: jobs.append(reader.job))
    reader.ask()
    reader.join()
    assert [jobs[0].status, jobs[-1].status] == ["reading", "ready"]
    assert [each.share for each in jobs] == sorted(each.share for each in jobs)
    assert reader.job.reading.doc_shares.shape == (model.corpus.num_documents, 12)
    number = len(jobs)
    reader.ask()
    assert len(jobs) == number
    models.append(replace(model, documents_seen=model.documents_seen + 1))
    reader.ask()
    reader.join()
    assert reader.job.reading.model is models[-1]


def test_nothing_is_read_before_there_is_a_model():
    reader = Reader(lambda: None, lambda: None)
    reader.ask()
    assert reader.job == ReadingJob() or reader.job.status == "none"


def test_a_reading_that_fails_says_why(model, caplog):
    broken = replace(
        model, algorithm=SimpleNamespace(summarize=model.algorithm.summarize, infer=None)
    )
    reader = Reader(lambda: broken, lambda: None)
    reader.ask()
    reader.join()
    assert reader.job.status == "failed"
    assert "not callable" in reader.job.message


def test_a_reading_ends_when_its_run_is_freed(model):
    gate = threading.Event()

    def infer(config, state, documents):
        gate.wait(limit(60))
        return model.algorithm.infer(config, state, documents)

    slow = replace(
        model, algorithm=SimpleNamespace(summarize=model.algorithm.summarize, infer=infer)
    )
    reader = Reader(lambda: slow, lambda: None)
    reader.close()
    reader.ask()
    gate.set()
    reader.join()
    assert reader.job.status == "reading"
    assert reader.job.reading.doc_shares is None
