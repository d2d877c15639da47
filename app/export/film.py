"""The replay of a run as an animated GIF, drawn without a browser: words, largest topics and the
held-out curve.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from PIL import Image, ImageColor, ImageDraw, ImageFont

from stickbreaker.app.frames.progress_frames import curve_columns, date_text
from stickbreaker.app.frames.summary_texts import describe_reading, list_figures
from stickbreaker.app.frames.word_table import list_words, table_blocks
from stickbreaker.app.model.progress import Progress
from stickbreaker.app.model.replay import REPLAYED, can_replay, film, list_moments
from stickbreaker.app.model.word_lists import NUM_TOP_WORDS
from stickbreaker.app.theme import THIS_RUN, topic_color
from stickbreaker.engine.evaluation.held_out import rank_topics

SIZE = WIDTH, HEIGHT = 1080, 620
SECONDS = 30.0
LAST_SECONDS = 3.0
SLIDE_SECONDS = 0.4
MAX_MOMENTS = 150
NUM_SLIDES = 4
NUM_COLORS = 128
NUM_SAMPLES = 12
NUM_BARS = 6
PAPER = "#ffffff"
INK = "#1b1f24"
SOFT = "#59626b"
# Of columns that are still to come.
INK_AHEAD = "#a2aab2"
SOFT_AHEAD = "#b4bac1"
LINE = "#dfe4ea"
EDGE = 20
TABLE_WIDTH = 770
SIDE = 820
HEADS = 96
FIRST_BLOCK = 136
BLOCK = 238
# Between the dates of two columns.
LEAST_GAP = 8
ROW = 20
BARS = 96
CURVE = (890, 426, 1060, 570)
TINT = 0.14
FONTS = {False: "DejaVuSans.ttf", True: "DejaVuSans-Bold.ttf"}


class FilmCell(NamedTuple):
    """One word of the table: its column, its rank, and its rank in the column before."""

    column: int
    rank: int
    before: int | None
    word: str
    mark: str


@lru_cache
def load_font(size: int, is_bold: bool = False) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    """DejaVu Sans, which has most alphabets, if the machine has it; otherwise Pillow's own font."""
    try:
        return ImageFont.truetype(FONTS[is_bold], size)
    except OSError:
        return ImageFont.load_default(size)


def write_film(path: Path, progress: Progress, seconds: float = SECONDS) -> None:
    """Write the replay of a run as a GIF that repeats; its steps share this many seconds equally.

    Raises ValueError while the run learns, and if it ended before its first column.
    """
    if not can_replay(progress):
        raise ValueError("To export the replay, pause the run or wait until it has finished.")
    if not progress.columns:
        raise ValueError(
            "The run ended before its first column of words: there is nothing to replay."
        )
    pictures, milliseconds = draw_film(progress, seconds)
    palette = _find_palette(pictures)
    drawn = [picture.quantize(palette=palette, dither=Image.Dither.NONE) for picture in pictures]
    drawn[0].save(
        path,
        "GIF",
        save_all=True,
        append_images=drawn[1:],
        duration=milliseconds,
        loop=0,
        optimize=True,
        disposal=1,
    )


