"""Bring a corpus: choose a file, preview it, choose columns and words, and build it.

And the user's corpora.

All content of a file, and its name, is shown as text, never as markup.
"""

import asyncio
import tempfile
from collections.abc import Awaitable, Callable
from functools import partial
from html import escape
from pathlib import Path
from typing import Any

import panel as pn
import panel_material_ui as pmui

from stickbreaker.app.commands.run_commands import RunCommands
from stickbreaker.app.frames.corpus_descriptions import (
    describe_built,
    describe_effect,
    describe_taken,
    explain_no_word,
)
from stickbreaker.app.model.counting import only_if
from stickbreaker.app.model.limits import UPLOAD, find_limit, write_bytes
from stickbreaker.app.model.sample_files import SIZES, write_sample
from stickbreaker.app.model.text_tasks import SameWords, Stopped, TextTaskRunner
from stickbreaker.app.server.claims import NEEDS_RIGHTS
from stickbreaker.app.server.text_worker import Arguments, Result, TextWorker
from stickbreaker.app.widgets.column_form import ColumnForm
from stickbreaker.app.widgets.corpus_menu import CorpusMenu, make_note
from stickbreaker.app.widgets.file_transfer import FileTransfer
from stickbreaker.app.widgets.layouts import BAR_STYLE, stack, write_bar
from stickbreaker.app.widgets.word_form import WordForm
from stickbreaker.engine.corpora.bundled import BUILT_IN
from stickbreaker.engine.corpora.library import OwnCorpus, check_name, list_own
from stickbreaker.engine.corpora.preview import Preview
from stickbreaker.engine.corpora.rows import CorpusError
from stickbreaker.engine.corpora.sources import name_source
from stickbreaker.engine.corpora.word_choices import LANGUAGES, WordChoices

QUIET_SECONDS = 0.35
THIS_FILE = "This file"
WORDS_HELP = "With the words of another corpus, a model of that corpus can read this one."
KINDS = (
    "CSV, TSV, JSON, Parquet, a sheet (.xlsx, .xls, .ods) or .mbox, also packed; texts (.txt,"
    " .docx, .pdf, .html, .xml, .eml) or a zip of them; docword, .ldac or .mtx with a vocabulary"
)
SAMPLES = (
    "<p>Or try a sample of State of the Union, with the words of each passage in random order:</p>"
)
# Progress and errors stay in view when the user scrolls.
IN_VIEW = {
    "position": "sticky",
    "top": "0",
    "z-index": "3",
    "background": "var(--panel-surface-color, Canvas)",
}
# The dialog has 20 px below its content, in which no text may show.
IN_VIEW_BELOW = {**IN_VIEW, "top": "auto", "bottom": "-20px", "padding-bottom": "20px"}
# On a phone the dialog takes the whole width. Its background is that of its parts that stay in
# view, also in dark mode.
DIALOG_STYLE = {
    "& .MuiDialog-paper": {
        "margin": {"xs": "8px", "sm": "32px"},
        "width": "calc(100% - 16px)",
        "maxHeight": "94%",
        "background": "var(--panel-surface-color, Canvas)",
        "border": "1px solid color-mix(in srgb, currentColor 25%, transparent)",
    },
    "& .MuiDialog-paper .MuiIconButton-root": {"color": "inherit"},
    "& .MuiDialogTitle-root": {"fontSize": "1.25rem", "padding": "12px 16px 4px"},
}


