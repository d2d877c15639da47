"""Read the visible text of HTML and XML, such as TEI, and of Word and OpenDocument texts, which are
zip archives of XML.
"""

import codecs
import io
import re
import zipfile
from collections.abc import Mapping
from html.entities import html5
from html.parser import HTMLParser
from types import MappingProxyType
from typing import NamedTuple
from xml.parsers import expat

from stickbreaker.engine.corpora.encodings import name_encoding
from stickbreaker.engine.corpora.packed_files import BROKEN, MAX_RATIO
from stickbreaker.engine.corpora.rows import MAX_FILE, Content, CorpusError
from stickbreaker.engine.files.messages import explain_error

DECLARED = re.compile(
    rb"""<(?:meta|\?xml)[^>]*?(?:charset|encoding)=["']?([\w.:-]+)""", re.IGNORECASE
)
DECLARED_WITHIN = 4_096
# Longer ones, and those that name others, can expand to any size.
MAX_ENTITY = 100
# Elements inside of a line; all others separate words.
INLINE_NAMES = """
    a abbr acronym add b bdi bdo big c choice cite code corr data dfn em emph expan ex font
    foreign g hi i ins kbd mark name num orgname orig pc persname placename q ref reg rs s samp
    seg sic small span strike strong sub sup supplied time tt u unclear var wbr
"""
INLINE = frozenset(INLINE_NAMES.split())
NOT_SHOWN_NAMES = """
    aside button footer form math nav noscript object script select style svg template textarea
"""
NOT_SHOWN = frozenset(NOT_SHOWN_NAMES.split())
# Other elements may have no end.
MAY_BE_HIDDEN = frozenset(("div", "section", "span", "table", "ul"))
HIDDEN = re.compile(r"(?i)display\s*:\s*none")
# The part of a page that is read if it has one, by its name or role: the best first.
MAIN_PARTS = {
    "main": re.compile(r"(?i)<main\b|<[^<>]*\brole=[\"']?main\b"),
    "article": re.compile(r"(?i)<article\b"),
}
NOT_READ_NAMES = """
    annotation del facsimile fw moveFrom note-citation Fallback sourceDoc standOff teiHeader
    tracked-changes
"""
NOT_READ = frozenset(NOT_READ_NAMES.split())
# Of a variant and its correction in a <choice>, the correction is read.
VARIANTS = frozenset(("abbr", "orig", "sic"))
META_DATES = ("date", "dc.date", "dcterms.date", "article:published_time", "citation_date")
META_AUTHORS = ("author", "dc.creator", "article:author", "citation_author")
# The titles of texts in a group.
NAMED = ("head", "titlePart")
DATE_ATTRIBUTES = ("when", "when-iso", "from", "notBefore")
# Where a date of a TEI header stands, the best first: others are those of an edition.
TEI = ("TEI", "TEI.2")
DATED = ("creation", "correspAction", "sourceDesc", "profileDesc", "publicationStmt")


class _Text:
    """The text that is shown, its title, date and author, and how much is left out."""

    def __init__(self) -> None:
        self.parts: list[str] = []
        self.num_left = 0
        self.found: dict[str, str] = {}

    def finish(self, left: str) -> Content:
        """Return the text with a line for each block; left: what was left out."""
        text = "\n".join(
            filter(None, map(" ".join, map(str.split, "".join(self.parts).split("\n"))))
        )
        return Content(
            text=text,
            title=" ".join(self.found.get("title", "").split()),
            date=self.found.get("date", "").strip(),
            author=" ".join(self.found.get("author", "").split()),
            left={left: (self.num_left, self.num_left + len(text))},
        )


class _Open:
    """An element of HTML that is open, if there is one, with those of its name inside of it."""

    def __init__(self) -> None:
        self.tag = ""
        self._depth = 0

    def start(self, tag: str, begins: bool) -> None:
        """Take the start of an element; begins: whether it is one to keep."""
        if self.tag:
            self._depth += tag == self.tag
        elif begins:
            self.tag, self._depth = tag, 1

    def end(self, tag: str) -> None:
        """Take the end of an element."""
        if self.tag == tag:
            self._depth -= 1
            self.tag = self.tag * (self._depth > 0)


