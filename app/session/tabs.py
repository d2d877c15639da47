"""The pages of a session by their names, and the row of buttons that turns to them."""

import panel_material_ui as pmui

PAGES = ("Live", "Topics", "Time", "Documents", "Compare", "Export", "Under the hood")
LIVE, TOPICS, TIME, DOCUMENTS, COMPARE, EXPORT, HOOD = PAGES
READING_PAGES = (TOPICS, TIME, DOCUMENTS, EXPORT)
STYLE = {
    # Theirs is too pale for small type once the pointer is over one.
    "& .MuiButtonBase-root:not(.Mui-selected)": {"color": "text.primary"},
    "& .MuiButtonBase-root": {"whiteSpace": "nowrap"},
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
    """Make the row, turned to the live page."""
    return pmui.RadioButtonGroup(label="", options=list(PAGES), value=LIVE, color="primary", margin=(6, 10), sx=STYLE)
