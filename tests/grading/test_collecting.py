"""What is collected: notebooks, folders and archives of every shape become one submission per learner and exercise."""

import io
import json
import os
import stat
import zipfile
from datetime import datetime

import pytest

from stoplib.course.grading.collecting import archives, places
from stoplib.course.grading.collecting.people import person_in
from stoplib.course.grading.collecting.submissions import collect
from tests.grading.helpers import EXERCISES, FIRST, ROOT, notebook, save

ONE, TWO = "01_three_exits", "02_no_new_results"
CONTENT = {name: json.dumps(notebook(name)) for name in (ONE, TWO)}


def packed(path, files, time=(2026, 11, 30, 12, 0, 0)):
    """An archive with these files: {name: content}, or (name, content, time) each."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for entry in files.items() if isinstance(files, dict) else files:
            name, content, when = (*entry, time)[:3]
            archive.writestr(zipfile.ZipInfo(name, when), content, zipfile.ZIP_DEFLATED)
    return path


def found(*paths, **options):
    """Who has handed in what below the paths."""
    collected = collect(paths, EXERCISES, **options)
    return {(one.learner, one.exercise): one for one in collected.submissions}, dict(collected.left_out)


class TestShapes:
    """Whom a notebook is from, by where it lies."""

    @pytest.mark.parametrize(
        ("files", "given", "who"),
        [
            (["ann/01_three_exits.ipynb"], "ann/01_three_exits.ipynb", {"ann"}),
            (["ann.ipynb"], "ann.ipynb", {"ann"}),
            (["ann/work/exercises/01_three_exits.ipynb"], "ann/work/exercises/01_three_exits.ipynb", {"ann"}),
            (["ann/01_three_exits.ipynb", "ann/x/02_no_new_results.ipynb"], "ann", {"ann", "x"}),
            (["ann/exercises/01_three_exits.ipynb", "ann/02_no_new_results.ipynb"], "ann", {"ann"}),
            (
                ["class/ann/01_three_exits.ipynb", "class/bob/exercises/02_no_new_results.ipynb"],
                "class",
                {"ann", "bob"},
            ),
            (["class/ann/01_three_exits.ipynb"], "class", {"ann"}),
            (["class/ann.ipynb", "class/bob.ipynb"], "class", {"ann", "bob"}),
            (["class/01_three_exits/ann.ipynb", "class/01_three_exits/bob.ipynb"], "class", {"ann", "bob"}),
            (
                ["submitted/ann/ps1/01_three_exits.ipynb", "submitted/bob/ps1/01_three_exits.ipynb"],
                "submitted",
                {"ann", "bob"},
            ),
            (["ann/01_three_exits/01_three_exits.ipynb", "ann/02_x/02_no_new_results.ipynb"], "ann", {"ann"}),
        ],
    )
    def test_folders(self, tmp_path, files, given, who):
        """A notebook, a folder of one learner, a folder of learners, with or without folders of the course in them."""
        for name in files:
            save(tmp_path / "here" / name, CONTENT[TWO if "02_" in name else ONE])
        assert {learner for learner, _ in found(tmp_path / "here" / given)[0]} == who

    @pytest.mark.parametrize(
        ("names", "who"),
        [
            (
                ["Ann Smith_1_assignsubmission_file_/01_three_exits.ipynb", "Bob_2_assignsubmission_file_/x.ipynb"],
                {"Ann Smith", "Bob"},
            ),
            (["Ann Smith_1_assignsubmission_file_01_three_exits.ipynb"], {"Ann Smith"}),
            (["smithann_12_34_01_three_exits-1.ipynb", "bob_LATE_12_35_01_three_exits.ipynb"], {"smithann", "bob"}),
            (["HW_ann.s_attempt_2026-11-30-12-00-00_01_three_exits.ipynb"], {"ann.s"}),
            (["12-34 - Ann Smith - Nov 30, 2026 1203 PM/01_three_exits.ipynb"], {"Ann Smith"}),
            (["top/deeper/ann/01_three_exits.ipynb", "top/deeper/bob/01_three_exits.ipynb"], {"ann", "bob"}),
            (["ann\\work\\01_three_exits.ipynb", "bob\\01_three_exits.ipynb"], {"ann", "bob"}),
            (["01_three_exits.ipynb"], {"class"}),
        ],
    )
    def test_archives_of_platforms(self, tmp_path, names, who):
        """The names that learning platforms give, in folders or in file names."""
        path = packed(tmp_path / "class.zip", dict.fromkeys(names, CONTENT[ONE]))
        assert {learner for learner, _ in found(path)[0]} == who

    def test_an_archive_per_learner(self, tmp_path):
        """Learners who hand in an archive, in an archive of the class, under names with odd letters."""
        inner = io.BytesIO()
        with zipfile.ZipFile(inner, "w") as archive:
            archive.writestr("my work/exercises/01_three_exits.ipynb", CONTENT[ONE])
        path = packed(tmp_path / "class.zip", {"Zoë Müller.zip": inner.getvalue(), "bob/01.ipynb": CONTENT[ONE]})
        assert {learner for learner, _ in found(path)[0]} == {"Zoë Müller", "bob"}

    def test_utf8_without_its_flag(self, tmp_path):
        """Programs that write UTF-8 into an archive and do not say so."""
        path = packed(tmp_path / "class.zip", {"Zo__/01.ipynb": CONTENT[ONE], "bob/01.ipynb": CONTENT[ONE]})
        path.write_bytes(path.read_bytes().replace(b"Zo__/", "Zoë/".encode()))
        assert {learner for learner, _ in found(path)[0]} == {"Zoë", "bob"}

    def test_who_is_nobody(self):
        """A file name without a person in it has none."""
        assert person_in("01_three_exits.ipynb") is None
        assert person_in("report_2026_01.ipynb") is None


class TestTries:
    """Two tries, late ones, and what is not handed in."""

    def test_the_last_try_counts(self, tmp_path):
        """Of two tries of the same person the later one counts, and both are named."""
        other = json.dumps(notebook(answers={"run-with-limits": "the later one"}))
        path = packed(
            tmp_path / "class.zip",
            [
                ("ann_1_2_01_three_exits-1.ipynb", other, (2026, 11, 30, 12, 0, 2)),
                ("ann_1_1_01_three_exits.ipynb", CONTENT[ONE], (2026, 11, 30, 12, 0, 0)),
            ],
        )
        one = found(path)[0]["ann", ONE]
        assert one.sources["run-with-limits"] == "the later one"
        assert "2 tries" in one.remarks[0]
        assert "ann_1_1_01_three_exits.ipynb" in one.remarks[0]

    def test_late(self, tmp_path):
        """Late is what came after the time that was set, and what the platform calls late; the second itself is not."""
        path = packed(
            tmp_path / "class.zip",
            [
                ("ann/01.ipynb", CONTENT[ONE], (2026, 11, 30, 12, 0, 0)),
                ("bob/01.ipynb", CONTENT[ONE], (2026, 11, 30, 12, 0, 2)),
                ("cy_LATE_1_2_01.ipynb", CONTENT[ONE], (2026, 11, 1, 12, 0, 0)),
            ],
        )
        late = {who: one.late for (who, _), one in found(path, due=datetime(2026, 11, 30, 12, 0, 0))[0].items()}
        assert late == {"ann": False, "bob": True, "cy": True}

    def test_nothing_is_late_without_a_time(self, tmp_path):
        """If no time is set, only the platform's word makes something late."""
        path = packed(tmp_path / "c.zip", {"ann/01.ipynb": CONTENT[ONE], "bob_LATE_1_2_01.ipynb": CONTENT[ONE]})
        assert {who: one.late for (who, _), one in found(path)[0].items()} == {"ann": False, "bob": True}