class BringCorpus(pn.viewable.Viewer):
    """The dialog in which a user builds a corpus.

    may_name_paths: whether the user may read files of the server's machine.
    folder: where corpora are stored, if not in the library's default. may_delete: whether the user
    may delete corpora.
    """

    def __init__(
        self,
        text_tasks: TextWorker,
        commands: RunCommands,
        may_name_paths: bool = False,
        folder: Path | None = None,
        may_delete: bool = True,
    ):
        super().__init__()
        self.text_tasks = text_tasks
        self._commands = commands
        self._folder = folder
        self.chosen_path: Path | None = None
        self._sample_folder: tempfile.TemporaryDirectory[str] | None = None
        self.preview: Preview | None = None
        self._num_looks = self._num_changes = 0
        self._is_filling = self._is_busy = False
        self._built = ""
        self._may_name_paths = may_name_paths
        self._may_delete = may_delete
        self._dialog = pmui.Dialog(
            title="Bring your own text",
            title_variant="h2",
            show_close_button=True,
            close_on_click=True,
            width_option="md",
            sizing_mode="stretch_width",
            sx=DIALOG_STYLE,
            margin=0,
        )

    def _make(self) -> None:
        """Make the content of the dialog; a page whose dialog stays closed saves this time."""
        self._make_choice()
        self._make_building()
        self._make_results()
        self._dialog.objects = [self._choice, self._state, self.chosen, self.finish, self.results]
        self.chosen.param.watch(self._follow_chosen, "visible")

    def _make_choice(self) -> None:
        self.mover = FileTransfer(
            self._take_upload,
            self._refuse,
            self.text_tasks.user,
            partial(self._commands.note_fault, "upload_failed"),
            limits=f"{KINDS}. At most {write_bytes(find_limit(UPLOAD))}.",
            sizing_mode="stretch_width",
            margin=(0, 10),
        )
        self.path = pmui.TextInput(
            label="Path on the server",
            size="small",
            sizing_mode="stretch_width",
            visible=self._may_name_paths,
        )
        self.path.param.watch(self._take_path, "value")
        self.fault = make_note("")
        self.samples = [
            _make_button(
                f"{number:,} documents",
                partial(self.take_sample, number),
                variant="outlined",
                size="small",
            )
            for number in SIZES
        ]
        samples = pn.FlexBox(
            make_note(SAMPLES), *self.samples, align_items="center", sizing_mode="stretch_width"
        )
        self._choice = stack(self.mover, self.path, samples)
        self._said = make_note("")
        self._said.stylesheets = [*self._said.stylesheets, BAR_STYLE]
        self.cancel = _make_button("Cancel", self._cancel, icon="close", variant="outlined")
        self.working = stack(self._said, self.cancel, visible=False)
        self._state = stack(self.fault, self.working, styles=IN_VIEW)

    def _make_building(self) -> None:
        self.columns = ColumnForm(self._change_columns)
        self.words = WordForm(self._change_words)
        self.effect = make_note("")
        self.words_of = pmui.Select(
            label="Words of",
            options=[THIS_FILE],
            value=THIS_FILE,
            helper_text=WORDS_HELP,
            size="small",
            sizing_mode="stretch_width",
        )
        self.words_of.param.watch(self._change_words, "value")
        self.word_choices = pmui.Accordion(
            ("Word choices", self.words), title_variant="body1", sizing_mode="stretch_width"
        )
        self.name_field = pmui.TextInput(
            label="Corpus name", size="small", sizing_mode="stretch_width"
        )
        self.keeps_text = pmui.Switch(value=True, label="Keep the document text")
        self.reason = make_note("")
        self.build = _make_button(
            "Build the corpus", self.build_corpus, icon="construction", color="primary"
        )
        self.run = _make_button("Run now", self.run_corpus, icon="play_arrow", color="primary")
        self.run.visible = False
        self.chosen = stack(
            self.columns,
            make_note("<h2>Words</h2>"),
            self.effect,
            self.words_of,
            self.word_choices,
            make_note("<h2>Corpus</h2>"),
            self.name_field,
            self.keeps_text,
            visible=False,
        )
        # The button stays in view while the user scrolls through the preview.
        self.finish = stack(self.reason, self.build, visible=False, styles=IN_VIEW_BELOW)

    def _follow_chosen(self, event: Any) -> None:
        self.finish.visible = event.new

    def _make_results(self) -> None:
        self.result = make_note("")
        self.corpus_menu = CorpusMenu(
            export=self._export,
            send=self.mover.send_file,
            refuse=self._refuse,
            deleted=self._say_deleted,
            count_names=self._commands.count_names,
            folder=self._folder,
            may_delete=self._may_delete,
        )
        needs = only_if(not self._may_delete, f"<p>{NEEDS_RIGHTS.format('delete corpora')}</p>")
        parts = (self.result, self.run, make_note(needs), self.corpus_menu)
        self.results = stack(*parts)

    @property
    def is_open(self) -> bool:
        """Whether the page shows the dialog."""
        return bool(self._dialog.open)

    @property
    def is_made(self) -> bool:
        """Whether the content of the dialog exists: it is made when the dialog is first opened."""
        return bool(self._dialog.objects)

    def open(self) -> None:
        """Show the dialog."""
        if not self.is_made:
            self._make()
        self.corpus_menu.show()
        self._offer_words()
        self._dialog.open = True

    def close(self) -> None:
        """Stop the task and remove uploads, at the end of the page."""
        self.text_tasks.close()
        if self._sample_folder is not None:
            self._sample_folder.cleanup()
        if self.is_made:
            self.mover.upload.clear()
            self.mover.close()

    def _refuse(self, text: str) -> None:
        self.fault.object = only_if(text, f'<p class="fault" role="alert">{escape(text)}</p>')

    def _take_upload(self, path: Path) -> None:
        begin_task(self.look, path, {})

    def _take_path(self, event: Any) -> None:
        if self._may_name_paths and event.new.strip():
            begin_task(self.look, Path(event.new.strip()), {})

    async def take_sample(self, number: int, event: Any) -> None:
        """Preview a sample file, as if the user had chosen it."""
        if self._sample_folder is None:
            self._sample_folder = tempfile.TemporaryDirectory(prefix="stickbreaker-")
        path = await asyncio.to_thread(write_sample, Path(self._sample_folder.name), number)
        await self.look(path, {})

    def _change_columns(self, event: Any) -> None:
        if self.chosen_path is not None:
            begin_task(self.look, self.chosen_path, self.columns.read())

    async def look(self, path: Path, columns: dict[str, Any]) -> None:
        """Preview a file; with given columns the file stays selected even if they are wrong.

        A cancelled preview restores the previous columns. A newer preview replaces one that is not
        finished.
        """
        self.chosen_path = path
        self._num_looks += 1
        number = self._num_looks
        self._hold_back("")
        refused = only_if(columns, "Choose other columns above.")
        seen = await self._work(TextTaskRunner.look, path, columns, refused=refused)
        if number != self._num_looks:
            return
        if seen is None and columns and not self.reason.object:
            seen = self.preview
        if seen is None:
            self.chosen.visible = self.chosen.visible and bool(columns)
            return
        self.preview = seen
        with pn.io.hold():
            self._show(seen, is_new=not columns)
        await self.measure()
        self.chosen.visible = True

    async def _work(
        self,
        task: Callable[[TextTaskRunner, *Arguments], Result],
        *arguments: *Arguments,
        refused: str = "",
    ) -> Result | None:
        """Ask the text worker, with progress and a cancel button.

        None if it refused or was stopped.

        refused: the reason to show when nothing can be built after a refusal.
        """
        number = self._num_looks
        self._refuse("")
        self.result.object = ""
        self.run.visible = False
        self._show_progress(0.0, "Starting")
        self._set_busy(True)
        try:
            return await self.text_tasks.ask(task, *arguments, report=self._show_progress)
        except (CorpusError, Stopped) as error:
            # Another file may have been chosen meanwhile, which removes this one.
            if number == self._num_looks:
                is_stopped = isinstance(error, Stopped)
                self._refuse(
                    "Cancelled; nothing was built." if is_stopped else self._hide_folder(str(error))
                )
                self._hold_back(only_if(not is_stopped, refused))
        finally:
            if number == self._num_looks:
                self._set_busy(False)
        return None

    async def _export(self, name: str, target: Path) -> Any:
        return await self._work(TextTaskRunner.export, name, target)

    def _hide_folder(self, text: str) -> str:
        """Replace the server's path of an upload by the file's own name."""
        folder = tempfile.gettempdir()
        if self.chosen_path is not None and str(self.chosen_path).startswith(
            f"{folder}/stickbreaker-"
        ):
            inside = self.chosen_path if self.chosen_path.is_dir() else self.chosen_path.parent
            text = (
                text.replace(f"{inside}/", "")
                .replace(f"{inside.name}/", "")
                .replace(str(inside), "The upload")
            )
        return text

    def _set_busy(self, is_busy: bool) -> None:
        self._is_busy = self.working.visible = self.corpus_menu.is_disabled = is_busy
        self.build.disabled = is_busy or bool(self.reason.object)

    def _hold_back(self, reason: str) -> None:
        """Disable Build for this reason; "" enables it again."""
        self.reason.object = only_if(reason, f'<p class="fault" role="alert">{escape(reason)}</p>')
        self.build.disabled = self._is_busy or bool(reason)

    def _show_progress(self, share: float, said: str) -> None:
        text = (
            f'<p role="status">{escape(said)} … {round(100 * share)}'
            f" %</p>{write_bar(share, 'Progress')}"
        )
        if self._said.object != text:
            self._said.object = text

    def _show(self, seen: Preview, is_new: bool) -> None:
        self.columns.show(seen, self._hide_folder)
        self.keeps_text.visible = bool(seen.columns)
        self._is_filling = True
        try:
            if is_new and self.chosen_path is not None:
                name, taken = _propose_name(self.chosen_path, self._folder)
                self.name_field.param.update(
                    value=name, helper_text=describe_taken(taken) if taken else ""
                )
                if seen.language in LANGUAGES:
                    self.words.languages.value = sorted({"english", seen.language or "english"})
        finally:
            self._is_filling = False

    def _offer_words(self) -> None:
        """List the corpora whose words can be counted."""
        names = [corpus.name for corpus in list_own(self._folder)]
        options = dict.fromkeys([THIS_FILE, *names, *filter(None, [self._commands.corpus_name])])
        value = self.words_of.value
        self.words_of.param.update(
            options=list(options), value=value if value in options else THIS_FILE
        )

    def _read_words(self) -> WordChoices | SameWords:
        """The words that are chosen; raises ValueError for wrong choices."""
        if self.words_of.value == THIS_FILE:
            return self.words.read()
        return SameWords(self.words_of.value)

    def _change_words(self, event: Any) -> None:
        self.word_choices.visible = self.words_of.value == THIS_FILE
        if self.preview is not None and not self._is_filling:
            self._num_changes += 1
            begin_task(self._measure_later, self._num_changes)

    async def _measure_later(self, number: int) -> None:
        await asyncio.sleep(QUIET_SECONDS)
        if number == self._num_changes:
            await self.measure()

    async def measure(self) -> None:
        """Show the effect of the word choices, unless they have changed meanwhile."""
        number = self._num_changes
        try:
            words = self._read_words()
            effect = await self.text_tasks.ask(TextTaskRunner.measure, words)
        except (CorpusError, ValueError, TypeError) as error:
            self.effect.object = f'<p class="fault" role="alert">{escape(str(error))}</p>'
            return self._hold_back("Change the word choices above.")
        except Stopped:
            return
        if number == self._num_changes:
            choices = words if isinstance(words, WordChoices) else None
            self.effect.object = describe_effect(effect, choices)
            self._hold_back(explain_no_word(effect))

    async def build_corpus(self, event: Any) -> None:
        seen = self.preview
        if seen is None or self.chosen_path is None or self._is_busy:
            return
        try:
            name = check_name(self.name_field.value_input or self.name_field.value, self._folder)
            words = self._read_words()
        except (CorpusError, ValueError, TypeError) as error:
            return self._refuse(str(error))
        about = await self._work(
            TextTaskRunner.build, self.chosen_path, name, seen.chosen, words, self.keeps_text.value
        )
        if about is None:
            return
        self._built = about.name
        self._commands.offer_corpora(about.name)
        with pn.io.hold():
            self.corpus_menu.show(about.name)
            self._offer_words()
            self.chosen.visible = False
            self.run.visible = True
            self.result.object = (
                f'<p class="good" role="status">{escape(describe_built(about))}</p>'
            )

    def run_corpus(self, event: Any) -> None:
        self._dialog.open = self.run.visible = False
        self.result.object = ""
        self._commands.run_on(self._built)

    async def _cancel(self, event: Any) -> None:
        await self.text_tasks.stop()

    def _say_deleted(self, name: str) -> None:
        self._commands.forget_names(name)
        self._commands.offer_corpora()
        self._offer_words()
        self.result.object = f'<p class="good" role="status">{escape(name)} deleted.</p>'
        self.run.visible = False

    def __panel__(self) -> pn.viewable.Viewable:
        # The dialog is part of the page from its start: one that is added and opened at once may
        # not get the focus.
        return self._dialog


def _propose_name(path: Path, folder: Path | None) -> tuple[str, OwnCorpus | None]:
    """Return a free name, and the corpus that already has the name of the file, if any."""
    stem = "my texts" if path.name.startswith("stickbreaker-") else name_source(path).name
    taken = {corpus.name.lower(): corpus for corpus in list_own(folder)}
    name = stem
    number = 1
    while name.lower() in {*taken, *BUILT_IN}:
        number += 1
        name = f"{stem} {number}"
    return name, taken.get(stem.lower())


def begin_task(task: Callable[..., Awaitable[None]], *arguments: Any) -> None:
    """Start a long task on the page's event loop."""

    async def run() -> None:
        await task(*arguments)

    pn.state.execute(run)


def _make_button(
    label: str, on_click: Callable[[Any], Awaitable[None] | None], **more: Any
) -> pmui.Button:
    return pmui.Button(label=label, on_click=on_click, **more)
