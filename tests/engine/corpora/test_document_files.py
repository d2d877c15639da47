"""Files with one text each: Word, PDF, HTML, XML and mail; and mailboxes."""

import gzip
import io
import sys
import zipfile

import pyarrow as pa
import pytest

from stickbreaker.engine import build as build_stored
from stickbreaker.engine.corpora.columns import Columns
from stickbreaker.engine.corpora.kinds import KINDS, READ, Role, find_kind
from stickbreaker.engine.corpora.load import load_corpus
from stickbreaker.engine.corpora.mail_files import read_mail
from stickbreaker.engine.corpora.marked_up import read_html, read_word, read_xml
from stickbreaker.engine.corpora.pdf_files import read_pdf
from stickbreaker.engine.corpora.preview import preview
from stickbreaker.engine.corpora.rows import CorpusError
from stickbreaker.engine.corpora.sources import find_source
from stickbreaker.engine.corpora.words import WordChoices
from tests.engine.corpora.small_documents import (
    WRITERS,
    write_docx,
    write_eml,
    write_mbox,
    write_pdf,
    write_tei,
)
from tests.engine.corpora.small_files import TEXTS, build, pack, reasons, refuses
from tests.engine.corpora.small_sheets import pack_bytes, write_ole

EVERYTHING = WordChoices(min_documents=1, max_share=1.0, languages=())
LINES = ["The harbour treaty\nof peace & trade", "Tariff on cotton\nand hyphen-\nated words"]
PACK = {
    "": bytes,
    ".gz": gzip.compress,
    ".zst": lambda content: pa.compress(content, "zstd", asbytes=True),
}


def put(place, files):
    """Write files into a folder, or into an archive if the place has its suffix."""
    if place.suffix == ".zip":
        return pack(place, **files)
    place.mkdir()
    for name, content in files.items():
        (place / name).write_bytes(content)
    return place


@pytest.mark.parametrize("suffix", WRITERS)
@pytest.mark.parametrize("packed", PACK)
@pytest.mark.parametrize("place", ["mine", "mine.zip"])
def test_each_file_of_a_folder_or_archive_is_a_document(tmp_path, suffix, packed, place):
    files = {
        f"{name}{suffix}{packed}": PACK[packed](WRITERS[suffix](text))
        for name, text in zip(("a 1863", "b 1864"), LINES, strict=True)
    }
    path = put(tmp_path / place, files)
    built = build(path, words=EVERYTHING)
    words = {"the", "harbour", "treaty", "peace", "trade", "tariff", "cotton", "and"}
    assert set(built.corpus.vocabulary) == words | {"hyphenated", "words"}
    assert built.bad.count == 0
    has_titles = suffix in (".html", ".xml", ".eml")
    assert built.corpus.titles == (("On peace",) * 2 if has_titles else ("a 1863", "b 1864"))
    dates = build(path, Columns(date="date"), EVERYTHING).corpus.dates.astype(str).tolist()
    own = ["1863-12-08"] * 2 if suffix in (".xml", ".eml") else ["1863", "1864"]
    assert dates == own
    stored = build_stored(path, to=tmp_path / "out", words=EVERYTHING)
    assert stored.num_tokens == built.corpus.num_tokens


def test_the_author_of_a_message_or_of_tei_can_be_the_group(tmp_path):
    path = put(tmp_path / "mine", {f"{n}.eml": write_eml(text) for n, text in enumerate(TEXTS)})
    assert build(path, Columns(group="author"), EVERYTHING).corpus.group_titles == ("Ann",)
    assert preview(path).chosen.date == "date"


def test_a_file_next_to_its_plain_text_is_left_out(tmp_path):
    files = {f"a{suffix}": write(LINES[0]) for suffix, write in WRITERS.items()}
    built = build(put(tmp_path / "mine", files), words=EVERYTHING)
    assert built.corpus.num_documents == 1
    assert built.bad.count == len(WRITERS) - 1
    assert all("its text is also in a.txt" in reason for reason in reasons(built))


def test_a_few_documents_next_to_a_table_describe_it(tmp_path):
    files = {"paper.pdf": write_pdf(LINES[0]), "page.html": b"<p>war" * 99}
    path = put(tmp_path / "mine", files | {"speeches.csv": b"text\npeace and trade\n"})
    assert find_source(path).path.name == "speeches.csv"