class _Page(HTMLParser, _Text):
    """The text of an HTML page.

    only: the name or role of the part that is read; "" for all. is_mail: whether block quotations
    are those of an answer, which get the signs of quoted lines.
    """

    def __init__(self, only: str, is_mail: bool) -> None:
        HTMLParser.__init__(self)
        _Text.__init__(self)
        self._only = only
        self._is_mail = is_mail
        self._main = _Open()
        self._skipped = _Open()
        self._quoted = _Open()
        self._is_title = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = {name: value or "" for name, value in attrs}
        is_hidden = "hidden" in attributes or HIDDEN.search(attributes.get("style", ""))
        self._skipped.start(tag, tag in NOT_SHOWN or (tag in MAY_BE_HIDDEN and bool(is_hidden)))
        self._main.start(tag, self._only in (tag, attributes.get("role")))
        self._quoted.start(tag, self._is_mail and tag == "blockquote")
        if tag == "meta":
            self._take_meta(attributes)
        self._is_title = tag == "title" and not self._skipped.tag
        if tag not in INLINE:
            self.parts.append("\n")

    def handle_endtag(self, tag: str) -> None:
        self._is_title = False
        for element in (self._skipped, self._main, self._quoted):
            element.end(tag)
        if tag not in INLINE:
            self.parts.append("\n")

    def handle_data(self, data: str) -> None:
        if self._is_title:
            self.found["title"] = self.found.get("title", "") + data
        elif self._skipped.tag or (self._only and not self._main.tag):
            self.num_left += len(data.strip())
        else:
            self.parts.append("> " * bool(self._quoted.tag) + data)

    def _take_meta(self, attributes: Mapping[str, str]) -> None:
        name = (attributes.get("name") or attributes.get("property", "")).lower()
        for part, names in (("date", META_DATES), ("author", META_AUTHORS)):
            if name in names:
                self.found.setdefault(part, attributes.get("content", ""))


def read_html(content: bytes, place: str, encoding: str = "", is_mail: bool = False) -> Content:
    """Read the visible text of a page, or of its main part, its title, and its date and author
    where it names them.

    is_mail: whether it is a message, whose block quotations become quoted lines.
    """
    text = _decode(content, place, encoding)
    named = (name for name, signs in MAIN_PARTS.items() if not is_mail and signs.search(text))
    for only in (*named, ""):
        page = _Page(only, is_mail)
        page.feed(text)
        page.close()
        found = page.finish("scripts, menus, forms and what is around the main text")
        # Scripts fill some main parts only when the page is shown.
        if found.text:
            break
    return found


def _decode(content: bytes, place: str, given: str) -> str:
    """The text of a file in the encoding that is given, declared or detected."""
    declared = DECLARED.search(content[:DECLARED_WITHIN])
    if not given and declared:
        name = declared[1].decode()
        try:
            found = codecs.lookup(name).name
        except LookupError:
            found = "utf-8"
        # Pages that declare Latin-1 are in Windows-1252, and those that declare UTF-8 may not be.
        given = {"iso8859-1": "cp1252", "ascii": "", "utf-8": ""}.get(found, found)
        if content.startswith((codecs.BOM_UTF8, codecs.BOM_UTF16_BE, codecs.BOM_UTF16_LE)):
            given = ""
    encoding = name_encoding(iter([content]), place, given)
    return content.decode(encoding.name, errors="replace")


class _Form(NamedTuple):
    """How a kind of XML is read.

    blocks: the elements that separate words, by default all that are not `INLINE`. only: those with
    text, by default all. signs: those that stand for a sign. left: what is left out.
    """

    blocks: frozenset[str] = frozenset()
    only: frozenset[str] = frozenset()
    signs: Mapping[str, str] = MappingProxyType({})
    left: str = "headers and deleted text"


WORD = _Form(
    blocks=frozenset(("p", "br", "tc")),
    only=frozenset("t"),
    signs={"tab": " ", "noBreakHyphen": "-"},
    left="deleted text",
)
OPEN_TEXT = _Form(
    blocks=frozenset(("p", "h", "line-break")),
    signs={"s": " ", "tab": " "},
    left="deleted text and comments",
)


