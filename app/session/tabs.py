"""The row of buttons that opens the pages."""

from collections.abc import Sequence

import panel_material_ui as pmui
import param

from stickbreaker.app.pages.page import Page
from stickbreaker.app.state import CLASS, RunState
from stickbreaker.app.widgets.layouts import StateView

STYLE = {
    # The default colour of a button that is not selected has too little contrast under the pointer:
    # 4.48 on white, where WCAG 2 asks for 4.5.
    "& .MuiButtonBase-root:not(.Mui-selected)": {"color": "text.primary"},
    "& .MuiButtonBase-root": {"whiteSpace": "nowrap", "fontSize": "15px"},
    "@media (max-width: 600px)": {
        "flexWrap": "wrap",
        "& .MuiButtonBase-root": {
            "padding": "10px 5px",
            "fontSize": "13px",
            "width": "auto",
            # The second line has a left end too.
            "borderLeft": "1px solid",
            "borderColor": "divider",
        },
    },
}


class Tabs(StateView):
    """A button for each listed page; one that is not listed appears when it is first opened.

    The button of the class appears when the run is shared.
    """

    def __init__(self, state: RunState, pages: Sequence[Page]):
        super().__init__(state)
        listed = [page.title for page in pages if page.is_listed]
        self._titles = [page.title for page in pages]
        self.buttons = self._layout = pmui.RadioButtonGroup(
            label="", options=listed, value=state.page, color="primary", margin=(6, 10), sx=STYLE
        )
        self.buttons.param.watch(lambda event: state.param.update(page=event.new), "value")

    @param.depends("state.page", watch=True)
    def _open(self) -> None:
        self._offer(self.state.page)
        self.buttons.value = self.state.page

    @param.depends("state.link", watch=True)
    def _share(self) -> None:
        if self.state.link:
            self._offer(CLASS)

    def _offer(self, title: str) -> None:
        if title in self._titles and title not in self.buttons.options:
            self.buttons.options = [*self.buttons.options, title]