@pytest.mark.parametrize("suffix", list(WRITERS)[1:])
def test_the_error_for_a_single_document_with_one_text_names_the_folder(tmp_path, suffix):
    path = tmp_path / f"mine{suffix}"
    path.write_bytes(WRITERS[suffix](LINES[0]))
    with refuses(rf"One text is no corpus: .*mine{suffix}\. Choose the folder or a \.zip of all"):
        load_corpus(path)


@pytest.mark.parametrize("suffix", WRITERS)
@pytest.mark.parametrize("place", ["mine", "mine.gz", "folder/mine", "mine.zip"])
def test_a_single_document_is_read_as_a_text_file_with_the_same_text(tmp_path, suffix, place):
    said = [f"{text} in the {number} th year." for number, text in enumerate(TEXTS * 4)]
    content = WRITERS[suffix]("\n".join(said))
    path = tmp_path / place
    path.parent.mkdir(exist_ok=True)
    if place == "mine.zip":
        path = pack(path, **{f"data/mine{suffix}": content})
    else:
        path = path.with_name(place.rpartition("/")[2].replace("mine", f"mine{suffix}"))
        path.write_bytes(gzip.compress(content) if "gz" in place else content)
    path = path.parent if "/" in place else path
    built = build(path, words=EVERYTHING)
    assert built.corpus.rows.tolist() == [*range(1, len(said) + 1)]
    assert "Each line is read as a document." in built.notes
    assert ("Left out" in " ".join(built.notes)) == (suffix not in (".txt", ".pdf", ".eml"))
    stored = build_stored(path, to=tmp_path / "out", words=EVERYTHING)
    assert stored.num_tokens == built.corpus.num_tokens


def test_each_page_of_a_single_pdf_is_a_document(tmp_path):
    (tmp_path / "mine.pdf").write_bytes(write_pdf("Peace\nand trade", "", "War-\ntime", "cotton"))
    built = build(tmp_path / "mine.pdf", words=EVERYTHING)
    assert built.corpus.rows.tolist() == [1, 3, 4]
    assert built.notes[:2] == (
        "Each page is read as a document.",
        "Left out: pages without text (25.0%).",
    )
    assert "wartime" in built.corpus.vocabulary


def test_a_single_document_that_is_damaged_is_refused(tmp_path):
    (tmp_path / "mine.docx").write_bytes(write_docx("peace")[:-40])
    with refuses("mine.docx is damaged .*save it again"):
        load_corpus(tmp_path / "mine.docx")


def write_corpus(numbers):
    """A TEI corpus of texts with these numbers."""
    texts = [
        write_tei(f"{TEXTS[n]} {'abcd'[n] * 3}").decode().partition("?>")[2]
        .replace("On peace", f"Letter {n}").replace("1863-12-08", f"186{n}-12-08")
        for n in numbers
    ]  # fmt: skip
    header = "<teiHeader><fileDesc><titleStmt><title>All letters</title><author>Bob</author>"
    header += "</titleStmt></fileDesc></teiHeader>"
    return f"<teiCorpus>{header}{''.join(texts)}</teiCorpus>".encode()


@pytest.mark.parametrize("place", ["mine.xml", "mine", "mine.zip"])
@pytest.mark.parametrize("others", [{}, {"n.tei": write_corpus([2, 3]), "o.txt": b"peace"}])
def test_each_text_of_a_tei_corpus_is_a_document(tmp_path, place, others):
    path = tmp_path / place
    if place == "mine.xml":
        path.write_bytes(write_corpus([0, 1]))
        others = {}
    else:
        put(path, {"mine.xml": write_corpus([0, 1])} | others)
    built = build(path, Columns(date="date", group="author"), EVERYTHING)
    titles = [f"Letter {n}" for n in range(4 if others else 2)]
    assert list(built.corpus.titles) == titles
    assert built.corpus.dates.astype(str).tolist() == [f"186{n}-12-08" for n in range(len(titles))]
    assert set(built.corpus.group_titles) == {"Ann"}
    assert {"aaa", "bbb"} <= set(built.corpus.vocabulary)
    assert built.corpus.rows.tolist() == ([1, 1, 2, 2] if others else [1, 2])
    stored = build_stored(path, to=tmp_path / "out", words=EVERYTHING)
    assert stored.num_documents >= len(titles)