class TestLeftOut:
    """Files that are no submissions."""

    def test_each_is_named_with_its_reason(self, tmp_path):
        """Other files, chapters, the course's solution, older versions; hidden files are not even mentioned."""
        folder = tmp_path / "ann"
        for source in ("notebooks/01_one_exit.ipynb", "solutions/01_three_exits.ipynb"):
            save(folder / source, (ROOT / source).read_bytes())
        save(folder / "notes.txt", "x")
        save(folder / "exercises/01_three_exits.mine-1.ipynb", CONTENT[ONE])
        save(folder / "exercises/01_three_exits.ipynb", CONTENT[ONE])
        save(folder / ".ipynb_checkpoints/01_three_exits-checkpoint.ipynb", CONTENT[ONE])
        save(folder / "__MACOSX/._01_three_exits.ipynb", "x")
        save(folder / "plot.ipynb", json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": []}))
        submissions, left_out = found(folder)
        assert list(submissions) == [("ann", ONE)]
        assert {name.partition("/")[2]: why for name, why in left_out.items()} == {
            "notes.txt": "It is no notebook.",
            "plot.ipynb": "It is no exercise of the course.",
            "notebooks/01_one_exit.ipynb": "It is no exercise of the course.",
            "solutions/01_three_exits.ipynb": "It is the course's solution, not the learner's exercise.",
            "exercises/01_three_exits.mine-1.ipynb": "It is an older version, which course.py fresh has kept.",
        }

    def test_a_path_that_is_not_there(self, tmp_path):
        """It is an error, not an empty class."""
        with pytest.raises(FileNotFoundError):
            found(tmp_path / "nowhere")

    @pytest.mark.skipif(os.name == "nt", reason="links need special rights on Windows")
    def test_links_are_not_followed(self, tmp_path):
        """A link in a learner's folder may lead anywhere."""
        save(tmp_path / "bob" / "01_three_exits.ipynb", CONTENT[ONE])
        (tmp_path / "ann").mkdir()
        (tmp_path / "ann" / "01_three_exits.ipynb").symlink_to(tmp_path / "bob" / "01_three_exits.ipynb")
        one = found(tmp_path / "ann")[0]["ann", ONE]
        assert "link" in one.problem


class TestBadArchives:
    """Archives that are broken, or made to harm."""

    @pytest.mark.parametrize(
        "name",
        [
            "../01_three_exits.ipynb",
            "/etc/01_three_exits.ipynb",
            "ann/../../01_three_exits.ipynb",
            "C:\\x\\01_three_exits.ipynb",
        ],
    )
    def test_names_that_lead_out(self, tmp_path, name):
        """Such an entry is refused by name; nothing is written anywhere, and the rest is read."""
        path = packed(tmp_path / "class.zip", {name: CONTENT[ONE], "bob/01_three_exits.ipynb": CONTENT[ONE]})
        submissions, _ = found(path)
        problems = {one.problem for one in submissions.values()}
        assert problems == {"", "Its name leads out of the archive, so it is not read."}
        assert [p.name for p in tmp_path.iterdir()] == ["class.zip"]

    def test_a_bomb(self, tmp_path):
        """An entry that unpacks to more than is allowed is not unpacked any further."""
        path = packed(
            tmp_path / "class.zip",
            {"ann/01_three_exits.ipynb": b" " * (places.LARGEST + 1), "bob/01.ipynb": CONTENT[ONE]},
        )
        assert path.stat().st_size < 100_000
        submissions, _ = found(path)
        assert "more than 20 MB" in submissions["ann", ONE].problem
        assert submissions["bob", ONE].problem == ""

    def test_many_bombs(self, tmp_path, monkeypatch):
        """There is a limit for all entries of an archive together."""
        monkeypatch.setattr(archives, "MOST_BYTES", len(CONTENT[ONE]) + 10)
        path = packed(tmp_path / "class.zip", {f"{who}/01_three_exits.ipynb": CONTENT[ONE] for who in "ab"})
        problems = [one.problem for one in found(path)[0].values()]
        assert problems[0] == "" and "is not read" in problems[1]

    def test_many_entries(self, tmp_path, monkeypatch):
        """N entries are looked at, one more is not."""
        monkeypatch.setattr(archives, "MOST_ENTRIES", 3)
        path = packed(tmp_path / "class.zip", {f"{who}/01_three_exits.ipynb": CONTENT[ONE] for who in "abcd"})
        submissions, left_out = found(path)
        assert [who for who, _ in submissions] == ["a", "b", "c"]
        assert "more than 3 files" in " ".join(left_out.values())

    def test_archives_in_archives_without_end(self, tmp_path):
        """Three levels are read, a fourth is not."""
        content, name = CONTENT[ONE].encode(), "01_three_exits.ipynb"
        for level in range(4):
            buffer = io.BytesIO()
            with zipfile.ZipFile(buffer, "w") as archive:
                archive.writestr(name, content)
            content, name = buffer.getvalue(), f"level{level}.zip"
            path = tmp_path / name
            path.write_bytes(content)
        assert [one.problem for one in found(tmp_path / "level2.zip")[0].values()] == [""]
        submissions, left_out = found(tmp_path / "level3.zip")
        assert submissions == {}
        assert "3 levels are read" in " ".join(left_out.values())

    def test_a_link_in_an_archive(self, tmp_path):
        """It is not followed."""
        path = tmp_path / "class.zip"
        with zipfile.ZipFile(path, "w") as archive:
            info = zipfile.ZipInfo("ann/01_three_exits.ipynb")
            info.external_attr = (stat.S_IFLNK | 0o777) << 16
            archive.writestr(info, "/etc/passwd")
        assert "link" in found(path)[0]["ann", ONE].problem

    def test_damaged_inside(self, tmp_path):
        """An entry whose content does not fit its checksum."""
        path = tmp_path / "class.zip"
        with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
            archive.writestr("ann/01_three_exits.ipynb", CONTENT[ONE])
        path.write_bytes(path.read_bytes().replace(b"run_with_limits", b"run_with_limitz"))
        assert "damaged" in found(path)[0]["ann", ONE].problem

    @pytest.mark.parametrize("content", [b"", b"no zip", CONTENT[ONE].encode()])
    def test_no_archive_at_all(self, tmp_path, content):
        """A file that is called .zip and is none is named, with what helps."""
        path = save(tmp_path / "class.zip", content)
        submissions, left_out = found(path)
        assert submissions == {}
        assert "no zip file that can be read" in left_out["class.zip"]

    def test_locked(self, tmp_path):
        """An entry with a password is named."""
        path = packed(tmp_path / "class.zip", {"ann/01_three_exits.ipynb": CONTENT[ONE]})
        raw = bytearray(path.read_bytes())
        for mark, place in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
            raw[raw.index(mark) + place] |= 1
        path.write_bytes(raw)
        assert "password" in found(path)[0]["ann", ONE].problem


def test_cells_of_ones_own_are_told(tmp_path):
    """Cells that a learner has added do not count, and the teacher is told."""
    content = notebook()
    content["cells"].insert(
        3,
        {
            "cell_type": "code",
            "id": "mine",
            "metadata": {},
            "source": "helper = 1",
            "outputs": [],
            "execution_count": None,
        },
    )
    save(tmp_path / "ann" / "01_three_exits.ipynb", content)
    assert "of the learner's own did not count" in found(tmp_path / "ann")[0]["ann", ONE].remarks[0]


def test_a_renamed_notebook_is_known_by_its_cells(tmp_path):
    """What exercise it is, its cells say, not its name."""
    save(tmp_path / "ann" / "02_no_new_results.ipynb", CONTENT[ONE])
    assert list(found(tmp_path / "ann")[0]) == [("ann", FIRST.name)]
