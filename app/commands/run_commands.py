"""What one browser asks of its run and of its user's data; views call these methods."""

from collections.abc import Callable, Mapping
from typing import Any, Protocol

import panel as pn

from stickbreaker import engine
from stickbreaker.app.model.disk_space import OWN_CORPORA, Item, list_items
from stickbreaker.app.model.kept_runs import Size
from stickbreaker.app.model.progress import Progress
from stickbreaker.app.model.reading import Model
from stickbreaker.app.model.run_spec import LiveSettings, RunSpec
from stickbreaker.app.model.saved_sweeps import read_runs
from stickbreaker.app.model.sweep_plan import SweepError, plan_sweep
from stickbreaker.app.server.run import Run
from stickbreaker.app.server.service import Service, load_by_name
from stickbreaker.app.server.visitors import find_data, for_presenters, may_manage
from stickbreaker.app.state import LIVE, RunState
from stickbreaker.engine.algorithm import Algorithm, TopicEdit
from stickbreaker.engine.corpora.texts import Texts, find_texts
from stickbreaker.engine.files.whole_files import FileError

WATCHING = "Watching: the presenter controls this run."
REFUSED_MILLISECONDS = 4_000
# Long enough to be read; the engine's failure also stays in the line at the top.
ERROR_MILLISECONDS = 60_000


def show_error(text: str) -> None:
    """Show a text in the browser of this session for a while."""
    if pn.state.notifications is not None:
        pn.state.notifications.error(text, duration=ERROR_MILLISECONDS)


class Settings(Protocol):
    """The form with the settings of the next run."""

    def read_spec(self) -> RunSpec | None:
        """Return the settings; None if a form shows an error."""

    def apply(self) -> None:
        """Take all values for applied: a run starts with them now."""

    def offer(self, corpora: tuple[str, ...], chosen: str | None = None) -> None:
        """List corpora, with one selected."""


