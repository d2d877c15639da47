"""Settings that several algorithms have, each declared once: its symbol, its bounds and what it does.

A config gives the default: `max_topics: int = setting(150, **declared.MAX_TOPICS)`.
"""

INFINITY = float("inf")


def _declare(symbol, bounds, explanation, **more):
    return {"symbol": symbol, "bounds": bounds, "help": explanation, **more}


MAX_TOPICS = _declare("K", (1, 2000), "most topics the model may use", whole=True)
MAX_SLOTS = _declare("T", (1, 200), "most places a document has to hold a topic")
MAX_ACTIVE_TOPICS = _declare("M", (1, 2000), "topics that a document considers after its start")
DOC_CONCENTRATION = _declare("α₀", (1e-6, 1e6), "larger: a document spreads over more topics")
CORPUS_CONCENTRATION = _declare("γ", (1e-6, 1e6), "larger: the corpus spreads over more topics")
WORD_CONCENTRATION = _declare("η", (1e-6, 1e3), "smaller: a topic keeps to fewer words")
FORGETTING_RATE = _declare("κ", (0.5, 1.0), "how fast the steps shrink", live=True)
DELAY = _declare("τ₀", (0.0, INFINITY), "how much the first steps are held back", live=True)
BATCH_SIZE = _declare("S", (1, INFINITY), "documents in a mini-batch", live=True, whole=True)
TOPIC_EXPECTATION = _declare(
    "", None, "mean: E[topic]; geometric: exp E[log topic], as printed", choices=("mean", "geometric")
)
CONCENTRATIONS = _declare(
    "", None, "fixed: α₀, γ and η as set; learned: begun there, and learned", choices=("fixed", "learned")
)
DUPLICATES = _declare(
    "",
    None,
    "merge: topics more alike than two samples of one topic become one; keep",
    choices=("merge", "keep"),
)
PRECISION = _declare("", None, "of topics and local steps", choices=("float32", "float64"))
TOLERANCE = _declare("", (0.0, 1.0), "the run ends when a pass gains less than this share of the bound")
