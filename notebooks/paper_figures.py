"""Define each figure: its study or run, its numbers, and how it is drawn."""

from collections.abc import Mapping
from functools import partial
from itertools import islice
from typing import Any

import numpy as np
import pandas as pd

from notebooks.drawings import (
    TOPICS,
    Axes,
    draw_above_topics,
    draw_panels,
    draw_unlike_panels,
    draw_word_lists,
)
from notebooks.figure_runs import SPEECHES, Followed, Setup, average, curves, last_scores, read
from stickbreaker import engine
from stickbreaker.app.frames.word_table import table_frame
from stickbreaker.app.model.default_topics import default_topics
from stickbreaker.app.model.progress import Moment
from stickbreaker.app.model.word_lists import make_moment
from stickbreaker.engine.inference.expectations import (
    expected_log_likelihood,
    log_expected_likelihood,
)
from stickbreaker.engine.runs.settings import RunSettings
from stickbreaker.engine.runs.study import Study

# The HDP as printed, and with the rule of its authors' code: without this project's start, local
# step and removal of redundant topics.
WANG = {"start": "wang", "topic_expectation": "geometric", "duplicates": "keep"}
WANG_AS_RUN = WANG | {"start": "wang-code"}
BATCH_WANG = {"start": "wang", "topic_expectation": "geometric"}
AT_64 = {"delay": 64.0}
# κ and τ₀ act in every pass, as in the papers.
PAPER_RATES = {"later_passes": "forget"}
HDP_AT_64 = {"max_topics": 150, **AT_64}
SVI = {"forgetting_rate": 0.9, "delay": 1.0, "batch_size": 500}
TOKENS = "nats per held-out word (tokens_90_10, fold_in)"
DISJOINT = "nats per held-out word (disjoint_words, own)"
WITHIN = "nats per held-out word (within_documents, own)"
SAMPLED = "nats per test word (importance_sampling)"
PERPLEXITY = "perplexity (Eq. 16 as printed)"
SECONDS = "seconds of learning (log scale)"
DOCUMENTS = "documents read, all passes"
# Teh 2007 sec. 4: β of all words, the α of LDA in all, and the sweeps of variational systems and of
# samplers here.
WORD_TOTAL, TEH_LDA, SWEEPS, SAMPLER_SWEEPS = 100.0, {"doc_concentration": 0.1}, 40, 200
TEH_DOCUMENTS = 500
# Passages of RFCs in figures of many runs, of which the printed systems take a minute each.
MANY = 10_000
# A smaller corpus than State of the Union, as PNAS is smaller than Nature, with the paper's 39
# mini-batches a pass.
SMALLER = {"corpus": "rfc", "num_documents": 800}
SMALLER_SIZE = 18


def wang_2011_figure_3(setup: Setup) -> tuple[pd.DataFrame, Any]:
    """Draw held-out likelihood over time: online HDP and online LDA on all passages, batch HDP on a
    part of them.
    """
    all_rfcs = {"corpus": "rfc"}
    lines = online_lines(256, 1, all_rfcs)
    # The paper's batch HDP reads 20,000 of 352,549 articles.
    lines |= {
        "batch HDP, ours, a twentieth": Followed("batch-hdp", {}, 20, share=0.05, **all_rfcs),
        "batch HDP, as printed, a twentieth": Followed(
            "batch-hdp", BATCH_WANG, 20, share=0.05, **all_rfcs
        ),
    }
    return draw_over_time(setup, lines, "all passages of RFCs, κ = 0.6, τ₀ = 64, S = 256")


def wang_2011_figure_5(setup: Setup) -> tuple[pd.DataFrame, Any]:
    """Draw held-out likelihood over time on a smaller corpus, all of which the batch HDP reads."""
    lines = online_lines(SMALLER_SIZE, 5, SMALLER)
    lines |= {
        "batch HDP, ours": Followed("batch-hdp", {}, 20, **SMALLER),
        "batch HDP, as printed": Followed("batch-hdp", BATCH_WANG, 20, **SMALLER),
    }
    return draw_over_time(
        setup, lines, f"800 passages of RFCs, κ = 0.6, τ₀ = 64, S = {SMALLER_SIZE}"
    )


