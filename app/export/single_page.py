"""A page as one HTML file that loads nothing: its policy allows its own style and script only."""

import base64
import hashlib
from html import escape
from pathlib import Path

from stickbreaker.engine.files.whole_files import replacing

PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
<header><h1>{title}</h1></header>
{body}
</body>
</html>
"""


def write_page(path: Path, title: str, body: str, style: Path, script: Path | None = None) -> None:
    """Write a page: its title, HTML below it, and the style and script that it contains."""
    rules = style.read_text(encoding="utf-8")
    policy = f"default-src 'none'; style-src '{_hash(rules)}'"
    if script is not None:
        code = script.read_text(encoding="utf-8")
        policy += f"; script-src '{_hash(code)}'"
        body += f"\n<script>{code}</script>"
    with replacing(path) as file:
        file.write(PAGE.format(policy=policy, title=escape(title), style=rules, body=body).encode())


def _hash(text: str) -> str:
    """The hash of a script or style, by which the policy allows it."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
