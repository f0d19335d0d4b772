"""The build: from the text of a lesson to notebooks that are the same on every run."""

import base64
import io
import json
import os
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ET
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path, PureWindowsPath

import nbformat
import pytest
from nbformat import v4

import stoplib
from stoplib.course import nbguard
from stoplib.course.build import ROOT, derived, main, recipes
from stoplib.course.building import BuildError, execute
from stoplib.course.building.checkpoints import checkpoints_file
from stoplib.course.building.compare import difference
from stoplib.course.building.derive import notebook_for, notebook_path
from stoplib.course.building.execute import CellError, check_outputs
from stoplib.course.building.lesson import read_lesson

CHAPTER = r"""
# %% title [markdown]
# # Two exits

# %% ticks-question [markdown] checkpoint="2.1"
# ### Checkpoint 2.1
# The clock ticks. How many calls?
#
# - a) `2` :: The third call would come
#   after the limit.
# - b) Three, or `3` :: Because `2 < 3`.
# - c) none at all :: There is
#   a first call.

# %% calls-question [markdown] checkpoint="2.2" kind="number"
# How many calls in all?
#
# - `10` :: That is the cap.
# - `11` :: One too many.
#
# Type a number.

# %% place
import os, sys
from pathlib import Path
print(Path.cwd().name, sys.executable == @PYTHON@)
print({"a", "b", "c", "d"}, os.environ["OPENBLAS_NUM_THREADS"])

# %% ticks-reveal role="reveal" tags=["nbval-check-output"]
print("two", flush=True)
print("calls")

# %% failure tags=["raises-exception"]
{}["limit"]

# %% widget
from ipywidgets import IntSlider
display({"application/vnd.jupyter.widget-view+json": {"model_id": "1"}}, raw=True)
IntSlider(3)

# %% picture
import struct, zlib
from IPython.display import Image
def chunk(name, data):
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
size = struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0)
drawing = chunk(b"IHDR", size) + chunk(b"tEXt", b"Software\0v1") + chunk(b"IDAT", zlib.compress(b"\0\0"))
Image(b"\x89PNG\r\n\x1a\n" + drawing + chunk(b"IEND", b""))
""".replace("@PYTHON@", repr(sys.executable))

EXERCISE = '''
# %% title [markdown]
# # {kind} 03: add

# %% how [markdown] only="exercise"
# Complete the function.

# %% why [markdown] only="solution"
# It adds.

# %% setup
numbers = [1, 2]

# %% answer role="answer"
def add(a, b):
    """Return the sum."""
    ### BEGIN SOLUTION
    # the plus does it

    return a + b
    ### END SOLUTION

# %% check role="check"
print(add(*numbers))
'''


@dataclass
class Run:
    """What a run of the command returned and printed."""

    root: Path
    code: int
    out: str
    err: str


def write(root: Path, name: str, text: str) -> Path:
    """Write `chapters/NN_name`, `exercises/NN_name` or `pages/name` under the lessons of `root`."""
    path = root / "lessons" / f"{name}.py"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text.lstrip("\n"), encoding="utf-8", newline="\n")
    return path


def command(root: Path, *arguments: str) -> Run:
    """Run the command of the build on the project in `root`."""
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        code = main(arguments, root=root)
    return Run(root, code, out.getvalue(), err.getvalue())


def read(path: Path):
    """Return the notebook stored in `path`."""
    return nbformat.read(path, as_version=4)


def cell(notebook, name: str):
    """Return the cell of that id."""
    return {cell.id: cell for cell in notebook.cells}[name]


def problem(tmp_path: Path, name: str, text: str) -> str:
    """Return the message with which the lesson is refused when it is read or derived."""
    lesson = write(tmp_path, name, text)
    with pytest.raises(BuildError) as caught:
        for kind in ("exercise", "solution"):
            notebook_for(read_lesson(lesson), kind)
    return str(caught.value)


def option(value: str, text: str, why: str, **key: str) -> dict[str, str]:
    """Return an option of a checkpoint as it is stored."""
    return {**key, "value": value, "text": text, "why": why}


@pytest.fixture(scope="session")
def course(tmp_path_factory) -> Run:
    """A project of one chapter and one exercise, built."""
    root = tmp_path_factory.mktemp("course")
    write(root, "chapters/02_two_exits", CHAPTER)
    write(root, "exercises/03_add", EXERCISE)
    return command(root)


@pytest.fixture(scope="session")
def chapter(course):
    """The notebook of the chapter."""
    return read(course.root / "notebooks" / "02_two_exits.ipynb")