def online_lines(batch_size: int, passes: int, read_from: Mapping[str, Any]) -> dict[str, Followed]:
    """Return the online systems of Wang 2011 Fig. 3 and 5 at κ = 0.6: the HDP in three forms, and
    LDA.
    """
    fixed = HDP_AT_64 | {"batch_size": batch_size, "forgetting_rate": 0.6}
    values = {
        "online HDP, ours": ("hdp", fixed | PAPER_RATES),
        "online HDP, as its authors ran it": ("hdp", fixed | WANG_AS_RUN),
        "online HDP, as printed": ("hdp", fixed | WANG),
        "online LDA, K=20": ("lda", fixed | {"max_topics": 20}),
        "online LDA, K=150": ("lda", fixed),
    }
    return {line: Followed(*each, passes, **read_from) for line, each in values.items()}


def draw_over_time(
    setup: Setup, lines: Mapping[str, Followed], title: str
) -> tuple[pd.DataFrame, Any]:
    """Draw `tokens_90_10` by the fold-in over seconds of learning."""
    followed, first = setup.follow(lines), next(iter(lines.values()))
    frame, topics = (
        average(followed, ["step"], "seconds", y).assign(panel=title)
        for y in ("nats", "num_topics")
    )
    frame = setup.add_words(frame, "tokens_90_10", first.corpus, first.num_documents)
    return draw_scores(
        frame, topics, Axes(SECONDS, TOKENS, True, x_format="0.[00]"), height=440, width=560
    )


def draw_scores(
    frame: pd.DataFrame, topics: pd.DataFrame, axes: Axes, **size: int
) -> tuple[pd.DataFrame, Any]:
    """Draw scores and the numbers of topics in use below them, and return the numbers of both."""
    drawn = draw_above_topics(frame, topics, axes, **size)
    named = topics.assign(panel=[f"{TOPICS}: {panel}" for panel in topics["panel"]])
    return pd.concat([frame, named], ignore_index=True), drawn


def wang_2011_figure_4(setup: Setup) -> tuple[pd.DataFrame, Any]:
    """Draw held-out likelihood over S, with a panel for each κ."""
    return draw_sizes(setup, (16, 64, 256, 1024, 2048), (20, 60, 150), {"run": read(5)})


def wang_2011_figure_6(setup: Setup) -> tuple[pd.DataFrame, Any]:
    """Draw held-out likelihood over S on the smaller corpus, with a panel for each κ."""
    few = {
        "corpora": (SMALLER["corpus"],),
        "num_documents": SMALLER["num_documents"],
        "run": read(3),
    }
    return draw_sizes(setup, (16, 64, 256), (20, 150), few)


def draw_sizes(
    setup: Setup, sizes: tuple[int, ...], topics: tuple[int, ...], read_from: Mapping[str, Any]
) -> tuple[pd.DataFrame, Any]:
    """Draw the panels of Wang 2011 Fig. 4 and 6.

    Topics: K of LDA, which leaves out the smallest S.
    """
    rates = {"forgetting_rate": (0.6, 0.8, 1.0)}
    of_lda = rates | {"batch_size": sizes[1:], "max_topics": topics}
    more = {"protocols": ("tokens_90_10",), **read_from}
    by_size = rates | {"batch_size": sizes}
    lines = {
        "online HDP, ours": Study(("hdp",), grid=by_size, fixed=HDP_AT_64 | PAPER_RATES, **more),
        "online HDP, as its authors ran it": Study(
            ("hdp",), grid=by_size, fixed=HDP_AT_64 | WANG_AS_RUN, **more
        ),
        "online LDA, K={max_topics}": Study(("lda",), grid=of_lda, fixed=AT_64, **more),
    }
    scored = setup.run(lines, "tokens_90_10", "fold_in")
    scored["panel"] = [f"κ = {rate:g}" for rate in scored["forgetting_rate"]]
    frame, topics = (
        last_scores(scored, "batch_size", y, "panel") for y in ("nats_per_word", "num_topics")
    )
    corpus = read_from.get("corpora", (SPEECHES,))[0]
    frame = setup.add_words(frame, "tokens_90_10", corpus, read_from.get("num_documents"))
    axes = Axes("mini-batch size S (log scale)", TOKENS, True, at=sizes, x_format="0")
    return draw_scores(frame, topics, axes, width=310)