def test_each_text_in_a_tei_group_is_a_document(tmp_path):
    whole = write_tei("").decode()
    texts = "".join(
        f"<text><body><head>Piece {n}</head><p>{text}</p></body></text>"
        for n, text in enumerate(TEXTS)
    )
    before, _, after = whole.partition("<text>")
    path = tmp_path / "mine.xml"
    path.write_text(f"{before}<text><group>{texts}</group></text>{after.partition('</text>')[2]}")
    built = build(path, Columns(date="date", group="author"), EVERYTHING)
    assert built.corpus.titles == tuple(f"Piece {n}" for n in range(4))
    assert set(built.corpus.dates.astype(str)) == {"1863-12-08"}
    assert built.corpus.group_titles == ("Ann",)


def test_a_tei_text_inside_of_another_is_a_document():
    inner = "<TEI><teiHeader/><text>trade</text></TEI>"
    found = read_xml(f"<TEI><text>peace</text>{inner}<text>war</text></TEI>".encode(), "a.xml")
    assert [each.text for each in (found, *found.others)] == ["peace", "trade", "war"]


def test_without_pypdf_the_error_names_the_command_that_installs_it(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pypdf", None)
    path = put(tmp_path / "mine", {"a.pdf": write_pdf("peace"), "b.txt": b"peace and trade"})
    (reason,) = reasons(build(path))
    assert "a.pdf: a PDF: to read PDF files" in reason
    assert "python -m pip install 'stickbreaker[documents]'" in reason


BOMB = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 10))


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("a.pdf", write_pdf("", ""), "a PDF without text, such as a scan: recognize its text"),
        ("a.pdf", write_pdf("peace")[:300], "damaged"),
        ("a.docx", write_ole("EncryptedPackage"), "an old document or has a password"),
        ("a.docx", write_docx("peace")[:-40], "damaged .*save it again"),
        ("a.docx", pack_bytes({"other.xml": "<a/>"}), "damaged"),
        ("a.docx", pack_bytes({"word/document.xml": "0" * 50_000_000}), "too large when unpacked"),
        ("a.xml", b"<a>peace</b>", "not well-formed XML"),
        (
            "a.xml",
            f'<!DOCTYPE a [<!ENTITY l0 "war">{BOMB}]><a>&l9;</a>'.encode(),
            "defines &l1; as",
        ),
        (
            "a.xml",
            b'<!DOCTYPE a [<!ENTITY b "' + b"war " * 99 + b'">]><a>&b;</a>',
            "defines &b; as",
        ),
        ("a.eml", b"", "empty"),
        ("a.html.gz", gzip.compress(b"<p>peace")[:-9], "damaged .*compress it again"),
        (
            "a.txt.gz",
            gzip.compress(b"peace " * 2_000_000),
            "larger than 10,000,000 bytes: split it",
        ),
    ],
    ids=range(12),
)
def test_a_file_that_cannot_be_read_is_skipped_with_its_name_and_a_remedy(
    tmp_path, name, content, reason
):
    built = build(put(tmp_path / "mine", {name: content, "b.txt": b"peace and trade"}))
    assert built.corpus.titles == ("b",)
    with refuses(f"mine/{name}: .*{reason}"):
        raise CorpusError(reasons(built)[0])


def test_a_pdf_with_a_password_is_skipped(tmp_path):
    from pypdf import PdfReader, PdfWriter

    out = io.BytesIO()
    writer = PdfWriter(PdfReader(io.BytesIO(write_pdf("peace"))))
    writer.encrypt("secret", algorithm="RC4-128")
    writer.write(out)
    with refuses("a.pdf is protected by a password: save it without one"):
        read_pdf(out.getvalue(), "a.pdf")


def test_pages_of_a_pdf_without_text_are_counted(tmp_path):
    path = put(tmp_path / "mine", {"a.pdf": write_pdf("Peace and trade", "", "War", "")})
    assert preview(path).notes == ("Left out: pages without text (50.0%).",)


