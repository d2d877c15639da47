"""An editable installation gives both packages, with and without symbolic links in the checkout."""

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).parents[1]
LINK = Path(".import/stickbreaker/engine")
BUILD_FILES = ("pyproject.toml", ".ci/hatch_build.py")
REPORT = """
import sys
from stickbreaker import app, engine
import stickbreaker.app.model.progress
assert engine.load_corpus(engine.list_corpora()[0]).num_documents == 10384
assert not {"app", "engine"} & set(sys.modules)
print(engine.__file__)
print(app.__file__)
"""


def run(*command, cwd):
    words = [str(word) for word in command]
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    result = subprocess.run(
        words, cwd=cwd, env=environment, capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


def install(checkout, folder):
    """Install a checkout in a new environment with these packages; return its Python."""
    run(sys.executable, "-m", "venv", "--without-pip", folder, cwd=checkout)
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    packages = run(
        python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))", cwd=folder
    ).strip()
    # These folders come after the one of the installation, which is in `_stickbreaker.pth`.
    Path(packages, "later.pth").write_text(sysconfig.get_path("purelib"))
    pip = (
        sys.executable,
        "-m",
        "pip",
        "--python",
        python,
        "install",
        "--quiet",
        "--no-index",
        "--no-deps",
    )
    run(*pip, "--no-build-isolation", "--ignore-installed", "--editable", ".", cwd=checkout)
    return python


@pytest.mark.parametrize("has_links", [True, False])
def test_an_editable_installation_imports_both_packages_from_the_checkout(has_links, tmp_path):
    checkout = tmp_path / "checkout"
    links = f"core.symlinks={str(has_links).lower()}"
    run("git", "-c", links, "clone", "--quiet", "--config", links, CHECKOUT, checkout, cwd=tmp_path)
    for name in BUILD_FILES:
        shutil.copy(CHECKOUT / name, checkout / name)
    assert (checkout / LINK).is_dir() == has_links
    status = run("git", "status", "--short", cwd=checkout)
    python = install(checkout, tmp_path / "environment")
    files = run(python, "-c", REPORT, cwd=tmp_path).splitlines()
    assert [Path(file).resolve() for file in files] == [
        checkout / f"{name}/__init__.py" for name in ("engine", "app")
    ]
    assert run("git", "status", "--short", cwd=checkout) == status
