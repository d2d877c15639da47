import os

import pytest

from stickbreaker.app.model.disk_space import (
    KEPT_RUNS,
    NAMES,
    OPEN_RUNS,
    STREAMS,
    check_corpora,
    describe_space,
    limit_kept_models,
    limit_saved_runs,
    list_items,
)
from stickbreaker.app.model.kept_runs import KeptRuns, Size
from stickbreaker.app.model.limits import (
    ALL_CORPORA,
    ALL_KEPT_MODELS,
    ALL_SAVED_RUNS,
    CORPORA,
    GIGABYTE,
)
from stickbreaker.engine.corpora.library import FOLDER_VARIABLE
from stickbreaker.engine.corpora.rows import CorpusError
from tests.app.small_runs import keep_small


def test_what_takes_space_is_listed_with_its_size_and_what_removes_it(tmp_path):
    (tmp_path / OPEN_RUNS).mkdir()
    (tmp_path / OPEN_RUNS / "run.npz").write_bytes(bytes(3_000_000))
    (tmp_path / NAMES).mkdir()
    (tmp_path / NAMES / "names.zip").write_bytes(bytes(500_000))
    (tmp_path / STREAMS).mkdir()
    (tmp_path / STREAMS / "stream.npz").write_bytes(bytes(100_000))
    items = list_items(tmp_path, {"a": Size(1_000_000, 5_000_000), "b": Size(1_000_000, 0)})
    assert [item.size for item in items] == [5_000_000, 3_000_000, 2_000_000, 500_000, 100_000, 0]
    assert "Space on disk: 10.6 MB" in describe_space(items)
    assert "saved runs 2.0 GB, and corpora 10.0 GB" in describe_space(items)


def write(folder, size):
    folder.mkdir(parents=True)
    (folder / "part").write_bytes(bytes(size))
    return folder


@pytest.mark.parametrize(
    ("limit", "said"),
    [
        (
            CORPORA,
            (
                "about 2 MB, but the limit for each user is 4 MB .*, and your corpora already take"
                " 3 MB: delete"
            ),
        ),
        (
            ALL_CORPORA,
            (
                "the limit for all users together is 4 MB .*, and 4 MB is already used: delete a"
                " corpus"
            ),
        ),
    ],
)
def test_a_corpus_that_exceeds_the_limit_of_a_user_or_of_all_is_refused(
    limit, said, tmp_path, monkeypatch, set_limit
):
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path / "data"))
    mine = write(tmp_path / "data" / "users" / "anna-1" / "corpora" / "one", 3_000_000).parent
    write(tmp_path / "data" / "users" / "ben-1" / "corpora" / "one", 1_000_000)
    source = write(tmp_path / "texts", 2_000_000)
    check_corpora(mine, source)
    set_limit(limit, 0.004)
    with pytest.raises(CorpusError, match=said):
        check_corpora(mine, source)
    if limit is CORPORA:
        check_corpora(tmp_path / "data" / "users" / "ben-1" / "corpora", source / "part")


def save(user, name, size, age):
    """Write a saved run of this many bytes that is `age` seconds older than the newest."""
    path = user / OPEN_RUNS / f"{name}.npz"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(bytes(size))
    os.utime(path, (0, 1_000_000 - age))
    return path


def test_runs_of_the_user_with_the_most_are_removed_if_all_users_have_too_much(tmp_path, set_limit):
    anna, ben = tmp_path / "anna", tmp_path / "ben"
    old, middle, new = (save(anna, age, 400, age) for age in (30, 20, 10))
    oldest, other = save(ben, "oldest", 300, 90), save(ben, "other", 300, 80)
    paths = (old, middle, new, oldest, other)
    folders = [tmp_path / "empty", anna, ben]
    limit_saved_runs(folders)
    assert all(path.exists() for path in paths)
    set_limit(ALL_SAVED_RUNS, 1_400 / GIGABYTE)
    limit_saved_runs(folders)
    assert [path.exists() for path in paths] == [False, True, True, True, True]
    set_limit(ALL_SAVED_RUNS, 1_000 / GIGABYTE)
    limit_saved_runs(folders)
    assert [path.exists() for path in paths] == [False, False, True, True, True]
    # The newest run of each user stays.
    set_limit(ALL_SAVED_RUNS, 0)
    limit_saved_runs(folders)
    assert [path.exists() for path in paths] == [False, False, True, False, True]


def test_models_of_runs_without_a_name_are_removed_first_if_all_users_have_too_much(
    tmp_path, set_limit
):
    kept = {name: KeptRuns(tmp_path / name / KEPT_RUNS) for name in ("anna", "ben")}
    named, unnamed, newest = (keep_small(kept["anna"]).key for _ in range(3))
    of_ben = keep_small(kept["ben"]).key
    kept["anna"].rename(named, "mine")
    sizes = kept["anna"].listing().sizes
    set_limit(ALL_KEPT_MODELS, 3.5 * sizes[named].model / GIGABYTE)
    limit_kept_models([tmp_path / name for name in (*kept, "empty")])
    sizes = kept["anna"].listing().sizes
    assert [sizes[key].model > 0 for key in (named, unnamed, newest)] == [True, False, True]
    assert sizes[unnamed].results
    assert kept["ben"].listing().sizes[of_ben].model
