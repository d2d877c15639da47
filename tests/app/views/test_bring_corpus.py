"""The dialog for text of one's own, without a browser and without its process."""

import asyncio
import re
from html.parser import HTMLParser
from types import SimpleNamespace

import pandas as pd
import pytest
from bokeh.document import Document
from panel.io.state import set_curdoc

from stickbreaker.app.frames.corpus_descriptions import (
    describe_effect,
    describe_own,
    describe_preview,
    explain_no_word,
)
from stickbreaker.app.model.text_tasks import Stopped, TextTaskRunner
from stickbreaker.app.server.visitors import may_name_paths
from stickbreaker.app.views.bring_corpus import BringCorpus
from stickbreaker.app.widgets.column_form import NONE
from stickbreaker.engine.corpora.library import OwnCorpus, delete_own, list_own, load_own
from stickbreaker.engine.corpora.rows import CorpusError
from stickbreaker.engine.corpora.word_choices import WordChoices
from stickbreaker.engine.corpora.words import WordEffect
from tests.app.browser_messages import answer_with, send
from tests.engine.corpora.small_sheets import write_xlsx

EVIL = "<img src=x onerror=alert(1)>"
TEXTS = [
    f"peace {EVIL} treaty",
    "tariff & <b>trade</b>",
    "The cotton of the <script>port</script>",
    "war",
]


class Here:
    """A text_worker whose desk is in this process."""

    user = None

    def __init__(self):
        self.desk, self.asked, self.fails = TextTaskRunner(lambda share, said: None), [], None

    async def ask(self, task, *arguments, report=lambda share, said: None):
        self.asked.append(task.__name__)
        report(0.5, "Half")
        if self.fails:
            raise self.fails
        return task(self.desk, *arguments)

    async def stop(self):
        self.asked.append("stop")

    def close(self):
        self.asked.append("close")


@pytest.fixture
def path(tmp_path):
    path = tmp_path / f"{EVIL.replace('/', '')}.csv"
    pd.DataFrame({EVIL: TEXTS, "year": ["1900", "1901", "1902", EVIL], "who": list("ABCD")}).to_csv(
        path, index=False
    )
    return path


def make_commands(done=None, num_names=0, gone=None):
    """Commands that note offered or run corpora in `done`, and forgotten names in `gone`."""
    done, gone = [] if done is None else done, [] if gone is None else gone
    return SimpleNamespace(
        corpus_name="",
        offer_corpora=lambda name=None: done.append(name),
        run_on=done.append,
        count_names=lambda name: num_names,
        forget_names=gone.append,
        note_fault=lambda event, fault: None,
    )


@pytest.fixture
def begun(monkeypatch):
    """What a page would have begun on its event loop."""
    begun = []
    begin = "stickbreaker.app.views.bring_corpus.begin_task"
    monkeypatch.setattr(begin, lambda task, *arguments: begun.append((task, arguments)))
    return begun


@pytest.fixture
def view(own_corpora, begun):
    done = []
    with set_curdoc(Document()):
        view = BringCorpus(Here(), make_commands(done), may_name_paths=True)
        view.done = done
        view.open()
        yield view
        view.close()
    for own in list_own():
        delete_own(own.name)


class Tags(HTMLParser):
    def __init__(self):
        super().__init__()
        self.tags = set()

    def handle_starttag(self, tag, attributes):
        self.tags.add(tag)


def tags_of(*panes):
    parser = Tags()
    for pane in panes:
        parser.feed(pane.object)
    return parser.tags


def read_columns(view):
    """The columns that are chosen on the page."""
    return {part: select.value for part, select in view.columns.selects.items()}


def look(view, path, columns=None):
    asyncio.run(view.look(path, columns or {}))


def test_a_file_is_shown_with_guessed_columns_and_without_markup(view, path):
    look(view, path)
    assert read_columns(view) == {"text": EVIL, "date": "year", "title": "who", "group": NONE}
    assert view.chosen.visible
    assert not view.working.visible
    assert "Dates from 1900 to 1902" in view.columns.facts.object
    assert "Skipped: 1 row" in view.columns.facts.object
    assert "&lt;img src=x" in view.columns.first.object
    shown = tags_of(
        view.columns.facts, view.columns.first, view.effect, view.fault, view.corpus_menu.about
    )
    assert shown <= {"h2", "p", "details", "summary", "ul", "li", "article", "strong"}


