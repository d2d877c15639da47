"""Files with a header and the SHA-256 of every part."""

import json
import zipfile

import numpy as np
import pytest

from stickbreaker.engine.files.verified_files import (
    HEADER,
    Kind,
    read_header,
    read_parts,
    read_seal,
    seal_folder,
    verify_part,
    write_parts,
)
from stickbreaker.engine.files.whole_files import FileError

LIST = Kind("list", 2, "write it again")
PARTS = {"numbers": np.arange(5.0), "names": np.array(["a", "ö"]), "raw.txt": b"peace"}


@pytest.fixture
def path(tmp_path):
    """A file with two arrays and a part of bytes."""
    write_parts(tmp_path / "a.npz", LIST, {"size": np.int64(3), "spans": (1, 2)}, PARTS)
    return tmp_path / "a.npz"


def test_a_file_is_read_as_it_was_written_and_numpy_reads_it_too(path):
    header, parts = read_parts(path, LIST)
    assert (header.format, header.about) == (2, {"size": 3, "spans": [1, 2]})
    assert read_header(path, LIST) == header
    assert parts["raw.txt"] == b"peace"
    np.testing.assert_array_equal(parts["names"], PARTS["names"])
    with np.load(path, allow_pickle=False) as arrays:
        np.testing.assert_array_equal(arrays["numbers"], PARTS["numbers"])


@pytest.mark.parametrize("changed", ["header", "part", "missing"])
def test_a_file_with_a_change_that_zip_does_not_detect_is_refused(path, changed):
    with zipfile.ZipFile(path) as archive:
        contents = {name: archive.read(name) for name in archive.namelist()}
    if changed == "missing":
        del contents["raw.txt"]
    elif changed == "part":
        contents["raw.txt"] = b"peade"
    else:
        contents[HEADER] = contents[HEADER].replace(b'"size": 3', b'"size": 4')
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in contents.items():
            archive.writestr(name, content)
    with pytest.raises(FileError, match=r"a\.npz is not a complete list \(.*\): write it again\."):
        read_parts(path, LIST)


def test_a_file_of_another_kind_or_a_newer_version_is_refused(path):
    with pytest.raises(FileError, match="it is a list"):
        read_parts(path, Kind("map", 2, "draw it again"))
    with pytest.raises(FileError, match="format 2, which needs a newer version of Stickbreaker"):
        read_parts(path, Kind("list", 1, "write it again"))


def test_the_files_of_a_folder_are_verified_and_those_of_earlier_versions_are_not(tmp_path):
    (tmp_path / "part").write_bytes(b"peace")
    seal_folder(tmp_path, "about.json", LIST, {"size": 1}, ["part"])
    header = read_seal(tmp_path / "about.json", LIST)
    verify_part(tmp_path / "part", header, LIST)
    (tmp_path / "part").write_bytes(b"peade!")
    with pytest.raises(FileError, match=r"part is not a complete list \(its SHA-256 differs\)"):
        verify_part(tmp_path / "part", header, LIST)
    (tmp_path / "part").unlink()
    with pytest.raises(FileError, match="the file is missing"):
        verify_part(tmp_path / "part", header, LIST)
    (tmp_path / "about.json").write_text(json.dumps({"size": 1}))
    earlier = read_seal(tmp_path / "about.json", LIST)
    assert (earlier.format, earlier.about) == (0, {"size": 1})
    verify_part(tmp_path / "part", earlier, LIST)