@pytest.fixture(scope="session")
def exercise(course):
    """The exercise notebook."""
    return read(course.root / "exercises" / "03_add.ipynb")


@pytest.fixture(scope="session")
def solution(course):
    """The solution notebook."""
    return read(course.root / "solutions" / "03_add.ipynb")


@pytest.fixture(scope="session")
def troubled(tmp_path_factory) -> Run:
    """A project with one good lesson and several that fail, and with notebooks without a source, built."""
    root = tmp_path_factory.mktemp("troubled")
    write(root, "chapters/01_good", "# %% fine\nprint(1)\n")
    write(root, "chapters/02_raises", "# %% text [markdown]\n# Two.\n\n# %% wrong\nx = 1\n(x / 0)\n")
    write(root, "chapters/03_dies", "# %% fine\nx = 1\n\n# %% last\nimport os\nos._exit(1)\n")
    write(root, "chapters/04_calm", '# %% calm tags=["raises-exception"]\nprint(1)\n')
    write(root, "exercises/05_typo", EXERCISE.replace("print(add(", "print(plus("))
    store(root / "notebooks" / "06_gone.ipynb", "lessons/chapters/06_gone.py")
    store(root / "notebooks" / "01_good_mine.ipynb", "lessons/chapters/01_good.py")
    store(root / "notebooks" / "scratch.ipynb", None)
    return command(root)


def store(path: Path, source: str | None) -> None:
    """Store an empty notebook, as if it had been derived from `source`."""
    metadata = {"stoplib": {"source": source}} if source else {}
    path.parent.mkdir(parents=True, exist_ok=True)
    nbformat.write(v4.new_notebook(metadata=metadata), path)


class TestReading:
    def test_names_become_ids(self, tmp_path):
        """The name in the header of a cell is its id in the notebook, in the order of the text."""
        lesson = read_lesson(write(tmp_path, "chapters/02_two_exits", CHAPTER))
        assert [cell.id for cell in notebook_for(lesson, "chapter").cells] == [
            "title",
            "ticks-question",
            "calls-question",
            "place",
            "ticks-reveal",
            "failure",
            "widget",
            "picture",
        ]

    @pytest.mark.parametrize(
        ("text", "said"),
        [
            ("x = 1\n\n# %% a\ny = 1\n", "line 1: text before the first cell"),
            ("# %%\nx = 1\n", "line 1: '' cannot name a cell"),
            ("# %% two words\nx = 1\n", "line 1: 'two words' cannot name a cell"),
            ("# %% Upper\nx = 1\n", "line 1: 'Upper' cannot name a cell"),
            ("# %% " + "a" * 61 + "\nx = 1\n", "cannot name a cell"),
            (
                "# %% a\nx = 1\n\n# %% b\nx = 1\n\n# %% a\nx = 1\n",
                "line 7, cell 'a': the name is already taken by lessons/chapters/02_x.py, line 1, cell 'a'",
            ),
            ("# %% a role=check\nx = 1\n", "cell 'a': the header ends in 'role=check'"),
            ('# %% a roll="check"\nx = 1\n', "cell 'a': the header has the unknown key 'roll'"),
            ('# %% a role="chef"\nx = 1\n', "cell 'a': role='chef' is unknown. Use one of given, answer"),
            ('# %% a tags="slow"\nx = 1\n', "'slow' is not of type 'array', in a header. Write tags as in"),
            ("# %% a\n\n# %% b\nx = 1\n", "line 1, cell 'a': the cell is empty"),
            ("# %% a [raw]\n# x\n", "cell 'a': a raw cell"),
            ('# %% a [markdown] role="check"\n# x\n', "cell 'a': a markdown cell with role='check'"),
            ('# %% a role="answer"\nx = 1\n', "cell 'a': an answer cell outside of an exercise"),
            ('# %% a [markdown] only="solution"\n# x\n', "cell 'a': only='solution' is for"),
            ('# %% a kind="number"\nx = 1\n', "cell 'a': kind= says what sort of checkpoint"),
            ('# %% a checkpoint="2.1"\nx = 1\n', "cell 'a': checkpoint= is for markdown cells of chapters"),
            ("# %% a [markdown] checkpoint=2.1\n# x\n", "cell 'a': checkpoint=2.1 is not a number in quotes"),
            ("# %% a\nx = '''\n# %% b\n'''\n", "2 lines begin with '# %%', but there are 1 cells"),
        ],
    )
    def test_refuses_what_is_not_in_the_format(self, tmp_path, text, said):
        """A text that does not keep to the format is refused with its file, its cell and what is wrong."""
        message = problem(tmp_path, "chapters/02_x", text)
        assert message.startswith("lessons/chapters/02_x.py")
        assert said in message

    def test_a_page(self, tmp_path):
        """A page belongs to no chapter: its name is its number, and it becomes one notebook beside the chapters."""
        path = write(tmp_path, "pages/lab", "# %% title [markdown]\n# # The lab\n")
        lesson = read_lesson(path)
        assert lesson.number == "lab"
        assert notebook_path(path, "page") == tmp_path / "notebooks" / "lab.ipynb"
        assert [cell.source for cell in notebook_for(lesson, "page").cells] == ["# The lab"]

    @pytest.mark.parametrize(
        "name", ["chapters/2_x", "chapters/02-x", "chapters/02_X", "other/02_x", "pages/02_x", "pages/Lab"]
    )
    def test_refuses_other_file_names(self, tmp_path, name):
        """A lesson in another folder, or without two digits and a lower-case name, is refused; a page has no digits."""
        assert f"lessons/{name}.py: a lesson is called" in problem(tmp_path, name, "# %% a\nx = 1\n")

    @pytest.mark.parametrize(
        ("old", "new", "said"),
        [
            ('role="answer"', "", 'no cell has role="answer"'),
            ('role="check"', "", "cell 'answer': no check cell follows this answer"),
            ('[markdown] only="exercise"', '[markdown] only="learner"', "cell 'how': only='learner' is unknown"),
            ("# %% setup", '# %% setup only="exercise"', "cell 'setup': only='exercise' is for markdown cells"),
        ],
    )
    def test_refuses_an_exercise_that_cannot_work(self, tmp_path, old, new, said):
        """An exercise needs an answer cell, a check cell behind it, and `only` on markdown cells."""
        assert said in problem(tmp_path, "exercises/03_add", EXERCISE.replace(old, new))