def test_a_file_that_was_replaced_while_it_was_read_leaves_no_message(view, path, tmp_path):
    gone = tmp_path / "gone.csv"

    async def choose_both():
        ask = view.text_tasks.ask

        async def replace_first(task, *arguments, **options):
            view.text_tasks.ask = ask
            await view.look(path, {})
            return await ask(task, *arguments, **options)

        view.text_tasks.ask = replace_first
        await view.look(gone, {})

    asyncio.run(choose_both())
    assert "Dates from 1900 to 1902" in view.columns.facts.object
    assert "gone.csv" not in view.reason.object + view.fault.object
    assert not view.working.visible
    assert not view.build.disabled


def test_a_sample_is_previewed_like_a_file_and_the_button_follows_the_preview(view):
    assert not view.finish.visible
    asyncio.run(view.take_sample(100, None))
    chosen = {"text": "text", "date": "year", "title": "title", "group": NONE}
    assert read_columns(view) == chosen
    assert "100 rows with text" in view.columns.facts.object
    assert view.name_field.value == "sample of 100 passages"
    assert view.finish.visible
    assert not view.build.disabled
    folder = view.chosen_path.parent
    view.close()
    assert not folder.exists()


def test_a_choice_of_columns_updates_the_preview_and_keeps_the_file_when_refused(view, path, begun):
    look(view, path)
    assert begun == []
    view.columns.selects["title"].value = NONE
    view.columns.selects["date"].value = NONE
    named = {"text": EVIL} | dict.fromkeys(("date", "title", "group"), "")
    named |= {"day_first": None, "encoding": None, "sheet": None}
    assert begun[-1] == (view.look, (path, named))
    look(view, path, named)
    assert (view.columns.selects["date"].value, view.preview.num_undated) == (NONE, 0)
    assert "No dates: the documents keep the order of the file" in view.columns.facts.object
    look(view, path, named | {"text": "gone"})
    assert "has no column &#x27;gone&#x27;" in view.fault.object
    assert view.chosen.visible
    assert 'role="alert"' in view.fault.object


def test_the_effect_of_word_choices_is_shown_and_wrong_ones_are_explained(view, path):
    look(view, path)
    assert re.search(r"In all 4 documents: a vocabulary of \d+ words", view.effect.object)
    view.words.widgets["min_letters"].value = 8
    asyncio.run(view.measure())
    assert "a vocabulary of 0 words" in view.effect.object
    view.words.widgets["min_letters"].value = 99
    asyncio.run(view.measure())
    assert "min_letters is 99: give a whole number from 1 to 30" in view.effect.object


def test_a_corpus_without_words_cannot_be_built_and_the_reason_is_shown(view, path, tmp_path):
    look(view, path)
    assert (view.build.disabled, view.reason.object) == (False, "")
    for letters, reason in (
        (8, "leave no words: lower “Minimum letters per word”"),
        (99, "Change the word choices"),
    ):
        view.words.widgets["min_letters"].value = letters
        asyncio.run(view.measure())
        assert view.build.disabled
        assert reason in view.reason.object
    view.words.widgets["min_letters"].value = 3
    asyncio.run(view.measure())
    assert (view.build.disabled, view.reason.object) == (False, "")
    look(view, path, {"text": "gone"})
    assert view.build.disabled
    assert "Choose other columns" in view.reason.object
    figures = tmp_path / "figures.csv"
    figures.write_text("text,n\n1 2,3\n4 5,6\n")
    look(view, figures)
    assert view.build.disabled
    assert "text has no words: choose another text column" in view.reason.object


def test_only_the_last_of_many_quick_changes_is_measured(view, path, monkeypatch, begun):
    monkeypatch.setattr("stickbreaker.app.views.bring_corpus.QUIET_SECONDS", 0.02)
    look(view, path)
    view.text_tasks.asked.clear()
    for value in ("t", "tr", "treaty"):
        view.words.own.value_input = value

    async def change():
        await asyncio.gather(*(task(*arguments) for task, arguments in begun))

    asyncio.run(change())
    assert view.text_tasks.asked == ["measure"]


