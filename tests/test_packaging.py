"""The wheel contains the corpora, the engine finds them in a wheel and in a checkout, and a type
checker its names.
"""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from stickbreaker import engine

CHECKOUT = Path(__file__).parents[1]
REPORT = """
import pathlib
from stickbreaker import engine
corpus = engine.load_corpus(engine.list_corpora()[0])
print(pathlib.Path(engine.__file__).parents[2].absolute(), corpus.num_documents)
"""
CODE = """
from stickbreaker import engine

engine.GibbsHDP(burn_in=3).fit(engine.load_corpus("rfc"))
engine.OnlineHPD()
engine.GibbsHDP(burn_inn=3)
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    command = [
        sys.executable,
        "-m",
        "build",
        "--wheel",
        "--no-isolation",
        "--outdir",
        str(folder),
        str(CHECKOUT),
    ]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout + result.stderr
    return zipfile.ZipFile(next(folder.glob("*.whl")))


def load_from(folder, cwd):
    environment = os.environ | {"PYTHONPATH": str(folder)}
    result = subprocess.run(
        [sys.executable, "-c", REPORT],
        cwd=cwd,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    return result.stdout.split()


def test_the_wheel_holds_both_packages_and_the_data_and_nothing_else(wheel):
    names = wheel.namelist()
    assert {name.split("/")[0] for name in names if ".dist-info" not in name} == {"stickbreaker"}
    folder = "stickbreaker/engine/data/"
    data = ("README.md", "checksums.json", "recorded-run.npz", "rfc.npz", "state-of-the-union.npz")
    assert {name for name in names if name.startswith(folder)} == {
        f"{folder}{name}" for name in data
    }


def test_the_wheel_says_that_the_engine_has_type_hints(wheel):
    assert "stickbreaker/engine/py.typed" in wheel.namelist()


def test_the_wheel_contains_the_licence(wheel):
    metadata = next(name for name in wheel.namelist() if name.endswith("/METADATA"))
    assert "License-Expression: MIT" in wheel.read(metadata).decode()
    assert any(name.endswith("/LICENSE") for name in wheel.namelist())


def test_an_unpacked_wheel_loads_its_own_corpus(wheel, tmp_path):
    installed = tmp_path / "installed"
    wheel.extractall(installed)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    assert load_from(installed, elsewhere) == [str(installed.resolve()), "10384"]


def test_a_checkout_loads_the_corpus_of_its_data_folder():
    links = CHECKOUT / ".import"
    assert load_from(links, CHECKOUT) == [str(links), "10384"]


def test_a_users_type_checker_knows_every_public_name_and_reports_a_misspelt_one(tmp_path):
    names = "\n".join(f"engine.{name}" for name in engine.__all__)
    (tmp_path / "code.py").write_text(f"{CODE}{names}\n")
    # Only the names of the project are asked for: the types of other packages need not be read.
    settings = "[mypy]\nfollow_imports = skip\n[mypy-stickbreaker.*]\nfollow_imports = silent\n"
    (tmp_path / "mypy.ini").write_text(settings)
    options = ("--strict", "--ignore-missing-imports", "--cache-dir=cache", "--no-pretty")
    result = subprocess.run(
        [sys.executable, "-m", "mypy", *options, "code.py"],
        cwd=tmp_path,
        env=os.environ | {"MYPYPATH": str(CHECKOUT / ".import")},
        capture_output=True,
        text=True,
        check=False,
    )
    errors = [line for line in result.stdout.splitlines() if "error:" in line]
    assert [line.partition(": error: ")[0] for line in errors] == ["code.py:5", "code.py:6"], (
        result.stdout
    )
    assert 'no attribute "OnlineHPD"' in errors[0]
    assert 'keyword argument "burn_inn"' in errors[1]
