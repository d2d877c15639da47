"""The command `stickbreaker`: its options."""

import os
from pathlib import Path

import pytest

from stickbreaker.app.__main__ import provide_home, serve


@pytest.mark.parametrize("port", ["99999", "-1", "http"])
def test_an_invalid_port_is_refused_with_a_description_of_a_valid_one(port, capsys):
    with pytest.raises(SystemExit):
        serve([f"--port={port}", "--no-show"])
    assert (
        f"'{port}' is not a valid port: use a whole number from 0 to 65535"
        in capsys.readouterr().err
    )


def test_an_account_without_a_home_folder_gets_one_before_bokeh_asks_for_it(monkeypatch):
    def fail():
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setenv("HOME", "/home/anna")
    provide_home()
    assert os.environ["HOME"] == "/home/anna"
    monkeypatch.setattr(Path, "home", fail)
    provide_home()
    assert os.environ["HOME"] == "/"
