"""The names of the pages, and the row of buttons that opens them."""

import panel_material_ui as pmui

PAGES = ("Live", "Topics", "Time", "Documents", "Compare", "Export", "Under the hood")
LIVE, TOPICS, TIME, DOCUMENTS, COMPARE, EXPORT, HOOD = PAGES
READING_PAGES = (TOPICS, TIME, DOCUMENTS, EXPORT)
STYLE = {
    # The default colour has too little contrast under the pointer.
    "& .MuiButtonBase-root:not(.Mui-selected)": {"color": "text.primary"},
    "& .MuiButtonBase-root": {"whiteSpace": "nowrap", "textTransform": "none", "fontSize": "15px"},
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
