"""Small streams: JSON lines of a few words, and the online HDP with mini-batches of
four documents.
"""

import json

import numpy as np

from stickbreaker.engine import Follower, OnlineHDP, WordChoices

BATCH_SIZE = 4
SUBJECTS = (
    ("war", "navy", "army", "ship"),
    ("trade", "cotton", "tariff", "price"),
    ("school", "teacher", "law", "judge"),
)


def make_model(**parameters):
    """A new model."""
    small = {"max_topics": 8, "batch_size": BATCH_SIZE, "random_state": 0}
    return OnlineHDP(**small | parameters)


def make_follower(max_words=18, corpus_size=None):
    """A follower with room for few words, which drops words early."""
    return Follower(make_model(), WordChoices(max_words=max_words), corpus_size, drop_after=3)


def write_texts(number, first=0):
    """Dates, a minute apart, and texts in which new words appear and old ones no longer occur."""
    rows = []
    for place in range(first, first + number):
        fashion = "fashion" + "".join(chr(97 + int(digit)) for digit in str(place // 20))
        words = np.random.default_rng(place).choice(SUBJECTS[place % 3], 8)
        date = np.datetime64("2026-11-26T08:00") + np.timedelta64(place, "m")
        rows.append((str(date), " ".join([*words, fashion, fashion])))
    return rows


def append(path, rows):
    """Add rows to a file of JSON lines."""
    with path.open("a", encoding="utf-8") as file:
        file.writelines(json.dumps({"date": date, "text": text}) + "\n" for date, text in rows)