def _find_palette(pictures: Sequence[Image.Image]) -> Image.Image:
    """The colours of all pictures, since other topics are large in each."""
    shown = pictures[:: max(1, len(pictures) // NUM_SAMPLES)]
    strip = Image.new("RGB", (WIDTH, HEIGHT * len(shown)))
    for row, picture in enumerate(shown):
        strip.paste(picture, (0, row * HEIGHT))
    return strip.quantize(NUM_COLORS)


def draw_film(progress: Progress, seconds: float) -> tuple[list[Image.Image], list[int]]:
    """Draw the pictures of a replay, with the milliseconds that each is shown.

    A step that fills a column has extra pictures, in which its words move to their ranks.
    """
    topic_ids = progress.default_topics
    num_moments = min(MAX_MOMENTS, len(list_moments(progress)))
    each = 1000 * seconds / num_moments
    pictures = []
    milliseconds = []
    num_columns = 0
    for moment in film(progress, num_moments):
        is_new = len(moment.columns) > num_columns
        num_columns = len(moment.columns)
        slide = min(1000 * SLIDE_SECONDS, each / 2) / NUM_SLIDES
        shares = np.arange(1, NUM_SLIDES) / NUM_SLIDES if is_new else ()
        for share in shares:
            pictures.append(draw_moment(moment, progress, topic_ids, float(share)))
            milliseconds.append(round(slide))
        pictures.append(draw_moment(moment, progress, topic_ids))
        milliseconds.append(round(each - len(shares) * slide))
    milliseconds[-1] += round(1000 * LAST_SECONDS)
    return pictures, milliseconds


def draw_moment(
    moment: Progress, whole: Progress, topic_ids: Sequence[int], slid: float = 1.0
) -> Image.Image:
    """Draw one picture. slid: how far the newest column's words have moved, 0 to 1."""
    picture = Image.new("RGB", SIZE, PAPER)
    draw = ImageDraw.Draw(picture)
    _draw_head(draw, moment, whole)
    _draw_columns(draw, moment, whole)
    for place, topic_id in enumerate(topic_ids):
        _draw_topic(draw, moment, whole, topic_id, FIRST_BLOCK + place * BLOCK, slid)
    _draw_bars(draw, moment)
    _draw_curve(draw, moment, whole)
    return picture


def _write(
    draw: ImageDraw.ImageDraw,
    place: tuple[float, float],
    text: str,
    size: int,
    color: str = INK,
    bold: bool = False,
) -> None:
    draw.text(place, text, fill=color, font=load_font(size, bold))


def _fit(text: str, width: float, size: int, is_bold: bool = False) -> str:
    """The text, or its beginning with an ellipsis, in at most this many pixels."""
    font = load_font(size, is_bold)
    if font.getlength(text) <= width:
        return text
    while text and font.getlength(text + "…") > width:
        text = text[:-1]
    return text + "…"


def _draw_head(draw: ImageDraw.ImageDraw, moment: Progress, whole: Progress) -> None:
    """Draw the date, the sentence, the two figures, and how much of the run has been read."""
    large = date_text(moment.date) or f"{moment.documents_seen:,}"
    _write(draw, (EDGE, 14), large, 44, bold=True)
    left = EDGE + load_font(44, True).getlength(large) + 24
    sentence = describe_reading(
        replace(moment, status="running") if moment.status == REPLAYED else moment
    )
    _write(draw, (left, 18), _fit(sentence, 700 - left, 14), 14)
    marks = "+ marks a new word; ↑ a rise by two ranks or more."
    read = f"{moment.documents_seen:,} of {whole.documents_total:,} read. {marks}"
    _write(draw, (left, 42), _fit(read, 700 - left, 12), 12, SOFT)
    for place, (label, value, unit) in enumerate(list_figures(moment)):
        x = 700 + 238 * place
        _write(draw, (x, 16), label, 12, SOFT)
        _write(draw, (x, 32), value, 22, bold=True)
        _write(draw, (x + load_font(22, True).getlength(value) + 6, 42), unit, 12, SOFT)
    share = moment.documents_seen / max(1, whole.documents_total)
    draw.rounded_rectangle((EDGE, 76, WIDTH - EDGE, 82), 3, fill=LINE)
    draw.rounded_rectangle(
        (EDGE, 76, EDGE + max(0.01, share) * (WIDTH - 2 * EDGE), 82), 3, fill=THIS_RUN
    )


def _column_left(column: int, whole: Progress) -> float:
    return EDGE + 8 + column * TABLE_WIDTH / len(whole.columns)


def name_columns(whole: Progress) -> list[str]:
    """The dates of the columns, as precise as all of them have room for; else documents read."""
    names = [date_text(point.date) or f"{point.documents_seen:,}" for point in whole.columns]
    room = TABLE_WIDTH / len(names) - LEAST_GAP
    for _ in ("day", "month"):
        if max(map(load_font(13, True).getlength, names)) > room:
            names = [re.sub(r"(?<=\d)-\d\d$", "", name) for name in names]
    return names


def _draw_columns(draw: ImageDraw.ImageDraw, moment: Progress, whole: Progress) -> None:
    """Draw the heads of all columns; those that are still to come are faint."""
    for column, (point, name) in enumerate(zip(whole.columns, name_columns(whole), strict=True)):
        ink = INK
        soft = SOFT
        if column >= len(moment.columns):
            ink = INK_AHEAD
            soft = SOFT_AHEAD
        left = _column_left(column, whole)
        _write(draw, (left, HEADS), name, 13, ink, True)
        if date_text(point.date):
            _write(draw, (left, HEADS + 17), f"{point.documents_seen:,}", 11, soft)
    draw.line((EDGE, FIRST_BLOCK - 4, EDGE + TABLE_WIDTH, FIRST_BLOCK - 4), fill=INK)


def list_cells(moment: Progress, topic_id: int) -> list[FilmCell]:
    """The words of a topic in all filled columns, with their ranks in the column before."""
    cells: list[FilmCell] = []
    for block in table_blocks(moment, [topic_id]):
        before: dict[str, int] = {}
        for column, ranked in enumerate(zip(*block["cells"], strict=True)):
            words = [cell for cell in ranked if cell]
            for rank, (word, mark) in enumerate(words):
                cells.append(
                    FilmCell(
                        column=column, rank=rank, before=before.get(word), word=word, mark=mark
                    )
                )
            before = {word: rank for rank, (word, _) in enumerate(words)}
    return cells


def _draw_topic(
    draw: ImageDraw.ImageDraw,
    moment: Progress,
    whole: Progress,
    topic_id: int,
    top: float,
    slid: float,
) -> None:
    color = topic_color(topic_id)
    draw.rounded_rectangle((EDGE, top + 5, EDGE + 11, top + 16), 3, fill=color)
    _write(draw, (EDGE + 20, top + 2), whole.topic_title(topic_id), 14, bold=True)
    newest = len(moment.columns) - 1
    width = TABLE_WIDTH / len(whole.columns)
    if newest >= 0:
        left = _column_left(newest, whole) - 8
        draw.rounded_rectangle(
            (left, top + 24, left + width - 2, top + 26 + NUM_TOP_WORDS * ROW), 4, fill=_mix(color)
        )
    for cell in list_cells(moment, topic_id):
        # Words of the newest column come from their place in the column before; new ones appear at
        # their own.
        back = fall = 0.0
        if cell.column == newest and cell.before is not None:
            back = 1 - slid
            fall = back * (cell.before - cell.rank) * ROW
        place = _column_left(cell.column, whole) - back * width, top + 26 + cell.rank * ROW + fall
        if cell.column == newest and cell.before is None and newest and slid < 1:
            continue
        _write_cell(draw, cell, place, width, color)


def _write_cell(
    draw: ImageDraw.ImageDraw, cell: FilmCell, place: tuple[float, float], width: float, color: str
) -> None:
    left, top = place
    is_new = cell.mark == "+"
    ink = INK
    soft = SOFT
    if is_new:
        ink = soft = color
    _write(draw, (left - 9, top), cell.mark, 12, soft, bold=True)
    _write(draw, (left, top), _fit(cell.word, width - 12, 12, is_new), 12, ink, is_new)


def _mix(color: str) -> tuple[int, ...]:
    """A tint of a colour on the paper."""
    return tuple(round(255 + TINT * (channel - 255)) for channel in ImageColor.getrgb(color)[:3])


def _draw_bars(draw: ImageDraw.ImageDraw, moment: Progress) -> None:
    """Draw the largest topics of the newest column with their weights."""
    _write(draw, (SIDE, BARS), "Largest topics", 14, bold=True)
    _write(draw, (SIDE + 128, BARS + 2), "weight in the model", 11, SOFT)
    now = moment.now
    if now is None or moment.vocabulary is None:
        return
    ranked = rank_topics(now.expected_tokens)[:NUM_BARS]
    for row, place in enumerate(ranked):
        top = BARS + 28 + row * 44
        color = topic_color(int(now.topic_ids[place]))
        weight = float(now.weights[place] / now.weights[ranked[0]])
        draw.rounded_rectangle((SIDE, top + 3, SIDE + 11, top + 14), 3, fill=color)
        _write(
            draw,
            (SIDE + 18, top),
            _fit(moment.topic_title(now.topic_ids[place]), 118, 13, True),
            13,
            bold=True,
        )
        words = " ".join(
            list_words(now.find_words(by_relevance=True)[place], moment.vocabulary)[:3]
        )
        _write(draw, (SIDE + 18, top + 18), _fit(words, 220, 11), 11, SOFT)
        draw.rounded_rectangle((SIDE + 140, top + 5, SIDE + 188, top + 12), 3, fill=LINE)
        draw.rounded_rectangle(
            (SIDE + 140, top + 5, SIDE + 140 + 48 * weight, top + 12), 3, fill=color
        )
        _write(draw, (SIDE + 193, top), f"{100 * now.weights[place]:.1f} %", 12, SOFT)


def _draw_curve(draw: ImageDraw.ImageDraw, moment: Progress, whole: Progress) -> None:
    """Draw the held-out curve until the moment, on the axes of the whole run."""
    left, top, right, bottom = CURVE
    _write(draw, (SIDE, top - 42), "Held-out log likelihood", 14, bold=True)
    _write(draw, (SIDE, top - 23), "nats per held-out word", 11, SOFT)
    draw.line((left, top, left, bottom, right, bottom), fill=LINE)
    scores = whole.heldout["nats_per_word"]
    if not len(scores):
        return
    low = float(np.min(scores))
    high = float(np.max(scores))
    for value, height in ((high, top), (low, bottom)):
        _write(draw, (SIDE, height - 8), f"{value:.2f}".replace("-", "−"), 12, SOFT)
    _write(draw, (left, bottom + 6), "0", 12, SOFT)
    end = f"{whole.documents_total:,} documents read"
    _write(draw, (right - load_font(12).getlength(end), bottom + 6), end, 12, SOFT)
    points = list(_place_points(moment, whole, low, high))
    if len(points) > 1:
        draw.line(points, fill=THIS_RUN, width=2, joint="curve")
    for x, y in points[-1:]:
        draw.ellipse((x - 4, y - 4, x + 4, y + 4), fill=THIS_RUN)


def _place_points(
    moment: Progress, whole: Progress, low: float, high: float
) -> Iterator[tuple[float, float]]:
    left, top, right, bottom = CURVE
    columns = curve_columns(moment, "heldout")
    for seen, score in zip(columns["x"], columns["y"], strict=True):
        height = (score - low) / ((high - low) or 1.0)
        yield (
            left + seen / max(1, whole.documents_total) * (right - left),
            bottom - height * (bottom - top),
        )
