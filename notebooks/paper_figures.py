"""Define each figure: its study or run, its numbers, and how it is drawn."""

from collections.abc import Mapping
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from notebooks.drawings import Axes, draw_panels, draw_unlike_panels, draw_word_lists
from stickbreaker import engine
from stickbreaker.app.frames.progress_frames import NUM_TOP_WORDS, default_topics, table_frame
from stickbreaker.app.model.progress import Checkpoint
from stickbreaker.app.model.word_lists import find_top_words
from stickbreaker.engine.corpora.corpus import Corpus
from stickbreaker.engine.evaluation.held_out import count_topics
from stickbreaker.engine.inference.expectations import expected_log_likelihood, log_expected_likelihood
from stickbreaker.engine.runs.cells import score_further
from stickbreaker.engine.runs.compile import compile_algorithm
from stickbreaker.engine.runs.prepared import prepare_training, split_corpus
from stickbreaker.engine.runs.settings import RunSettings
from stickbreaker.engine.runs.study import SHUFFLED, Study, run_study

FAST_DOCUMENTS = 400
# The HDP as printed: without this project's start, local step and removal of redundant topics.
WANG = {"start": "wang", "topic_expectation": "geometric", "duplicates": "keep"}
AT_64 = {"delay": 64.0}
HDP_AT_64 = {"max_topics": 150, **AT_64}
SVI = {"forgetting_rate": 0.9, "delay": 1.0, "batch_size": 500}
TOKENS = "nats per held-out word (tokens_90_10, fold_in)"
DISJOINT = "nats per held-out word (disjoint_words, own)"
SAMPLED = "nats per word of test documents (importance_sampling)"
DOCUMENTS = "documents read, all passes"


class Setup(NamedTuple):
    """The folder for stored runs, and whether figures are drawn from a few documents as a check."""

    folder: Path
    is_fast: bool

    def run(self, lines: Mapping[str, Study], protocol: str, predictive: str) -> pd.DataFrame:
        """Return the scores of one protocol and predictive, with a column "line" that names their study.

        A name in braces is replaced by the setting's value: "LDA, K={max_topics}". Raises RuntimeError if a run failed.
        """
        parts = []
        for name, study in lines.items():
            frame = run_study(self.shrink(study), self.folder)
            if frame["error"].notna().any():
                raise RuntimeError(f"{name}: {frame['error'].dropna().iloc[0]}")
            frame = frame[(frame["protocol"] == protocol) & (frame["predictive"] == predictive)]
            parts.append(frame.assign(line=[name.format(**cell) for cell in frame.to_dict("records")]))
        return pd.concat(parts, ignore_index=True)

    def shrink(self, study: Study) -> Study:
        """Return the study, or a small version of it: few documents, few passes, and the ends of its grid."""
        if not self.is_fast:
            return study
        grid = {name: tuple(dict.fromkeys((values[0], values[-1]))) for name, values in study.grid.items()}
        run = replace(study.run, passes=1 if study.run.passes is None else min(2, study.run.passes))
        return replace(study, grid=grid, run=run, seeds=study.seeds[:1], num_documents=FAST_DOCUMENTS)


def last_scores(frame: pd.DataFrame, *names: str) -> pd.DataFrame:
    """Return the last score and number of topics of each run, by line and these settings; means over seeds."""
    keys = ["line", *names]
    ends = frame.sort_values("documents_seen", kind="stable").groupby([*keys, "seed"], sort=False, dropna=False).tail(1)
    return ends.groupby(keys, sort=False)[["nats_per_word", "num_topics", "seconds"]].mean().reset_index()


def curves(frame: pd.DataFrame, x: str, y: str = "nats_per_word") -> pd.DataFrame:
    """Return columns line, x, y: scores over documents or seconds; means over seeds."""
    frame = frame.assign(number=frame.groupby(["line", "seed"], sort=False).cumcount())
    return frame.groupby(["line", "number"], sort=False)[[x, y]].mean().reset_index().rename(columns={x: "x", y: "y"})


def read(passes: int | None, num_evaluations: int = 1) -> RunSettings:
    """Return settings of a shuffled run with this number of passes, and of evaluations per pass."""
    return replace(SHUFFLED, passes=passes, num_evaluations=num_evaluations)