def test_a_corpus_is_built_offered_run_exported_and_deleted(view, path):
    look(view, path)
    view.name_field.value = f"mine {EVIL}"
    asyncio.run(view.build_corpus(None))
    assert view.done == [f"mine {EVIL}"]
    assert load_own(f"mine {EVIL}").num_documents == 3
    assert "mine &lt;img" in view.result.object
    assert tags_of(view.result, view.corpus_menu.about) == {"p"}
    assert view.is_open
    assert view.corpus_menu.menu.value == f"mine {EVIL}"
    view.run_corpus(None)
    assert (view.is_open, view.done[-1]) == (False, f"mine {EVIL}")
    sent = []
    answer_with(view.mover, sent.append)
    asyncio.run(view.corpus_menu.download_corpus(None))
    while sent[-1]["kind"] == "part":
        send(view.mover, {"kind": "next"})
    assert sent[-1] == {"kind": "save", "name": "mine _img src_x onerror_alert_1__.parquet"}
    view.corpus_menu.delete_corpus(None)
    assert list_own()
    assert view.corpus_menu.delete.label == "Confirm deletion"
    view.corpus_menu.delete_corpus(None)
    assert list_own() == ()
    assert (view.done[-1], view.corpus_menu.is_shown) == (None, False)


def test_a_file_can_be_read_with_the_words_and_word_choices_of_another_corpus(view, tmp_path):
    first, second = tmp_path / "first.csv", tmp_path / "second.csv"
    first.write_text("text\npeace treaty\ncotton trade\n")
    second.write_text("text\nrailways and peace treaty\nrailways\n")
    look(view, first)
    view.words.widgets["max_ngram"].value = 2
    asyncio.run(view.build_corpus(None))
    assert view.words_of.options == ["This file", "first"]
    look(view, second)
    view.words_of.value = "first"
    assert not view.word_choices.visible
    asyncio.run(view.measure())
    assert "a vocabulary of 3 words" in view.effect.object
    assert "50.0% of the words are not in the given vocabulary" in view.effect.object
    assert "Skipped because no word is counted: 1 document" in view.effect.object
    asyncio.run(view.build_corpus(None))
    old, new = load_own("first"), load_own("second")
    assert (new.vocabulary, new.word_choices) == (old.vocabulary, old.word_choices)
    assert new.counts.toarray().sum(axis=1).tolist() == [3]
    second.write_text("text\nnavy\nharbour\n")
    look(view, second)
    assert "This corpus has no word of the file" in view.reason.object
    assert view.build.disabled


def test_a_warning_appears_before_the_names_of_a_corpus_are_forgotten(own_corpora, path):
    gone = []
    with set_curdoc(Document()):
        view = BringCorpus(Here(), make_commands(num_names=3, gone=gone), may_name_paths=True)
        view.open()
        look(view, path)
        view.name_field.value = "mine"
        asyncio.run(view.build_corpus(None))
        assert "forgets" not in view.corpus_menu.about.object
        view.corpus_menu.delete_corpus(None)
        assert "Deleting this corpus also deletes 3 topic names." in view.corpus_menu.about.object
        assert gone == []
        view.corpus_menu.delete_corpus(None)
    assert (gone, list_own()) == (["mine"], ())


def test_the_dialog_says_that_a_file_was_built_before(view, tmp_path):
    path = tmp_path / "Mine.csv"
    pd.DataFrame({"text": TEXTS}).to_csv(path, index=False)
    look(view, path)
    assert (view.name_field.value, view.name_field.helper_text) == ("Mine", "")
    asyncio.run(view.build_corpus(None))
    look(view, path)
    assert view.name_field.value == "Mine 2"
    assert "A corpus named “Mine” already exists" in view.name_field.helper_text


def test_a_name_that_a_built_in_corpus_has_is_not_proposed(view, tmp_path):
    path = tmp_path / "bars.csv"
    pd.DataFrame({"text": TEXTS}).to_csv(path, index=False)
    look(view, path)
    assert view.name_field.value == "bars 2"


