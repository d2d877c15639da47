"""Views: brought up to date by a progress, silent where nothing changed, and never without a word
where nothing is.
"""

from dataclasses import replace

import numpy as np
import pytest
from bokeh.models import ColumnDataSource

from stickbreaker.app.frames.word_table import NO_TOPIC
from stickbreaker.app.model.default_topics import default_topics
from stickbreaker.app.model.progress import (
    HELDOUT_COLUMNS,
    NEXT_BATCH_COLUMNS,
    STEP_COLUMNS,
    Curve,
    Mark,
    Moment,
    Progress,
)
from stickbreaker.app.plots.curve_plots import SCORE_HELP
from stickbreaker.app.state import RunState
from stickbreaker.app.views.curves import (
    MERGING_LINE,
    ON_PAGE,
    Curves,
    first_value_note,
    help_html,
    legend_html,
)
from stickbreaker.app.views.rate_sketch import RateSketch, steps_taken
from stickbreaker.app.views.run_summary import RunSummary
from stickbreaker.app.views.topics_now import TopicsNow
from stickbreaker.app.views.word_table import WordTable
from stickbreaker.app.widgets.menus import Echoes
from stickbreaker.engine import find_algorithm
from stickbreaker.engine.algorithms.batch_hdp import BatchHDPConfig
from stickbreaker.engine.algorithms.hdp import HDPConfig
from stickbreaker.engine.runs.settings import RunSettings
from stickbreaker.engine.schedules import Forecast
from tests.app.browser_messages import send

VOCABULARY = ("<b>", *(f"word{i}" for i in range(29)))
PLANNED = (300, 600, 900)
SHUFFLED = RunSettings(num_evaluations=20, order="shuffled")


def config_of(**values):
    return HDPConfig(**{"batch_size": 100, "delay": 64.0} | values)