class TestCheckpoints:
    def test_feedback_is_not_in_the_notebook(self, chapter):
        """The notebook shows the options of a choice without the feedback."""
        assert cell(chapter, "ticks-question").source == (
            "### Checkpoint 2.1\nThe clock ticks. How many calls?\n\n- a) `2`\n- b) Three, or `3`\n- c) none at all"
        )

    def test_number_shows_no_options(self, chapter):
        """The learner types the number, so the notebook shows no options, but the text around them."""
        assert cell(chapter, "calls-question").source == "How many calls in all?\n\nType a number."

    def test_all_are_collected(self, course):
        """The file of checkpoints has each question and its options with value, text and feedback."""
        content = json.loads((course.root / "stoplib/course/checkpoints.json").read_bytes())
        assert list(content) == ["2.1", "2.2"]
        assert content["2.1"] == {
            "kind": "choice",
            "question": "### Checkpoint 2.1\nThe clock ticks. How many calls?",
            "options": [
                option("2", "`2`", "The third call would come after the limit.", key="a"),
                option("3", "Three, or `3`", "Because `2 < 3`.", key="b"),
                option("none at all", "none at all", "There is a first call.", key="c"),
            ],
        }
        assert content["2.2"] == {
            "kind": "number",
            "question": "How many calls in all?\n\nType a number.",
            "options": [option("10", "`10`", "That is the cap."), option("11", "`11`", "One too many.")],
        }

    @pytest.mark.parametrize(
        ("old", "new", "said"),
        [
            (" :: There is\n#   a first call.", "", "the option '- c) none at all' has no feedback"),
            ("# - c) none at all :: There is\n", "", "2 options, where at least 3 are needed"),
            ("none at all", "`2` again", "two options have the value '2'"),
            ("- c) none", "- d) none", "the options have the keys a, b, d. Name them a, b, c"),
            ("- c) none", "- none", "the option '- none at all' is not written as in '- a) `2` :: why'"),
            ("- `11` ::", "- eleven ::", "the option '- eleven' is not written as in '- `10` :: why'"),
            ('kind="number"', 'kind="essay"', "kind='essay' is unknown. Use one of choice, order, match, number"),
            ("# - `10` :: That is the cap.\n# - `11` :: One too many.\n", "", "needs its options as a list"),
        ],
    )
    def test_refuses_options_that_are_not_in_order(self, tmp_path, old, new, said):
        """Options without feedback, too few, alike, or wrongly named are refused with the cell's name."""
        message = problem(tmp_path, "chapters/02_two_exits", CHAPTER.replace(old, new))
        assert re.search("line [0-9]+, cell '(ticks|calls)-question': ", message)
        assert said in message

    def test_refuses_a_number_used_twice(self, tmp_path):
        """Two questions with the same number are refused, both being named, in whatever chapters."""
        found = []
        for name in ("02_two_exits", "03_more"):
            path = write(tmp_path, f"chapters/{name}", CHAPTER)
            found += [(cell.place, cell.checkpoint) for cell in read_lesson(path).cells if cell.checkpoint]
        said = "03_more.py, .*: checkpoint 2.1 already stands in lessons/chapters/02_two_exits.py, line 4"
        with pytest.raises(BuildError, match=said):
            checkpoints_file(found)


