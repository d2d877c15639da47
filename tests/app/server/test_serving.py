"""The command `stickbreaker`: its options."""

import pytest

from stickbreaker.app.__main__ import serve


@pytest.mark.parametrize("port", ["99999", "-1", "http"])
def test_an_invalid_port_is_refused_with_a_description_of_a_valid_one(port, capsys):
    with pytest.raises(SystemExit):
        serve([f"--port={port}", "--no-show"])
    assert f"'{port}' is not a valid port: use a whole number from 0 to 65535" in capsys.readouterr().err