@pytest.mark.parametrize("name", ["", "rfc"])
def test_an_invalid_name_is_refused_before_anything_is_built(view, path, name):
    look(view, path)
    view.name_field.value = name
    asyncio.run(view.build_corpus(None))
    assert "name" in view.fault.object
    assert "build" not in view.text_tasks.asked


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (CorpusError(f"bad {EVIL}"), "bad &lt;img src=x"),
        (Stopped(), "Cancelled; nothing was built"),
    ],
)
def test_errors_are_shown_in_the_dialog_which_stays_usable(view, path, error, said):
    view.text_tasks.fails = error
    look(view, path)
    assert said in view.fault.object
    assert not view.working.visible
    assert not view.build.disabled
    view.text_tasks.fails = None
    look(view, path)
    assert view.fault.object == ""


def test_earlier_columns_return_when_a_preview_of_others_is_cancelled(view, path):
    look(view, path)
    before = read_columns(view)
    view.columns.selects["text"].value = "who"
    view.text_tasks.fails = Stopped()
    asyncio.run(view.look(path, {"text": "who"}))
    assert "Cancelled" in view.fault.object
    assert read_columns(view) == before
    assert not view.reason.object
    assert not view.build.disabled


def test_dropped_files_are_called_by_their_names(view, begun):
    sent = []
    answer_with(view.mover, sent.append)
    send(view.mover, {"kind": "begin"})
    send(view.mover, {"kind": "open", "name": "mine.csv", "size": 3, "folders": []})
    send(view.mover, {"kind": "part", "content": "Pz8/"})
    send(view.mover, {"kind": "end"})
    assert [message["is_taken"] for message in sent] == [True] * 4
    look(view, *begun[0][1])
    assert 'role="alert">mine.csv has no usable rows' in view.fault.object
    for message in ({"kind": "open"}, {"kind": "part", "content": 3}, {"kind": "what"}, "x", None):
        send(view.mover, message)
    send(view.mover, {"kind": "fault", "text": EVIL})
    assert "&lt;img" in view.fault.object


def test_two_dropped_tables_are_refused_by_their_names_and_not_by_the_server_s_folder(view, begun):
    answer_with(view.mover, lambda message: None)
    send(view.mover, {"kind": "begin"})
    for name in ("one.csv", "two.csv"):
        send(view.mover, {"kind": "open", "name": name, "size": 3, "folders": []})
        send(view.mover, {"kind": "part", "content": "Pz8/"})
    send(view.mover, {"kind": "end"})
    look(view, *begun[0][1])
    assert "contains 2 tables (one.csv, two.csv)" in view.fault.object
    assert "stickbreaker-" not in view.fault.object


def test_a_dialog_that_is_never_opened_costs_nothing_and_can_be_closed():
    view = BringCorpus(Here(), make_commands())
    view.close()
    assert not view.is_made
    assert view.text_tasks.asked == ["close"]


def test_only_visitors_on_the_serving_machine_can_name_paths(path, begun):
    document = Document()
    with set_curdoc(document):
        assert may_name_paths()
        view = BringCorpus(Here(), make_commands(), may_name_paths=False)
        view.open()
        assert not view.path.visible
        view.path.value = str(path)
        assert begun == []
        view = BringCorpus(Here(), make_commands(), may_name_paths=True)
        view.open()
        view.path.value = f" {path} "
        assert begun == [(view.look, (path, {}))]


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (("novel",), "Text file: 1 document with text."),
        (("a", "b"), "Folder of text files: 2 documents with text."),
    ],
)
def test_a_text_that_is_not_clearly_divided_is_called_one_document(tmp_path, names, said):
    for name in names:
        (tmp_path / f"{name}.txt").write_text("Peace was\nmade.\n" * 30)
    shown = describe_preview(TextTaskRunner(lambda share, said: None).look(tmp_path, {}))
    assert f"<p>{said} Each text file is one document. For more documents" in shown


def test_a_single_text_is_read_in_paragraphs_and_the_preview_says_so(tmp_path):
    (tmp_path / "novel.txt").write_text("Peace was\nmade.\n\n" * 30)
    shown = describe_preview(TextTaskRunner(lambda share, said: None).look(tmp_path, {}))
    assert "<p>Text file with paragraphs: 30 rows with text." in shown
    assert "<p>Each paragraph is read as a document.</p>" in shown