def wang_2011_table_1(setup: Setup) -> tuple[pd.DataFrame, Any]:
    """Draw word lists of two topics in one chronological pass."""
    corpus = thin("state-of-the-union", setup)
    algorithm = engine.find_algorithm("hdp")
    settings = RunSettings(num_evaluations=0, num_moments=9)
    updates = engine.run(engine.prepare(algorithm, algorithm.config(), corpus, settings))
    found = [
        make_moment(each.moment.documents_seen, each.moment.date, each.moment.summary)
        for each in updates
        if each.moment is not None
    ]
    clear, late = default_topics(found, corpus)
    frame = word_lists(
        found,
        corpus,
        {"a topic that is stable early": clear, "a topic that forms late": late},
        is_dated=True,
    )
    return frame, draw_word_lists(
        frame, "passages read, and the year reached; grey: not in the last list"
    )


def hoffman_2010_figure_1(setup: Setup) -> tuple[pd.DataFrame, Any]:
    """Draw the top words of a topic of online LDA as it reads more documents."""
    corpus, algorithm, marks = thin("rfc", setup), engine.find_algorithm("lda"), 64
    size = min(1024, max(1, corpus.num_documents // (2 * marks)))
    config = algorithm.config(max_topics=100, forgetting_rate=0.5, delay=1024.0, batch_size=size)
    settings = RunSettings(
        order="shuffled", num_evaluations=0, num_moments=0, score_next_batch=False
    )
    steps = (
        update.stepped for update in engine.run(engine.prepare(algorithm, config, corpus, settings))
    )
    shown = (2, 4, 8, 12, 16, 32, 48, 64)
    found = [
        make_moment(step.documents_seen, step.date, algorithm.summarize(config, step.state))
        for step in islice(steps, marks)
        if step.info.step in shown
    ]
    topic = default_topics(found, corpus)[-1]
    frame = word_lists(found, corpus, {"top eight words": topic}, is_dated=False)
    frame = frame[frame["rank"] <= 8]
    return frame, draw_word_lists(frame, "passages read; grey: not in the last list")


def hoffman_2010_figure_1_top(setup: Setup) -> tuple[pd.DataFrame, Any]:
    """Draw perplexity over documents analysed: online LDA on all passages, online and batch LDA on
    3 % of them.
    """
    values = {"max_topics": 100}
    paper = values | {"forgetting_rate": 0.5, "delay": 1024.0, "batch_size": 1024}
    few = paper | {"delay": 64.0, "batch_size": 256}
    more = {"corpus": "rfc", "protocol": "perplexity_bound"}
    lines = {
        "online, all passages, S = 1,024": Followed("lda", paper, 1, **more),
        "online, all passages, S = 256": Followed("lda", few, 1, **more),
        "online, 3 % of them, S = 256": Followed("lda", few, 30, share=0.03, **more),
        "batch, the same 3 %": Followed("batch-lda", values, 30, share=0.03, **more),
    }
    followed = setup.follow(lines)
    followed["perplexity"] = np.exp(-followed["nats"])
    title = "RFCs, K = 100, κ = 0.5"
    frame, topics = (
        average(followed, ["step"], "documents", y).assign(panel=title)
        for y in ("perplexity", "num_topics")
    )
    frame = setup.add_words(frame, "perplexity_bound", "rfc")
    axes = Axes("documents analysed (log scale)", PERPLEXITY, True, x_format="0,0", y_format="0,0")
    return draw_scores(frame, topics, axes, height=440, width=560)


def hoffman_2010_figure_2(setup: Setup) -> tuple[pd.DataFrame, Any]:
    """Draw perplexity over seconds of learning on two corpora: online LDA for some S, batch LDA on
    all and a tenth.
    """
    values, parts, counted = {"max_topics": 100}, [], []
    online = {16: (0.9, 64.0), 64: (0.7, 64.0), 256: (0.5, 64.0), 1024: (0.5, 64.0)}
    for title, corpus in (
        ("State of the Union", "state-of-the-union"),
        ("10,000 passages of RFCs", "rfc"),
    ):
        more = {"corpus": corpus, "num_documents": 10_000, "protocol": "perplexity_bound"}
        lines = {
            f"online, S = {size:,}": Followed(
                "lda",
                values | {"batch_size": size, "forgetting_rate": rate, "delay": delay},
                5,
                **more,
            )
            for size, (rate, delay) in online.items()
        }
        lines["batch, all"] = Followed("batch-lda", values, 30, **more)
        lines["batch, a tenth"] = Followed("batch-lda", values, 30, share=0.1, **more)
        followed = setup.follow(lines)
        followed["perplexity"] = np.exp(-followed["nats"])
        frame, topics = (
            average(followed, ["step"], "seconds", y).assign(panel=title)
            for y in ("perplexity", "num_topics")
        )
        counted.append(topics)
        parts.append(setup.add_words(frame, "perplexity_bound", corpus, 10_000))
    axes = Axes(
        SECONDS, f"{PERPLEXITY}, log scale", True, x_format="0.[00]", y_format="0,0", has_log_y=True
    )
    return draw_scores(pd.concat(parts, ignore_index=True), pd.concat(counted), axes, width=400)


def thin(name: str, setup: Setup) -> Any:
    """Return the corpus, or as many of its documents as the setup allows, from the whole period."""
    corpus = engine.load_corpus(name)
    number = setup.limit(corpus.num_documents)
    return corpus.select(np.linspace(0, corpus.num_documents - 1, number).astype(int))


def word_lists(
    found: list[Moment], corpus: Any, topics: Mapping[str, int], is_dated: bool
) -> pd.DataFrame:
    """Return the columns that `draw_word_lists` needs.

    Headings are the documents read, and the year if `is_dated`.
    """
    lists = table_frame(found, corpus.vocabulary, list(topics.values()))
    names = {topic_id: name for name, topic_id in topics.items()}
    years = pd.to_datetime(lists["date"]).dt.year if is_dated else [""] * len(lists)
    heads = [
        f"{seen:,}\n{year}".strip()
        for seen, year in zip(lists["documents_seen"], years, strict=True)
    ]
    parts = {"topic": lists["topic_id"].map(names), "column": heads, "rank": lists["rank"] + 1}
    return pd.DataFrame(parts | {"word": lists["word"]}).sort_values("topic", kind="stable")


def svi_2013_figure_11(setup: Setup) -> tuple[pd.DataFrame, Any]:
    """Draw held-out likelihood over K of LDA and of the HDP."""
    sizes = (25, 50, 100, 200, 300)
    parts, counted = [], []
    for title, corpus, few_documents, passes in (
        ("State of the Union, 2 passes", "state-of-the-union", None, 2),
        ("10,000 passages of RFCs, 2 passes", "rfc", 10_000, 2),
    ):
        more = {"corpora": (corpus,), "num_documents": few_documents, "run": read(passes)}
        grid, largest = {"max_topics": sizes}, {"max_topics": sizes[-1:]}
        lines = {
            "online LDA": Study(("lda",), grid=grid, fixed=SVI, **more),
            "online HDP, ours": Study(("hdp",), grid=grid, fixed=PAPER_RATES, **more),
        }
        if few_documents is None:
            lines["HDP as printed"] = Study(("svi-hdp",), grid=largest, **more)
        scored = setup.run(lines, "disjoint_words", "own").assign(panel=title)
        frame, topics = (
            last_scores(scored, "max_topics", y, "panel") for y in ("nats_per_word", "num_topics")
        )
        parts.append(setup.add_words(frame, "disjoint_words", corpus, few_documents))
        counted.append(topics)
    axes = Axes("topics K; for the HDPs the maximum", DISJOINT, at=sizes)
    return draw_scores(pd.concat(parts, ignore_index=True), pd.concat(counted), axes, width=380)


def svi_2013_figure_12(setup: Setup) -> tuple[pd.DataFrame, Any]:
    """Draw held-out likelihood of the HDP over documents, with a line for each κ."""
    grid = {"forgetting_rate": (0.5, 0.6, 0.8, 0.9, 1.0)}
    return draw_learning(
        setup, grid, "κ = {forgetting_rate:g}", {"delay": 1.0, "batch_size": 500}, "S = 500, τ₀ = 1"
    )


def svi_2013_figure_13(setup: Setup) -> tuple[pd.DataFrame, Any]:
    """Draw held-out likelihood of the HDP over documents, with a line for each S."""
    grid = {"batch_size": (50, 100, 500, 1000)}
    return draw_learning(
        setup, grid, "S = {batch_size}", {"delay": 1.0, "forgetting_rate": 0.9}, "κ = 0.9, τ₀ = 1"
    )


def draw_learning(
    setup: Setup, grid: Mapping[str, Any], line: str, fixed: Mapping[str, Any], title: str
) -> tuple[pd.DataFrame, Any]:
    """Draw curves for the values of one setting: the HDP as printed, and ours next to it."""
    parts, counted = [], []
    for name, system in (("HDP, as printed", "svi-hdp"), ("online HDP, ours", "hdp")):
        requested = {"max_topics": 150, **fixed, **PAPER_RATES}
        study = Study(
            (system,),
            grid=grid,
            fixed=requested,
            run=read(1, 8),
            corpora=("rfc",),
            num_documents=MANY,
        )
        scored = setup.run({line: study}, "disjoint_words", "own")
        for found, y in ((parts, "nats_per_word"), (counted, "num_topics")):
            found.append(curves(scored, "documents_seen", y).assign(panel=f"{name}; {title}"))
    frame = setup.add_words(pd.concat(parts, ignore_index=True), "disjoint_words", "rfc", MANY)
    return draw_scores(
        frame, pd.concat(counted), Axes(DOCUMENTS, DISJOINT, x_format="0a"), width=400
    )


def hoffman_2010_table_1(setup: Setup) -> tuple[pd.DataFrame, Any]:
    """Draw perplexity of online LDA over S, with a line for each τ₀ and a panel for each κ."""
    sizes = (16, 64, 256, 1024)
    grid = {"forgetting_rate": (0.5, 0.7, 0.9), "delay": (1.0, 64.0, 1024.0), "batch_size": sizes}
    study = Study(
        ("lda",),
        grid=grid,
        num_documents=3000,
        run=read(3),
        protocols=("perplexity_bound",),
        fixed={"max_topics": 100},
    )
    scored = setup.run({"τ₀ = {delay:g}": study}, "perplexity_bound", "fold_in")
    scored["perplexity"] = np.exp(-scored["nats_per_word"])
    scored["panel"] = [f"κ = {rate:g}" for rate in scored["forgetting_rate"]]
    frame, topics = (
        last_scores(scored, "batch_size", y, "panel", "delay") for y in ("perplexity", "num_topics")
    )
    frame = setup.add_words(frame, "perplexity_bound", number=3000)
    axes = Axes(
        "mini-batch size S (log scale)", "perplexity (perplexity_bound)", True, sizes, "0", "0,0"
    )
    return draw_scores(frame, topics, axes, width=310)


def teh_lines(sizes: tuple[int, ...]) -> dict[tuple[str, int], Followed]:
    """Return the systems of Teh 2007 sec. 4 by name and K.

    The HDP's sampler stands at the largest K.
    """
    per_word = {
        "word_concentration": WORD_TOTAL / engine.load_corpus("state-of-the-union").vocab_size
    }
    systems = {
        "CV-HDP": ("cv-hdp", {}, SWEEPS),
        "CV-LDA": ("cv-lda", {}, SWEEPS),
        "V-LDA": ("batch-lda", TEH_LDA | per_word, SWEEPS),
        "Gibbs LDA": ("gibbs-lda", TEH_LDA | per_word, SAMPLER_SWEEPS),
    }
    more = {"num_documents": TEH_DOCUMENTS, "protocol": "within_documents"}
    lines = {
        (name, size): Followed(system, values | {"max_topics": size}, sweeps, **more)
        for name, (system, values, sweeps) in systems.items()
        for size in sizes
    }
    samplers = {
        (f"Gibbs HDP from {number}", sizes[-1]): Followed(
            "gibbs-hdp", per_word | {"initial_topics": number}, SAMPLER_SWEEPS, **more
        )
        for number in (1, 100)
    }
    return lines | samplers


def teh_2007_figure_2(setup: Setup) -> tuple[pd.DataFrame, Any]:
    """Draw test likelihood and bound over K, and test likelihood over sweeps, of collapsed and
    plain VB and Gibbs.
    """
    sizes = (10, 40, 100)
    parts = [
        setup.follow({name: each}).assign(size=size)
        for (name, size), each in teh_lines(sizes).items()
    ]
    followed = pd.concat(parts, ignore_index=True)
    ends = followed.groupby(["line", "size", "seed"], sort=False).tail(1)
    of_sizes = ends[~ends["line"].str.startswith("Gibbs HDP")]
    over_sizes = average(of_sizes, ["size"], "size", "nats")
    followed = average(followed[followed["size"] == sizes[-1]], ["step"], "step", "nats")
    bounds = average(ends.dropna(subset="bound"), ["size"], "size", "bound")
    axes = Axes("topics K", WITHIN, at=sizes)
    steps = axes._replace(
        x_label="sweeps (log scale)", is_log=True, at=(1, 4, 16, 64, 200), x_format="0"
    )
    words = partial(setup.add_words, protocol="within_documents", number=TEH_DOCUMENTS)
    drawn = [
        (words(over_sizes.assign(panel="test, over K")), axes),
        (words(followed.assign(panel=f"test, over sweeps, K = {sizes[-1]}")), steps),
        (
            bounds.assign(panel="bound, over K"),
            axes._replace(y_label="bound, nats per training word"),
        ),
        (
            average(of_sizes, ["size"], "size", "num_topics").assign(panel=f"{TOPICS}, over K"),
            axes._replace(y_label=TOPICS, y_format="0"),
        ),
    ]
    return pd.concat([part for part, _ in drawn], ignore_index=True), draw_unlike_panels(drawn)


def teh_2007_figure_3(setup: Setup) -> tuple[pd.DataFrame, Any]:
    """Draw test likelihood and bound over sweeps, of CV-HDP and CV-LDA at K = 130, also continued
    from Gibbs.
    """
    more = {"num_documents": 1000, "protocol": "within_documents"}
    lines = {
        f"{name}{tail}": Followed(system, {"max_topics": 130, "start_from": start}, SWEEPS, **more)
        for name, system in (("CV-HDP", "cv-hdp"), ("CV-LDA", "cv-lda"))
        for tail, start in (("", "own"), (" from Gibbs", "gibbs"))
    }
    followed = setup.follow(lines)
    axes = Axes("sweeps (log scale)", WITHIN, True, at=(1, 2, 4, 8, 16, 32), x_format="0")
    test = average(followed, ["step"], "step", "nats").assign(panel="test, K = 130")
    drawn = [
        (setup.add_words(test, more["protocol"], number=more["num_documents"]), axes),
        (
            average(followed.dropna(subset="bound"), ["step"], "step", "bound").assign(
                panel="bound, K = 130"
            ),
            axes._replace(y_label="bound, nats per training word"),
        ),
        (
            average(followed, ["step"], "step", "num_topics").assign(panel=f"{TOPICS}, K = 130"),
            axes._replace(y_label=TOPICS, y_format="0"),
        ),
    ]
    return pd.concat([part for part, _ in drawn], ignore_index=True), draw_unlike_panels(drawn)


def wang_blei_2012_figure_2(setup: Setup) -> tuple[pd.DataFrame, Any]:
    """Draw log-odds between a known and a new component, for a document of w₁ copies of word 1."""
    counts = np.zeros((20, 10))
    counts[:, 0] = np.arange(1, 21)
    parts = []
    for case, first in (
        ("A: q(θ₁) = Dirichlet(0.1, 1, …, 1)", 0.1),
        ("B: q(θ₁) = Dirichlet(1, 1, …, 1)", 1.0),
    ):
        known, new = np.append(first, np.ones(9)), np.full(10, 0.1)
        for line, weigh in (
            ("locally collapsed", log_expected_likelihood),
            ("mean-field", expected_log_likelihood),
        ):
            odds = weigh(counts, known) - weigh(counts, new)
            parts.append(pd.DataFrame({"panel": case, "line": line, "x": counts[:, 0], "y": odds}))
    frame = pd.concat(parts, ignore_index=True)
    axes = Axes(
        "w₁, occurrences of word 1 in the document",
        "log-odds of z = 1 against z = 2, nats",
        y_format="0",
    )
    return frame, draw_panels(frame, axes, width=380)


def wang_blei_2012_figure_3(setup: Setup) -> tuple[pd.DataFrame, Any]:
    """Draw test likelihood over S, components over S and components over documents, of the DP
    mixture.
    """
    lines = {"truncation-free": ("free-dp-mixture", {}), "mean-field, K = 300": ("dp-mixture", {})}
    return draw_growing(setup, lines, "components")


def wang_blei_2012_figure_4(setup: Setup) -> tuple[pd.DataFrame, Any]:
    """Draw test likelihood over S, topics over S and topics over documents, of the HDP."""
    mean_field = {"max_topics": 150, "delay": 1.0, "forgetting_rate": 0.6}
    lines = {
        "truncation-free": ("free-hdp", {}),
        "mean-field, as printed": ("hdp", mean_field | WANG),
        "mean-field, ours": ("hdp", mean_field | PAPER_RATES),
    }
    return draw_growing(setup, lines, "topics")


def draw_growing(setup: Setup, lines: Mapping[str, Any], what: str) -> tuple[pd.DataFrame, Any]:
    """Draw the three panels of Fig. 3 or Fig. 4."""
    sizes, more = (1, 2, 5, 10, 50, 100, 500), {"num_documents": 2000, "run": read(3)}
    predictive = "own" if what == "components" else "fold_in"
    studies = {
        line: Study(
            (system,),
            grid={"batch_size": sizes},
            fixed=fixed,
            protocols=("importance_sampling",),
            **more,
        )
        for line, (system, fixed) in lines.items()
    }
    scored = setup.run(studies, "importance_sampling", predictive)
    followed = {
        line: Study((system,), fixed=fixed | {"batch_size": 10}, **more | {"run": read(3, 9)})
        for line, (system, fixed) in lines.items()
    }
    growth = curves(setup.run(followed, "disjoint_words", "own"), "documents_seen", "num_topics")
    by_size = Axes("mini-batch size S (log scale)", SAMPLED, is_log=True, at=sizes, x_format="0")
    counted = f"{what} for 99 % of the tokens"
    scores = last_scores(scored, "batch_size", "nats_per_word").assign(panel="(a)")
    parts = [
        (setup.add_words(scores, "importance_sampling", number=more["num_documents"]), by_size),
        (
            last_scores(scored, "batch_size", "num_topics").assign(panel="(b)"),
            by_size._replace(y_label=counted, y_format="0"),
        ),
        (growth.assign(panel="(b), S = 10"), Axes(DOCUMENTS, counted, x_format="0a", y_format="0")),
    ]
    return pd.concat([part for part, _ in parts], ignore_index=True), draw_unlike_panels(parts)


FIGURES = {
    "wang-2011-fig-4": wang_2011_figure_4,
    "wang-2011-fig-5": wang_2011_figure_5,
    "wang-2011-fig-6": wang_2011_figure_6,
    "wang-2011-table-1": wang_2011_table_1,
    "hoffman-2010-fig-1": hoffman_2010_figure_1,
    "hoffman-2010-fig-1-top": hoffman_2010_figure_1_top,
    "hoffman-2010-fig-2": hoffman_2010_figure_2,
    "wang-blei-2012-fig-2": wang_blei_2012_figure_2,
    "svi-2013-fig-11": svi_2013_figure_11,
    "svi-2013-fig-12": svi_2013_figure_12,
    "svi-2013-fig-13": svi_2013_figure_13,
    "wang-2011-fig-3": wang_2011_figure_3,
    "hoffman-2010-table-1": hoffman_2010_table_1,
    "teh-2007-fig-2": teh_2007_figure_2,
    "teh-2007-fig-3": teh_2007_figure_3,
    "wang-blei-2012-fig-3": wang_blei_2012_figure_3,
    "wang-blei-2012-fig-4": wang_blei_2012_figure_4,
}