def test_page_numbers_and_running_titles_of_a_pdf_are_left_out():
    pages = [f"Journal {n}\n{text}\nIn {text}\n- {n} -" for n, text in enumerate(TEXTS, 1)]
    found = read_pdf(write_pdf(*pages, "Journal 5\n- 5 -"), "a.pdf")
    assert found.text.split("\n\f") == [
        *(f"{text}\nIn {text}" for text in TEXTS),
        "Journal 5\n- 5 -\n",
    ]
    assert found.left["page numbers and running titles"][0] == 4 * len("Journal 1- 1 -")
    assert read_pdf(write_pdf(*pages[:2]), "a.pdf").text == "\n\f".join(pages[:2])


def test_external_entities_are_not_read(tmp_path):
    (tmp_path / "secret.txt").write_text("secret")
    text = f'<!DOCTYPE a [<!ENTITY f SYSTEM "{tmp_path}/secret.txt">]><a>peace &f; war</a>'
    assert read_xml(text.encode(), "a.xml").text == "peace war"


@pytest.mark.parametrize(
    ("marked", "text"),
    [
        ("<a><p>pe<hi>ac</hi>e</p><p>war</p></a>", "peace\nwar"),
        ("<a>one<first>John</first><last>Smith</last></a>", "one\nJohn\nSmith"),
        ("<a>caf&eacute;&nbsp;&amp; &#8212;</a>", "café & —"),
        ('<a>na-\n <lb break="no"/>\n tion<lb/>war</a>', "nation\nwar"),
        ("<a><choice><sic>pease</sic><corr>peace</corr></choice> now</a>", "peace now"),
        ("<a>war <del>lost</del> won <fw>page 3</fw></a>", "war\nwon"),
        ("<TEI><standOff><p>Ann</p></standOff><text>peace</text></TEI>", "peace"),
        ('<!DOCTYPE a [<!ENTITY m "&#8212;">]><a>peace &m; war</a>', "peace — war"),
    ],
)
def test_the_visible_text_of_xml(marked, text):
    assert read_xml(marked.encode(), "a.xml").text == text


@pytest.mark.parametrize("encoding", ["utf-8", "windows-1251", "shift_jis", "utf-16"])
def test_the_declared_encoding_of_marked_up_text_is_used(encoding):
    text = {"windows-1251": "мир и торговля", "shift_jis": "平和と貿易"}.get(encoding, "café")
    xml = f'<?xml version="1.0" encoding="{encoding}"?><a>{text}</a>'.encode(encoding)
    assert read_xml(xml, "a.xml").text == text
    page = f'<meta http-equiv="Content-Type" content="text/html; charset={encoding}"><p>{text}'
    assert read_html(page.encode(encoding), "a.html").text == text


def test_the_visible_text_of_a_page():
    page = (
        "<html><head><title>On &amp; off</title><meta property='article:published_time' "
        "content='2019-03-04T10:00:00Z'><meta name=author content='Ann'><style>p {}</style></head>"
        "<body><nav><a>Home</a></nav><p>pe<b>ac</b>e&shy;ful<br>war<script>if (a < b) {}</script>"
        "<!-- secret --><ul><li>one<li>two</ul><select><option>three</select></body></html>"
    )
    found = read_html(page.encode(), "a.html")
    assert found[:4] == ("peace\xadful\nwar\none\ntwo", "On & off", "2019-03-04T10:00:00Z", "Ann")
    (left,) = found.left.values()
    assert left == (26, 26 + len(found.text))


PAGE = "<header>Menu</header><div>Cookies</div>{}<aside>Others</aside><footer>Imprint</footer>"


@pytest.mark.parametrize(
    ("page", "text"),
    [
        (PAGE.format("<main><h1>Peace</h1><div>at <b>last</b></div></main>"), "Peace\nat last"),
        (PAGE.format("<div role=main><div>Peace</div>now</div>"), "Peace\nnow"),
        (PAGE.format("<article>Peace</article><article>War</article>"), "Peace\nWar"),
        (PAGE.format("<main id=app></main><p>Peace"), "Menu\nCookies\nPeace"),
        ("<p>Peace<div hidden>a<div>b</div></div><span style='display: none'>c</span>", "Peace"),
        ("<p hidden>Peace<br hidden>and<input hidden>war", "Peace\nand\nwar"),
    ],
)
def test_of_a_page_the_main_part_is_read_without_what_is_hidden(page, text):
    assert read_html(page.encode(), "a.html").text == text


