"""The names of the pages, and the row of buttons that opens them."""

import panel_material_ui as pmui

PAGES = ("Live", "Topics", "Time", "Documents", "Compare", "Export", "Under the hood")
LIVE, TOPICS, TIME, DOCUMENTS, COMPARE, EXPORT, HOOD = PAGES
# Its button appears once the run is shared, or its class gets a task.
CLASS = "Class"
ALL_PAGES = (*PAGES, CLASS)
READING_PAGES = (TOPICS, TIME, DOCUMENTS, EXPORT)
STYLE = {
    # The default colour of a button that is not selected has too little contrast under the pointer: 4.48 on white,
    # where WCAG 2 asks for 4.5.
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


def make_tabs() -> pmui.RadioButtonGroup:
    """Make the row of buttons, with the live page open."""
    return pmui.RadioButtonGroup(label="", options=list(PAGES), value=LIVE, color="primary", margin=(6, 10), sx=STYLE)


def offer_class(tabs: pmui.RadioButtonGroup) -> None:
    """Add the button of the Class page."""
    if CLASS not in tabs.options:
        tabs.options = [*tabs.options, CLASS]


def open_page(tabs: pmui.RadioButtonGroup, name: str) -> None:
    """Select a page, whose button may not be there yet."""
    if name == CLASS:
        offer_class(tabs)
    tabs.value = name
