"""Files of a user whose home folder cannot be written or is unknown."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import stickbreaker.engine
from stickbreaker.engine.corpora.library import find_folder
from stickbreaker.engine.files.user_folders import find_private_folder, find_usual_folder, may_write

# A user without a name. It may read everything, also a Python below the home folder of root.
OTHER_USER = 54_321
AS_ANOTHER = (
    "setpriv",
    f"--reuid={OTHER_USER}",
    f"--regid={OTHER_USER}",
    "--clear-groups",
    "--inh-caps=+dac_read_search",
    "--ambient-caps=+dac_read_search",
)
VARIABLES = ("XDG_CACHE_HOME", "XDG_DATA_HOME", "NUMBA_CACHE_DIR", "STICKBREAKER_DATA")
PROGRAM = """
import numpy as np
from stickbreaker import engine
from stickbreaker.engine.corpora.library import find_folder
from stickbreaker.engine.kernels.concentrations import add_word_gains
out = np.zeros(2)
add_word_gains(np.ones((1, 1)), 0.0, 1.0, out, np.zeros(1))
print(find_folder(), find_folder(), round(out[0], 9))
"""


@pytest.fixture
def read_only_engine(tmp_path):
    """The folder of an engine without compiled code that only its owner can write."""
    package = tmp_path / "packages" / "stickbreaker" / "engine"
    shutil.copytree(
        Path(stickbreaker.engine.__file__).parent,
        package,
        ignore=shutil.ignore_patterns("__pycache__"),
    )
    # A file in place of the folder: root may write to folders of any mode.
    (package / "kernels" / "__pycache__").write_text("")
    return tmp_path / "packages"


def run_without_home(packages, temporary, home, prefix=()):
    """Compile a kernel and find the data folder: what the program prints, and its warnings."""
    kept = {name: value for name, value in os.environ.items() if name not in (*VARIABLES, "HOME")}
    places = {"PYTHONPATH": str(packages), "TMPDIR": str(temporary), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [*prefix, sys.executable, "-c", PROGRAM]
    ran = subprocess.run(
        command, env=kept | places | home, cwd="/", capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout.split(), ran.stderr.splitlines()


def check_temporary(printed, warnings, folder):
    assert printed == [str(folder / "data" / "corpora")] * 2 + ["1.0"]
    assert len(warnings) == 2
    assert str(folder / "kernels") in warnings[0]
    assert "NUMBA_CACHE_DIR" in warnings[0]
    assert "STICKBREAKER_DATA" in warnings[1]
    assert any(
        file.suffix == ".nbc" for file in folder.rglob("kernels-*/concentrations.add_word_gains*")
    )


@pytest.mark.skipif(
    sys.platform != "linux", reason="other systems have other variables for the home folder"
)
def test_without_a_writable_home_compiled_code_and_data_go_to_a_temporary_folder(
    read_only_engine, tmp_path
):
    home = tmp_path / "home"
    home.write_text("")
    printed, warnings = run_without_home(read_only_engine, tmp_path, {"HOME": str(home)})
    check_temporary(printed, warnings, tmp_path / f"stickbreaker-{os.getuid()}")


@pytest.mark.skipif(
    sys.platform != "linux" or os.getuid() != 0, reason="only root may become another user"
)
def test_another_user_without_a_home_has_a_folder_that_others_cannot_read(
    read_only_engine, tmp_path
):
    if not shutil.which("setpriv") or subprocess.run([*AS_ANOTHER, "true"], check=False).returncode:
        pytest.skip("this root may not give a process of another user the right to read all files")
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    temporary.chmod(0o1777)
    printed, warnings = run_without_home(read_only_engine, temporary, {}, AS_ANOTHER)
    folder = temporary / f"stickbreaker-{OTHER_USER}"
    check_temporary(printed, warnings, folder)
    assert (folder.stat().st_mode & 0o777, folder.stat().st_uid) == (0o700, OTHER_USER)


@pytest.mark.skipif(os.name != "posix", reason="elsewhere the temporary folder is the user's own")
def test_a_folder_of_another_user_is_not_used(tmp_path):
    first = find_private_folder(tmp_path)
    assert find_private_folder(tmp_path) == first
    first.chmod(0o777)
    opened = find_private_folder(tmp_path)
    assert opened.parent == tmp_path
    assert opened != first
    first.rmdir()
    first.symlink_to(opened)
    assert find_private_folder(tmp_path) not in {first, opened}


def test_an_unknown_home_gives_no_folder():
    def fail(name, appauthor):
        raise RuntimeError("could not determine the home directory")

    assert find_usual_folder(fail) is None
    assert find_usual_folder(lambda name, appauthor: Path("~/.cache")) is None


def test_a_folder_that_can_be_created_may_be_written(tmp_path):
    (tmp_path / "file").write_text("")
    assert may_write(tmp_path / "new" / "folder")
    assert not may_write(tmp_path / "file" / "folder")
    assert list(tmp_path.iterdir()) == [tmp_path / "file"]


def test_a_chosen_data_folder_is_used_even_if_it_cannot_be_written(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("STICKBREAKER_DATA", str(tmp_path / "file"))
    assert find_folder() == tmp_path / "file" / "corpora"
