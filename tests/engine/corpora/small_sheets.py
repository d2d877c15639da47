"""Excel and OpenDocument files with a few sheets, written without a library."""

import io
import struct
import zipfile
from datetime import date, datetime
from xml.sax.saxutils import escape

MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
RELATIONS = "http://schemas.openxmlformats.org/package/2006/relationships"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
OPEN = "urn:oasis:names:tc:opendocument:xmlns"
FREE, END, TABLE = 0xFFFFFFFF, 0xFFFFFFFE, 0xFFFFFFFD


def _serial(day):
    return (day - type(day)(1899, 12, 30)).total_seconds() / 86_400


def pack_bytes(members):
    """A zip archive."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return out.getvalue()


def _name_column(number):
    letters = ""
    while number >= 0:
        letters = chr(65 + number % 26) + letters
        number = number // 26 - 1
    return letters


def _xlsx_cell(place, value):
    if isinstance(value, date | datetime):
        return f'<c r="{place}" s="1"><v>{_serial(value)}</v></c>'
    if isinstance(value, int | float):
        return f'<c r="{place}"><v>{value}</v></c>'
    return f'<c r="{place}" t="inlineStr"><is><t>{escape(value)}</t></is></c>'


def _xlsx_rows(rows, first):
    for number, row in enumerate(rows, start=first):
        cells = (
            _xlsx_cell(f"{_name_column(at)}{number}", value)
            for at, value in enumerate(row)
            if value != ""
        )
        yield f'<row r="{number}">{"".join(cells)}</row>'


def write_xlsx(sheets, hidden=(), first=1, merged=()):
    """Sheets (names and rows of values) as .xlsx; first: the number of the first row; merged: cells
    such as "A1:A3".
    """
    numbered = list(enumerate(sheets.items(), start=1))
    states = [' state="hidden"' * (name in hidden) for name in sheets]
    listed = "".join(
        f'<sheet name="{escape(name)}" sheetId="{n}"{states[n - 1]} r:id="s{n}"/>'
        for n, (name, _) in numbered
    )
    targets = {f"s{n}": ("worksheet", f"worksheets/sheet{n}.xml") for n, _ in numbered}
    targets["st"] = ("styles", "styles.xml")
    links = "".join(
        f'<Relationship Id="{id_}" Type="{OFFICE}/{kind}" Target="{target}"/>'
        for id_, (kind, target) in targets.items()
    )
    root = f'<Relationship Id="r" Type="{OFFICE}/officeDocument" Target="xl/workbook.xml"/>'
    members = {
        "[Content_Types].xml": "<Types/>",
        "_rels/.rels": f'<Relationships xmlns="{RELATIONS}">{root}</Relationships>',
        "xl/workbook.xml": f'<workbook xmlns="{MAIN}" xmlns:r="{OFFICE}"><sheets>{listed}</sheets>'
        "</workbook>",
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{RELATIONS}">{links}</Relationships>',
        "xl/styles.xml": f'<styleSheet xmlns="{MAIN}"><cellXfs><xf numFmtId="0"/>'
        '<xf numFmtId="14"/></cellXfs></styleSheet>',
    }
    ranges = "".join(f'<mergeCell ref="{each}"/>' for each in merged)
    ranges = f"<mergeCells>{ranges}</mergeCells>" * bool(merged)
    for n, (_, rows) in numbered:
        data = "".join(_xlsx_rows(rows, first))
        members[f"xl/worksheets/sheet{n}.xml"] = (
            f'<worksheet xmlns="{MAIN}"><sheetData>{data}</sheetData>{ranges}</worksheet>'
        )
    return pack_bytes(members)


def _ods_cell(value):
    if value == "":
        return "<table:table-cell/>"
    kind = f'office:value-type="float" office:value="{value}"'
    if isinstance(value, date | datetime):
        kind = f'office:value-type="date" office:date-value="{value.isoformat()}"'
    elif isinstance(value, str):
        kind = 'office:value-type="string"'
    return f"<table:table-cell {kind}><text:p>{escape(str(value))}</text:p></table:table-cell>"


def write_ods(sheets):
    """Sheets (names and rows of values) as .ods."""
    tables = "".join(
        f'<table:table table:name="{escape(name)}">'
        + "".join(
            f"<table:table-row>{''.join(map(_ods_cell, row))}</table:table-row>" for row in rows
        )
        + "</table:table>"
        for name, rows in sheets.items()
    )
    spaces = " ".join(f'xmlns:{each}="{OPEN}:{each}:1.0"' for each in ("office", "table", "text"))
    kind = "application/vnd.oasis.opendocument.spreadsheet"
    members = {
        "mimetype": kind,
        "META-INF/manifest.xml": '<manifest:manifest xmlns:manifest="urn:oasis:names:tc:'
        'opendocument:xmlns:manifest:1.0"/>',
        "content.xml": f"<office:document-content {spaces}><office:body><office:spreadsheet>"
        f"{tables}</office:spreadsheet></office:body></office:document-content>",
    }
    return pack_bytes(members)


def write_ole(name, content=b""):
    """A compound file of Office 97 with one stream."""
    content = content.ljust(-(-max(len(content), 4_096) // 512) * 512, b"\0")
    number = len(content) // 512
    # Sectors of 128 places: they list themselves, one of names, and the content.
    tables = -(-(number + 1) // 127)
    head = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(16)
    head += struct.pack("<HHHHH6x", 62, 3, 0xFFFE, 9, 6)
    head += struct.pack("<9I", 0, tables, tables, 0, 4_096, END, 0, END, 0)
    head += struct.pack(f"<{tables}I", *range(tables))
    chain = [TABLE] * tables + [END, *range(tables + 2, tables + 1 + number), END]
    letters = name.encode("utf-16-le")
    head = head.ljust(512, b"\xff")
    entries = b"".join(
        struct.pack("<64sHBBIII36xIQ", *entry)
        for entry in (
            ("Root Entry".encode("utf-16-le"), 22, 5, 1, FREE, FREE, 1, END, 0),
            (letters, len(letters) + 2, 2, 1, FREE, FREE, FREE, tables + 1, len(content)),
            (b"", 0, 0, 0, FREE, FREE, FREE, 0, 0),
            (b"", 0, 0, 0, FREE, FREE, FREE, 0, 0),
        )
    )
    chain += [FREE] * (128 * tables - len(chain))
    return head + struct.pack(f"<{128 * tables}I", *chain) + entries + content


def _record(kind, content):
    return struct.pack("<HH", kind, len(content)) + content


def _xls_cell(row, column, value):
    if isinstance(value, str):
        letters = value.encode("utf-16-le")
        said = struct.pack("<HB", len(letters) // 2, 1) + letters
        return _record(0x204, struct.pack("<HHH", row, column, 0) + said)
    is_date = isinstance(value, date | datetime)
    number = _serial(value) if is_date else value
    return _record(0x203, struct.pack("<HHHd", row, column, int(is_date), number))


def write_xls(sheets):
    """Sheets (names and rows of values) as .xls (BIFF 8)."""
    start = _record(0x809, struct.pack("<HHHHII", 0x600, 5, 0, 1997, 0, 6))
    formats = b"".join(_record(0xE0, struct.pack("<HH16x", 0, id_)) for id_ in (0, 14))
    pages = []
    for rows in sheets.values():
        cells = b"".join(
            _xls_cell(row, column, value)
            for row, line in enumerate(rows)
            for column, value in enumerate(line)
            if value != ""
        )
        begin = _record(0x809, struct.pack("<HHHHII", 0x600, 0x10, 0, 1997, 0, 6))
        pages.append(begin + cells + _record(0x0A, b""))
    place = len(start + formats) + 4 + sum(4 + 8 + len(name) for name in sheets)
    listed = b""
    for name, page in zip(sheets, pages, strict=True):
        about = struct.pack("<IBBBB", place, 0, 0, len(name), 0) + name.encode("latin-1")
        listed += _record(0x85, about)
        place += len(page)
    return write_ole("Workbook", start + formats + listed + _record(0x0A, b"") + b"".join(pages))


WRITERS = {"xlsx": write_xlsx, "ods": write_ods, "xls": write_xls}