def checkpoint(documents_seen, tokens):
    tokens = np.array(tokens, dtype=float)
    words = (np.arange(10) + np.arange(len(tokens))[:, None] * 5 + documents_seen // 300) % 30
    weights = tokens / max(tokens.sum(), 1)
    date = np.datetime64("1800") + np.timedelta64(documents_seen, "Y")
    return Moment(
        documents_seen,
        date,
        np.arange(len(tokens)),
        weights,
        tokens,
        words.astype(np.int32),
        len(tokens),
    )


def progress(num_steps, tokens=(50, 30, 20), **fields):
    """A run of this many mini-batches of 100 documents out of 900."""
    seen = [100 * (i + 1) for i in range(num_steps)]
    date = np.datetime64("1800")
    steps = [
        (d, date + np.timedelta64(d // 100, "Y"), d / 50, 0.1, 3, 0.5, int(d > 200), 100)
        for d in seen
    ]
    scores = [(d, date + np.timedelta64(d // 100, "Y"), d / 50, -8 + d / 1000) for d in seen]
    reached = tuple(checkpoint(d, tokens) for d in PLANNED if d <= 100 * num_steps)
    standard = {
        "version": num_steps + 1,
        "run_id": 1,
        "status": "running",
        "algorithm": "hdp",
        "config": config_of(),
        "corpus_size": 900,
        "documents_seen": 100 * num_steps,
        "documents_total": 900,
        "date": date,
        "steps": Curve.build(STEP_COLUMNS, steps),
        "heldout": Curve.build(HELDOUT_COLUMNS, scores),
        "next_batch": Curve.build(NEXT_BATCH_COLUMNS, [(*row, 50) for row in scores]),
        "columns": reached,
        "now": checkpoint(100 * num_steps, tokens) if num_steps else None,
        "vocabulary": VOCABULARY,
        "planned_columns": tuple(d for d in PLANNED if d > 100 * num_steps),
        "label": "κ 0.6",
    }
    shown = fields.get("columns", reached)
    first = [standard["now"]] if num_steps else []
    standard["default_topics"] = default_topics(shown or first)
    return Progress(**{**standard, **fields})


def show(view, progress, earlier=()):
    view.state.publish(progress, earlier=earlier)


def sources(view):
    return [plot.points for plot in view.plots.values()]


@pytest.mark.parametrize("view", [Curves, WordTable, TopicsNow, RateSketch])
def test_every_view_can_show_an_empty_run_one_topic_only_unused_topics_an_end_and_a_failure(view):
    shown = view(RunState())
    for each in (
        Progress(),
        progress(0),
        progress(9, tokens=(50,), status="finished"),
        progress(4, tokens=(0, 0)),
        progress(4, status="failed", message="no memory"),
    ):
        show(shown, each, ())
    assert shown.__panel__() is not None


def test_no_line_of_the_summary_ends_within_a_date():
    view, days = RunSummary(RunState()), (np.datetime64("2010-01-14"), np.datetime64("2021-12-28"))
    show(view, progress(9, status="finished", settings=RunSettings(), date_span=days))
    dates = "<span class='date'>2010-01-14</span> to <span class='date'>2021-12-28</span>."
    assert dates in view.__panel__().object
    assert ".date { white-space: nowrap; }" in view.__panel__().stylesheets[0]


@pytest.mark.parametrize(("num_columns", "roles"), [(2, 0), (3, 2)])
def test_topics_of_the_word_lists_have_roles_from_the_third_column_on(num_columns, roles):
    table = WordTable(RunState())
    show(table, progress(3 * num_columns))
    notes = [block["note"] for block in table.cells.blocks]
    assert sum(note.startswith(("stable early", "formed late")) for note in notes) == roles


def test_curves_send_only_new_points(monkeypatch):
    view = Curves(RunState())
    show(view, progress(3))
    streamed = []
    stream = ColumnDataSource.stream

    def watch(source, data):
        streamed.append(len(data["x"]))
        stream(source, data)

    monkeypatch.setattr(ColumnDataSource, "stream", watch)
    show(view, progress(5))
    assert streamed == [2] * len(ON_PAGE)
    assert [len(source.data["x"]) for source in sources(view)] == [5] * len(ON_PAGE)


def test_curves_are_small_until_they_are_opened_except_that_of_held_out_words():
    view = Curves(RunState())
    heights = [{name: plot.figure.height for name, plot in view.plots.items()}]
    view.larger.value = True
    heights.append({name: plot.figure.height for name, plot in view.plots.items()})
    assert len(set(heights[1].values())) == 1
    assert heights[0]["heldout"] == heights[1]["heldout"]
    assert all(heights[0][name] < heights[1][name] for name in ON_PAGE if name != "heldout")


def test_the_same_points_again_change_no_source():
    view = Curves(RunState())
    run = progress(5, marks=(Mark(200, 4.0, np.datetime64("1802"), "κ 0.6 → 0.8"),))
    earlier = (progress(9, run_id=0),)
    show(view, run, earlier)
    changed = []

    def note_change(attr, old, new):
        changed.append(attr)

    for plot in view.plots.values():
        for source in (plot.points, plot.newest, plot.marks, plot.warm_up, plot.earlier):
            source.on_change("data", note_change)
    show(view, run, earlier)
    show(view, replace(run, version=99), earlier)
    assert changed == []


def test_a_restart_and_a_thinned_curve_replace_the_old_points():
    view = Curves(RunState())
    show(view, progress(6))
    show(view, progress(2, run_id=2), (progress(6),))
    assert [len(source.data["x"]) for source in sources(view)] == [2] * len(ON_PAGE)
    assert view.plots["heldout"].earlier.data["label"] == ["κ 0.6"]
    thinned = progress(6, run_id=2)
    thinned = replace(
        thinned, steps=Curve({name: column[::2] for name, column in thinned.steps.columns.items()})
    )
    show(view, thinned)
    assert view.plots["num_topics"].points.data["documents_seen"].tolist() == [100, 300, 500]


def test_the_x_axis_can_be_chosen_and_a_zoom_stays():
    view = Curves(RunState())
    show(view, progress(3))
    view.axis = "seconds"
    assert sources(view)[0].data["x"].tolist() == [2.0, 4.0, 6.0]
    view.x_range.update(start=1.0, end=2.0)
    show(view, progress(4))
    assert (view.x_range.start, view.x_range.end) == (1.0, 2.0)
    assert view.x_range.reset_end > 8.0


def test_empty_curves_say_what_they_will_show_or_why_they_stay_empty():
    assert "after about 45 documents" in first_value_note(progress(0, settings=SHUFFLED), "heldout")
    assert "first mini-batch" in first_value_note(progress(0), "num_topics")
    assert "failed" in first_value_note(progress(0, status="failed"), "heldout")
    whole = progress(0, settings=SHUFFLED, algorithm="batch-hdp", config=BatchHDPConfig())
    assert first_value_note(whole, "heldout") == "The first score appears after the first pass."
    assert "reads the whole corpus" in first_value_note(whole, "next_batch")


def test_topics_are_not_counted_while_none_is_in_use_and_every_view_says_so():
    few = progress(3, tokens=(0.5, 0.4), num_held_out=0)
    curves, now, table = Curves(RunState()), TopicsNow(RunState()), WordTable(RunState())
    for view in (curves, now, table):
        show(view, few)
    counted = curves.plots["num_topics"]
    assert counted.figure.title.text == "Topics in use while learning"
    assert len(counted.points.data["x"]) == 0
    assert counted.note.data["text"][0].split() == NO_TOPIC.split()
    assert (now.rows.note, table.cells.empty) == (NO_TOPIC, NO_TOPIC)
    show(curves, progress(4, tokens=(50, 30)))
    assert counted.figure.title.text == "Topics in use while learning: 3"
    assert len(counted.points.data["x"]) == 4


def test_a_corpus_without_held_out_documents_has_no_score():
    assert "too few" in first_value_note(progress(0, num_held_out=0, status="finished"), "heldout")
    assert "few RFCs" in first_value_note(
        progress(0, num_held_out=0, held_out_by="group", corpus_name="rfc"), "heldout"
    )


def test_the_legend_names_the_run_escapes_its_text_and_warns_that_shuffled_dates_do_not_order_it():
    text = legend_html(progress(3, label="<i>", settings=SHUFFLED), (), "dates")
    assert "&lt;i&gt;" in text
    assert "shuffled order" in text
    assert "Held-out documents are spread over the whole corpus" in help_html(progress(3))
    assert SCORE_HELP in help_html(progress(3))


def test_if_whole_texts_are_held_out_the_help_names_them():
    text = help_html(progress(3, held_out_by="group", corpus_name="rfc"))
    assert "Whole RFCs, spread over the corpus, are held out" in text


def test_earlier_runs_on_another_corpus_are_not_drawn():
    view = Curves(RunState())
    show(
        view,
        progress(3, run_id=3, corpus_name="two"),
        (progress(9, corpus_name="one"), progress(4, run_id=2, corpus_name="two")),
    )
    assert [len(xs) for xs in view.plots["num_topics"].earlier.data["xs"]] == [4]


def test_the_table_has_its_columns_from_the_start_and_fills_them():
    view = WordTable(RunState())
    show(view, progress(0))
    assert [column["reached"] for column in view.cells.columns] == [False] * 3
    assert "after 300 documents" in view.cells.empty
    show(view, progress(6))
    assert [column["reached"] for column in view.cells.columns] == [True, True, False]
    cells = view.cells.blocks[0]["cells"]
    assert len(cells) == 10
    assert [cells[0][0] is None, cells[0][2] is None] == [False, True]
    assert any(row[1][1] for row in cells)
    assert not any(row[0][1] for row in cells)


def test_the_choice_of_topics_stays_until_it_is_reset_or_a_new_run_begins():
    view = WordTable(RunState())
    show(view, progress(3))
    by_rule = list(view.topics)
    view.picker.value = [2]
    show(view, progress(9))
    assert view.topics == [2]
    view.go_back()
    assert len(view.topics) == len(by_rule) == 2
    view.show(next(topic_id for topic_id in range(3) if topic_id not in view.topics))
    assert len(view.topics) == 3
    show(view, progress(3, run_id=2, topics_key="of the second run"))
    assert len(view.topics) == 2


def test_a_menu_that_returns_the_value_it_was_given_selects_nothing():
    now = [0.0]
    view = WordTable(RunState(), lambda: now[0])
    show(view, progress(0))
    show(view, progress(3))
    by_rule = list(view.topics)
    view.picker.value = []
    assert (view.topics, view.picker.value, view.state.listed_topics) == (by_rule, by_rule, None)
    now[0] += Echoes.SECONDS - 1
    view.picker.value = []
    assert (view.topics, view.state.listed_topics) == (by_rule, None)
    now[0] += Echoes.SECONDS
    view.picker.value = []
    assert (view.topics, view.state.listed_topics) == ([], [])


def test_the_menu_of_topics_has_the_labels_and_shares_of_the_moment():
    view = WordTable(RunState())
    shown = view.picker.get_root()
    for steps, tokens in ((3, (50, 30, 20)), (6, (50, 40, 10))):
        show(view, progress(steps, tokens=tokens))
        chosen = [label for label, k in view.picker.options.items() if k in view.topics]
        assert sorted(shown.data.value) == sorted(chosen)
        assert len(chosen) == 2


def test_a_topic_that_is_no_longer_in_use_can_still_be_shown():
    view = WordTable(RunState())
    show(view, progress(3))
    view.show(2)
    show(view, progress(6, tokens=(50, 30, 0)))
    assert 2 in view.picker.options.values()
    assert "not in use" in next(
        block["note"] for block in view.cells.blocks if block["topic_id"] == 2
    )


def test_word_lists_are_by_relevance_until_the_user_chooses_probability():
    point = checkpoint(300, (50, 30, 20))
    point = replace(point, relevant_words=point.top_words[:, ::-1])
    views = WordTable(state := RunState()), TopicsNow(state)
    state.publish(progress(3, columns=(point,), now=point))
    table, now = views
    most_relevant = [row[0][0] for row in table.cells.blocks[0]["cells"]]
    assert now.rows.rows[0]["words"].split() == most_relevant[:3]
    state.by_relevance = False
    assert [row[0][0] for row in table.cells.blocks[0]["cells"]] == most_relevant[::-1]
    assert now.rows.rows[0]["words"].split() == most_relevant[:-4:-1]


def test_the_table_is_not_written_between_columns():
    view = WordTable(RunState())
    show(view, progress(3))
    blocks = view.cells.blocks
    show(view, progress(4))
    assert view.cells.blocks is blocks


def test_the_largest_topics_are_few_and_ordered_and_each_press_adds_one_to_the_table():
    view = TopicsNow(RunState())
    show(view, progress(3, tokens=range(1, 21)))
    rows = view.rows.rows
    assert [row["key"] for row in rows] == list(range(19, 14, -1))
    assert rows[0]["share"] == 1
    for topic_id in (19, 19, 999):
        send(view.rows, {"key": topic_id})
    assert (view.state.topic, view.state.num_picked) == (19, 2)


def test_the_table_says_that_similar_topics_are_in_the_warm_up():
    view = TopicsNow(RunState())
    show(view, progress(1, phase="warm-up"))
    assert "still similar" in view.rows.note
    show(view, progress(4))
    assert view.rows.note == ""


def test_a_view_that_is_empty_says_why():
    view = TopicsNow(RunState())
    assert "first mini-batch" in view.rows.note
    show(view, progress(0, status="failed"))
    assert "failed" in view.rows.note
    show(view, progress(3))
    assert view.rows.note == ""


def test_the_sketch_shows_past_rates_the_present_step_and_later_rates():
    view = RateSketch(RunState())
    show(view, progress(3))
    assert view.plot.taken.data["x"].tolist() == [1, 2, 3]
    assert view.plot.present.data["x"].tolist() == [3]
    assert view.plot.planned.data["x"].tolist() == [3, 4, 5, 6, 7, 8, 9]
    assert "Mini-batch 3 of 9" in view.text.object


def test_a_delay_of_zero_chosen_late_does_not_change_how_much_of_the_start_is_left():
    view = RateSketch(RunState())
    show(view, progress(3, config=config_of(delay=0.0, forgetting_rate=1.0), startup_share=0.6))
    assert "60 % at this step, 20 % at the end" in view.text.object


def test_the_sketch_is_hidden_for_an_algorithm_without_a_learning_rate():
    view = RateSketch(RunState())
    show(view, progress(3))
    assert view.is_shown
    show(view, progress(3, algorithm="batch-hdp", config=BatchHDPConfig()))
    assert not view.is_shown


def test_the_help_says_that_topics_are_removed_if_the_run_removes_them():
    assert MERGING_LINE in help_html(progress(3))
    assert MERGING_LINE not in help_html(progress(3, config=config_of(duplicates="keep")))
    assert MERGING_LINE not in help_html(
        progress(3, algorithm="lda", config=find_algorithm("lda").config())
    )


def test_a_run_that_does_not_score_the_next_batch_says_so():
    off = progress(0, settings=RunSettings(score_next_batch=False))
    assert first_value_note(off, "next_batch") == "Off: this run does not score the next batch."


def test_the_sketch_of_a_preview_falls_with_the_step():
    view = RateSketch(RunState())
    view.show(
        find_algorithm("hdp"), config_of(), 37 * config_of().batch_size, Forecast(37, 0.1, True)
    )
    rates = view.plot.planned.data["y"]
    assert len(rates) == 37
    assert (np.diff(rates) < 0).all()


def test_steps_of_a_thinned_curve_end_at_the_present_one():
    steps = progress(9).steps
    thinned = Curve({name: column[::2] for name, column in steps.columns.items()})
    assert steps_taken(steps).tolist() == list(range(1, 10))
    assert steps_taken(thinned).tolist() == [1, 3, 5, 7, 9]


def test_a_finished_run_says_above_the_word_lists_whether_another_pass_helps():
    view = RunSummary(RunState())
    show(view, progress(9, status="finished", message="Another <pass> helps."))
    assert "Another &lt;pass&gt; helps." in view.__panel__().object
    show(view, progress(8, message="It waits."))
    assert "It waits." not in view.__panel__().object