def test_a_count_of_one_has_a_noun_in_the_singular():
    effect = WordEffect(1, 1, 1, 1, ("peace",), 1, 1)
    said = describe_effect(effect, WordChoices())
    assert "In the only document: a vocabulary of 1 word, and 1 of 1 token counted (100 %)." in said
    assert "A word must be in at least 1 document" in said
    assert "1 document, 1 word, 1 token," in describe_own(
        OwnCorpus("a", 1, 1, 1, None, "D", "document", False, "a.csv", 0, "2026-11-22T06:00:00")
    )


def test_a_page_lists_at_most_a_hundred_bad_rows(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("text,year\n" + "peace,1900\n" * 3 + ",\n" * 300)
    text = describe_preview(TextTaskRunner(lambda share, said: None).look(path, {}))
    assert text.count("<li>") == 100
    assert "300 rows (the first 100 are listed)" in text


@pytest.mark.parametrize(
    ("sample", "is_told"), [(3, False), (99, False), (100, True), (1_000, True)]
)
def test_a_corpus_can_be_built_even_if_a_small_sample_has_no_words(sample, is_told):
    assert bool(explain_no_word(WordEffect(0, 0, 50, sample, (), sample, 1_000))) == is_told


def test_a_corpus_of_one_day_has_one_date_and_a_folder_has_files(view, tmp_path):
    dated = tmp_path / "dated.csv"
    dated.write_text("text,date\npeace and war,1999-01-01\ntariff and trade,1999-01-01\n")
    look(view, dated)
    assert "All dates: 1999-01-01." in view.columns.facts.object
    folder = tmp_path / "folder"
    folder.mkdir()
    for name in ("a", "b"):
        (folder / f"{name}.txt").write_text(f"peace and war in {name}")
    look(view, folder)
    assert "No dates: the documents keep the order of the files." in view.columns.facts.object
    view.name_field.value = "dated"
    look(view, dated)
    asyncio.run(view.build_corpus(None))
    assert describe_own(list_own()[0]).startswith(
        "2 documents, 4 words, 4 tokens, 1999-01-01, with its text"
    )


def test_another_sheet_of_a_workbook_can_be_chosen_and_is_built(view, path, tmp_path, begun):
    look(view, path)
    assert not view.columns.sheet.visible
    book = tmp_path / "mine.xlsx"
    letters = [["body", "year"], *([f"Peace and trade of {n}", 1900 + n] for n in range(3))]
    counts = [["", *"abcdefghij"], *([f"T{n}", 0, 0, 0, *range(7)] for n in range(5))]
    book.write_bytes(write_xlsx({"A": [["x"], [""]], "Letters": letters, "Counts": counts}))
    look(view, book)
    menu = view.columns.sheet
    assert (menu.visible, menu.value, menu.options) == (True, "Counts", ["Counts", "A", "Letters"])
    assert not view.columns.selects["text"].visible
    menu.value = "Letters"
    assert begun[-1] == (view.look, (book, {"sheet": "Letters"}))
    look(view, book, {"sheet": "Letters"})
    assert read_columns(view) == {"text": "body", "date": "year", "title": NONE, "group": NONE}
    assert (menu.value, menu.options) == ("Letters", ["Counts", "A", "Letters"])
    asyncio.run(view.build_corpus(None))
    assert list_own()[0].num_documents == 3


def test_the_order_of_dates_and_the_encoding_can_be_chosen_where_they_are_not_certain(
    view, tmp_path
):
    path = tmp_path / "mine.csv"
    rows = "".join(f"Größe und Verträge {day},{day}/4/1863\n" for day in range(1, 6))
    path.write_bytes(f"text,when\n{rows}".encode("cp1252"))
    look(view, path)
    menus = (view.columns.day_first, view.columns.encoding)
    assert [(menu.visible, menu.value) for menu in menus] == [
        (True, "As most dates need"),
        (True, "As detected"),
    ]
    assert view.words.lemmas.value == "No lemmas"
    assert view.preview.first[1].date == "1863-02-04"
    menus[0].value, menus[1].value = "Day first", "koi8_r"
    look(view, path, view.columns.read())
    assert view.preview.first[1].date == "1863-04-02"
    assert "Größe" not in view.preview.first[1].text
    assert [menu.value for menu in menus] == ["Day first", "koi8_r"]
    assert view.columns.encoding.visible
    path.write_text("text,when\npeace,1863\nwar,1864\n")
    look(view, path)
    assert not view.columns.day_first.visible
    assert not view.columns.encoding.visible
