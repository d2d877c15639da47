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


APP = Path(__file__).parents[1]


def read_texts(*places: str) -> str:
    """Join the texts of files of the app, such as "export/chart.js"."""
    return "\n".join((APP / place).read_text(encoding="utf-8") for place in places)


def write_page(path: Path, title: str, body: str, style: str, script: str = "") -> None:
    """Write a page: its title, HTML below it, and the style and script that it contains."""
    policy = f"default-src 'none'; style-src '{_hash(style)}'"
    if script:
        policy += f"; script-src '{_hash(script)}'"
        body += f"\n<script>{script}</script>"
    with replacing(path) as file:
        file.write(PAGE.format(policy=policy, title=escape(title), style=style, body=body).encode())


def _hash(text: str) -> str:
    """The hash of a script or style, by which the policy allows it."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
