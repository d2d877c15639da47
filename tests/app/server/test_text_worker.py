"""The process that reads text: it answers, reports progress, stops when told, and ends with its
page and its server.
"""

import asyncio
import os
import signal
import subprocess
import sys
import time

import pyarrow as pa
import pytest
from pyarrow import parquet

from stickbreaker.app.model.limits import CORPORA, TEXT_MEMORY, TEXT_PROCESSES
from stickbreaker.app.model.text_tasks import Stopped, TextTaskRunner
from stickbreaker.app.server import text_worker
from stickbreaker.app.server.text_worker import TextWorker
from stickbreaker.engine.corpora.columns import Columns
from stickbreaker.engine.corpora.library import delete_own, find_folder, list_own
from stickbreaker.engine.corpora.rows import CorpusError
from stickbreaker.engine.corpora.word_choices import WordChoices
from tests.patience import limit

# Starts a process that has done one task, and is then killed like a server that runs out of memory.
KILLED_SERVER = """
import asyncio, os, signal
from pathlib import Path
from stickbreaker.app.model.text_tasks import TextTaskRunner
from stickbreaker.app.server.text_worker import TextWorker
from stickbreaker.engine.corpora.rows import CorpusError

async def ask():
    worker = TextWorker()
    try:
        await worker.ask(TextTaskRunner.look, Path("missing.csv"), {})
    except CorpusError:
        print(worker.process.pid, flush=True)
    os.kill(os.getpid(), signal.SIGKILL)

if __name__ == "__main__":
    asyncio.run(ask())
"""


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "mine.csv"
    path.write_text(
        "text,year\n" + "".join(f"peace treaty number {i},{1900 + i % 50}\n" for i in range(3_000))
    )
    return path


def test_word_choices_are_tried_on_the_file_previewed_last(path):
    tasks = TextTaskRunner(lambda share, said: None)
    with pytest.raises(CorpusError, match="choose a file first"):
        tasks.measure(WordChoices())
    seen = tasks.look(path, {})
    assert (seen.num_rows, seen.sample) == (3_000, ())
    assert tasks.measure(WordChoices(max_share=1.0)).num_terms == 3
    with pytest.raises(CorpusError, match="has no column"):
        tasks.look(path, {"text": "body"})
    with pytest.raises(CorpusError, match="choose a file first"):
        tasks.measure(WordChoices())


@pytest.mark.chaos
def test_the_process_answers_refuses_stops_without_leftovers_and_is_replaced_after_a_crash(
    path, tmp_path
):
    long = path.with_name("long.csv")
    long.write_text("text\n" + "peace and war and all the treaties\n" * 300_000)

    async def talk():
        told = []
        process = TextWorker()
        try:
            seen = await process.ask(
                TextTaskRunner.look, path, {}, report=lambda share, said: told.append(share)
            )
            assert (seen.num_rows, told[-1]) == (3_000, 1.0)
            with pytest.raises(CorpusError, match="File not found"):
                await process.ask(TextTaskRunner.look, path.with_name("none.csv"), {})

            def stop(share, said):
                stopping.append(asyncio.ensure_future(process.stop()))

            stopping = []
            with pytest.raises(Stopped):
                await process.ask(
                    TextTaskRunner.build,
                    long,
                    "mine",
                    Columns("text"),
                    WordChoices(),
                    True,
                    report=stop,
                )
            await asyncio.gather(*stopping)
            assert list_own() == ()
            assert list(find_folder().iterdir()) == []
            words = WordChoices(max_share=1.0)
            about = await process.ask(
                TextTaskRunner.build, path, "mine", Columns("text", "year"), words, True
            )
            assert (about.num_documents, [own.name for own in list_own()]) == (3_000, ["mine"])
            # The second build has not lowered the priority again.
            priority = os.getpriority(os.PRIO_PROCESS, process.process.pid)
            assert priority == max(text_worker.NICENESS, os.nice(0))
            await process.ask(TextTaskRunner.export, "mine", tmp_path / "out.parquet")
            assert (tmp_path / "out.parquet").stat().st_size > 1_000
            with pytest.raises(Stopped):
                await process.ask(
                    TextTaskRunner.look, long, {}, report=lambda share, said: process.process.kill()
                )
            assert (await process.ask(TextTaskRunner.look, path, {})).num_rows == 3_000
            worker = process.process
        finally:
            process.close()
            delete_own("mine")
        worker.join(limit(30))
        assert not worker.is_alive()
        assert TextWorker.users == []

    asyncio.run(talk())