class _Elements(_Text):
    """The text of XML."""

    def __init__(self, place: str, form: _Form) -> None:
        super().__init__()
        self._place = place
        self._form = form
        self._path: list[str] = []
        self._skipped = 0
        self._joins = False
        self._header: list[str] = []
        self._dates: dict[str, str] = {}
        self._done: list[Content] = []

    def parse(self, text: str) -> Content:
        parser = expat.ParserCreate("utf-8")
        parser.buffer_text = True
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._add
        parser.EntityDeclHandler = self._declare
        # Names of HTML, such as &nbsp;, are known without a declaration. Other files are not read.
        parser.SkippedEntityHandler = lambda name, _: self._add(html5.get(f"{name};", " "))
        parser.UseForeignDTD(True)
        try:
            parser.Parse(text.encode(), True)
        except expat.ExpatError as error:
            raise CorpusError(
                f"{self._place} is not well-formed XML ({error}): correct it, or save its text as"
                " .txt."
            ) from error
        self._take_text(is_whole=not self._done)
        first, *others = self._done
        return first._replace(others=tuple(others))

    def _take_text(self, is_whole: bool = False) -> None:
        """Take what has been read as one text unless it is blank, and begin another.

        is_whole: whether it is an element of its own, also if it is blank.
        """
        self.found["date"] = next((self._dates[each] for each in DATED if each in self._dates), "")
        if is_whole or "".join(self.parts).strip():
            self._done.append(self.finish(self._form.left))
            self.num_left = 0
        self.parts = []
        # Texts of a group share a header, and each has a title of its own.
        in_group = self._path[-1:] == ["group"]
        self.found = {"author": self.found.get("author", "")} if in_group else {}
        self._dates = self._dates if in_group else {}

    def _declare(self, name: str, _: bool, value: str | None, *others: object) -> None:
        if value is not None and (len(value) > MAX_ENTITY or "&" in value or "%" in value):
            raise CorpusError(
                f"{self._place} is XML that defines &{name[:20]}; as a long text: replace it by the"
                " text."
            )

    def _start(self, name: str, attributes: Mapping[str, str]) -> None:
        name = name.rpartition(":")[2]
        in_choice = self._path[-1:] == ["choice"] and name in VARIANTS
        if self._is_text(name):
            self._take_text()
        self._skipped += bool(self._skipped) or in_choice or name in NOT_READ
        self._path.append(name)
        if name in ("title", "author", "date", *NAMED):
            self._header = []
        if name == "date" and "teiHeader" in self._path:
            written = next((attributes[each] for each in DATE_ATTRIBUTES if each in attributes), "")
            self._take_date(written)
        self._joins = attributes.get("break") == "no"
        if self._joins and self.parts:
            self.parts.append(self.parts.pop().rstrip().rstrip("-¬"))
        else:
            self._separate(name)

    def _end(self, name: str) -> None:
        name = self._path.pop()
        self._skipped -= bool(self._skipped)
        if "teiHeader" in self._path:
            text = "".join(self._header)
            if self._path[-1] == "titleStmt" and name in ("title", "author"):
                self.found.setdefault(name, text)
            elif name == "date":
                self._take_date(text)
        elif name in NAMED and "group" in self._path:
            self.found.setdefault("title", "".join(self._header))
        if not self._joins:
            self._separate(name)
        if self._is_text(name):
            self._take_text(is_whole=True)

    def _is_text(self, name: str) -> bool:
        """Whether an element is one of several texts: a TEI element, or a text in a group."""
        return (name in TEI and bool(self._path)) or (name == "text" and "group" in self._path[-1:])

    def _take_date(self, written: str) -> None:
        for where in DATED:
            if where in self._path and written.strip():
                self._dates.setdefault(where, written.strip())

    def _separate(self, name: str) -> None:
        is_block = name.lower() not in INLINE
        if name in self._form.signs:
            self.parts.append(self._form.signs[name])
        elif name in self._form.blocks or (is_block and not self._form.blocks):
            self.parts.append("\n")

    def _add(self, data: str) -> None:
        self._header.append(data)
        if self._skipped:
            self.num_left += len(data.strip())
        elif not self._form.only or self._path[-1] in self._form.only:
            self.parts.append(data.lstrip() if self._joins else data)
            self._joins = False


def read_xml(content: bytes, place: str, encoding: str = "") -> Content:
    """Read the visible text of XML; of TEI without its header, which has title, date and author.

    Each TEI element of a corpus is a text, and each text in a group.

    Raises CorpusError if it is not well-formed, or defines entities that can expand to any size.
    """
    return _Elements(place, _Form()).parse(_decode(content, place, encoding))


def read_word(content: bytes, place: str, encoding: str = "") -> Content:
    """Read the text of a Word file (.docx), then its notes, without deleted text and comments."""
    found = _Elements(place, WORD).parse(_unpack(content, place, "word/document.xml"))
    for member in ("word/footnotes.xml", "word/endnotes.xml"):
        if xml := _unpack(content, place, member, is_needed=False):
            notes = _Elements(place, WORD).parse(xml).text
            found = found._replace(text=f"{found.text}\n{notes}".strip())
    return found


def read_open_text(content: bytes, place: str, encoding: str = "") -> Content:
    """Read the text of an OpenDocument text (.odt), without deleted text and comments."""
    return _Elements(place, OPEN_TEXT).parse(_unpack(content, place, "content.xml"))


def _unpack(content: bytes, place: str, member: str, is_needed: bool = True) -> str:
    """The text of a member of a document that is a zip archive; "" if it has none that is not
    needed.
    """
    if not content.startswith(b"PK"):
        raise CorpusError(
            f"{place} is an old document or has a password: save it as .docx without a password."
        )
    # Marks take more space than the text.
    most = min(MAX_RATIO * len(content), MAX_FILE)
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            if not is_needed and member not in archive.namelist():
                return ""
            with archive.open(member) as stream:
                xml = stream.read(most + 1)
    except (*BROKEN, KeyError, NotImplementedError, ValueError) as error:
        raise CorpusError(f"{place} is damaged ({explain_error(error)}): save it again.") from error
    if len(xml) > most:
        raise CorpusError(f"{place} is too large when unpacked: split it.")
    return _decode(xml, place, "")