class RunCommands:
    """The commands of one browser; those that change something do nothing for a watcher.

    run: the run of the page; None before it has joined one. find_settings(): the form of the next
    run. find_link(): the link for watchers.
    """

    def __init__(
        self,
        state: RunState,
        service: Service,
        user: str | None,
        find_settings: Callable[[], Settings],
        find_link: Callable[[], str],
    ):
        self.state = state
        self._service = service
        self._find_settings = find_settings
        self.find_link = find_link
        self.run: Run | None = None
        files = service.find_files(user)
        self.library = files.folder / OWN_CORPORA
        self.kept = files.kept
        self._kept_names = files.names
        self.may_open = may_manage()

    @property
    def corpus_name(self) -> str:
        """The corpus of the run; "" before there is one."""
        return self.state.progress.corpus_name

    def may_act(self) -> bool:
        """Return whether this page controls a run; a watcher gets a notice."""
        if not self.state.may_act and pn.state.notifications is not None:
            pn.state.notifications.info(WATCHING, duration=REFUSED_MILLISECONDS)
        return self.run is not None and self.state.may_act

    def notify(self, text: str) -> None:
        """Show a text on the page for a while."""
        show_error(text)

    def note_fault(self, event: str, fault: str) -> None:
        """Write a failure of this page into the log of the server."""
        self._service.events.write_fault(event, fault, self.run.key if self.run is not None else "")

    @property
    def _controlled(self) -> Run:
        """The run that this page controls; `may_act` has said that there is one."""
        assert self.run is not None
        return self.run

    @for_presenters
    def toggle(self) -> None:
        """Run or pause; a finished run reads the corpus once more."""
        runner = self._controlled.runner
        if runner.progress.status == "finished":
            runner.extend()
        elif runner.wants_to_run:
            runner.pause()
        else:
            runner.resume()

    @for_presenters
    def step(self) -> None:
        """Learn from one mini-batch."""
        self._controlled.runner.step()

    @for_presenters
    def set_pace(self, seconds_per_batch: float | None) -> None:
        """Change the seconds from one mini-batch to the next; None is one pass a minute."""
        self._controlled.runner.set_pace(seconds_per_batch)

    @for_presenters
    def share(self) -> None:
        """Show the link for watchers, or hide it."""
        self.state.link = "" if self.state.link else self.find_link()

    @for_presenters
    def configure(self, settings: LiveSettings) -> None:
        """Send learning settings to the run, which applies them from its next mini-batch."""
        try:
            self._controlled.runner.configure(settings)
        except ValueError as error:
            self.notify(str(error))

    @for_presenters
    def restart(self) -> None:
        """Start a new run with the settings of the controls, unless a form shows an error."""
        settings = self._find_settings()
        spec = settings.read_spec()
        if spec is None:
            self.notify("The run was not restarted: correct the setting under Advanced settings.")
            return
        settings.apply()
        self._controlled.runner.restart(spec)

    @for_presenters
    def clear(self) -> None:
        """Remove the lines of earlier runs, and of this one without its last change."""
        run = self._controlled
        run.forecaster.close()
        run.runner.forget_earlier()

    @for_presenters
    def rename(self, topic_id: int, name: str) -> None:
        """Name a topic on every page of the run."""
        self._controlled.runner.rename(topic_id, name)

    @for_presenters
    def undo_names(self) -> None:
        """Take back the names that the topics of the run were given at its end."""
        self._controlled.runner.undo_names()

    @for_presenters
    def edit_topics(self, edit: TopicEdit) -> None:
        """Change topics: kind, topics, words and name of the edit count."""
        self._controlled.runner.edit(edit)

    @for_presenters
    def propose_edits(self) -> None:
        """Look for merges and splits that documents set aside support."""
        self._controlled.proposer.start()

    @for_presenters
    def undo_edit(self) -> None:
        """Go back to the run before its last edit."""
        self._controlled.runner.undo_edit()

    @for_presenters
    def open_kept(self, key: str) -> None:
        """Show a kept run in full, in place of the present one."""
        if not self.may_open:
            return
        try:
            self._controlled.runner.restore(self.kept.load_checkpoint(key))
        except (FileError, KeyError, ValueError) as error:
            self.notify(f"The run could not be opened: {error}")
            return
        self.state.page = LIVE

    def read(self) -> None:
        """Read the corpus with the current model, once; watchers may do it too."""
        if self.run is not None:
            self.run.reader.ask()
            self.state.publish(job=self.run.reader.job)

    def find_model(self) -> Model | None:
        """The current model of the run; None before its first mini-batch."""
        return self.run.runner.model() if self.run is not None else None

    def find_texts(self, name: str) -> Texts | None:
        """Find the texts of a corpus of the run's owner, who may be another user than a watcher."""
        library = find_data(self.run.user) / OWN_CORPORA if self.run is not None else self.library
        return find_texts(name, library)

    @for_presenters
    def check_count(self) -> None:
        """Start the sampler from the current model, to check its number of topics."""
        self._controlled.checker.start()

    @for_presenters
    def cancel_check(self) -> None:
        """End the check after its present sweep."""
        self._controlled.checker.cancel()

    @for_presenters
    def learn_again(self) -> None:
        """Make runs with other seeds, to see which topics come back."""
        self._controlled.again.start()

    @for_presenters
    def cancel_again(self) -> None:
        """End the runs with other seeds."""
        self._controlled.again.cancel()

    @for_presenters
    def compare_groups(self) -> None:
        """Read the two kept runs that are side by side by group of documents."""
        runs = {run.key: run for run in self.kept.listing().runs}
        pair = [runs[key] for key in self.state.pair if key in runs]
        if self.may_open and len(pair) == 2:
            self._controlled.groups.start(self.kept, (pair[0], pair[1]))

    @for_presenters
    def cancel_groups(self) -> None:
        """End the comparison by group."""
        self._controlled.groups.cancel()

    @for_presenters
    def keep_consensus(self) -> None:
        """Keep the consensus of the runs with other seeds as a kept run."""
        self._controlled.keeper.start()

    @for_presenters
    def cancel_keeping(self) -> None:
        """Keep no consensus while it waits for a core."""
        self._controlled.keeper.cancel()

    def plan_sweep(
        self, values: dict[str, tuple[float | int, ...]], systems: list[str]
    ) -> tuple[RunSpec, ...]:
        """The runs of a sweep around the controls' settings; SweepError if there is none."""
        spec = self._find_settings().read_spec()
        if spec is None:
            raise SweepError("Correct the setting under Advanced settings first.")
        return plan_sweep(spec, [each for each in engine.REGISTRY if each.name in systems], values)

    @for_presenters
    def start_sweep(self, plan: tuple[RunSpec, ...]) -> None:
        """Run these in the background."""
        self._controlled.sweep.start(plan)

    @for_presenters
    def resume_sweep(self) -> None:
        """Continue a sweep that the end of the server has stopped."""
        self._controlled.sweep.resume()

    @for_presenters
    def cancel_sweep(self) -> None:
        """End the sweep after its present mini-batch."""
        self._controlled.sweep.cancel()

    def read_sweep(self) -> tuple[list[Progress], int]:
        """Read the runs of the sweep on disk; and how many are gone; KeptRunError if all."""
        return read_runs(self.state.sweep, self.kept, lambda name: load_by_name(name, self.library))

    @for_presenters
    def open_bring(self) -> None:
        """Open the dialog for the user's own text."""
        self.state.param.trigger("brings_text")

    def offer_corpora(self, name: str | None = None) -> None:
        """List the corpora that there are now, with one of them selected."""
        self._find_settings().offer(engine.list_corpora(self.library), name)

    @for_presenters
    def run_on(self, name: str) -> None:
        """Start a new run on this corpus."""
        self.offer_corpora(name)
        self.restart()

    def count_names(self, corpus_name: str) -> int:
        """The number of names that are kept for the topics of a corpus."""
        return self._kept_names.count(corpus_name)

    def forget_names(self, corpus_name: str) -> None:
        """Forget the names of the topics of a corpus that was deleted."""
        try:
            self._kept_names.remove(corpus_name)
        except OSError as error:
            self.notify(f"The topic names of the deleted corpus could not be removed: {error}")

    def estimate_memory(self, algorithm: Algorithm, config: Any) -> int:
        """Bytes that an algorithm stores about the documents of this corpus."""
        corpus = self.run.runner.corpus if self.run is not None else None
        if corpus is None or algorithm.memory is None:
            return 0
        return algorithm.memory(config, corpus.documents())

    def list_space(self, sizes: Mapping[str, Size]) -> list[Item]:
        """What takes space on disk, with the sizes of kept runs."""
        return list_items(self.library.parent, sizes)