class TestDeriving:
    def test_exercise_has_a_stub(self, exercise):
        """In the exercise the solution, with its comments, is replaced by a stub at the same indentation."""
        assert cell(exercise, "answer").source == (
            'def add(a, b):\n    """Return the sum."""\n    # YOUR CODE HERE\n'
            '    raise NotImplementedError("exercise 03 is not solved yet")'
        )

    def test_solution_has_no_markers(self, solution):
        """The solution keeps the code and loses the markers."""
        assert cell(solution, "answer").source == (
            'def add(a, b):\n    """Return the sum."""\n    # the plus does it\n\n    return a + b'
        )

    def test_each_notebook_has_its_own_text(self, exercise, solution):
        """`only` keeps a markdown cell out of the other notebook, and the heading names the kind."""
        texts = [[cell.source for cell in notebook.cells[:2]] for notebook in (exercise, solution)]
        assert texts == [["# Exercise 03: add", "Complete the function."], ["# Solution 03: add", "It adds."]]

    def test_course_cells_of_an_exercise_are_locked(self, exercise, solution):
        """In an exercise only answers can be edited, and nothing of the course can be deleted."""
        answer = cell(exercise, "answer").metadata
        assert (answer["deletable"], answer["stoplib"], "editable" in answer) == (False, {"role": "answer"}, False)
        for name in ("title", "setup", "check"):
            metadata = cell(exercise, name).metadata
            assert (metadata["editable"], metadata["deletable"]) == (False, False)
        assert cell(solution, "check").metadata == {"stoplib": {"role": "check"}}

    def test_metadata_for_nbgrader(self, exercise, solution):
        """The code cells of an exercise say to nbgrader what they are, and a check how many points it gives."""
        told = {name: cell(exercise, name).metadata["nbgrader"] for name in ("setup", "answer", "check")}
        names = ("grade", "solution", "locked")
        assert {name: tuple(one[key] for key in names) for name, one in told.items()} == {
            "setup": (False, False, True),
            "answer": (False, True, False),
            "check": (True, False, True),
        }
        assert [one.get("points") for one in told.values()] == [None, None, 1]
        assert {one["grade_id"] for one in told.values()} == {"setup", "answer", "check"}
        assert "nbgrader" not in cell(exercise, "title").metadata
        assert "nbgrader" not in cell(solution, "check").metadata

    def test_reveal_is_stored_hidden(self, chapter):
        """The result of a checkpoint is stored and hidden until the learner runs the cell; tags are kept."""
        reveal = cell(chapter, "ticks-reveal")
        assert reveal.metadata == {
            "jupyter": {"outputs_hidden": True},
            "stoplib": {"role": "reveal"},
            "tags": ["nbval-check-output"],
        }
        assert reveal.outputs != []

    def test_notebook_names_version_and_source(self, chapter):
        """The metadata of a notebook is its kernel, its language, the version and the source, no more."""
        assert chapter.metadata == {
            "kernelspec": {"name": "python3", "display_name": "Python 3 (ipykernel)", "language": "python"},
            "language_info": {"name": "python"},
            "stoplib": {"version": stoplib.__version__, "source": "lessons/chapters/02_two_exits.py"},
        }

    @pytest.mark.parametrize(
        ("old", "new", "said"),
        [
            ("    ### END SOLUTION\n", "", "'### BEGIN SOLUTION' without '### END SOLUTION'"),
            ("    ### BEGIN SOLUTION\n", "", "a second '### END SOLUTION' in a row, or one too early"),
            ("    # the plus does it", "    ### BEGIN SOLUTION", "a second '### BEGIN SOLUTION' in a row"),
            ("### BEGIN SOLUTION", "# begin solution:", "'# begin solution:' does not mark a solution"),
            ("numbers = [1, 2]", "### BEGIN SOLUTION", "cell 'setup': '### BEGIN SOLUTION' outside of an"),
            ("    ### BEGIN SOLUTION", "### BEGIN SOLUTION", "the solution stands at the left margin"),
            (
                "    ### BEGIN SOLUTION\n    # the plus does it\n\n    return a + b\n    ### END SOLUTION\n",
                "    ...\n",
                "no solution in an answer cell",
            ),
        ],
    )
    def test_refuses_marks_that_are_not_in_order(self, tmp_path, old, new, said):
        """A solution that would be cut wrongly, or leak, is refused with the name of its cell."""
        message = problem(tmp_path, "exercises/03_add", EXERCISE.replace(old, new))
        assert message.startswith("lessons/exercises/03_add.py, line ")
        assert said in message


