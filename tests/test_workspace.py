"""The learner's working copy: what is copied, what is never touched, what is said."""

import json
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stoplib.course import workspace
from stoplib.course.environment import SetupError
from stoplib.course.workspace import State, compare, fresh, prepare

ONE = "notebooks/01_one_exit.ipynb"
EXERCISE = "exercises/01_three_exits.ipynb"
SOLUTION = "solutions/01_three_exits.ipynb"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A course of one chapter and one exercise, in a folder with an awkward name."""
    root = tmp_path / "mein kürs ordner (1)"
    for name in (ONE, EXERCISE, SOLUTION):
        put(root / name, f"course's {name}")
    return root


def put(path: Path, text: str) -> None:
    """Write a file, and the folders above it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def mine(root: Path, name: str = ONE) -> str:
    """What the learner's copy of a file holds."""
    return (root / "work" / name).read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("mine", "copied", "course", "state"),
    [
        (None, None, "a", State.MISSING),
        (None, "a", "a", State.MISSING),
        ("a", None, "a", State.SAME),
        ("b", "a", "b", State.SAME),
        ("a", "a", "b", State.OUTDATED),
        ("b", "a", "a", State.CHANGED),
        ("b", "a", "c", State.BOTH_CHANGED),
        ("b", None, "c", State.BOTH_CHANGED),
    ],
)
def test_state_follows_from_three_hashes(mine: str | None, copied: str | None, course: str, state: State) -> None:
    """Who changed a file is told from the learner's version, the one once copied, and the course's."""
    assert compare(mine, copied, course) is state


def test_first_time_copies_everything(root: Path) -> None:
    """The first preparation copies every file of the course and says how many."""
    assert prepare(root) == ["Copied 3 files of the course to work/, where you work."]
    assert {name: mine(root, name) for name in (ONE, EXERCISE, SOLUTION)} == {
        name: f"course's {name}" for name in (ONE, EXERCISE, SOLUTION)
    }


def test_second_time_says_nothing(root: Path) -> None:
    """With nothing new, a preparation is silent."""
    prepare(root)
    assert prepare(root) == []


def test_data_beside_the_notebooks_is_copied_byte_by_byte(root: Path) -> None:
    """Any file in the course's folders is copied, at any depth, unaltered."""
    data = root / "notebooks" / "data" / "läufe.bin"
    data.parent.mkdir()
    data.write_bytes(bytes(range(256)))
    prepare(root)
    assert (root / "work" / "notebooks" / "data" / "läufe.bin").read_bytes() == bytes(range(256))


@pytest.mark.parametrize("name", [".ipynb_checkpoints/01-checkpoint.ipynb", "__pycache__/a.pyc", ".hidden"])
def test_what_tools_leave_behind_is_not_copied(root: Path, name: str) -> None:
    """Checkpoints, caches and hidden files of the course's folders stay there."""
    put(root / "notebooks" / name, "left behind")
    prepare(root)
    assert not (root / "work" / "notebooks" / name).exists()


def test_unchanged_file_follows_the_course(root: Path) -> None:
    """A file that the learner never changed becomes the course's new version."""
    prepare(root)
    put(root / ONE, "newer")
    assert prepare(root) == ["Copied 1 file of the course to work/, where you work."]
    assert mine(root) == "newer"


def test_changed_file_is_left_alone_in_silence(root: Path) -> None:
    """While the course stays the same, the learner's changes are nobody's business."""
    prepare(root)
    put(root / "work" / ONE, "my answer")
    assert prepare(root) == []
    assert mine(root) == "my answer"


def test_changed_file_is_left_alone_when_the_course_has_a_newer_one(root: Path) -> None:
    """When both changed, the learner's stays, and a remark names the command that gives the newer one."""
    prepare(root)
    put(root / "work" / ONE, "my answer")
    put(root / ONE, "newer")
    (remark,) = prepare(root)
    assert f"work/{ONE} has your changes" in remark
    assert f"course.py fresh {ONE}" in remark
    assert mine(root) == "my answer"