def test_a_page_that_a_browser_saved_is_one_document(tmp_path):
    files = {
        "Peace_files/menu.html": b"Buy",
        "Peace.html": b"<p>Peace",
        "other_files/a.txt": b"War",
    }
    archive = (
        b"MIME-Version: 1.0\nFrom: <Saved by Blink>\nContent-Type: multipart/related; boundary=b"
    )
    archive += b"\n\n--b\nContent-Type: text/html\nContent-Transfer-Encoding: quoted-printable\n\n"
    files["Old.mhtml"] = archive + b"<title>On peace</title>Tr=C3=A4de\n--b--"
    built = build(put(tmp_path / "mine.zip", files), words=EVERYTHING)
    assert built.corpus.titles == ("On peace", "Peace", "other_files/a")
    assert set(built.corpus.vocabulary) == {"träde", "peace", "war"}
    assert reasons(built) == ["mine.zip/Peace_files/menu.html: it is a part of Peace.html"]


def test_lines_that_another_person_wrote_and_signatures_are_left_out():
    text = (
        "Agreed.\n\nOn Mon, 7 Dec 1863 at 10:00, Bob Smith <bob@example.org>\nwrote:\n\n"
        "> War?\n>\n>> Peace?\nPlease note:\nno war.\n> Cotton?\nNone.\n-- \nAnn, Boston"
    )
    found = read_mail(write_eml(text), "a.eml")
    assert found.text.split() == ["Agreed.", "Please", "note:", "no", "war.", "None."]
    assert {what: part[0] > 0 for what, part in found.left.items()} == {
        "quoted lines": True,
        "signatures": True,
    }


@pytest.mark.parametrize(
    "old",
    [
        "-----Original Message-----\nFrom: Bob\nWar?",
        "________________________________\nFrom: Bob\nSent: Monday\nTo: Ann\nSubject: No\n\nWar?",
        "*Von:* Bob <b@example.org>\n*Gesendet:* Montag\n*An:* Ann\nWar?",
        "Le lun. 7 janv. 2002, Bob Smith of the harbour\n<bob@example.org> a écrit :\n\n> War?",
    ],
)
def test_an_older_message_below_an_answer_is_left_out(old):
    assert read_mail(write_eml(f"Peace.\n\n{old}"), "a.eml").text.strip() == "Peace."


def test_a_message_that_is_only_forwarded_is_read_and_quotations_of_html_are_left_out():
    forwarded = "From: Bob\nSent: Monday\nTo: Ann\n\nPeace"
    assert "Peace" in read_mail(write_eml(forwarded), "a.eml").text
    page = b"<p>Peace.<div>Bob wrote:<blockquote>War<blockquote>Trade</blockquote></blockquote></div>Now"
    found = read_mail(b"Subject: a\nContent-Type: text/html\n\n" + page, "a.eml")
    assert found.text.split() == ["Peace.", "Now"]


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (b"Subject: =?utf-8?q?Caf=C3=A9?=\n\npeace", "peace"),
        (b"Subject: a\nContent-Type: text/plain; charset=unknown\n\ncaf\xc3\xa9", "café"),
        (b"Subject: a\nContent-Type: text/html\n\n<p>peace<script>war</script>", "peace"),
        (b"Subject: a\nContent-Type: text/plain; charset=koi8-r\n\n\xcd\xc9\xd2", "мир"),
        (
            b'Content-Type: multipart/mixed; boundary="b"\n\n--b\nContent-Type: text/plain\n\npeace\n'
            b"--b\nContent-Disposition: attachment\nContent-Type: text/plain\n\nsecret\n--b--",
            "peace",
        ),
        (
            b'Content-Type: multipart/alternative; boundary="b"\n\n--b\nContent-Type: text/html\n\n'
            b"<p>page\n--b\nContent-Type: text/plain\n\npeace\n--b--",
            "peace",
        ),
    ],
)
def test_the_text_of_a_message(content, text):
    assert read_mail(content, "a.eml").text.strip() == text


