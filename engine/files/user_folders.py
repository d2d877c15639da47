"""Where the files of a user go if the home folder cannot be written or is unknown, as in many
containers.
"""

import logging
import os
import stat
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path

logger = logging.getLogger(__name__)


def find_usual_folder(find: Callable[..., Path]) -> Path | None:
    """Return the folder that a function of platformdirs gives, or None without a home folder."""
    try:
        folder = find("stickbreaker", appauthor=False)
    except RuntimeError:
        return None
    # Older versions of platformdirs return "~/..." unchanged.
    return folder if folder.is_absolute() else None


def may_write(folder: Path) -> bool:
    """Whether files can be written in a folder, or the folder can be created. Creates nothing."""
    nearest = next((place for place in (folder, *folder.parents) if os.path.lexists(place)), folder)
    return os.path.isdir(nearest) and os.access(nearest, os.W_OK | os.X_OK)


@cache
def use_temporary_folder(name: str, purpose: str, variable: str) -> Path:
    """Return a folder of this user in the system's temporary folder, and say so once in the log.

    purpose: what is stored there; variable: the variable of the environment that names another
    folder.
    """
    folder = find_private_folder(Path(tempfile.gettempdir())) / name
    logger.warning(
        "%s in %s, because the home folder cannot be written. To choose another folder, set %s.",
        purpose,
        folder,
        variable,
    )
    return folder


def find_private_folder(parent: Path) -> Path:
    """Return this user's folder in `parent`; a new one for this process if others can write in it.

    Compiled code is loaded from it, so another account must not be able to put files there.
    """
    owner = getattr(os, "getuid", lambda: 0)()
    folder = parent / f"stickbreaker-{owner}"
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        found = folder.lstat()
        if stat.S_ISDIR(found.st_mode) and found.st_uid == owner and not found.st_mode & 0o077:
            return folder
    except OSError:
        pass
    return Path(tempfile.mkdtemp(prefix="stickbreaker-", dir=parent))
