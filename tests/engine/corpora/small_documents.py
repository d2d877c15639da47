"""Documents of every kind with one text, written without a library."""

from email.message import EmailMessage
from xml.sax.saxutils import escape

from tests.engine.corpora.small_sheets import pack_bytes

WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
OPEN = "urn:oasis:names:tc:opendocument:xmlns"


def write_docx(text):
    """A Word file with a paragraph for each line."""
    # A word in two runs is still a word.
    paragraphs = "".join(
        f"<w:p><w:r><w:t>{escape(line[:3])}</w:t></w:r><w:r><w:t>{escape(line[3:])}</w:t></w:r></w:p>"
        for line in text.split("\n")
    )
    return pack_bytes(
        {
            "[Content_Types].xml": "<Types/>",
            "word/document.xml": f'<w:document xmlns:w="{WORD}"><w:body>{paragraphs}<w:del><w:r>'
            "<w:delText>secret</w:delText></w:r></w:del></w:body></w:document>",
        }
    )


def write_odt(text):
    """An OpenDocument text with a paragraph for each line."""
    paragraphs = "".join(
        f"<text:p>{escape(line).replace(' ', '<text:s/>')}</text:p>" for line in text.split("\n")
    )
    spaces = " ".join(f'xmlns:{each}="{OPEN}:{each}:1.0"' for each in ("office", "text"))
    return pack_bytes(
        {
            "mimetype": "application/vnd.oasis.opendocument.text",
            "content.xml": f"<office:document-content {spaces}><office:body><office:text>"
            f"<text:tracked-changes><text:p>secret</text:p></text:tracked-changes>{paragraphs}"
            "</office:text></office:body></office:document-content>",
        }
    )


def write_pdf(*pages):
    """A PDF with a page for each text, without compression."""
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Count {len(pages)} /Kids "
        f"[{' '.join(f'{4 + 2 * n} 0 R' for n in range(len(pages)))}] >>",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
    ]
    for number, text in enumerate(pages):
        lines = " ".join(f"({line}) Tj T*" for line in text.split("\n") if line)
        shown = f"BT /F1 12 Tf 14 TL 50 700 Td {lines} ET" if lines else ""
        objects += [
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents {5 + 2 * number} 0 R "
            "/Resources << /Font << /F1 3 0 R >> >> >>",
            f"<< /Length {len(shown)} >>\nstream\n{shown}\nendstream",
        ]
    out = b"%PDF-1.4\n"
    places = []
    for number, content in enumerate(objects, start=1):
        places.append(len(out))
        out += f"{number} 0 obj\n{content}\nendobj\n".encode("cp1252")
    table = "".join(f"{place:010} 00000 n \n" for place in places)
    size = len(objects) + 1
    return (
        out
        + (
            f"xref\n0 {size}\n0000000000 65535 f \n{table}trailer\n<< /Size {size} /Root 1 0 R >>\n"
            f"startxref\n{len(out)}\n%%EOF"
        ).encode()
    )


def write_html(text):
    """A page with a paragraph for each line."""
    paragraphs = "".join(f"<p>{escape(line)}" for line in text.split("\n"))
    return (
        f"<!DOCTYPE html><html><head><title>On peace</title><meta charset='utf-8'>"
        f"<style>.secret</style></head><body>{paragraphs}<script>secret()</script></body></html>"
    ).encode()


def write_tei(text):
    """A TEI file with a paragraph for each line."""
    paragraphs = "".join(f"<p>{escape(line)}</p>" for line in text.split("\n"))
    return (
        '<?xml version="1.0" encoding="UTF-8"?><TEI xmlns="http://www.tei-c.org/ns/1.0"><teiHeader>'
        "<fileDesc><titleStmt><title>On peace</title><author>Ann</author></titleStmt>"
        "<publicationStmt><date>2019</date></publicationStmt></fileDesc><profileDesc><creation>"
        '<date when="1863-12-08">December</date></creation></profileDesc></teiHeader><text><body>'
        f"{paragraphs}</body></text></TEI>"
    ).encode()


def write_eml(text, **headers):
    """A message with a text."""
    message = EmailMessage()
    headers = {"Subject": "On peace", "Date": "Tue, 8 Dec 1863 23:30:00 -0500"} | headers
    for name, value in ({"From": "Ann <ann@example.org>"} | headers).items():
        message[name] = value
    message.set_content(text)
    return message.as_bytes()


def write_mbox(*messages):
    """A mailbox of messages."""
    return b"".join(
        b"From ann@example.org Tue Dec  8 23:30:00 1863\n"
        + message.replace(b"\nFrom ", b"\n>From ")
        + b"\n"
        for message in messages
    )


WRITERS = {
    ".txt": str.encode,
    ".docx": write_docx,
    ".odt": write_odt,
    ".pdf": write_pdf,
    ".html": write_html,
    ".xml": write_tei,
    ".eml": write_eml,
}
