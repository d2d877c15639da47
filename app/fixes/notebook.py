"""Workarounds for notebooks: style sheets without a network, messages, and when a view is drawn."""

import asyncio
import base64
from collections.abc import Iterable
from typing import Any

import panel as pn
import panel.reactive
import pyviz_comms
from bokeh.core.property.descriptors import UnsetValueError
from bokeh.models import Plot
from panel.io import resources

patch_sheet = getattr(resources, "patch_stylesheet", None)
handle_message = getattr(pyviz_comms.JupyterCommJS, "_handle_msg", None)


def fix_notebook(loop: asyncio.AbstractEventLoop) -> None:
    """Make Panel send its style sheets inline, and handle messages on this loop, that of cells."""
    if patch_sheet is not None:
        resources.patch_stylesheet = panel.reactive.patch_stylesheet = inline_stylesheet
    if handle_message is not None:
        # JupyterLab handles messages on another thread while a cell runs, since
        # https://github.com/jupyterlab/jupyterlab/pull/17363. There, pyviz_comms captures the
        # standard output of all threads, and two threads would change one view.
        pyviz_comms.JupyterCommJS._handle_msg = lambda comm, sent: loop.call_soon_threadsafe(
            handle_message, comm, sent
        )


def inline_stylesheet(sheet: Any, address: str) -> None:
    """Replace the address of one of Panel's style sheets by its text.

    Panel's `inline` does so only once (https://github.com/holoviz/panel/issues/8707).
    """
    if patch_sheet is not None:
        patch_sheet(sheet, address)
    path = resources.DIST_DIR / sheet.url.removeprefix(resources.CDN_DIST).partition("?")[0]
    if sheet.url.startswith(resources.CDN_DIST) and path.is_file():
        sheet.url = f"data:text/css;base64,{base64.b64encode(path.read_bytes()).decode()}"


def find_roots(views: Iterable[Any]) -> dict[str, Any]:
    """Panel's record of each place where views are shown, by its key: there is no public one."""
    shown = getattr(pn.state, "_views", {})
    refs = {ref for view in views for ref in getattr(view.__panel__(), "_models", ())}
    return {ref: shown[ref] for ref in refs if ref in shown}


def are_drawn(views: Iterable[Any]) -> bool:
    """Whether a browser has drawn each place where these views are shown."""
    return all(is_drawn(root, comm) for _, root, _, comm in find_roots(views).values())


def is_drawn(root: Any, comm: Any) -> bool:
    """Whether a browser has opened its connection and drawn a plot; earlier changes are lost."""
    plots = list(root.select({"type": Plot}))
    return comm is None or (
        bool(getattr(comm, "_comm", True)) and (not plots or any(map(_is_laid_out, plots)))
    )


def _is_laid_out(plot: Any) -> bool:
    """Whether the browser has sent the width of a plot."""
    try:
        return plot.inner_width is not None
    except UnsetValueError:
        return False


def is_loaded(extension: Any) -> bool:
    """Whether a cell has called this extension of HoloViews, which has no public name for it."""
    return bool(getattr(extension, "_loaded", False))
