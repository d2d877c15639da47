"""Both passes of a build on the workers of a cluster: a task for each part of the sources, and for
each shard.

A worker that has the folder of the build writes there. Otherwise it returns the pieces, and the
process of the build writes them, and then the shards too.
"""

from collections.abc import Callable, Generator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from uuid import uuid4

from stickbreaker.engine.corpora.pieces import BuildPlan, Part, PlanFiles, count_part
from stickbreaker.engine.corpora.rows import CorpusError
from stickbreaker.engine.corpora.sources import count_bytes
from stickbreaker.engine.files.whole_files import replacing
from stickbreaker.engine.parallel.clusters import (
    Cluster,
    ClusterError,
    TaskLostError,
    worker_address,
)

Report = Callable[[float], object]


@dataclass(frozen=True)
class PartCounter:
    """Counts a part on a worker.

    sizes: the bytes of each file of the plan. Returns files for the folder by name.
    """

    plan: BuildPlan
    form: str
    folder: Path
    mark: Path
    sizes: Sequence[int]

    def __call__(self, part: Part) -> dict[str, bytes]:
        self._check_files(part)
        if self.mark.exists():
            count_part(PlanFiles(self.plan), part, self.form, self.folder)
            return {}
        with TemporaryDirectory() as folder:
            count_part(PlanFiles(self.plan), part, self.form, Path(folder))
            return {path.name: path.read_bytes() for path in Path(folder).iterdir()}

    def _check_files(self, part: Part) -> None:
        """Raise ClusterError if this worker does not have the files of a part."""
        for number in range(part.file, part.file + part.num_files):
            path = Path(self.plan.paths[number])
            found = None
            with suppress(OSError):
                path.stat()
                found = count_bytes(path)
            if found != self.sizes[number]:
                fault = f"cannot read {path}" if found is None else f"has another {path}"
                advice = "All machines need the sources at the same path"
                raise ClusterError(f"Worker {worker_address()} {fault}. {advice}.")


@dataclass(frozen=True)
class _OnWorker:
    """Calls a function on a worker, and names the worker in an error of a file."""

    function: Callable[[Any], Any]

    def __call__(self, payload: Any) -> Any:
        try:
            return self.function(payload)
        except (CorpusError, OSError) as error:
            reason = str(error).rstrip(".")
            raise ClusterError(
                f"Worker {worker_address()} cannot read or write the unfinished build ({reason})."
                " Build again with the same arguments; workers that join must have the folder too."
            ) from error


@contextmanager
def marking(mark: Path) -> Generator[None, None, None]:
    """Keep a file in the folder of the build, by which a worker recognizes the folder."""
    mark.touch()
    try:
        yield
    finally:
        mark.unlink(missing_ok=True)


class BuildWorkers:
    """Builds on the workers of a cluster; work: the folder of the unfinished build."""

    def __init__(self, cluster: Cluster, plan: BuildPlan, work: Path) -> None:
        self._cluster = cluster
        self._plan = plan
        self._work = work
        # A name that no other folder has.
        self._mark = work / f"shared-{uuid4().hex}"

    def count_parts(self, form: str, parts: Sequence[Part], report: Report) -> None:
        """Count parts, and report the share of them that is done; form: that of the dates."""
        folder = self._work / "pieces"
        counter = PartCounter(
            plan=self._plan,
            form=form,
            folder=folder,
            mark=self._mark,
            sizes=[count_bytes(Path(path)) for path in self._plan.paths],
        )
        with marking(self._mark):
            for done, (_, files) in enumerate(self._map(counter, parts), start=1):
                # The file that marks a piece, or the part, as complete is the last.
                for name in sorted(
                    files, key=lambda name: (name.startswith("part-"), name.endswith(".json"), name)
                ):
                    with replacing(folder / name) as out:
                        out.write(files[name])
                report(done / len(parts))

    def have_folder(self) -> bool:
        """Whether all workers have the folder of the build.

        Otherwise, this process makes the shards.
        """
        with marking(self._mark):
            return all(self._cluster.run_everywhere(Path.exists, self._mark).values())

    def call(
        self, function: Callable[[Any], Any], payloads: Sequence[Any], report: Report
    ) -> list[Any]:
        """Call a function with each payload on a worker; return the results in order."""
        found: dict[int, Any] = {}
        for place, result in self._map(_OnWorker(function), payloads):
            found[place] = result
            report(len(found) / len(payloads))
        return [found[place] for place in range(len(payloads))]

    def _map(
        self, function: Callable[[Any], Any], payloads: Sequence[Any]
    ) -> Generator[tuple[int, Any], None, None]:
        with closing(self._cluster.map_unordered(function, payloads)) as results:
            for place, result in results:
                if isinstance(result, TaskLostError):
                    raise result
                yield place, result
