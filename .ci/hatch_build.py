"""Makes an editable installation work in a checkout without symbolic links, as git makes it on
Windows.

There, `.import/stickbreaker/engine` and `app` are text files. The installation then gets one more
file, the package `stickbreaker`, which finds `engine` and `app` in the checkout itself. Type
checkers do not see such a package.
"""

import shutil
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

LINKS = ("engine", "app")
PACKAGE = '"""The packages of a checkout without symbolic links."""\n\n__path__ = [{root!r}]\n'


class EditableWithoutLinks(BuildHookInterface):
    """Adds the package `stickbreaker` to an editable installation whose checkout has no links."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Write the package where the links are missing; `version` is "editable" or "standard"."""
        links = Path(self.root, ".import", "stickbreaker")
        if version != "editable" or all((links / name).is_dir() for name in LINKS):
            return
        self._folder = Path(tempfile.mkdtemp(prefix="stickbreaker-"))
        package = self._folder / "__init__.py"
        package.write_text(PACKAGE.format(root=self.root), encoding="utf-8")
        build_data["force_include_editable"][str(package)] = "stickbreaker/__init__.py"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove what `initialize` wrote, which is in the installation now."""
        for package in build_data["force_include_editable"]:
            shutil.rmtree(Path(package).parent)
