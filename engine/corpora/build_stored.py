"""Build a corpus on disk, in two passes over text that need not fit in memory.

`build` makes any folder, and continues an interrupted build. `build_own` adds a corpus to those of
the user.
"""

import json
import logging
import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import chain
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from stickbreaker.engine.corpora.build import build_corpus
from stickbreaker.engine.corpora.build_on_workers import BuildWorkers
from stickbreaker.engine.corpora.build_sources import COPIES, PathOrAddress, list_sources
from stickbreaker.engine.corpora.columns import Columns, explain_no_rows
from stickbreaker.engine.corpora.corpus import Corpus, Vocabulary, choose_split
from stickbreaker.engine.corpora.known_words import ALL_UNKNOWN, HasWords, KnownWords, choose_words
from stickbreaker.engine.corpora.library import (
    OwnCorpus,
    check_name,
    find_folder,
    find_own,
    name_folder,
)
from stickbreaker.engine.corpora.piece_shards import PlannedShard, ShardMaker, Survey
from stickbreaker.engine.corpora.pieces import (
    BuildPlan,
    Piece,
    choose_plan_words,
    count_pieces,
    describe_plan,
    has_pieces,
    list_bad,
    resolve_plan,
)
from stickbreaker.engine.corpora.rows import BadRows, CorpusError
from stickbreaker.engine.corpora.shards import Manifest, ShardSize, seal_corpus
from stickbreaker.engine.corpora.sources import Source, find_source
from stickbreaker.engine.corpora.stored import (
    SHARD_DOCUMENTS,
    StoredCorpus,
    name_unfinished,
    open_stored,
    write_corpus,
)
from stickbreaker.engine.corpora.word_choices import WordChoices
from stickbreaker.engine.files.messages import explain_error
from stickbreaker.engine.files.whole_files import (
    FileError,
    building,
    claim,
    find_new_folder,
    replacing,
    sync_folder,
    unfinished_folder,
)
from stickbreaker.engine.parallel.clusters import connect
from stickbreaker.engine.progress_bars import Report, show_share
from stickbreaker.engine.versions import find_environment

if TYPE_CHECKING:
    from distributed import Client

DATE_UNITS = ("Y", "M", "D", "s")
MAX_MEMORY = 1_000_000_000
# Of a corpus for a user, which is loaded into memory later, however many shards it has.
OWN_MEMORY = 250_000_000
PLAN = "plan.json"
PIECES = "pieces"

logger = logging.getLogger(__name__)


