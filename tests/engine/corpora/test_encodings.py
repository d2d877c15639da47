"""Text files in other encodings, and with invalid bytes."""

import pytest

from stickbreaker.engine.corpora.columns import Columns
from stickbreaker.engine.corpora.encodings import find_encoding
from stickbreaker.engine.corpora.load import load_corpus
from stickbreaker.engine.corpora.preview import preview
from stickbreaker.engine.corpora.word_choices import WordChoices
from tests.engine.corpora.small_files import build, refuses


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


SENTENCES = {
    "cp1251": "Мирный договор между державами был подписан в гавани.",
    "koi8_r": "Мирный договор между державами был подписан в гавани.",
    "iso8859_5": "Мирный договор между державами был подписан в гавани.",
    "mac_cyrillic": "Корабли стояли в гавани всё утро, и договор о мире был подписан.",
    "cp866": "Мирный договор между державами был подписан в гавани.",
    "cp1250": "Pokojowy traktat między mocarstwami został podpisany w porcie, żółć.",
    "iso8859_2": "Příliš žluťoučký kůň úpěl ďábelské ódy, řekl měšťan.",
    "gbk": "和平条约在港口签署，我们的国家和人民。",
    "big5": "和平條約在港口簽署，我們的國家和人民。",
    "shift_jis": "平和条約は港で署名されました。",
    "euc_jp": "平和条約は港で署名されました。",
    "euc_kr": "평화 조약은 항구에서 서명되었습니다.",
    "mac_roman": "Le traité de paix a été signé à Paris, où l’été était déjà passé.",
    "mac-roman": "Über die Häfen und Zölle der großen Städte müssen schöne Verträge gelten.",
    "cp1252": "Le traité de paix a été signé à Paris, où l’été était déjà passé.",
    "cp850": "Le traité de paix a été signé à Paris.",
    "cp1253": "Η ειρήνη και ο πόλεμος των λαών της θάλασσας.",
    "cp1254": "Barış antlaşması güçler arasında limanda imzalandı.",
    "cp1255": "חוזה השלום נחתם בנמל",
    "cp1256": "تم توقيع معاهدة السلام في الميناء",
    "iso8859_6": "تم توقيع معاهدة السلام في الميناء",
    "koi8_u": "Порт закрили через бурю, і кораблі не приходили тижнями.",
    "latin-1": "El tratado de paz se firmó en el puerto, ¿y después qué pasó con España?",
}


@pytest.mark.parametrize("times", [1, 40])
@pytest.mark.parametrize("suffix", ["csv", "jsonl", "txt"])
@pytest.mark.parametrize("encoding", SENTENCES)
def test_other_encodings_are_recognised_and_a_line_is_shown(tmp_path, encoding, suffix, times):
    said = SENTENCES[encoding]
    path = tmp_path / f"a.{suffix}"
    row = f'"{said}"\n'
    lines = {"csv": "text\n" + row * times, "jsonl": f'{{"text": "{said}"}}\n' * times}
    path.write_bytes(lines.get(suffix, f"{said}\n" * times).encode(encoding))
    found = find_encoding(path)
    assert path.read_text(encoding=found.name) == path.read_text(encoding=encoding)
    assert "Set encoding" in found.notes[0]


def test_escapes_of_the_japanese_encoding_of_seven_bits_are_recognised(tmp_path):
    path = tmp_path / "mine.csv"
    path.write_text("text,year\n港の船が綿花を運びました。,1900\n", encoding="iso2022_jp")
    assert preview(path).first[0].text == "港の船が綿花を運びました。"


def test_a_given_encoding_is_used_and_an_unknown_one_is_refused(tmp_path):
    path = tmp_path / "mine.csv"
    path.write_bytes("text,year\nПеремирие и мир,1900\n".encode("koi8_r"))
    for seen in (preview(path, encoding="cp1251"), preview(path, encoding="koi8_r")):
        assert ("Перемирие" in seen.first[0].text) == (seen.chosen.encoding == "koi8_r")
        assert seen.notes == ()
    assert "перемирие" in load_corpus(path, text="text", encoding="koi8_r").vocabulary
    with refuses("encoding is 'klingon': use one that Python knows"):
        load_corpus(path, encoding="klingon")
