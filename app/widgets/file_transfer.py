"""Files between browser and server, part by part, so that neither stands still for a large one."""

import base64
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import panel as pn
import param

from stickbreaker.app.widgets.uploads import PART_BYTES, Upload
from stickbreaker.engine.corpora.corpus import CorpusError

_log = logging.getLogger(__name__)


class FileTransfer(pn.custom.JSComponent):
    """Takes files that are dropped or chosen, and gives one to be saved.

    take(path) is called when files have come, refuse(text) with what went wrong.
    """

    limits = param.String(doc="What may be dropped, in a sentence.")
    takes_files = param.Boolean(True, doc="Whether there is anything to see: where to drop files.")
    part_bytes = param.Integer(PART_BYTES)

    _esm = Path(__file__).with_name("file_transfer.js")
    _stylesheets: ClassVar = [Path(__file__).with_name("file_transfer.css").read_text(encoding="utf-8")]

    def __init__(self, take: Callable[[Path], None], refuse: Callable[[str], None], **params: Any):
        super().__init__(**params)
        self._take, self._refuse = take, refuse
        self.upload = Upload()
        self._outgoing: Any = None

    def _handle_msg(self, message: Any) -> None:
        kind = message.get("kind") if isinstance(message, dict) else None
        if kind == "next":
            self._send_part()
        elif not self.takes_files:
            _log.warning("A browser sent a file where none is asked for")
        elif kind == "fault":
            self._refuse(f"The browser could not read the file ({message.get('text')}): choose it again.")
        else:
            self._receive(kind, message)

    def _receive(self, kind: str | None, message: dict) -> None:
        try:
            if kind == "begin":
                self.upload.begin()
            elif kind == "open":
                self.upload.open(message["name"], message["size"])
            elif kind == "part":
                self.upload.add(message["content"])
            elif kind == "end":
                self._take(self.upload.end())
        except (CorpusError, KeyError, TypeError, ValueError, OSError) as error:
            self._send_msg({"kind": "answer", "is_taken": False})
            self._refuse(str(error))
            return
        self._send_msg({"kind": "answer", "is_taken": True})

    def send_file(self, path: Path, name: str) -> None:
        """Give a file to the browser to save; it is removed afterwards."""
        self._outgoing = (path, path.open("rb"), name)
        self._send_part()

    def _send_part(self) -> None:
        if self._outgoing is None:
            return
        _, file, name = self._outgoing
        if part := file.read(self.part_bytes):
            self._send_msg({"kind": "part", "content": base64.b64encode(part).decode()})
            return
        self.close()
        self._send_msg({"kind": "save", "name": name})

    def close(self) -> None:
        """Let go of a file on its way out."""
        outgoing, self._outgoing = self._outgoing, None
        if outgoing is not None:
            outgoing[1].close()
            outgoing[0].unlink(missing_ok=True)
