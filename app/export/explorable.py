"""The runs of a sweep as one HTML file without a server or network: a slider for each setting that
they differ in, and for each run its stick, word lists, curves and player.

python -m stickbreaker.app.export.explorable [STUDY] --to FILE
"""

import argparse
import json
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

from stickbreaker import engine
from stickbreaker.app.export.offline import BODY, curve_points, describe_curve, embed
from stickbreaker.app.export.single_page import read_texts, write_page
from stickbreaker.app.frames import word_table
from stickbreaker.app.model.counting import count, only_if
from stickbreaker.app.model.disk_space import OWN_CORPORA, UserFiles
from stickbreaker.app.model.progress import Progress
from stickbreaker.app.model.recorded_run import learn
from stickbreaker.app.model.run_spec import (
    SENTENCES,
    format_value,
    name_setting,
    title_corpus,
)
from stickbreaker.app.model.saved_sweeps import read_runs
from stickbreaker.app.model.sweep_plan import SWEPT, plan_sweep
from stickbreaker.app.server.service import first_spec, load_by_name
from stickbreaker.app.theme import ink_on, topic_color
from stickbreaker.engine.evaluation.held_out import NUM_TOPICS_RULE
from stickbreaker.engine.files.whole_files import FileError

GRID = {"forgetting_rate": (0.5, 0.6, 0.7, 0.8, 0.9), "batch_size": (64, 128, 256, 512)}
CURVES = ("heldout", "num_topics")
SIGNS = ("", "+", "↑")
ABOUT = (
    "A computer program, a topic model, read {read} of {title}, a few at a time. It sorted their"
    " words into topics: words of one topic often occur in the same documents. It was not told what"
    " the documents are about."
)
TO_DO = (
    "Press ▶ to replay a run from its start. The sliders choose among {runs} with different"
    " settings."
)
REMOVED = " Not shown: {removed} whose model has been removed."
STICK = (
    "The stick: each piece is a topic. The longer it is, the more words the model gives to the"
    " topic. Press a piece to see its words; until then, two topics are shown."
)
COLUMNS = (
    "Each column is a moment: the number of documents read, the date of the newest, and the ten top"
    " words."
)
SCORES = (
    "The held-out log likelihood says how well the model predicts words of documents that it did"
    " not learn from; higher is better. Thin lines are the other runs, and the orange line is the"
    f" moment. Topics in use: {NUM_TOPICS_RULE}"
)
STYLE = read_texts("export/offline.css", "export/explorable.css")
VIEWS = ("stick", "word_table", "replay_player")


def write_explorable(path: Path, runs: Sequence[Progress], num_removed: int = 0) -> None:
    """Write finished runs of one corpus as a page that says how many others have been removed."""
    title = f"Watch a topic model learn: {title_corpus(runs[0].corpus_name)}"
    scripts = [
        read_texts("widgets/dom.js", "export/chart.js"),
        *map(_read_view, VIEWS),
        read_texts("export/explorable.js"),
    ]
    write_page(
        path, title, BODY.format(state=embed(gather(runs, num_removed))), STYLE, "\n".join(scripts)
    )


def _read_view(name: str) -> str:
    """The script and style of a view of the app, as a constant."""
    script = read_texts(f"views/{name}.js").replace("export function render", "function render")
    style = json.dumps(read_texts(f"views/{name}.css"))
    return f"const {name}_view = (() => {{\n{script}\nreturn {{render, style: {style}}}\n}})()"


def gather(runs: Sequence[Progress], num_removed: int = 0) -> dict[str, Any]:
    """Collect all content of the page as values for JSON."""
    words: dict[str, int] = {}
    names = [name for name in reversed(SWEPT) if len(_values(runs, name)) > 1]
    axes = [_axis(runs, name) for name in names]
    titles = sorted({_title(run) for run in runs})
    if len(titles) > 1:
        names.append("algorithm")
        axes.append({"label": "Algorithm", "help": "", "values": titles})
    places = [
        [axis["values"].index(_write(run, name)) for name, axis in zip(names, axes, strict=True)]
        for run in runs
    ]
    gathered = [_gather_run(run, words) for run in runs]
    ids = {topic_id for run in gathered for topic_id in run["titles"]}
    read = count(max(run.documents_seen for run in runs), "document")
    return {
        "about": ABOUT.format(read=read, title=title_corpus(runs[0].corpus_name)),
        "toDo": TO_DO.format(runs=count(len(runs), "recorded run"))
        + only_if(num_removed, REMOVED.format(removed=count(num_removed, "run"))),
        "stick": STICK,
        "marks": f"{COLUMNS} {word_table.MARKS}",
        "scores": SCORES,
        "roles": word_table.ROLES,
        "axes": axes,
        "curves": {name: describe_curve(name) for name in CURVES},
        "colors": {
            topic_id: [topic_color(topic_id), ink_on(topic_color(topic_id))] for topic_id in ids
        },
        "runs": [{"place": place, **run} for place, run in zip(places, gathered, strict=True)],
        "words": list(words),
        "signs": SIGNS,
    }


