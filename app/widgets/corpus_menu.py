"""The user's corpora: a description of each, to download or delete it."""

import tempfile
from collections.abc import Awaitable, Callable
from html import escape
from pathlib import Path
from typing import Any

import panel as pn
import panel_material_ui as pmui
import param

from stickbreaker.app.frames.corpus_descriptions import describe_own
from stickbreaker.app.model.counting import count
from stickbreaker.app.widgets.layouts import LaidOut, html_pane, stack
from stickbreaker.engine.corpora.library import OwnCorpus, delete_own, list_own
from stickbreaker.engine.corpora.rows import CorpusError

STYLE = """
:host { color: var(--panel-on-surface-color, inherit); }
p, li, td, th, summary { font-size: 14px; line-height: 1.45; }
p { margin: 4px 0; } h2 { font-size: 17px; margin: 10px 0 2px; }
p.fault { padding: 8px 12px; border-left: 4px solid #c62828; border-radius: 4px;
  overflow-wrap: anywhere;
  background: color-mix(in srgb, #c62828 14%, transparent); }
p.good { padding: 8px 12px; border-left: 4px solid #2e7d32;
  background: color-mix(in srgb, #2e7d32 14%, transparent); }
article { border-top: 1px solid color-mix(in srgb, currentColor 25%, transparent); padding: 6px 0;
  overflow-wrap: anywhere; }
article p { max-height: 4.4em; overflow: hidden; } .words { overflow-wrap: anywhere; }
progress { width: 100%; } details { margin: 4px 0; }
details ul { max-height: 200px; overflow: auto; overflow-wrap: anywhere; padding-left: 20px; }
"""


class CorpusMenu(LaidOut):
    """A menu of the user's corpora, to download or delete one; hidden if there are none.

    export(name, path): writes a corpus to a file; returns None if that failed. send(path, name):
    sends a file to the browser. refuse(text): says what went wrong. deleted(name): is called after
    a corpus has been deleted. count_names(name): the number of names that deleting a corpus would
    forget.
    """

    folder: Path | None = param.ClassSelector(  # type: ignore[assignment]  # a descriptor
        class_=Path, allow_None=True, doc="Where they are stored, if not in the library's default."
    )
    may_delete = param.Boolean(default=True, doc="Whether the user may delete corpora.")

    def __init__(
        self,
        export: Callable[[str, Path], Awaitable[Any]],
        send: Callable[[Path, str], None],
        refuse: Callable[[str], None],
        deleted: Callable[[str], None],
        count_names: Callable[[str], int],
        **params: Any,
    ):
        super().__init__(**params)
        self._export, self._send, self._refuse = export, send, refuse
        self._deleted, self._count_names = deleted, count_names
        self._own: dict[str, OwnCorpus] = {}
        self._is_sure = False
        self.menu = pmui.Select(
            label="Corpora built here", options=[], size="small", sizing_mode="stretch_width"
        )
        self.menu.param.watch(lambda event: self._describe(), "value")
        self.about = make_note("")
        self.download = pmui.Button(
            label="Download as Parquet",
            on_click=self.download_corpus,
            icon="download",
            variant="outlined",
        )
        self.delete = pmui.Button(
            label="Delete", on_click=self.delete_corpus, icon="delete", variant="outlined"
        )
        self.delete.visible = self.may_delete
        self._layout = stack(
            make_note("<h2>Your corpora</h2>"),
            self.menu,
            self.about,
            pn.FlexBox(self.download, self.delete, gap="8px"),
        )

    def show(self, chosen: str | None = None) -> None:  # type: ignore[override]  # Viewer.show serves a view by itself
        """List the corpora that there are now, with one of them selected."""
        self._own = {corpus.name: corpus for corpus in list_own(self.folder)}
        names = list(self._own)
        if chosen not in names:
            chosen = next(iter(names), None)
        self.menu.param.update(options=names, value=chosen)
        self._layout.visible = bool(names)
        self._describe()

    @property
    def is_shown(self) -> bool:
        """Whether the page shows the menu: there is a corpus in it."""
        return bool(self._layout.visible)

    @property
    def is_disabled(self) -> bool:
        """Whether a task keeps the buttons disabled."""
        return self.delete.disabled

    @is_disabled.setter
    def is_disabled(self, value: bool) -> None:
        self.delete.disabled = self.download.disabled = value

    def _describe(self) -> None:
        about = self._own.get(self.menu.value)
        self._is_sure = False
        self.delete.label = "Delete"
        self.about.object = f"<p>{escape(describe_own(about))}</p>" if about else ""

    def delete_corpus(self, event: Any) -> None:
        if not self.may_delete:
            return
        if not self._is_sure:
            self._is_sure = True
            self.delete.label = "Confirm deletion"
            self.about.object += warn_of_names(self._count_names(self.menu.value))
            return
        name = self.menu.value
        try:
            delete_own(name, self.folder)
        except (CorpusError, OSError) as error:
            self._refuse(str(error))
        else:
            self._deleted(name)
        self.show()

    async def download_corpus(self, event: Any) -> None:
        name = self.menu.value
        with tempfile.NamedTemporaryFile(
            prefix="stickbreaker-", suffix=".parquet", delete=False
        ) as file:
            target = Path(file.name)
        if await self._export(name, target) is None:
            target.unlink(missing_ok=True)
        else:
            self._send(target, f"{_as_file_name(name)}.parquet")


def make_note(text: str) -> pn.pane.HTML:
    """Make a pane of HTML; the caller escapes all text of a corpus."""
    return html_pane(text, stylesheets=[STYLE])


def warn_of_names(number: int) -> str:
    """Warn in HTML that deleting a corpus also forgets names; empty without any.

    >>> warn_of_names(0), warn_of_names(2)
    ('', '<p class="fault" role="alert">Deleting this corpus also deletes 2 topic names.</p>')
    """
    if not number:
        return ""
    names = count(number, "topic name")
    return f'<p class="fault" role="alert">Deleting this corpus also deletes {names}.</p>'


def _as_file_name(name: str) -> str:
    return "".join(sign if sign.isalnum() or sign in " -_." else "_" for sign in name)
