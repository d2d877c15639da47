"""Transfer of files between browser and server in small parts, so that a large file blocks neither.

Panel's `FileDropper` cannot cancel an upload (the browser sends the rest), sets no size limit on
the server, and sends all parts without waiting, which delays clicks; `FileDownload` sends a file as
one message, and needs several times its size in memory.
"""

import base64
import logging
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO, ClassVar, NamedTuple

import param

from stickbreaker.app.fixes.page import PlainScript
from stickbreaker.app.model.limits import find_fault
from stickbreaker.app.widgets.layouts import BAR_STYLE
from stickbreaker.app.widgets.scripts import read_script
from stickbreaker.app.widgets.uploads import MAX_FILES, PART_BYTES, Upload
from stickbreaker.engine.corpora.rows import CorpusError

UNSTORED = "The server could not store the upload: {}. Try again later, or take a sample."
UNSENT = "{} could not be downloaded: {}. Try again."

_log = logging.getLogger(__name__)


class _Outgoing(NamedTuple):
    """A file that is being sent to the browser, and the name it is saved under."""

    path: Path
    file: BinaryIO
    name: str


class FileTransfer(PlainScript):
    """Receives files that a user drops or chooses, and sends files to be saved.

    take(path) is called after an upload, refuse(text) with the reason why an upload or a download
    failed. A file that is to be sent while another one is being sent waits for it. user: who
    uploads; None without logins. note(fault) is called with the fault of an upload, as `find_fault`
    gives it.
    """

    limits = param.String(doc="What may be uploaded, in one sentence.")
    takes_files = param.Boolean(
        True, doc="Whether files can be uploaded; otherwise nothing is shown."
    )
    part_bytes = param.Integer(PART_BYTES)
    max_files = param.Integer(MAX_FILES)

    _esm = read_script(Path(__file__).with_name("file_transfer.js"))
    _stylesheets: ClassVar[list[str]] = [
        BAR_STYLE,
        Path(__file__).with_name("file_transfer.css").read_text(encoding="utf-8"),
    ]

    def __init__(
        self,
        take: Callable[[Path], None],
        refuse: Callable[[str], None],
        user: str | None = None,
        note: Callable[[str], None] = lambda fault: None,
        **params: Any,
    ):
        super().__init__(**params)
        self._note = note
        self._take = take
        self._refuse = refuse
        self.upload = Upload(user)
        self.outgoing: _Outgoing | None = None
        self._waiting: deque[tuple[Path, str]] = deque()

    def _hear(self, message: dict[str, Any]) -> None:
        kind = message.get("kind")
        if kind == "next":
            self._send_part()
        elif kind == "unsaved":
            self._fail_to_send(f"the browser could not save it ({message.get('text')})")
        elif not self.takes_files:
            _log.warning("A browser sent a file to a component that does not accept files")
        elif kind == "fault":
            self.upload.clear()
            self._refuse(
                f"The browser could not read the file ({message.get('text')}): choose it again."
            )
        else:
            self._receive(kind, message)

    def _receive(self, kind: str | None, message: dict[str, Any]) -> None:
        try:
            if kind == "begin":
                self.upload.begin()
            elif kind == "open":
                self.upload.open(message["name"], message["size"], message["folders"])
            elif kind == "part":
                self.upload.add(message["content"])
            elif kind == "end":
                self._take(self.upload.end())
            elif kind == "cancel":
                self.upload.clear()
                self._refuse("Upload cancelled.")
        except OSError as error:
            # A part of an upload is of no use, and takes space on a full disk.
            self.upload.clear()
            self._note(find_fault(error))
            self._send_msg({"kind": "answer", "is_taken": False})
            self._refuse(UNSTORED.format(error.strerror or error))
            return
        except (CorpusError, KeyError, TypeError, ValueError) as error:
            self._note(find_fault(error))
            self._send_msg({"kind": "answer", "is_taken": False})
            self._refuse(str(error))
            return
        self._send_msg({"kind": "answer", "is_taken": True})

    def send_file(self, path: Path, name: str) -> None:
        """Send a file to the browser, which saves it, and remove the server's."""
        self._waiting.append((path, name))
        if self.outgoing is None:
            self._send_next()

    def _send_next(self) -> None:
        """Begin to send the file that has waited longest."""
        while self._waiting and self.outgoing is None:
            path, name = self._waiting.popleft()
            try:
                self.outgoing = _Outgoing(path=path, file=path.open("rb"), name=name)
            except OSError as error:
                path.unlink(missing_ok=True)
                self._refuse(UNSENT.format(name, error.strerror or error))
            else:
                self._send_part()

    def _send_part(self) -> None:
        outgoing = self.outgoing
        if outgoing is None:
            return
        try:
            part = outgoing.file.read(self.part_bytes)
        except OSError as error:
            self._send_msg({"kind": "drop"})
            self._fail_to_send(str(error.strerror or error))
            return
        if part:
            self._send_msg({"kind": "part", "content": base64.b64encode(part).decode()})
            return
        self._send_msg({"kind": "save", "name": outgoing.name})
        self._release()
        self._send_next()

    def _fail_to_send(self, reason: str) -> None:
        """Say why the present file did not arrive, and continue with the next one."""
        outgoing = self.outgoing
        if outgoing is not None:
            self._release()
            self._refuse(UNSENT.format(outgoing.name, reason))
            self._send_next()

    def _release(self) -> None:
        """Close and remove the file that is being sent."""
        outgoing = self.outgoing
        self.outgoing = None
        if outgoing is not None:
            outgoing.file.close()
            outgoing.path.unlink(missing_ok=True)

    def close(self) -> None:
        """Close and remove all files that are to be sent."""
        self._release()
        while self._waiting:
            self._waiting.popleft()[0].unlink(missing_ok=True)
