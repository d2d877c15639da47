"""Reads two kept runs by group of documents in the background."""

from collections.abc import Callable
from functools import partial
from typing import Any

from scipy.sparse import csr_array

from stickbreaker.app.model.grouped_runs import GroupedRun, GroupJob, open_model, read_by_group
from stickbreaker.app.model.kept_runs import KeptRun, KeptRunError, KeptRuns
from stickbreaker.app.model.reading import Model
from stickbreaker.app.server.background_work import BackgroundWork, Report, Wait
from stickbreaker.app.server.compiling import Compilation
from stickbreaker.app.server.cpu_queue import CpuQueue
from stickbreaker.app.server.runner import Load
from stickbreaker.engine.files.whole_files import FileError


class GroupReader(BackgroundWork[GroupJob]):
    """Reads the corpora of kept runs with their models.

    load: opens a corpus; find_shares(model): the topic shares of documents that were read before.
    """

    def __init__(
        self,
        load: Load,
        find_shares: Callable[[Model], csr_array | None],
        notify: Callable[[], None],
        cpu_queue: CpuQueue,
        compilation: Compilation,
    ):
        super().__init__(notify, cpu_queue, compilation, GroupJob())
        self._load = load
        self._find_shares = find_shares

    def start(self, kept: KeptRuns, pair: tuple[KeptRun, KeptRun]) -> None:
        """Read two kept runs, unless this is at work; what is known of one is not read again."""
        with self._lock:
            if self.job.is_active:
                return
            known = {each.run.key: each for each in self.job.runs}

            def compute(wait: Wait, report: Report) -> dict[str, Any] | None:
                found = []
                for place, run in enumerate(pair):
                    before = known.get(run.key)
                    # A run that has continued since is another one.
                    if before is not None and before.run.kept_at == run.kept_at:
                        found.append(before._replace(run=run))
                        continue
                    grouped = self._read(kept, run, wait, partial(_report_part, report, place))
                    if grouped is None:
                        return None
                    found.append(grouped)
                return {"runs": tuple(found)}

            keys = (pair[0].key, pair[1].key)
            self._begin("read-groups", GroupJob(keys=keys), compute)
        self._notify()

    def _read(self, kept: KeptRuns, run: KeptRun, wait: Wait, report: Report) -> GroupedRun | None:
        """Read one run; None if the work was cancelled."""
        try:
            saved = kept.load_checkpoint(run.key)
        except FileError as error:
            raise KeptRunError(f"“{run.title}”: {error}") from error
        model = open_model(saved, self._load(run.corpus_name))
        if not wait(model.algorithm):
            return None
        return read_by_group(run, kept.load(run.key), model, self._find_shares, report)


def _report_part(report: Report, place: int, share: float) -> bool:
    """Report the share done of the first or the second run of a pair."""
    return report((place + share) / 2)