def build(  # noqa: PLR0913
    source: PathOrAddress | Sequence[PathOrAddress],
    *,
    to: str | PathLike[str],
    text: str | None = None,
    date: str | None = None,
    title: str | None = None,
    group: str | None = None,
    day_first: bool | None = None,
    encoding: str | None = None,
    sheet: str | None = None,
    words: WordChoices | None = None,
    like: Corpus | HasWords | None = None,
    keeps_text: bool = False,
    max_memory: int = MAX_MEMORY,
    shard_documents: int = SHARD_DOCUMENTS,
    verbose: bool = False,
    callback: Callable[[float], object] | None = None,
    client: "Client | None" = None,
) -> StoredCorpus:
    """Build a corpus on disk, shard by shard; the text and the counts need not fit in memory.

    The first pass counts all words, the second writes the counts of the chosen words. If the build
    was interrupted, the same call continues with the first document that has not been counted. The
    words are those that `load_corpus` chooses. The form of the dates is the one that most of the
    first 50,000 rows have.

    Parameters
    ----------
    source : str, path, or sequence of them
        Files or folders of text, as for `load_corpus`, of any size. A folder of tables is read
        table by table, with its subfolders if it has no tables of its own and no texts, in the
        order of their names. An address such as `s3://bucket/texts/` needs fsspec; its files are
        copied first.
    to : str or path
        The folder to make.
    text, date, title, group : str, optional
        The columns, as for `load_corpus`.
    day_first : bool, optional
        Whether 3/4/1863 is 3 April, as for `load_corpus`.
    encoding : str, optional
        The encoding of the text, as for `load_corpus`.
    sheet : str, optional
        The sheet of each Excel or OpenDocument file, as for `load_corpus`.
    words : WordChoices, optional
        Which words are counted. By default, `WordChoices()`.
    like : Corpus or fitted model, optional
        Has the words that are counted, as for `load_corpus`.
    keeps_text : bool
        Whether the texts are stored with the counts, as they are written in the source. Words that
        PDF files and web pages split are joined only in the counts.
    max_memory : int
        The approximate limit in bytes of the counts in memory; a shard that reaches it has fewer
        documents.
    shard_documents : int
        A shard ends with the chunk of 500 rows in which it reaches this number of documents. The
        sources are divided into parts of at most 128 MB; the last shard of a part may have fewer
        documents.
    verbose : bool
        Whether a progress bar is shown.
    callback : callable, optional
        Receives the share of the work that is done, from 0 to 1. It may raise an exception to
        cancel.
    client : distributed.Client, optional
        The workers of this Dask cluster count one part each: row groups of a Parquet file, or whole
        files. They need the sources at the same path. The corpus is the same, byte for byte. They
        write it themselves if they have the folder too; otherwise this process writes what they
        have counted.

    Returns
    -------
    StoredCorpus
        The corpus, opened.

    Raises
    ------
    CorpusError
        If a source cannot be read, no words remain, the folder exists or cannot be written, or an
        unfinished build with other settings or files is in the way.
    ClusterError
        If Dask is not installed, or a worker cannot read the sources, or has other versions or
        another processor.
    TypeError
        If `source` or `to` is not a path, `words` is not `WordChoices`, or `like` is not a corpus
        or a fitted model.
    ValueError
        If `max_memory` or `shard_documents` is not a whole number of at least 1.
    """
    choices, known = _split_words(choose_words(words, like))
    if not isinstance(to, str | PathLike):
        raise TypeError(f"to is {to!r:.80}: give the folder to make.")
    cluster = None if client is None else connect(client, find_environment)
    with _working_in(to) as (target, work), show_share(verbose, callback) as report:
        paths = tuple(map(str, list_sources(source, work)))
        columns = Columns(
            text=text,
            date=date,
            title=title,
            group=group,
            day_first=day_first,
            encoding=encoding,
            sheet=sheet,
        )
        plan = resolve_plan(
            BuildPlan(
                paths=paths,
                columns=columns,
                keeps_text=keeps_text,
                max_memory=max_memory,
                shard_documents=shard_documents,
                words=choices,
                known=known,
            )
        )
        workers = None if cluster is None else BuildWorkers(cluster, plan, work)
        _build(plan, work, target, report, workers)
    return open_stored(target)


def _split_words(
    chosen: WordChoices | KnownWords | None,
) -> tuple[WordChoices, Vocabulary | None]:
    """How words are counted, and those that are known."""
    if isinstance(chosen, KnownWords):
        return chosen.choices, chosen.vocabulary
    return chosen or WordChoices(), None


@dataclass(frozen=True)
class BuildRequest:
    """A request to build a corpus of this name from a file or folder, for a user."""

    path: Path
    name: str
    columns: Columns = Columns()  # noqa: RUF009
    words: WordChoices | KnownWords | None = None
    keeps_text: bool = True


def build_own(
    request: BuildRequest,
    report: Report = lambda share, message: None,
    folder: str | PathLike[str] | None = None,
) -> OwnCorpus:
    """Build a corpus and add it to those of the user; nothing is stored after an error.

    `report` receives the share that is done (0 to 1) and a message, and may raise an exception to
    cancel. Raises CorpusError if the name is not valid, the source cannot be read, or the folder
    cannot be written.
    """
    request = replace(request, name=check_name(request.name, folder))
    place = find_folder(folder) / name_folder(request.name)
    try:
        with building(place) as corpus, unfinished_folder(place.parent) as pieces:
            source = find_source(request.path)
            if source.has_counts(request.columns):
                _store_counts(source, request, corpus, report)
            else:
                choices, known = _split_words(request.words)
                plan = BuildPlan(
                    paths=(str(source.path),),
                    columns=request.columns,
                    keeps_text=request.keeps_text,
                    max_memory=OWN_MEMORY,
                    shard_documents=SHARD_DOCUMENTS,
                    words=choices,
                    known=known,
                )
                made = _make_corpus(resolve_plan(plan), pieces, corpus, report)
                made.seal(
                    corpus, name=request.name, built_at=datetime.now().isoformat(), is_loaded=True
                )
    except FileError as error:
        raise CorpusError(str(error)) from error
    return find_own(request.name, folder).about


