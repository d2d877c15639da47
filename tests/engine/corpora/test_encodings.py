"""Text files in other encodings, and with invalid bytes."""

import pytest

from stickbreaker.engine.corpora.columns import Columns
from stickbreaker.engine.corpora.words import WordChoices
from tests.engine.corpora.small_files import build


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "utf-32", "cp1252"])
def test_other_encodings_are_detected_and_noted(tmp_path, encoding):
    path = tmp_path / "mine.csv"
    path.write_text("text,year\nGröße und naïve Verträge der Nation,1900\n", encoding=encoding)
    built = build(path, Columns("text", "year"))
    assert {"größe", "naïve", "verträge"} <= set(built.corpus.vocabulary)
    assert bool(built.notes) == (encoding in ("utf-16-le", "cp1252"))


def test_a_utf8_file_with_a_few_wrong_bytes_is_read_as_utf8(tmp_path):
    path = tmp_path / "mine.csv"
    path.write_bytes(b"text\n" + "Größe Verträge\n".encode() * 50 + b"br\xffken\n")
    built = build(path, words=WordChoices(max_share=1.0))
    assert {"größe", "verträge"} <= set(built.corpus.vocabulary)
    assert "1 invalid UTF-8 sequences" in built.notes[0]
