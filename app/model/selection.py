"""The selection of one page: the same topic, word, document, span of time and moment of the run in every view."""

import numpy as np
import param

# The ends of an open span.
EARLIEST = np.datetime64("-9999-01-01")
LATEST = np.datetime64("9999-12-31")


class Selection(param.Parameterized):
    """Watch a parameter to follow it; None means that nothing is chosen."""

    topic = param.Integer(default=None, allow_None=True, doc="Id of a topic.")
    word = param.Integer(default=None, allow_None=True, doc="Position of a word in the vocabulary.")
    pointed_topic = param.Integer(default=None, allow_None=True, doc="Topic that the pointer or the focus is on.")
    pointed_word = param.Integer(default=None, allow_None=True, doc="Word that the pointer or the focus is on.")
    document = param.Integer(default=None, allow_None=True, doc="Row of a document in the corpus.")
    moment = param.Integer(default=None, allow_None=True, doc="Documents read at the moment to replay; None: now.")
    span = param.Tuple(default=None, length=2, allow_None=True, doc="First and last date, datetime64[D], both in it.")

    def open_document(self, row: int) -> None:
        """Select a document; the one that is selected already opens again."""
        if row == self.document:
            self.param.trigger("document")
        self.document = row

    def leave_run(self, is_same_corpus: bool, has_same_topics: bool = False) -> None:
        """Clear the moment of a run, and its topic unless the next run has it too.

        For another corpus, also clear the word, the document and the span.
        """
        topic = self.topic if has_same_topics else None
        self.param.update(topic=topic, moment=None, pointed_topic=None, pointed_word=None)
        if not is_same_corpus:
            self.param.update(word=None, document=None, span=None)