def _store_counts(source: Source, request: BuildRequest, folder: Path, report: Report) -> None:
    """Write the corpus of a file of counts."""
    built = build_corpus(source, request.columns, request.words, report)
    report(0.97, "Writing the corpus")
    write_corpus(
        built.corpus,
        folder,
        SHARD_DOCUMENTS,
        name=request.name,
        source=source.path.name,
        num_skipped=built.bad.count,
        built_at=datetime.now().isoformat(),
        is_loaded=True,
    )


@contextmanager
def _working_in(to: str | PathLike[str]) -> Iterator[tuple[Path, Path]]:
    """Make the folder of an unfinished build, and name it in errors. It stays only if it holds
    finished work. Yields the folder to make and the folder of the unfinished build.
    """
    target = _find_target(to)
    work = name_unfinished(target)
    with _claiming(target, work):
        # Another build may just have made it.
        _find_target(to)
        try:
            yield target, work
        except Exception as error:
            is_kept = has_pieces(work / PIECES) or any(work.glob(f"{COPIES}*/*"))
            if not is_kept:
                shutil.rmtree(work, ignore_errors=True)
            if not isinstance(error, OSError):
                raise
            kept = f" Finished work is kept in {work}." * is_kept
            raise CorpusError(
                f"The build of {target} stopped ({str(error).rstrip('.')}).{kept} Check the free"
                " space and the permissions, and build again with the same arguments."
            ) from error
        shutil.rmtree(work, ignore_errors=True)


def _find_target(to: str | PathLike[str]) -> Path:
    try:
        return find_new_folder(to)
    except FileError as error:
        raise CorpusError(str(error)) from error


@contextmanager
def _claiming(target: Path, work: Path) -> Iterator[None]:
    """Make the folder of the unfinished build for this process alone.

    Raises CorpusError if nothing can be written there, or another process builds the same corpus.
    """
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        held = claim(target.parent, work.name.removeprefix("."))
        if held is not None:
            work.mkdir(exist_ok=True)
            with replacing(work / "trial"):
                pass
            (work / "trial").unlink()
    except OSError as error:
        raise CorpusError(
            f"Cannot write {work} ({explain_error(error)}). Check the permissions and the path."
        ) from error
    if held is None:
        raise CorpusError(
            f"Another process is building {target}. Wait until it ends, or choose another folder."
        )
    with closing(held):
        yield


def _keep_plan(plan: BuildPlan, work: Path) -> None:
    """Write the plan of a new build, or check that an unfinished build has the same plan."""
    path = work / PLAN
    described = json.loads(json.dumps(describe_plan(plan)))
    if not path.is_file() or not has_pieces(work / PIECES):
        with replacing(path) as file:
            file.write(json.dumps(described).encode())
    elif json.loads(path.read_text(encoding="utf-8")) != described:
        raise CorpusError(
            f"{work} holds an unfinished build with other arguments or files. Use the same ones"
            " again, or delete this folder."
        )


def _build(
    plan: BuildPlan, work: Path, target: Path, report: Report, workers: BuildWorkers | None
) -> None:
    _keep_plan(plan, work)
    folder, corpus = work / PIECES, work / "corpus"
    for each in (folder, corpus):
        each.mkdir(exist_ok=True)
    made = _make_corpus(plan, folder, corpus, report, workers)
    made.seal(corpus, name=target.name)
    os.rename(corpus, target)
    sync_folder(target.parent)
    if made.bad.count:
        listed = "; ".join(map(str, made.bad.listed[:5]))
        rows = f"{made.bad.count} of {made.bad.count + made.manifest.num_documents} rows"
        logger.warning("%s: skipped %s. First: %s", target, rows, listed)


class MadeCorpus(NamedTuple):
    """The shards of a corpus that is still without its manifest, and what that needs."""

    manifest: Manifest
    words: list[str]
    groups: list[str]
    bad: BadRows

    def seal(self, folder: Path, **about: Any) -> None:
        """Complete the folder of the shards; about: what else is in the manifest."""
        seal_corpus(folder, replace(self.manifest, **about), self.words, self.groups)