class TestRunning:
    def test_says_what_it_built(self, course):
        """The command names each file that it wrote, and returns 0."""
        assert (course.code, course.err) == (0, "")
        assert course.out.splitlines() == [
            "built      stoplib/course/checkpoints.json",
            "built      notebooks/02_two_exits.ipynb",
            "built      exercises/03_add.ipynb",
            "built      solutions/03_add.ipynb",
        ]

    def test_counts_run_from_one(self, chapter, exercise):
        """Every code cell has been run once, in order: the counts are 1 to n, in cells and results."""
        for notebook in (chapter, exercise):
            code = [cell for cell in notebook.cells if cell.cell_type == "code"]
            assert [cell.execution_count for cell in code] == list(range(1, len(code) + 1))
        widget = cell(chapter, "widget")
        assert widget.outputs[0].execution_count == widget.execution_count

    def test_runs_where_the_learner_will(self, chapter):
        """A notebook runs in its own folder with the Python of the build."""
        assert cell(chapter, "place").outputs[0].text.startswith("notebooks True\n")

    def test_same_bytes_on_every_run(self, course):
        """All derived files, made a second time, are byte for byte what the first run wrote."""
        again = derived(course.root)
        assert len(again) == 4
        assert {path: path.read_bytes() for path in again} == again

    def test_files_are_plain(self, course):
        """Derived files have LF line ends, a final newline, and no spaces at the ends of lines."""
        for path in [*course.root.glob("*/*.ipynb"), *course.root.glob("stoplib/course/*.json")]:
            content = path.read_bytes()
            assert content.endswith(b"}\n") and b"\r" not in content and b" \n" not in content

    def test_streams_are_merged(self, chapter):
        """What a cell printed in pieces is one output."""
        outputs = cell(chapter, "ticks-reveal").outputs
        assert [(output.name, output.text) for output in outputs] == [("stdout", "two\ncalls\n")]

    def test_exceptions_have_no_traceback(self, chapter):
        """A stored exception has one line in place of its traceback, which holds paths and colours."""
        (output,) = cell(chapter, "failure").outputs
        assert (output.ename, output.evalue) == ("KeyError", "'limit'")
        assert output.traceback == ["KeyError: 'limit'"]

    def test_widgets_keep_their_text_only(self, chapter):
        """A widget is stored as text, without its random id; an output that is left empty goes."""
        (output,) = cell(chapter, "widget").outputs
        assert output.data == {"text/plain": "IntSlider(value=3)"}

    def test_pictures_lose_their_notes(self, chapter):
        """A PNG is stored without the text that names the program which drew it."""
        png = base64.b64decode(cell(chapter, "picture").outputs[0].data["image/png"])
        assert re.findall(b"IHDR|tEXt|IDAT|IEND", png) == [b"IHDR", b"IDAT", b"IEND"]

    def test_unsolved_checks_raise(self, exercise, solution):
        """The check cell of an untouched exercise says that it is not solved; the solution's passes."""
        (output,) = cell(exercise, "check").outputs
        assert output.traceback == ["NotImplementedError: exercise 03 is not solved yet"]
        assert cell(solution, "check").outputs[0].text == "3\n"

    def test_too_long(self, tmp_path, monkeypatch):
        """A cell that does not end in its time is named."""
        monkeypatch.setattr(execute, "CELL_SECONDS", 1)
        notebook = v4.new_notebook(cells=[v4.new_code_cell("while True: pass", id="loop")])
        with pytest.raises(CellError, match="cell 'loop' did not end within 1 seconds"):
            execute.execute(notebook, tmp_path)