def test_remark_goes_away_once_the_newer_version_was_taken(root: Path) -> None:
    """After `fresh`, as the remark proposes, the next preparation is silent."""
    prepare(root)
    put(root / "work" / ONE, "my answer")
    put(root / ONE, "newer")
    fresh(root, ONE)
    assert prepare(root) == []


def test_vanished_file_stays_with_the_learner(root: Path) -> None:
    """A notebook that the course no longer has is not taken from the learner."""
    prepare(root)
    (root / ONE).unlink()
    prepare(root)
    assert mine(root) == f"course's {ONE}"


def test_deleted_file_comes_back(root: Path) -> None:
    """A file that the learner deleted is copied again."""
    prepare(root)
    (root / "work" / ONE).unlink()
    prepare(root)
    assert mine(root) == f"course's {ONE}"


@pytest.mark.parametrize("record", [None, "", "{half a rec"])
def test_lost_record_costs_nobody_any_work(root: Path, record: str | None) -> None:
    """Without a readable record every differing file counts as the learner's."""
    prepare(root)
    put(root / "work" / ONE, "my answer")
    if record is None:
        workspace.record_path(root).unlink()
    else:
        put(workspace.record_path(root), record)
    prepare(root)
    assert mine(root) == "my answer"


def test_interrupted_copy_is_taken_up_again(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was copied before an interruption is known the next time, and the rest is copied then."""
    real = workspace.write
    written: list[Path] = []

    def write(path: Path, content: bytes) -> None:
        if len(written) == 1 and path.suffix == ".ipynb":
            raise KeyboardInterrupt
        written.append(path)
        real(path, content)

    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(workspace, "write", write)
        prepare(root)
    assert list(workspace.read_record(root)) == [ONE]
    assert prepare(root) == ["Copied 2 files of the course to work/, where you work."]


@pytest.mark.parametrize("moment", ["write_bytes", "replace"])
def test_half_written_file_never_shows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, moment: str) -> None:
    """Whenever writing is interrupted, the file still holds all of its old content."""
    path = tmp_path / "a.ipynb"
    put(path, "old")

    def interrupt(self: Path, content: bytes | Path) -> None:
        if isinstance(content, bytes):
            with self.open("wb") as file:
                file.write(content[: len(content) // 2])
        raise KeyboardInterrupt

    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(Path, moment, interrupt)
        workspace.write(path, b"entirely new")
    assert path.read_text(encoding="utf-8") == "old"


def test_fresh_keeps_the_learners_version(root: Path) -> None:
    """The course's version takes the name, the learner's is kept beside it, and both are named."""
    prepare(root)
    put(root / "work" / ONE, "my answer")
    assert fresh(root, ONE) == f"work/{ONE} is fresh; yours is kept as 01_one_exit.mine-1.ipynb."
    assert mine(root) == f"course's {ONE}"
    assert mine(root, "notebooks/01_one_exit.mine-1.ipynb") == "my answer"


def test_fresh_never_overwrites_a_kept_version(root: Path) -> None:
    """Each version that is kept gets the next free number."""
    prepare(root)
    for answer in ("first", "second"):
        put(root / "work" / ONE, answer)
        fresh(root, ONE)
    assert mine(root, "notebooks/01_one_exit.mine-1.ipynb") == "first"
    assert mine(root, "notebooks/01_one_exit.mine-2.ipynb") == "second"


def test_fresh_file_follows_the_course_again(root: Path) -> None:
    """A file that was given anew, and not changed since, becomes the course's next version."""
    prepare(root)
    put(root / "work" / ONE, "my answer")
    put(root / ONE, "newer")
    fresh(root, ONE)
    put(root / ONE, "newest")
    prepare(root)
    assert mine(root) == "newest"


def test_fresh_of_an_unchanged_file_keeps_nothing(root: Path) -> None:
    """There is nothing to keep of a file that is as in the course."""
    prepare(root)
    assert fresh(root, ONE) == f"work/{ONE} is already as in the course."
    assert sorted(path.name for path in (root / "work" / "notebooks").iterdir()) == ["01_one_exit.ipynb"]


def test_fresh_of_a_missing_file_copies_it(root: Path) -> None:
    """`fresh` also brings back what was deleted, or was never there."""
    assert fresh(root, ONE) == f"work/{ONE} is fresh."
    assert mine(root) == f"course's {ONE}"


@pytest.mark.parametrize(
    "wanted",
    ["01_one_exit", "01_one_exit.ipynb", "notebooks/01_one_exit", "work/notebooks/01_one_exit.ipynb", f"./work/{ONE}"],
)
def test_a_notebook_can_be_named_in_many_ways(root: Path, wanted: str) -> None:
    """With or without folder, `work/` and ending; also as a shell completes it."""
    assert workspace.find(root, wanted) == ONE


def test_backslashes_name_the_same_file(root: Path) -> None:
    """A path as Windows writes it is understood."""
    assert workspace.find(root, "work\\exercises\\01_three_exits.ipynb") == EXERCISE


def test_ambiguous_name_is_not_guessed(root: Path) -> None:
    """A name that two folders have is refused, with both."""
    with pytest.raises(SetupError, match=f"can be {EXERCISE} or {SOLUTION}"):
        fresh(root, "01_three_exits")


@pytest.mark.parametrize("wanted", ["02_nowhere", "one_exit", "../course.py", ""])
def test_unknown_name_is_answered_with_the_known_ones(root: Path, wanted: str) -> None:
    """A name that no file has is refused, and the notebooks that there are get listed."""
    with pytest.raises(SetupError, match=f"has no file {wanted}.*{ONE}"):
        fresh(root, wanted)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from(["learner saves", "course changes", "prepare", "fresh"]), max_size=12))