@pytest.mark.parametrize("name", ["mine.mbox", "mine.mbox.gz", "mine.zip", "mine.gz.zip"])
def test_each_message_of_a_mailbox_is_a_document(tmp_path, name):
    texts = [*TEXTS, "Lost", "> quoted"]
    heads = [{"Subject": f"S{n}", "Date": f"{n + 1} Dec 1999 23:30:00 -0800"} for n in range(6)]
    heads[4]["Date"] = "soon"
    content = write_mbox(
        *(
            write_eml(f"{text}\nFrom now on", **head)
            for text, head in zip(texts, heads, strict=True)
        )
    )
    content = content.replace(b"> quoted\n>From now on", b"> quoted")
    path = tmp_path / name
    packed = gzip.compress(content) if ".gz" in name else content
    if name.endswith(".zip"):
        pack(path, **{name.replace("gz.zip", "mbox.gz").replace("zip", "mbox"): packed})
    else:
        path.write_bytes(packed)
    seen = preview(path)
    assert seen.chosen[:3] == ("text", "date", "title")
    assert (seen.kind, seen.columns) == ("mailbox", ("text", "title", "date", "author"))
    assert any("Left out: quoted lines" in note for note in seen.notes)
    built = build(path, Columns(date="date", group="author"), EVERYTHING)
    assert built.corpus.titles == ("S0", "S1", "S2", "S3")
    assert built.corpus.dates.astype(str).tolist() == [f"1999-12-0{n}" for n in (1, 2, 3, 4)]
    assert [reason.partition(", ")[2] for reason in reasons(built)] == [
        "row 5: the date is missing: add one, or choose no date column to keep the order of the rows",
        "row 6: the text is empty",
    ]
    assert "now" in built.corpus.vocabulary


def test_a_mailbox_that_does_not_begin_with_a_message_is_refused(tmp_path):
    (tmp_path / "mine.mbox").write_bytes(b"peace")
    with refuses("mine.mbox does not begin with a message"):
        build(tmp_path / "mine.mbox")


def test_a_build_says_what_is_left_out(tmp_path, caplog):
    (tmp_path / "mine.mbox").write_bytes(write_mbox(write_eml("Peace\n> War"), write_eml("Trade")))
    build_stored(tmp_path / "mine.mbox", to=tmp_path / "out", words=EVERYTHING)
    assert "Left out: quoted lines (33.3%)." in caplog.text


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_each_kind_has_a_reader_or_a_remedy_and_its_example_is_read(tmp_path, kind):
    assert all(find_kind(f"a{suffix}") is kind for suffix in kind.suffixes)
    assert bool(kind.reader) == (kind.role in (Role.TABLE, Role.DOCUMENT, Role.ARCHIVE))
    assert kind.reader or kind.role is Role.COUNTS or kind.remedy
    if kind.reader:
        assert callable(kind.load_reader())
    if kind.signatures:
        assert kind.what
    if kind.suffixes and kind.role in (Role.TABLE, Role.DOCUMENT, Role.COUNTS):
        assert f"{kind.name} ({kind.suffixes[0]})" in READ
    if kind.example:
        (tmp_path / f"mine{kind.suffixes[0]}").write_text(kind.example)
        assert list(build(tmp_path, words=EVERYTHING).corpus.vocabulary) == [
            "and",
            "peace",
            "trade",
        ]


def test_deleted_text_and_text_boxes_of_word_are_read_once():
    box = "<w:p><w:r><mc:AlternateContent xmlns:mc='m'><mc:Choice><w:t>peace</w:t></mc:Choice>"
    box += "<mc:Fallback><w:t>peace</w:t></mc:Fallback></mc:AlternateContent><w:tab/></w:r></w:p>"
    with zipfile.ZipFile(io.BytesIO(write_docx("Trade"))) as archive:
        xml = archive.read("word/document.xml").decode().replace("<w:del>", f"{box}<w:del>")
    members = {"word/document.xml": xml}
    assert read_word(pack_bytes(members), "a.docx").text == "Trade\npeace"
    members["word/footnotes.xml"] = (
        "<w:footnotes xmlns:w='w'><w:p><w:t>War</w:t></w:p></w:footnotes>"
    )
    assert read_word(pack_bytes(members), "a.docx").text == "Trade\npeace\nWar"