class TestFailing:
    def test_others_are_still_built(self, troubled):
        """One failing lesson does not keep the others from being built, but the command returns 1."""
        assert troubled.code == 1
        assert "built      notebooks/01_good.ipynb\n" in troubled.out
        assert "built      solutions/05_typo.ipynb\n" not in troubled.out
        assert not (troubled.root / "notebooks" / "02_raises.ipynb").exists()

    def test_unreadable_lesson(self, tmp_path):
        """A lesson that is not in order is reported once, though two files depend on it, and not built."""
        write(tmp_path, "chapters/01_bad", "# %% Bad\nx = 1\n")
        run = command(tmp_path)
        assert (run.code, run.out, run.err.count("line 1: 'Bad' cannot name a cell")) == (1, "", 1)
        with pytest.raises(BuildError, match="'Bad' cannot name a cell"):
            derived(tmp_path)

    @pytest.mark.parametrize(
        "said",
        [
            "lessons/chapters/02_raises.py, line 4, cell 'wrong', in notebooks/02_raises.ipynb: "
            "the cell raised ZeroDivisionError: division by zero, at `(x / 0)`.",
            "lessons/chapters/03_dies.py, line 4, cell 'last', in notebooks/03_dies.ipynb: "
            "the cell lost its kernel: Kernel died.",
            "lessons/chapters/04_calm.py, line 1, cell 'calm', in notebooks/04_calm.ipynb: "
            "the cell is tagged raises-exception, but nothing was raised. Remove the tag.",
            "lessons/exercises/05_typo.py, line 22, cell 'check', in exercises/05_typo.ipynb: "
            "the cell raised NameError: name 'plus' is not defined, at `print(plus(*numbers))`, "
            "where an unsolved exercise should say 'not solved yet'.",
        ],
    )
    def test_says_what_failed_and_where(self, troubled, said):
        """Each failure is one paragraph: the source's file and line, the cell, the exception, the code."""
        assert said in troubled.err.strip().split("\n\n")

    def test_orphans_are_removed(self, troubled):
        """A whole build removes a derived notebook whose source is gone, but no notebook of a learner."""
        assert "removed    notebooks/06_gone.ipynb, which no longer has a source\n" in troubled.out
        assert sorted(path.name for path in (troubled.root / "notebooks").iterdir()) == [
            "01_good.ipynb",
            "01_good_mine.ipynb",
            "scratch.ipynb",
        ]

    @pytest.mark.parametrize(
        ("output", "said"),
        [
            (v4.new_output("stream", name="stderr", text="UserWarning: old\n"), "stderr: 'UserWarning: old'"),
            (v4.new_output("stream", name="stdout", text="<object at 0x7f01>\n"), "address, 'at 0x7f01'"),
            (v4.new_output("display_data", {"text/html": "<i>/my/home/x</i>"}), "'/my/home', a folder"),
            (v4.new_output("display_data", {"application/json": ["/my/home/x"]}), "'/my/home', a folder"),
            (v4.new_output("error", ename="OSError", evalue="no /my/home/x"), "'/my/home', a folder"),
            (v4.new_output("stream", name="stdout", text=repr("C:\\proj\\x")), repr(r"C:\\proj")),
            (v4.new_output("stream", name="stdout", text="C:/proj/x\n"), "'C:/proj', a folder"),
        ],
    )
    def test_refuses_outputs_of_one_machine(self, output, said):
        """What would differ in another run or on another machine is refused, and the cell named."""
        notebook = v4.new_notebook(cells=[v4.new_code_cell("x", id="show", outputs=[output])])
        with pytest.raises(CellError, match="cell 'show' ") as caught:
            check_outputs(notebook, private=(PureWindowsPath("C:\\proj"), Path("/my/home"), Path("/")))
        assert said in str(caught.value)

    def test_pictures_are_not_searched(self):
        """The letters of an encoded picture may spell a folder by chance."""
        output = v4.new_output("display_data", {"image/png": "AAAA/my/home/AAAA"})
        notebook = v4.new_notebook(cells=[v4.new_code_cell("x", outputs=[output])])
        check_outputs(notebook, private=[Path("/my/home")])


class TestSelecting:
    @pytest.mark.parametrize(
        ("name", "chosen"),
        [
            ("02", ["notebooks/02_two_exits.ipynb", "exercises/02_limit.ipynb", "solutions/02_limit.ipynb"]),
            ("02_two_exits", ["notebooks/02_two_exits.ipynb"]),
        ],
    )
    def test_number_or_name(self, tmp_path, name, chosen):
        """A number or a name selects lessons in both folders; the checkpoints are always built along."""
        write(tmp_path, "chapters/02_two_exits", CHAPTER)
        write(tmp_path, "chapters/03_more", CHAPTER)
        write(tmp_path, "exercises/02_limit", EXERCISE)
        assert [path.relative_to(tmp_path).as_posix() for path in recipes(tmp_path, [name])] == [
            "stoplib/course/checkpoints.json",
            *chosen,
        ]

    def test_unknown_name(self, course):
        """A name that no lesson has is refused, and the lessons are listed."""
        run = command(course.root, "7")
        said = "No lesson has the number or name '7'. There are: 02_two_exits, 03_add.\n"
        assert (run.code, run.err) == (1, said)

    def test_no_lessons(self, tmp_path):
        """Without sources the command says where it looked."""
        run = command(tmp_path)
        assert run.code == 1
        assert run.err.startswith(f"There is no lesson under {tmp_path / 'lessons'}.")

    def test_unchanged_files_are_left_alone(self, course):
        """A file whose content would not change is not written again, which is said."""
        path = course.root / "notebooks" / "02_two_exits.ipynb"
        written = path.stat().st_mtime_ns
        run = command(course.root, "02")
        assert run.out.splitlines() == [
            "unchanged  stoplib/course/checkpoints.json",
            "unchanged  notebooks/02_two_exits.ipynb",
        ]
        assert path.stat().st_mtime_ns == written