def test_no_work_of_the_learner_is_ever_lost(events: list[str]) -> None:
    """Whatever happens in whatever order, the last thing the learner saved is somewhere in `work/`."""
    with tempfile.TemporaryDirectory() as folder:
        root, saved = Path(folder), None
        put(root / ONE, "course 0")
        prepare(root)
        for number, event in enumerate(events):
            if event == "learner saves":
                saved = f"mine {number}"
                put(root / "work" / ONE, saved)
            elif event == "course changes":
                put(root / ONE, f"course {number}")
            elif event == "prepare":
                prepare(root)
            else:
                fresh(root, ONE)
            contents = [path.read_text(encoding="utf-8") for path in (root / "work").rglob("*.ipynb")]
            assert saved is None or saved in contents


def test_a_learner_gets_a_notebook_that_was_never_run(tmp_path):
    """The copy holds no output and no count, so nothing gives a result away; everything else is as in the course."""
    cells = [
        {"cell_type": "markdown", "id": "a", "metadata": {}, "source": ["Größe"]},
        {
            "cell_type": "code",
            "id": "b",
            "metadata": {"stoplib": {"role": "reveal"}},
            "source": ["1 + 1"],
            "execution_count": 7,
            "outputs": [{"output_type": "stream", "name": "stdout", "text": ["2"]}],
        },
    ]
    path = tmp_path / "x.ipynb"
    path.write_text(json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}), encoding="utf-8")
    copied = json.loads(workspace.for_learner(path))["cells"]
    assert copied == [cells[0], {**cells[1], "execution_count": None, "outputs": []}]


def test_what_is_no_notebook_is_copied_as_it_is(tmp_path):
    """A file that only looks like a notebook, and any other file, keep every byte."""
    for name, content in (("x.ipynb", b"\xff no json"), ("y.ipynb", b"[1]"), ("data.csv", b"a,b\r\n")):
        (tmp_path / name).write_bytes(content)
        assert workspace.for_learner(tmp_path / name) == content