def wang_2011_figure_3(setup: Setup) -> tuple[pd.DataFrame, Any]:
    """Draw held-out likelihood over time: online HDP and online LDA on all passages, batch HDP on a tenth of them."""
    train, test = split_corpus(few(engine.load_corpus("state-of-the-union"), setup), SHUFFLED)
    tenth = train.select(np.arange(train.num_documents // 10))
    fixed = HDP_AT_64 | {"batch_size": 256, "forgetting_rate": 0.6}
    lines = {"online HDP, ours": ("hdp", fixed, train), "online HDP, as printed": ("hdp", fixed | WANG, train)}
    lines |= {f"online LDA, K={size}": ("lda", fixed | {"max_topics": size}, train) for size in (20, 150)}
    lines |= {"batch HDP, ours, a tenth": ("batch-hdp", {}, tenth), "batch HDP, ours, all": ("batch-hdp", {}, train)}
    lines["batch HDP, as printed, a tenth"] = ("batch-hdp", WANG, tenth)
    parts = []
    for line, (system, values, read_from) in lines.items():
        online, batch = (1, 2) if setup.is_fast else (5, 40)
        followed = follow(system, values, read_from, test, batch if system == "batch-hdp" else online)
        parts.append(followed.assign(line=line))
    frame = pd.concat(parts, ignore_index=True)
    frame["panel"] = "State of the Union, κ = 0.6, τ₀ = 64, S = 256"
    axes = Axes("seconds of learning (log scale)", TOKENS, True, x_format="0.[00]")
    return frame, draw_panels(frame, axes, height=440, width=560)


def follow(system: str, values: Mapping[str, Any], train: Corpus, test: Corpus, passes: int) -> pd.DataFrame:
    """Return columns x, y, steps, num_topics: seconds and held-out score after 1, 2, 4, 8 … and all steps."""
    algorithm = engine.find_algorithm(system)
    settings = replace(SHUFFLED, passes=passes)
    prepared = replace(prepare_training(algorithm, algorithm.config(**values), train, settings), test=test)
    compile_algorithm(algorithm, prepared.config)
    rows = []
    for update in engine.run(prepared):
        stepped, number = update.stepped, update.stepped.info.step
        if update.is_last or number & (number - 1) == 0:
            scores = score_further("tokens_90_10", prepared, update.state)
            rows.append((stepped.seconds, scores["fold_in"], number, stepped.num_topics))
    return pd.DataFrame(rows, columns=["x", "y", "steps", "num_topics"])


def wang_2011_figure_4(setup: Setup) -> tuple[pd.DataFrame, Any]:
    """Draw held-out likelihood over S, with a panel for each κ."""
    sizes, rates = (16, 64, 256, 1024, 2048), {"forgetting_rate": (0.6, 0.8, 1.0)}
    of_lda = rates | {"batch_size": sizes[1:], "max_topics": (20, 60, 150)}
    more = {"protocols": ("tokens_90_10",), "run": read(5)}
    lines = {
        "online HDP, ours": Study(("hdp",), grid=rates | {"batch_size": sizes}, fixed=HDP_AT_64, **more),
        "online LDA, K={max_topics}": Study(("lda",), grid=of_lda, fixed=AT_64, **more),
    }
    scored = setup.run(lines, "tokens_90_10", "fold_in")
    frame = last_scores(scored, "forgetting_rate", "batch_size").rename(
        columns={"batch_size": "x", "nats_per_word": "y"}
    )
    frame["panel"] = [f"κ = {rate:g}" for rate in frame["forgetting_rate"]]
    axes = Axes("mini-batch size S (log scale)", TOKENS, True, at=sizes, x_format="0")
    return frame, draw_panels(frame, axes, width=310)


def wang_2011_table_1(setup: Setup) -> tuple[pd.DataFrame, Any]:
    """Draw word lists of two topics in one chronological pass."""
    corpus = few(engine.load_corpus("state-of-the-union"), setup)
    algorithm = engine.find_algorithm("hdp")
    settings = RunSettings(num_evaluations=0, num_snapshots=9)
    updates = engine.run(engine.prepare(algorithm, algorithm.config(), corpus, settings))
    found = [checkpoint_of(each.snapshot, each.snapshot.summary) for each in updates if each.snapshot is not None]
    clear, late = default_topics(found)
    frame = word_lists(
        found, corpus, {"a topic that is clear early": clear, "a topic that forms late": late}, is_dated=True
    )
    return frame, draw_word_lists(frame, "passages read, and the year reached; grey: not in the last list")


def hoffman_2010_figure_1(setup: Setup) -> tuple[pd.DataFrame, Any]:
    """Draw the top words of a topic of online LDA as it reads more documents."""
    corpus, algorithm = few(engine.load_corpus("rfc"), setup), engine.find_algorithm("lda")
    size, marks = (32, 8) if setup.is_fast else (1024, 64)
    config = algorithm.config(max_topics=100, forgetting_rate=0.5, delay=1024.0, batch_size=size)
    settings = RunSettings(order="shuffled", num_evaluations=0, num_snapshots=0, score_next_batch=False)
    steps = (update.stepped for update in engine.run(engine.prepare(algorithm, config, corpus, settings)))
    shown = (2, 4, 8, 12, 16, 32, 48, 64)
    found = [
        checkpoint_of(step, algorithm.summarize(config, step.state))
        for step in islice(steps, marks)
        if step.info.step in shown
    ]
    topic = default_topics(found)[-1]
    frame = word_lists(found, corpus, {"top eight words": topic}, is_dated=False)
    frame = frame[frame["rank"] <= 8]
    return frame, draw_word_lists(frame, "passages read; grey: not in the last list")


def few(corpus: Any, setup: Setup) -> Any:
    """Return the corpus, or a few of its documents from the whole period."""
    if not setup.is_fast:
        return corpus
    return corpus.select(np.linspace(0, corpus.num_documents - 1, FAST_DOCUMENTS).astype(int))


def checkpoint_of(event: Any, summary: Any) -> Checkpoint:
    """Return a moment of a run in the form that the page stores."""
    tokens = np.asarray(summary.expected_tokens, float)
    top_words = find_top_words(summary.topics, NUM_TOP_WORDS)
    num_topics = count_topics(tokens)
    weights = tokens / max(tokens.sum(), 1e-30)
    return Checkpoint(
        event.documents_seen, event.date, summary.topic_ids, weights, tokens, top_words, num_topics=num_topics
    )


def word_lists(found: list[Checkpoint], corpus: Any, topics: Mapping[str, int], is_dated: bool) -> pd.DataFrame:
    """Return the columns that `draw_word_lists` needs; headings are the documents read, and the year if `is_dated`."""
    lists = table_frame(found, corpus.vocabulary, list(topics.values()))
    names = {topic_id: name for name, topic_id in topics.items()}
    years = pd.to_datetime(lists["date"]).dt.year if is_dated else [""] * len(lists)
    heads = [f"{seen:,}\n{year}".strip() for seen, year in zip(lists["documents_seen"], years, strict=True)]
    parts = {"topic": lists["topic_id"].map(names), "column": heads, "rank": lists["rank"] + 1}
    return pd.DataFrame(parts | {"word": lists["word"]}).sort_values("topic", kind="stable")


def svi_2013_figure_11(setup: Setup) -> tuple[pd.DataFrame, Any]:
    """Draw held-out likelihood over K of LDA and of the HDP."""
    sizes = (25, 50, 100, 200, 300)
    parts = []
    for title, corpus, few_documents, passes in (
        ("State of the Union, 2 passes", "state-of-the-union", None, 2),
        ("10,000 passages of RFCs, 2 passes", "rfc", 10_000, 2),
    ):
        more = {"corpora": (corpus,), "num_documents": few_documents, "run": read(passes)}
        grid, largest = {"max_topics": sizes}, {"max_topics": sizes[-1:]}
        lines = {
            "online LDA": Study(("lda",), grid=grid, fixed=SVI, **more),
            "online HDP, ours": Study(("hdp",), grid=grid, **more),
        }
        if few_documents is None:
            lines["HDP as printed"] = Study(("svi-hdp",), grid=largest, **more)
        frame = last_scores(setup.run(lines, "disjoint_words", "own"), "max_topics")
        parts.append(frame.assign(panel=title))
    frame = pd.concat(parts).rename(columns={"max_topics": "x", "nats_per_word": "y"})
    return frame, draw_panels(frame, Axes("topics K; for the HDPs the maximum", DISJOINT, at=sizes), width=380)


def svi_2013_figure_12(setup: Setup) -> tuple[pd.DataFrame, Any]:
    """Draw held-out likelihood of the HDP over documents, with a line for each κ."""
    grid = {"forgetting_rate": (0.5, 0.6, 0.8, 0.9, 1.0)}
    return draw_learning(setup, grid, "κ = {forgetting_rate:g}", {"delay": 1.0, "batch_size": 500}, "S = 500, τ₀ = 1")


def svi_2013_figure_13(setup: Setup) -> tuple[pd.DataFrame, Any]:
    """Draw held-out likelihood of the HDP over documents, with a line for each S."""
    grid = {"batch_size": (50, 100, 500, 1000)}
    return draw_learning(setup, grid, "S = {batch_size}", {"delay": 1.0, "forgetting_rate": 0.9}, "κ = 0.9, τ₀ = 1")


def draw_learning(
    setup: Setup, grid: Mapping[str, Any], line: str, fixed: Mapping[str, Any], title: str
) -> tuple[pd.DataFrame, Any]:
    """Draw curves for the values of one setting: the HDP as printed, and ours next to it."""
    parts = []
    for name, system in (("HDP of SVI 2013, as printed", "svi-hdp"), ("online HDP, ours", "hdp")):
        requested = {"max_topics": 150, **fixed}
        study = Study((system,), grid=grid, fixed=requested, run=read(3, 4), num_documents=2000)
        scored = setup.run({line: study}, "disjoint_words", "own")
        parts.append(curves(scored, "documents_seen").assign(panel=f"{name}; {title}"))
    frame = pd.concat(parts, ignore_index=True)
    return frame, draw_panels(frame, Axes(DOCUMENTS, DISJOINT, x_format="0a"), width=400)


def hoffman_2010_table_1(setup: Setup) -> tuple[pd.DataFrame, Any]:
    """Draw perplexity of online LDA over S, with a line for each τ₀ and a panel for each κ."""
    sizes = (16, 64, 256, 1024)
    grid = {"forgetting_rate": (0.5, 0.7, 0.9), "delay": (1.0, 64.0, 1024.0), "batch_size": sizes}
    study = Study(
        ("lda",), grid=grid, num_documents=3000, run=read(3), protocols=("perplexity_bound",), fixed={"max_topics": 100}
    )
    scored = setup.run({"τ₀ = {delay:g}": study}, "perplexity_bound", "fold_in")
    frame = last_scores(scored, "forgetting_rate", "delay", "batch_size").rename(columns={"batch_size": "x"})
    frame["y"] = np.exp(-frame["nats_per_word"])
    frame["panel"] = [f"κ = {rate:g}" for rate in frame["forgetting_rate"]]
    axes = Axes("mini-batch size S (log scale)", "perplexity (perplexity_bound)", True, sizes, "0", "0,0")
    return frame, draw_panels(frame, axes, width=310)


def teh_2007_figure_2(setup: Setup) -> tuple[pd.DataFrame, Any]:
    """Draw test likelihood and bound over K, and test likelihood over sweeps, of collapsed and plain VB and Gibbs."""
    sizes = (10, 40, 100)
    more, by_size = {"num_documents": 1000, "run": read(30)}, {"grid": {"max_topics": sizes}}
    lines = {
        "CV-HDP": Study(("cv-hdp",), **more, **by_size),
        "CV-LDA": Study(("cv-lda",), **more, **by_size),
        "V-LDA": Study(("batch-lda",), **more, **by_size, fixed={"doc_concentration": 0.1, "start": "hoffman"}),
        "Gibbs LDA": Study(("gibbs-lda",), **more, **by_size),
        "Gibbs HDP from {initial_topics}": Study(("gibbs-hdp",), grid={"initial_topics": (1, 100)}, **more),
    }
    scored = setup.run(lines, "disjoint_words", "own")
    ends = scored.sort_values("documents_seen", kind="stable").groupby(["line", "max_topics"], sort=False).tail(1)
    ends = ends.assign(x=ends["max_topics"]).sort_values(["line", "x"])
    is_followed = scored["max_topics"].isna() | (scored["max_topics"] == sizes[-1])
    followed = curves(scored[is_followed], "documents_seen")
    sweeps = followed.assign(x=followed.groupby("line").cumcount() + 1, panel=f"over sweeps, K = {sizes[-1]}")
    axes = Axes("topics K", DISJOINT, at=sizes)
    parts = [
        (ends.assign(y=ends["nats_per_word"], panel="test, over K"), axes),
        (sweeps, axes._replace(x_label="sweeps", at=())),
        (
            ends.dropna(subset="bound").assign(y=lambda part: part["bound"], panel="bound, over K"),
            axes._replace(y_label="bound, nats per training word"),
        ),
    ]
    frame = pd.concat([part for part, _ in parts], ignore_index=True)[["panel", "line", "x", "y"]]
    return frame, draw_unlike_panels(parts)


def wang_blei_2012_figure_2(setup: Setup) -> tuple[pd.DataFrame, Any]:
    """Draw log-odds between a known and a new component, for a document of w₁ copies of word 1."""
    counts = np.zeros((20, 10))
    counts[:, 0] = np.arange(1, 21)
    parts = []
    for case, first in (("A: q(θ₁) = Dirichlet(0.1, 1, …, 1)", 0.1), ("B: q(θ₁) = Dirichlet(1, 1, …, 1)", 1.0)):
        known, new = np.append(first, np.ones(9)), np.full(10, 0.1)
        for line, weigh in (("locally collapsed", log_expected_likelihood), ("mean-field", expected_log_likelihood)):
            odds = weigh(counts, known) - weigh(counts, new)
            parts.append(pd.DataFrame({"panel": case, "line": line, "x": counts[:, 0], "y": odds}))
    frame = pd.concat(parts, ignore_index=True)
    axes = Axes("w₁, occurrences of word 1 in the document", "log-odds of z = 1 against z = 2, nats", y_format="0")
    return frame, draw_panels(frame, axes, width=380)


def wang_blei_2012_figure_3(setup: Setup) -> tuple[pd.DataFrame, Any]:
    """Draw test likelihood over S, components over S and components over documents, of the DP mixture."""
    lines = {"truncation-free": ("free-dp-mixture", {})}
    return draw_growing(setup, lines, "components")


def wang_blei_2012_figure_4(setup: Setup) -> tuple[pd.DataFrame, Any]:
    """Draw test likelihood over S, topics over S and topics over documents, of the HDP."""
    mean_field = {"max_topics": 150, "delay": 1.0, "forgetting_rate": 0.6}
    lines = {
        "truncation-free": ("free-hdp", {}),
        "mean-field, as printed": ("hdp", mean_field | WANG),
        "mean-field, ours": ("hdp", mean_field),
    }
    return draw_growing(setup, lines, "topics")


def draw_growing(setup: Setup, lines: Mapping[str, Any], what: str) -> tuple[pd.DataFrame, Any]:
    """Draw the three panels of Fig. 3 or Fig. 4."""
    sizes, more = (1, 5, 10, 50, 100, 500), {"num_documents": 2000, "run": read(3)}
    predictive = "own" if what == "components" else "fold_in"
    studies = {
        line: Study((system,), grid={"batch_size": sizes}, fixed=fixed, protocols=("importance_sampling",), **more)
        for line, (system, fixed) in lines.items()
    }
    scored = setup.run(studies, "importance_sampling", predictive)
    ends = last_scores(scored, "batch_size").rename(columns={"batch_size": "x"})
    followed = {
        line: Study((system,), fixed=fixed | {"batch_size": 10}, **more | {"run": read(3, 9)})
        for line, (system, fixed) in lines.items()
    }
    growth = curves(setup.run(followed, "disjoint_words", "own"), "documents_seen", "num_topics")
    by_size = {"is_log": True, "at": sizes, "x_format": "0"}
    parts = [
        (ends.assign(y=ends["nats_per_word"], panel="(a)"), Axes("mini-batch size S (log scale)", SAMPLED, **by_size)),
        (
            ends.assign(y=ends["num_topics"], panel="(b)"),
            Axes("mini-batch size S (log scale)", f"{what} for 99 % of the tokens", **by_size, y_format="0"),
        ),
        (
            growth.assign(panel="(b), S = 10"),
            Axes(DOCUMENTS, f"{what} for 99 % of the tokens", x_format="0a", y_format="0"),
        ),
    ]
    frame = pd.concat([part for part, _ in parts], ignore_index=True)[["panel", "line", "x", "y"]]
    return frame, draw_unlike_panels(parts)


FIGURES = {
    "wang-2011-fig-4": wang_2011_figure_4,
    "wang-2011-table-1": wang_2011_table_1,
    "hoffman-2010-fig-1": hoffman_2010_figure_1,
    "wang-blei-2012-fig-2": wang_blei_2012_figure_2,
    "svi-2013-fig-11": svi_2013_figure_11,
    "svi-2013-fig-12": svi_2013_figure_12,
    "svi-2013-fig-13": svi_2013_figure_13,
    "wang-2011-fig-3": wang_2011_figure_3,
    "hoffman-2010-table-1": hoffman_2010_table_1,
    "teh-2007-fig-2": teh_2007_figure_2,
    "wang-blei-2012-fig-3": wang_blei_2012_figure_3,
    "wang-blei-2012-fig-4": wang_blei_2012_figure_4,
}