class TestChecking:
    def test_finds_what_is_not_up_to_date(self, course, tmp_path):
        """A changed output, a changed text, a missing file, one without source: all named, none touched."""
        root = tmp_path / "copy"
        shutil.copytree(course.root, root)
        chapter, exercise = root / "notebooks" / "02_two_exits.ipynb", root / "exercises" / "03_add.ipynb"
        change(chapter, "two\\n", "ten\\n")
        change(exercise, "Complete", "Improve")
        (root / "solutions" / "03_add.ipynb").unlink()
        store(root / "solutions" / "06_gone.ipynb", "lessons/exercises/06_gone.py")
        before = contents(root)
        run = command(root, "--check")
        assert run.code == 1
        assert run.out.splitlines() == [
            "solutions/03_add.ipynb is missing",
            "notebooks/02_two_exits.ipynb differs: cells 'ticks-reveal' outputs 1 text 1: "
            r"'ten\n' in the file, 'two\n' when built",
            "exercises/03_add.ipynb differs: cells 'how' source 1: "
            "'Improve the function.' in the file, 'Complete the function.' when built",
            "solutions/06_gone.ipynb has no source",
        ]
        assert contents(root) == before

    @pytest.mark.parametrize(
        ("stored", "made", "said"),
        [
            (
                {"cells": [{"id": "a"}, {"id": "b"}]},
                {"cells": [{"id": "a"}]},
                'cells \'b\': {"id": "b"} in the file, nothing when built',
            ),
            (
                {"cells": [{"id": "a", "outputs": [1], "source": ["x"]}]},
                {"cells": [{"id": "a", "source": ["y"]}]},
                "cells 'a' source 1: 'x' in the file, 'y' when built",
            ),
            ({"metadata": {"a": 1}}, {"metadata": {}}, "metadata a: 1 in the file, nothing when built"),
            (
                {"why": "w" * 99 + "a"},
                {"why": "w" * 99 + "b"},
                f"why: '{'w' * 20}a' in the file, '{'w' * 20}b' when built",
            ),
            ({"a": 1, "b": 2}, {"b": 2, "a": 1}, "only the layout, such as the ends of lines"),
        ],
    )
    def test_says_what_differs(self, stored, made, said):
        """The first difference is named by its cell and place, the text of a cell before its outputs."""
        assert difference(json.dumps(stored).encode(), json.dumps(made).encode()) == said

    def test_says_that_a_file_is_broken(self):
        """A stored file that cannot be read as JSON is reported, not raised."""
        assert difference(b"<<<<<<< HEAD", b"{}") == "the file is not JSON"

    def test_this_repository(self):
        """Every notebook of this course is what its source gives today, outputs and all."""
        run = command(ROOT, "--check")
        assert run.out + run.err == ""
        assert run.code == 0


def contents(root: Path) -> dict[Path, bytes]:
    """Return the content of every file under the folder."""
    return {path: path.read_bytes() for path in root.rglob("*") if path.is_file()}


def change(path: Path, old: str, new: str) -> None:
    """Replace the text in the file, where it stands once."""
    text = path.read_text(encoding="utf-8")
    assert text.count(old) == 1
    path.write_text(text.replace(old, new), encoding="utf-8", newline="\n")


def guarded(folder: Path, name: str, cells: list[str], *options: str) -> list[tuple[str, str]]:
    """Run a notebook of these cells with nbval and nbguard; return each cell's outcome and message."""
    code = [
        v4.new_code_cell(source, id=f"cell-{number}", execution_count=number)
        for number, source in enumerate(cells, start=1)
    ]
    nbformat.write(v4.new_notebook(cells=code), folder / name)
    report = folder / f"{name}.xml"
    environment = {key: value for key, value in os.environ.items() if not key.startswith("PYTEST_")}
    subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-p",
            "stoplib.course.nbguard",
            "--nbval",
            "--nbval-current-env",
            "-p",
            "no:cacheprovider",
            f"--junitxml={report}",
            *options,
            name,
        ],
        cwd=folder,
        env=environment,
        capture_output=True,
        timeout=300,
        check=False,
    )
    return [outcome(case) for case in ET.parse(report).iter("testcase")]


