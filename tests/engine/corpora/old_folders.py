"""Folders of corpora in the format of earlier versions, which the project no longer writes."""

from dataclasses import asdict
from datetime import datetime

import numpy as np
import pandas as pd
from scipy.sparse import coo_array

from stickbreaker.engine.corpora.library import OwnCorpus, name_folder
from stickbreaker.engine.corpora.old_folders import ABOUT, COUNTS, DOCUMENTS, OLD_CORPUS
from stickbreaker.engine.corpora.shards import VOCABULARY
from stickbreaker.engine.files.verified_files import seal_folder


def write_old(corpus, folder, texts=None, name=""):
    """Write a folder as earlier versions did; return its description and the folder."""
    name = name or corpus.name
    place = folder / name_folder(name)
    place.mkdir(parents=True)
    counts = coo_array(corpus.counts)
    dates = [None if np.isnat(date) else str(date) for date in corpus.dates]
    groups = (
        [corpus.group_titles[group] for group in corpus.groups]
        if corpus.split_by == "group"
        else None
    )
    described = pd.DataFrame(
        {"title": list(corpus.titles), "date": dates, "group": groups}, dtype=object
    )
    if texts is not None:
        described["text"] = texts
    tables = {
        COUNTS: {
            "document": counts.row.astype(np.int64),
            "word": counts.col.astype(np.int32),
            "count": counts.data,
        },
        VOCABULARY: {"word": list(corpus.vocabulary)},
        DOCUMENTS: described,
    }
    for part, table in tables.items():
        pd.DataFrame(table).to_parquet(place / part, index=False)
    about = OwnCorpus(
        name=name,
        num_documents=corpus.num_documents,
        vocab_size=corpus.vocab_size,
        num_tokens=corpus.num_tokens,
        date_span=(str(corpus.dates.min()), str(corpus.dates.max())) if corpus.has_dates else None,
        date_unit=np.datetime_data(corpus.dates.dtype)[0],
        split_by=corpus.split_by,
        has_text=texts is not None,
        source="mine.jsonl",
        num_bad=2,
        built_at=datetime(2026, 11, 20, 12, 30, 1, 5).isoformat(),
    )
    seal_folder(place, ABOUT, OLD_CORPUS, {**asdict(about), "is_stored": False}, tuple(tables))
    return about, place
