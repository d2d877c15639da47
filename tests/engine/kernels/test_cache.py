"""Compiled kernels are stored on disk, and never used after a change of any kernel file."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from stickbreaker import engine
from stickbreaker.engine.kernels.cache import MAX_VERSIONS, prune_versions

# `add_word_gains` is in concentrations.py and calls `digamma` of special.py.
PROGRAM = """
import numpy as np
from stickbreaker.engine.kernels.concentrations import add_word_gains
out = np.zeros(2)
add_word_gains(np.ones((1, 1)), 0.0, 1.0, out, np.zeros(1))
print(out[0], sum(add_word_gains.stats.cache_hits.values()))
"""
# The same, with another process that compiles it when it is not there.
WAITING_PROGRAM = f"""
import subprocess, sys
from stickbreaker.engine.kernels.cache import waiting
program, ended = {PROGRAM!r}, []
def wait():
    if not ended:
        ended.append(subprocess.run([sys.executable, "-c", program], check=True, capture_output=True))
        return True
    return False
with waiting(wait):
    exec(program)
"""
# ψ(1 + 1) - ψ(1)
EXPECTED = 1.0


@pytest.fixture
def copied_kernels(tmp_path):
    """The kernels folder of a copy of the engine, without compiled code."""
    package = tmp_path / "stickbreaker" / "engine"
    shutil.copytree(
        Path(engine.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__")
    )
    # Kernels do not need the public names of the package, whose imports take seconds.
    (package / "__init__.py").write_text("")
    return package / "kernels"


def run_kernel(kernels, program=PROGRAM, **variables):
    """Run the copied kernels in a new process: the result, and whether code was found."""
    root = kernels.parents[2]
    home = {name: str(root / "home") for name in ("HOME", "XDG_CACHE_HOME", "LOCALAPPDATA")}
    environment = os.environ | home | {"PYTHONPATH": str(root)} | variables
    environment.pop("NUMBA_CACHE_DIR", None)
    command = [sys.executable, "-c", program]
    ran = subprocess.run(
        command, env=environment, cwd=root, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr
    result, num_found = ran.stdout.split()
    return float(result), num_found == "1"


def list_versions(folder):
    """The folders of compiled code in a folder, with the names of the files in each."""
    return {each: sorted(file.name for file in each.iterdir()) for each in folder.glob("kernels-*")}


def test_a_change_of_one_kernel_file_recompiles_the_kernels_that_call_it(copied_kernels):
    compiled = copied_kernels / "__pycache__"
    assert run_kernel(copied_kernels) == (pytest.approx(EXPECTED), False)
    first = list_versions(compiled)
    assert len(first) == 1

    special = copied_kernels / "special.py"
    original = special.read_text()
    end = "return shift + math.log(x) - 0.5 * inverse - series"
    assert original.count(end) == 1
    special.write_text(original.replace(end, f"return 2.0 * ({end.removeprefix('return ')})"))
    assert run_kernel(copied_kernels) == (pytest.approx(2 * EXPECTED), False)
    both = list_versions(compiled)
    assert len(both) == 2
    assert both | first == both

    special.write_text(original)
    assert run_kernel(copied_kernels) == (pytest.approx(EXPECTED), True)


def test_compiled_code_of_other_programs_in_the_same_folder_is_ignored(copied_kernels):
    compiled = copied_kernels / "__pycache__"
    compiled.mkdir()
    source = (copied_kernels / "concentrations.py").read_text()
    line = source[: source.index("def add_word_gains(")].count("\n")
    name = (
        f"concentrations.add_word_gains-{line}.py{sys.version_info.major}{sys.version_info.minor}"
    )
    for ending in (".nbi", ".1.nbc"):
        (compiled / f"{name}{ending}").write_bytes(b"not compiled code")
    assert run_kernel(copied_kernels) == (pytest.approx(EXPECTED), False)
    assert (compiled / f"{name}.nbi").read_bytes() == b"not compiled code"
    assert len(list_versions(compiled)) == 1


def test_compiled_code_goes_to_the_users_cache_folder_if_the_package_folder_is_read_only(
    copied_kernels,
):
    # A file in place of the folder: root may write to folders of any mode.
    (copied_kernels / "__pycache__").write_text("")
    assert run_kernel(copied_kernels) == (pytest.approx(EXPECTED), False)
    home = copied_kernels.parents[2] / "home"
    assert any(
        file.suffix == ".nbc" for file in home.rglob("kernels-*/concentrations.add_word_gains*")
    )


def test_the_most_recently_used_versions_are_kept(tmp_path):
    folders = [tmp_path / f"kernels-{number:016x}" for number in range(6)]
    for used, folder in enumerate(folders):
        folder.mkdir()
        (folder / "code.nbc").touch()
        os.utime(folder, (used, used))
    others = [tmp_path / "kernels-of-mine", tmp_path / "special.digamma-22.py311.nbi"]
    others[0].mkdir()
    others[1].touch()
    prune_versions(folders[1])
    assert sorted(tmp_path.iterdir()) == sorted(
        [folders[1], *folders[-MAX_VERSIONS + 1 :], *others]
    )
    prune_versions(folders[1])
    prune_versions(folders[-1])
    assert folders[1].exists()


def test_kernels_run_without_optimization(copied_kernels):
    """numba then stores no kernel whose globals are addresses, and warns."""
    result, was_found = run_kernel(copied_kernels, NUMBA_OPT="0")
    assert (result, was_found) == (pytest.approx(EXPECTED), False)


def test_a_kernel_that_another_process_compiles_is_waited_for(copied_kernels):
    assert run_kernel(copied_kernels, WAITING_PROGRAM) == (EXPECTED, True)


def test_a_kernel_that_the_other_process_does_not_compile_is_compiled_here(copied_kernels):
    program = WAITING_PROGRAM.replace('"-c", program]', '"-c", ""]')
    assert run_kernel(copied_kernels, program) == (EXPECTED, False)
