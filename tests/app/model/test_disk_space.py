import pytest

from stickbreaker.app.model.disk_space import OPEN_RUNS, check_corpora, describe_space, list_items
from stickbreaker.app.model.kept_runs import Size
from stickbreaker.app.model.limits import ALL_CORPORA, CORPORA
from stickbreaker.engine.corpora.corpus import CorpusError
from stickbreaker.engine.corpora.library import FOLDER_VARIABLE


def test_what_takes_space_is_listed_with_its_size_and_what_removes_it(tmp_path):
    (tmp_path / OPEN_RUNS).mkdir()
    (tmp_path / OPEN_RUNS / "run.npz").write_bytes(bytes(3_000_000))
    items = list_items(tmp_path, {"a": Size(1_000_000, 5_000_000), "b": Size(1_000_000, 0)})
    assert [item.size for item in items] == [5_000_000, 3_000_000, 2_000_000]
    assert "Space on disk: 10.0 MB" in describe_space(items)
    assert "runs that can be continued 2.0 GB, and corpora 10.0 GB" in describe_space(items)


def write(folder, size):
    folder.mkdir(parents=True)
    (folder / "part").write_bytes(bytes(size))
    return folder


@pytest.mark.parametrize(
    ("limit", "said"),
    [
        (CORPORA, "This corpus needs about 2 MB, but a user may have 4 MB .*, and yours take 3 MB: delete one"),
        (ALL_CORPORA, "needs about 2 MB, but all users together may have 4 MB .*, and take 4 MB: delete one, or ask"),
    ],
)
def test_a_corpus_that_exceeds_the_limit_of_a_user_or_of_all_is_refused(limit, said, tmp_path, monkeypatch):
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path / "data"))
    mine = write(tmp_path / "data" / "users" / "anna-1" / "corpora" / "one", 3_000_000).parent
    write(tmp_path / "data" / "users" / "ben-1" / "corpora" / "one", 1_000_000)
    source = write(tmp_path / "texts", 2_000_000)
    check_corpora(mine, source)
    monkeypatch.setenv(limit.variable, "0.004")
    with pytest.raises(CorpusError, match=said):
        check_corpora(mine, source)
    if limit is CORPORA:
        check_corpora(tmp_path / "data" / "users" / "ben-1" / "corpora", source / "part")
