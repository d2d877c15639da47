"""Figures to save as pictures, drawn as on the page at one moment. Pure: no widget."""

from collections.abc import Sequence

from bokeh.models import CustomJS, Range1d, SaveTool
from bokeh.plotting import figure

from stickbreaker.app.frames import progress_frames
from stickbreaker.app.frames.reading_frames import calendar_frame, fitting_unit, map_frame
from stickbreaker.app.model.progress import Progress
from stickbreaker.app.model.reading import Reading
from stickbreaker.app.plots.curve_plots import CURVE_KINDS, curve_plot, curve_title, mark_columns
from stickbreaker.app.plots.reading_plots import KINDS, MapPlot, calendar_plot
from stickbreaker.engine.evaluation.doc_shares import MEASURES

FORMATS = {"PNG": "canvas", "SVG": "svg", "PDF": "svg"}
CURVE_FIGURES = {CURVE_KINDS[name].title: name for name in progress_frames.CURVES}
CALENDAR_FIGURES = {f"Topics over time: {kind}": kind for kind in KINDS[:2]}
MAP_FIGURE = "Map of topics"
# Bokeh draws a picture to save with the pixels of the screen: here with at least twice as many as
# the figure has.
SAVE = """
const screen = Object.getOwnPropertyDescriptor(window, "devicePixelRatio")
const value = Math.max(2, window.devicePixelRatio)
Object.defineProperty(window, "devicePixelRatio", {value, configurable: true})
try { tool.do.emit("save") }
finally { Object.defineProperty(window, "devicePixelRatio", screen) }
"""
# The browser prints a figure on a page of its size. A frame that is not displayed is not printed.
PRINT = """
const view = Bokeh.index.find_one(figure)
view.export("svg").to_blob().then(blob => blob.text()).then(svg => {
  const {width, height} = view.bbox
  const frame = document.createElement("iframe")
  frame.style = "position: fixed; border: 0; width: 0; height: 0"
  frame.srcdoc = `<title>${name}</title><style>@page { size: ${width}px ${height}px; margin: 0 }
    body { margin: 0 } svg { display: block }</style>${svg}`
  frame.onload = () => {
    frame.contentWindow.onafterprint = () => frame.remove()
    frame.contentWindow.print()
  }
  document.body.append(frame)
})
"""
FIGURES = (*CURVE_FIGURES, *CALENDAR_FIGURES, MAP_FIGURE)


def draw_figure(
    name: str,
    progress: Progress,
    earlier: Sequence[Progress],
    reading: Reading | None,
    topic: int | None,
) -> figure | None:
    """Draw one of `FIGURES`; None if there is nothing to draw yet."""
    if name in CURVE_FIGURES:
        return _draw_curve(CURVE_FIGURES[name], progress, earlier)
    if reading is None or not len(reading.used):
        return None
    if name == MAP_FIGURE:
        plot = MapPlot(lambda topic_id: None)
        plot.show(map_frame(reading, progress.topic_title, None), topic)
        plot.figure.title.text = MAP_FIGURE
        return plot.figure
    if reading.doc_shares is None:
        return None
    unit = fitting_unit(reading.corpus.dates)
    frame = calendar_frame(
        reading, unit, MEASURES[0], reading.position(topic), progress.topic_title
    )
    if frame.empty:
        return None
    return calendar_plot(frame, CALENDAR_FIGURES[name], MEASURES[0])


def _draw_curve(name: str, progress: Progress, earlier: Sequence[Progress]) -> figure | None:
    earlier = tuple(run for run in earlier if run.corpus_name == progress.corpus_name)
    span = progress_frames.axis_span((progress, *earlier), "documents")
    if span is None or not len(progress.steps):
        return None
    plot = curve_plot(name, Range1d(*span))
    frame = progress_frames.curve_frame(progress, name)
    plot.points.data = frame.to_dict("list")
    plot.newest.data = frame.tail(1)[["x", "y"]].to_dict("list")
    plot.earlier.data = progress_frames.earlier_frame(earlier, name).to_dict("list")
    plot.warm_up.data = progress_frames.warm_up_columns(progress)
    plot.marks.data = mark_columns(progress_frames.mark_frame(progress.marks), span)
    if len(frame):
        plot.seed.data = {"x": [], "y": []}
        plot.figure.title.text = curve_title(name, frame["y"].iloc[-1])
    return plot.figure


def make_savable(drawn: figure, kind: str, file_name: str) -> None:
    """Make the browser save a figure as one of `FORMATS` each time its tags change.

    As a PDF it is printed: the print window of a browser can save one.
    """
    drawn.output_backend = FORMATS[kind]
    drawn.toolbar_location = None
    tool = drawn.select_one(SaveTool)
    tool.filename = file_name
    code = PRINT if kind == "PDF" else SAVE
    args = {"tool": tool, "figure": drawn, "name": file_name}
    drawn.js_on_change("tags", CustomJS(args=args, code=code))