def _make_corpus(
    plan: BuildPlan, folder: Path, corpus: Path, report: Report, workers: BuildWorkers | None = None
) -> MadeCorpus:
    """Count the text piece by piece into `folder`, and make the shards in `corpus`."""
    count_parts = None if workers is None else workers.count_parts
    pieces = count_pieces(
        plan, folder, lambda share: report(0.85 * share, "Counting words"), count_parts
    )
    bad = BadRows()
    for piece in pieces:
        bad.add(list_bad(piece), piece.num_bad)
    report(0.86, "Choosing words")
    try:
        words = _choose_words(plan, folder, pieces, bad)
    except CorpusError:
        # Another call must have other columns or words, for which these counts are of no use.
        shutil.rmtree(folder)
        raise
    units = [piece.date_unit for piece in pieces if piece.num_documents]
    date_unit = max(units, key=DATE_UNITS.index) if plan.columns.date else "D"
    maker = ShardMaker(plan=plan, pieces=folder, corpus=corpus, words=words, date_unit=date_unit)
    surveys, sizes = _make_shards(
        maker, pieces, lambda share: report(0.88 + 0.12 * share, "Writing the corpus"), workers
    )
    for survey in surveys:
        bad.add(survey.wordless, survey.num_wordless)
    if not any(survey.num_documents for survey in surveys):
        shutil.rmtree(folder)
        raise CorpusError(f"{plan.paths[0]}: {ALL_UNKNOWN}")
    groups = _list_groups(surveys)
    return MadeCorpus(
        manifest=_describe(maker, sizes, bad.count, groups),
        words=words,
        groups=groups,
        bad=bad,
    )


def _choose_words(
    plan: BuildPlan, folder: Path, pieces: Sequence[Piece], bad: BadRows
) -> list[str]:
    """The words of the corpus.

    Raises CorpusError that names the first source if no row or no word remains.
    """
    if not any(piece.num_documents for piece in pieces):
        raise CorpusError(explain_no_rows(plan.paths[0], bad))
    try:
        return choose_plan_words(folder, pieces, plan)
    except CorpusError as error:
        raise CorpusError(f"{plan.paths[0]}: {error}") from error


def _make_shards(
    maker: ShardMaker,
    pieces: Sequence[Piece],
    report: Callable[[float], object],
    workers: BuildWorkers | None,
) -> tuple[list[Survey], list[ShardSize]]:
    """Make the shards of all pieces, here or on workers that have the folder of the build."""
    if workers and workers.have_folder():
        surveys = workers.call(maker.survey_piece, pieces, lambda share: report(0.5 * share))
        firsts = np.append(0, np.cumsum([survey.num_documents for survey in surveys])).tolist()
        numbers = {name: number for number, name in enumerate(_list_groups(surveys))}
        tasks = [
            PlannedShard(
                number=number,
                piece=piece,
                first=firsts[number],
                groups={name: numbers[name] for name in surveys[number].groups},
            )
            for number, piece in enumerate(pieces)
        ]
        return surveys, workers.call(
            maker.write_piece, tasks, lambda share: report(0.5 + 0.5 * share)
        )
    surveys = []
    sizes = []
    numbers = {}
    first = 0
    for number, piece in enumerate(pieces):
        trimmed = maker.trim(piece)
        surveys.append(maker.survey(trimmed))
        for name in surveys[-1].groups:
            numbers.setdefault(name, len(numbers))
        sizes.append(
            maker.write(
                PlannedShard(number=number, piece=piece, first=first, groups=numbers), trimmed
            )
        )
        first += surveys[-1].num_documents
        report((number + 1) / len(pieces))
    return surveys, sizes


def _list_groups(surveys: Sequence[Survey]) -> list[str]:
    """The groups of all pieces in order of appearance."""
    return list(dict.fromkeys(chain.from_iterable(survey.groups for survey in surveys)))


def _describe(
    maker: ShardMaker, sizes: Sequence[ShardSize], num_skipped: int, groups: Sequence[str]
) -> Manifest:
    """Describe all shards; the corpus has no name yet."""
    plan = maker.plan
    return Manifest(
        name="",
        num_documents=sum(size.num_documents for size in sizes),
        vocab_size=len(maker.words),
        num_tokens=sum(size.num_tokens for size in sizes),
        date_unit=maker.date_unit,
        split_by=choose_split(groups),
        has_groups=plan.columns.group is not None,
        has_texts=plan.keeps_text,
        source=", ".join(Path(path).name for path in plan.paths[:3]),
        num_skipped=num_skipped,
        word_choices=plan.words,
        shards=tuple(sizes),
    )