def test_the_number_of_processes_is_limited_in_total_and_for_each_user(
    monkeypatch, path, set_limit
):
    def refusal(user):
        with pytest.raises(CorpusError) as refused:
            asyncio.run(TextWorker(user=user).ask(TextTaskRunner.look, path, {}))
        return str(refused.value)

    monkeypatch.setattr(TextWorker, "users", ["anna", "anna", "ben"])
    assert refusal("anna").startswith(
        "You have 2 pages that are importing text, which is the maximum for each user"
    )
    set_limit(TEXT_PROCESSES, 3)
    for user in ("ben", None):
        assert refusal(user).startswith(
            "3 pages are importing text, which is the maximum of this server"
        )
    assert TextWorker.users == ["anna", "anna", "ben"]


def test_a_corpus_for_which_there_is_no_room_is_not_built(monkeypatch, path, tmp_path):
    monkeypatch.setenv(CORPORA.variable, "0")
    tasks = TextTaskRunner(lambda share, said: None, tmp_path / "corpora")
    with pytest.raises(CorpusError, match="the limit for each user is 0 MB"):
        tasks.build(path, "mine", Columns("text"), WordChoices(), True)
    assert list_own(tmp_path / "corpora") == ()


@pytest.mark.chaos
@pytest.mark.skipif(not hasattr(signal, "SIGSTOP"), reason="Windows cannot suspend a process")
def test_a_process_that_does_not_react_to_stop_is_killed(monkeypatch, path):
    monkeypatch.setattr(text_worker, "PATIENCE_SECONDS", 0.3)

    async def talk():
        worker = TextWorker()
        await worker.ask(TextTaskRunner.look, path, {})
        process = worker.process
        os.kill(process.pid, signal.SIGSTOP)
        asked = asyncio.ensure_future(worker.ask(TextTaskRunner.look, path, {}))
        await asyncio.sleep(0.1)
        await worker.stop()
        with pytest.raises(Stopped):
            await asked
        process.join(limit(30))
        assert process.exitcode == -signal.SIGKILL
        assert TextWorker.users == []

    asyncio.run(talk())


def test_a_page_that_closes_while_the_process_starts_leaves_no_process(path):
    async def talk():
        worker = TextWorker()
        asked = asyncio.ensure_future(worker.ask(TextTaskRunner.look, path, {}))
        while worker.process is None:
            await asyncio.sleep(0)
        process = worker.process
        worker.close()
        with pytest.raises(Stopped):
            await asked
        process.join(limit(30))
        assert not process.is_alive()
        assert TextWorker.users == []

    asyncio.run(talk())


@pytest.mark.chaos
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="Windows ends a process otherwise")
def test_the_process_ends_when_its_server_is_killed(tmp_path):
    script = tmp_path / "killed_server.py"
    script.write_text(KILLED_SERVER)
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    with (tmp_path / "out.txt").open("w") as out:
        subprocess.run(
            [sys.executable, str(script)],
            stdout=out,
            env=environment,
            timeout=limit(60),
            check=False,
        )
    pid = int((tmp_path / "out.txt").read_text())
    end = time.monotonic() + limit(30)
    while is_running(pid):
        assert time.monotonic() < end, "the process outlives its server"
        time.sleep(0.05)


def is_running(pid: int) -> bool:
    """Whether there is a process of this number that has not ended."""
    found = subprocess.run(
        ["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True, check=False
    )
    return bool(found.stdout.strip()) and not found.stdout.startswith("Z")


@pytest.mark.chaos
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux can limit the memory of a process")
def test_a_file_that_needs_too_much_memory_is_refused_with_the_limit_and_the_process_stays(
    monkeypatch, path, tmp_path
):
    monkeypatch.setenv(TEXT_MEMORY.variable, "0.4")
    bomb = tmp_path / "bomb.parquet"
    parquet.write_table(pa.table({"text": [["peace" * 200_000] * 1_000]}), bomb, compression="zstd")
    assert bomb.stat().st_size < 10_000

    async def talk():
        worker = TextWorker()
        try:
            with pytest.raises(
                CorpusError,
                match="needs more than 400 MB of memory, which is the limit .*: split it",
            ):
                await worker.ask(TextTaskRunner.look, bomb, {})
            return await worker.ask(TextTaskRunner.look, path, {})
        finally:
            worker.close()

    assert asyncio.run(talk()).num_rows == 3_000
