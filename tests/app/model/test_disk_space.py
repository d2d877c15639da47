from stickbreaker.app.model.disk_space import OPEN_RUNS, describe_space, list_items
from stickbreaker.app.model.kept_runs import Size
from stickbreaker.app.model.topic_names import FOLDER


def test_what_takes_space_is_listed_with_its_size_and_what_removes_it(tmp_path):
    (tmp_path / OPEN_RUNS).mkdir()
    (tmp_path / OPEN_RUNS / "run.npz").write_bytes(bytes(3_000_000))
    (tmp_path / FOLDER).mkdir()
    (tmp_path / FOLDER / "names.zip").write_bytes(bytes(500_000))
    items = list_items(tmp_path, {"a": Size(1_000_000, 5_000_000), "b": Size(1_000_000, 0)})
    assert [item.size for item in items] == [5_000_000, 3_000_000, 2_000_000, 500_000]
    assert "Space on disk: 10.5 MB" in describe_space(items)
