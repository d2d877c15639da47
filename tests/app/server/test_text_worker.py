"""The process beside the page: it answers, says how far it is, stops when told, and ends."""

import asyncio

import pytest

from stickbreaker.app.server import text_worker
from stickbreaker.app.server.text_worker import Desk, Stopped, TextWorker
from stickbreaker.engine.corpora.build import Columns
from stickbreaker.engine.corpora.corpus import CorpusError
from stickbreaker.engine.corpora.library import delete_own, find_folder, list_own
from stickbreaker.engine.corpora.words import WordChoices


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "mine.csv"
    path.write_text("text,year\n" + "".join(f"peace treaty number {i},{1900 + i % 50}\n" for i in range(3_000)))
    return path


def test_a_desk_looks_measures_builds_and_exports(path, tmp_path):
    desk = Desk(lambda share, said: None)
    with pytest.raises(CorpusError, match="choose a file first"):
        desk.measure(WordChoices())
    seen = desk.look(path, {})
    assert (seen.num_rows, seen.sample) == (3_000, ())
    assert desk.measure(WordChoices(max_share=1.0)).num_terms == 3
    with pytest.raises(CorpusError, match="has no column"):
        desk.look(path, {"text": "body"})
    with pytest.raises(CorpusError, match="choose a file first"):
        desk.measure(WordChoices())


def test_the_process_answers_refuses_stops_without_leaving_anything_and_is_replaced_when_it_dies(path, tmp_path):
    long = path.with_name("long.csv")
    long.write_text("text\n" + "peace and war and all the treaties\n" * 300_000)

    async def talk():
        told = []
        process = TextWorker()
        try:
            seen = await process.ask("look", path, {}, report=lambda share, said: told.append(share))
            assert (seen.num_rows, told[-1]) == (3_000, 1.0)
            with pytest.raises(CorpusError, match="File not found"):
                await process.ask("look", path.with_name("none.csv"), {})

            def stop(share, said):
                stopping.append(asyncio.ensure_future(process.stop()))

            stopping = []
            with pytest.raises(Stopped):
                await process.ask("build", long, "mine", Columns("text"), WordChoices(), True, report=stop)
            await asyncio.gather(*stopping)
            assert list_own() == ()
            assert list(find_folder().iterdir()) == []
            about = await process.ask("build", path, "mine", Columns("text", "year"), WordChoices(max_share=1.0), True)
            assert (about.num_documents, [own.name for own in list_own()]) == (3_000, ["mine"])
            await process.ask("export", "mine", tmp_path / "out.parquet")
            assert (tmp_path / "out.parquet").stat().st_size > 1_000
            with pytest.raises(Stopped):
                await process.ask("look", long, {}, report=lambda share, said: process._process.kill())
            assert (await process.ask("look", path, {})).num_rows == 3_000
            worker = process._process
        finally:
            process.close()
            delete_own("mine")
        worker.join(5)
        assert not worker.is_alive()
        assert TextWorker.num_open == 0

    asyncio.run(talk())


def test_only_so_many_may_bring_text_at_once(monkeypatch, path):
    monkeypatch.setattr(text_worker, "MAX_WORKERS", 0)
    with pytest.raises(CorpusError, match="0 others are bringing text"):
        asyncio.run(TextWorker().ask("look", path, {}))
