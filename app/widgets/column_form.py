"""A preview of a file as a form: facts, a menu for each kind of column, and the first documents."""

from collections.abc import Callable, Sequence
from typing import Any

import panel as pn
import panel_material_ui as pmui

from stickbreaker.app.frames.corpus_descriptions import MENUS, describe_first, describe_preview
from stickbreaker.app.widgets.corpus_menu import make_note
from stickbreaker.app.widgets.layouts import LaidOut, stack
from stickbreaker.engine.corpora.encodings import NAMES
from stickbreaker.engine.corpora.preview import Preview

NONE = "(none)"
PARTS = {"text": "Text", "date": "Date", "title": "Title", "group": "Group"}
HELP = {"group": "An author or a party, for topics by group on the page Time."}
ORDERS = {"As most dates need": None, "Day first": True, "Month first": False}
ENCODINGS = {"As detected": None} | {name: name for name in NAMES}


class ColumnForm(LaidOut):
    """Shows a preview; on_change(event) is called when the user selects another column."""

    def __init__(self, on_change: Callable[[Any], Any], **params: Any):
        super().__init__(**params)
        self._on_change = on_change
        self._is_filling = False
        self.facts = make_note("")
        self.first = make_note("")
        self.selects = {
            part: pmui.Select(
                label=label,
                options=[NONE],
                value=NONE,
                helper_text=HELP.get(part, ""),
                size="small",
                sizing_mode="stretch_width",
            )
            for part, label in PARTS.items()
        }
        self.day_first = pmui.Select(
            label=MENUS["day_first"],
            options=list(ORDERS),
            value=next(iter(ORDERS)),
            size="small",
            sizing_mode="stretch_width",
        )
        self.encoding = pmui.Select(
            label=MENUS["encoding"],
            options=list(ENCODINGS),
            value=next(iter(ENCODINGS)),
            size="small",
            sizing_mode="stretch_width",
        )
        self.sheet = pmui.Select(
            label=MENUS["sheet"], options=[NONE], size="small", sizing_mode="stretch_width"
        )
        self._read_sheet: str | None = None
        menus = (self.sheet, *self.selects.values(), self.day_first, self.encoding)
        for select in menus:
            select.param.watch(self._change, "value")
        cells = [
            pn.Column(
                select,
                visible=select.param.visible,
                styles={"flex": "1 1 200px", "min-width": "0"},
            )
            for select in menus
        ]
        self._columns = stack(
            make_note("<h2>Columns</h2>"),
            pn.FlexBox(*cells, gap="0 12px", sizing_mode="stretch_width"),
        )
        self._layout = stack(self.facts, self._columns, self.first)

    def show(  # type: ignore[override]  # Viewer.show serves a view by itself
        self, seen: Preview, shorten: Callable[[str], str]
    ) -> None:
        """Show a preview; `shorten` removes folders from a text."""
        self.facts.object = describe_preview(seen, shorten)
        self.first.object = describe_first(seen)
        self._is_filling = True
        try:
            self._columns.visible = bool(seen.columns) or len(seen.sheets) > 1
            self._show_sheets(seen.sheets)
            for part, select in self.selects.items():
                options = (list(seen.columns) if part == "text" else [NONE, *seen.columns]) or [
                    NONE
                ]
                select.param.update(options=options, value=getattr(seen.chosen, part) or options[0])
                select.visible = bool(seen.columns)
            # Only where there is a choice.
            for menu, name, values in (
                (self.day_first, "day_first", ORDERS),
                (self.encoding, "encoding", ENCODINGS),
            ):
                chosen = getattr(seen.chosen, name)
                menu.value = next(label for label, value in values.items() if value == chosen)
                menu.visible = chosen is not None or any(
                    f"et {name} if" in note for note in seen.notes
                )
        finally:
            self._is_filling = False

    def _show_sheets(self, sheets: Sequence[str]) -> None:
        """Show the sheets, of which the first is read, in the order in which they were first."""
        self.sheet.visible = len(sheets) > 1
        is_known = set(sheets) == set(self.sheet.options)
        options = self.sheet.options if is_known else list(sheets)
        self.sheet.param.update(options=options or [NONE], value=(*sheets, NONE)[0])
        self._read_sheet = sheets[0] if len(sheets) > 1 else None

    def read(self) -> dict[str, Any]:
        """Return the selected columns, "" for none, and how they are read.

        Of a sheet that is not read yet, the columns are guessed.
        """
        if self._read_sheet not in (None, self.sheet.value):
            return {"sheet": self.sheet.value}
        chosen = {
            part: "" if select.value == NONE else select.value
            for part, select in self.selects.items()
        }
        order, encoding = ORDERS[self.day_first.value], ENCODINGS[self.encoding.value]
        return {**chosen, "day_first": order, "encoding": encoding, "sheet": self._read_sheet}

    def _change(self, event: Any) -> None:
        if not self._is_filling:
            self._on_change(event)