def _values(runs: Sequence[Progress], name: str) -> list[Any]:
    """The values of a setting that was chosen for these runs, in order."""
    return sorted({getattr(run.config, name) for run in runs if name in run.chosen})


def _axis(runs: Sequence[Progress], name: str) -> dict[str, Any]:
    configs = {engine.find_algorithm(run.algorithm).config for run in runs}
    about = {each.name: each.metadata["help"] for config in configs for each in fields(config)}
    values = dict.fromkeys(map(format_value, _values(runs, name)))
    return {
        "label": name_setting(name, SWEPT[name]),
        "help": SENTENCES.get(name, about[name]),
        "values": [*values],
    }


def _title(run: Progress) -> str:
    return engine.find_algorithm(run.algorithm).title


def _write(run: Progress, name: str) -> str:
    return _title(run) if name == "algorithm" else format_value(getattr(run.config, name))


def _gather_run(run: Progress, words: dict[str, int]) -> dict[str, Any]:
    """One run.

    The moments have pieces of the stick, as [topic id, share], in the order of the ids. A cell of a
    word list is the place of the word times three, plus the place of its sign; null without a word.
    """
    shares = [word_table.list_shares(moment) for moment in run.columns]
    ids = sorted({topic_id for each in shares for topic_id in each})
    blocks = word_table.table_blocks(run, ids)

    def number(cell: list[str] | None) -> int | None:
        if cell is None:
            return None
        word, sign = cell
        return len(SIGNS) * words.setdefault(word, len(words)) + SIGNS.index(sign)

    return {
        "label": run.label,
        "total": run.documents_total,
        "columns": [
            [int(moment.documents_seen), column["date"], int(moment.num_topics)]
            for moment, column in zip(run.columns, word_table.table_columns(run), strict=True)
        ],
        "pieces": [list(each.items()) for each in shares],
        "titles": {topic_id: run.topic_title(topic_id) for topic_id in ids},
        "shown": list(run.default_topics),
        "lists": {
            block["topic_id"]: [[number(cell) for cell in row] for row in block["cells"]]
            for block in blocks
        },
        **{name: curve_points(run, name) for name in CURVES},
    }


def read_study(study: Path) -> tuple[list[Progress], int]:
    """Read a kept sweep from its file, or the newest one in a folder of a user's data.

    Also how many of its runs have been removed.
    """
    folder = study if study.is_dir() else study.parents[1]
    files = UserFiles(folder)
    newest = files.sweeps.list_newest()[:1] if study.is_dir() else [study]
    if not newest:
        raise FileError(f"There is no sweep in {study}: name a folder of the app's data.")
    state = files.sweeps.read(newest[0].stem)
    return read_runs(state, files.kept, lambda name: load_by_name(name, folder / OWN_CORPORA))


def learn_study() -> list[Progress]:
    """Learn from State of the Union with all combinations of κ and S in `GRID`."""
    spec = first_spec()
    corpus = engine.load_corpus(spec.corpus_name)
    return [learn(each, corpus).progress(0) for each in plan_sweep(spec, (), GRID)]


def main() -> None:
    """Read or learn the runs, and write the file."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "study",
        nargs="?",
        type=Path,
        help="file of a sweep, or the app's data folder, for its newest sweep; without it, twenty"
        " runs of State of the Union are learned",
    )
    parser.add_argument("--to", type=Path, required=True, help="the HTML file to write")
    given = parser.parse_args()
    try:
        runs, num_removed = read_study(given.study) if given.study else (learn_study(), 0)
    except (FileError, engine.CorpusError) as error:
        parser.error(str(error))
    write_explorable(given.to, runs, num_removed)
    print(f"{given.to}: {count(len(runs), 'run')}, {given.to.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