def outcome(case: ET.Element) -> tuple[str, str]:
    """Return the outcome and the message of a test case in a JUnit report."""
    if len(case) == 0:
        return "passed", ""
    return case[0].tag, case[0].text or ""


class TestGuard:
    def test_semicolon_and_dead_kernel(self, tmp_path):
        """A final semicolon hides a result; a dead kernel is noticed long before the cell's time is over."""
        cells = ["x = 1\nx;", "import os; os._exit(1)", "y = 1"]
        good, dead, later = guarded(tmp_path, "dead.ipynb", cells, "--nbval-cell-timeout=1000")
        assert good == ("passed", "")
        assert dead[0] == "failure" and "The cell ended its kernel" in dead[1]
        assert later[0] == "failure" and "Kernel dead" in later[1]

    def test_loop_that_catches_its_interrupt(self, tmp_path):
        """A loop that cannot be interrupted is killed, and the cells after it fail; none is expected to."""
        loop = (
            "def stubborn():\n    while True:\n        try:\n            print('on', flush=True)\n"
            "        except KeyboardInterrupt:\n            pass\nstubborn()"
        )
        endless, later = guarded(tmp_path, "loop.ipynb", [loop, "y = 1"], "--nbval-cell-timeout=1")
        assert endless[0] == "failure" and "Its kernel was killed" in endless[1]
        assert later[0] == "failure" and "Kernel dead" in later[1]

    def test_no_failure_is_expected(self, tmp_path):
        """A cell that fails has failed, even where nbval has noted a timeout before it."""
        hook = "def pytest_runtest_setup(item):\n    item.parent.timed_out = True\n"
        (tmp_path / "conftest.py").write_text(hook, encoding="utf-8")
        (failed,) = guarded(tmp_path, "fails.ipynb", ["1 / 0"])
        assert failed[0] == "failure" and "ZeroDivisionError" in failed[1]

    def test_refuses_another_nbval(self):
        """If nbval no longer has a function that the guard replaces, the guard says so at once."""
        with pytest.raises(RuntimeError, match="nbval [0-9.]+ has no TestGuard.interrupt, which nbguard"):
            nbguard.replace(TestGuard, "interrupt", print)


MATCH = """# %% ends [markdown] checkpoint="1.1" kind="match"
# Which run ends how?
#
# - a) `answered`
# - b) `max_steps`
#
# The runs:
#
# - 1) `never answers` :: Only the cap ends it.
# - 2) `answers at once` :: It has what it needs.
"""

ORDER = """# %% order [markdown] checkpoint="1.1" kind="order"
# In which order?
#
# - a) `tool` :: The reply asks for it.
# - b) `check` :: The checks look at the result.
# - c) `send` :: Each round begins with a call.
"""


def checkpoint_of(tmp_path, text):
    """The only checkpoint of a chapter with this text, and the text that the notebook shows."""
    path = tmp_path / "lessons" / "chapters" / "01_x.py"
    path.parent.mkdir(parents=True)
    path.write_text(text, encoding="utf-8")
    (found,) = read_lesson(path).cells
    return found.checkpoint, found.source


def test_a_match_has_answers_and_numbered_options(tmp_path):
    """The lettered list before the numbered one holds the answers; only feedback is taken out of the notebook."""
    checkpoint, shown = checkpoint_of(tmp_path, MATCH)
    assert [(option["key"], option["value"]) for option in checkpoint.options] == [
        ("1", "never answers"),
        ("2", "answers at once"),
    ]
    assert checkpoint.answers == ({"key": "a", "value": "answered"}, {"key": "b", "value": "max_steps"})
    assert "- b) `max_steps`" in shown and "- 2) `answers at once`" in shown and "::" not in shown


def test_a_match_without_answers_is_refused(tmp_path):
    """A match whose answers are missing is refused with the form that they should have."""
    with pytest.raises(BuildError, match="needs its answers first"):
        checkpoint_of(tmp_path, MATCH.replace("# - a) `answered`\n", ""))


def test_an_order_is_written_like_a_choice(tmp_path):
    """The options of an order are lettered and shown without their feedback."""
    checkpoint, shown = checkpoint_of(tmp_path, ORDER)
    assert (checkpoint.kind, [option["value"] for option in checkpoint.options]) == ("order", ["tool", "check", "send"])
    assert shown.endswith("- a) `tool`\n- b) `check`\n- c) `send`")
