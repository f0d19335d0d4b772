"""The pages made from all lessons: glossary, guards and reasons, the page to print, minutes, the table of chapters."""

import html
import io
import re
import shutil
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import nbformat
import pytest

import stoplib
from stoplib import guards, reasons
from stoplib.course.build import main, recipes
from stoplib.course.building import BuildError
from stoplib.course.building.facts import all_gates, all_guards, all_reasons
from stoplib.course.building.glossary import is_term, read_terms
from stoplib.course.building.lesson import read_lesson
from stoplib.course.building.minutes import minutes
from stoplib.course.building.overview import BEGIN, END
from stoplib.course.building.prose import first_sentence, spans, table
from stoplib.course.workspace import course_files

ROOT = Path(__file__).parents[1]
CHAPTERS, EXERCISES = (sorted((ROOT / "lessons" / kind).glob("*.py")) for kind in ("chapters", "exercises"))
BESIDE = ("glossary.md", "guards_and_reasons.md", "on_one_page.html")
GUARDS = {name for name in guards.__all__ if name.islower()}
REASONS = reasons.RESERVED | reasons.COMPLETE

CHAPTER = """\
# %% title [markdown]
# # Ends: how?
#
# **Time.** About {minutes} minutes. Then comes the exercise, {minutes of exercise 01}.

# %% idea [markdown]
# ## The idea
#
# A **fuse** lets some calls through. *Not a term.* **This whole sentence is bold**
#
# > **Pitfall: too late.** It looks late. Nobody sees it.
#
# [Exercise 01](../exercises/01_add.ipynb)

# %% run
from stoplib import max_steps, repeated_call
print(max_steps(3), "truncated")

# %% more [markdown]
# ## More
#
# `cancelled` is in the text.

# %% call
repeated_call(2)
"""
EXERCISE = """\
# %% title [markdown]
# # {kind} 01: add
#
# **Time.** About {minutes} minutes. Two **Fuses** are **to add**.

# %% again [markdown]
# ## Again
#
# Two **fuses**.

# %% answer role="answer"
def add():
    ### BEGIN SOLUTION
    from stoplib import time_limit
    return time_limit(1)
    ### END SOLUTION

# %% check role="check"
add()
"""
GLOSSARY = '[fuse]\nbold = ["fuse", "fuses"]\nmeans = "It lets some calls through."\n'
README = f"# It\n\n{BEGIN}\nold\n{END}\n\nMore.\n"


def project(root, **texts):
    """A project of one chapter and one exercise; `texts` replaces its files: chapter, exercise, glossary, readme."""
    files = {
        "lessons/chapters/04_ends.py": texts.get("chapter", CHAPTER),
        "lessons/exercises/01_add.py": texts.get("exercise", EXERCISE),
        "lessons/glossary.toml": texts.get("glossary", GLOSSARY),
        "README.md": texts.get("readme", README),
    }
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="\n")
    (root / "docs").mkdir(exist_ok=True)
    for name in ("reasons.md", "which-guard.md"):
        shutil.copyfile(ROOT / "docs" / name, root / "docs" / name)
    return root


def build(root, *arguments):
    """Run the build there; its exit code and all that it said."""
    said = io.StringIO()
    with redirect_stdout(said), redirect_stderr(said):
        code = main(arguments, root=root)
    return code, said.getvalue()


def refused(root, page):
    """The message with which the build refuses to make a page there."""
    with pytest.raises(BuildError) as caught:
        recipes(root)[root / page]()
    return str(caught.value)


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The small project, built."""
    root = project(tmp_path_factory.mktemp("pages"))
    assert build(root)[0] == 0
    return root


def text_of(path):
    """The text of a file."""
    return path.read_text(encoding="utf-8")


def entry(page, name):
    """What stands under a heading of a page."""
    return re.search(rf"^#+ {re.escape(name)}\n\n(.*?)(?=^#|\Z)", page, flags=re.MULTILINE | re.DOTALL)[1]


class TestProse:
    """Markdown is read as it is shown."""

    def test_spans(self):
        """Bold, code and links are found with the heading above them; what stands in a block of code is not."""
        text = (
            "**a b**\n\n## Two `x`\n\n- `c **d**` [e](f.md#g)\n\n```\n**no**\n```\n<details>\n<code>i</code></details>"
        )
        found = [(span.kind, span.text, span.heading) for span in spans(text, "One")]
        assert found == [
            ("bold", "a b", "One"),
            ("code", "x", "Two x"),
            ("code", "c **d**", "Two x"),
            ("link", "f.md#g", "Two x"),
            ("code", "i", "Two x"),
        ]

    @pytest.mark.parametrize(
        ("text", "first"),
        [
            ("One. Two.", "One."),
            ("Is it? No.", "Is it?"),
            ('`ask("a? ")` asks. Then.', '`ask("a? ")` asks.'),
            ("It costs 5.135 dollars. So.", "It costs 5.135 dollars."),
            ("no end", "no end"),
        ],
    )
    def test_first_sentence(self, text, first):
        """A sentence ends with a full stop or a question mark before a space, and not inside code."""
        assert first_sentence(text) == first

    def test_tables(self):
        """The table with the asked columns is found among others; without it the message names the columns."""
        text = "| a |\n| --- |\n| 1 |\n\ntext\n\n| a | b |\n| --- | --- |\n| `x` | 2 |\n| 3 | |\n"
        assert table(text, "a", "b") == [["`x`", "2"], ["3", ""]]
        with pytest.raises(BuildError, match="There is no table with the columns b, a."):
            table(text, "b", "a")


class TestGlossary:
    """Every bold term has its sentence, and every sentence its place."""

    def test_each_bold_term_of_the_lessons_is_there(self):
        """What a lesson sets in bold, short and without a full stop, is a heading of the glossary or a form of one."""
        forms = {form for term in read_terms(ROOT / "lessons" / "glossary.toml") for form in term.forms}
        told = set(re.findall(r"^## (.+)$", text_of(ROOT / "notebooks" / "glossary.md"), flags=re.MULTILINE))
        assert {term.name for term in read_terms(ROOT / "lessons" / "glossary.toml")} == told
        bold = set()
        for path in [*CHAPTERS, *EXERCISES]:
            text = "\n".join(cell.source for cell in read_lesson(path).cells[1:] if cell.type == "markdown")
            bold |= {one.lower() for one in re.findall(r"(?<!\*)\*\*(\w[^*]*?)\*\*", re.sub(r"`[^`\n]+`", "`", text))}
        terms = {text for text in bold if len(text.split()) <= 3 and text[-1] not in ".:?!"}
        assert len(terms) > 50
        assert terms == forms

    def test_each_is_one_sentence(self):
        """The meaning of a term is one sentence."""
        terms = read_terms(ROOT / "lessons" / "glossary.toml")
        assert [term.name for term in terms if first_sentence(term.means) != term.means] == []

    @pytest.mark.parametrize("page", BESIDE[:2])
    def test_links_lead_to_the_cell(self, page):
        """Each link of the pages beside the notebooks leads to a file, and to a cell that is in it."""
        targets = [span.text for span in spans(text_of(ROOT / "notebooks" / page)) if span.kind == "link"]
        assert len(targets) > 50
        for target in targets:
            name, _, cell = target.partition("#cell-id=")
            path = ROOT / "notebooks" / name
            assert path.exists(), target
            assert not cell or cell in {cell.id for cell in nbformat.read(path, 4).cells}, target

    def test_the_cell_has_the_term(self):
        """The cell that a term's link leads to sets it in bold."""
        for term in read_terms(ROOT / "lessons" / "glossary.toml"):
            text = entry(text_of(ROOT / "notebooks" / "glossary.md"), term.name)
            name, cell = re.search(r"\(([^)#]+)#cell-id=([\w-]+)\)", text).groups()
            cells = {one.id: one.source for one in nbformat.read(ROOT / "notebooks" / name, 4).cells}
            assert {span.text.lower() for span in spans(cells[cell]) if span.kind == "bold"} & term.forms

    def test_an_entry(self, built):
        """An entry has the sentence, the first place, and the lessons that have the term again."""
        page = text_of(built / "notebooks" / "glossary.md")
        place = "[04 The idea](04_ends.ipynb#cell-id=idea), and again exercise [01](../exercises/01_add.ipynb)"
        assert entry(page, "fuse") == f"It lets some calls through. See {place}.\n"
        in_words = text_of(built / "docs" / "glossary.md")
        assert entry(in_words, "fuse") == (
            "It lets some calls through. See chapter 04, *The idea*, and again exercise 01.\n"
        )

    @pytest.mark.parametrize(
        ("text", "term"),
        [
            *(("fuse", True), ("one two three", True), ("one two three four", False)),
            *(("Room.", False), ("What now?", False), ("Pitfall: x", True)),
        ],
    )
    def test_what_is_a_term(self, text, term):
        """Up to three words without a full stop or question mark at the end."""
        assert is_term(text) is term

    @pytest.mark.parametrize(
        ("texts", "said"),
        [
            (
                {"chapter": CHAPTER.replace("A **fuse**", "A **fuse** or **breaker**")},
                "lessons/chapters/04_ends.py: 'breaker' is bold under 'The idea', but lessons/glossary.toml does not",
            ),
            (
                {"glossary": GLOSSARY + '[gate]\nmeans = "A place."\n'},
                "lessons/glossary.toml: no lesson sets 'gate' in bold. Mark the place that explains it, or remove it.",
            ),
            (
                {"glossary": GLOSSARY + '[circuit]\nbold = ["fuses"]\nmeans = "A place."\n'},
                "glossary.toml: 'fuses' belongs to 'fuse' and to 'circuit'. Take it out of one.",
            ),
            ({"glossary": '[fuse]\nmeans = "No end"\n'}, "glossary.toml: 'fuse' needs means = \"One sentence.\""),
            ({"glossary": '[fuse]\nis = "It."\n'}, "glossary.toml: 'fuse' needs means = \"One sentence.\""),
            ({"glossary": 'fuse = "It."\n'}, "glossary.toml: 'fuse' needs means = \"One sentence.\""),
            ({"glossary": '[fuse]\nmeans = "It."\nbold = "fuse"\n'}, "glossary.toml: 'fuse' needs means ="),
            ({"glossary": "[fuse\n"}, "glossary.toml: "),
        ],
    )
    def test_what_does_not_fit_is_refused(self, tmp_path, texts, said):
        """A term without an entry, an entry without a place, and an entry that is not in order are named."""
        assert said in refused(project(tmp_path, **texts), "notebooks/glossary.md")


class TestGuide:
    """The index of guards and reasons."""

    @pytest.mark.parametrize("page", ["notebooks/guards_and_reasons.md", "docs/guards-and-reasons.md"])
    def test_everything_has_its_entry(self, page):
        """Each guard and each reason has one entry, with its place."""
        found = re.findall(r"^### (\w+)$", text_of(ROOT / page), flags=re.MULTILINE)
        assert sorted(found) == sorted(GUARDS | REASONS)
        places = re.findall(r"^- (?:introduced in|in no chapter)", text_of(ROOT / page), flags=re.MULTILINE)
        assert len(places) == len(found)

    def test_the_lessons_that_use_a_guard(self):
        """A guard is used in the lessons whose code has its name, apart from what the learner has to write."""
        page = text_of(ROOT / "notebooks" / "guards_and_reasons.md")
        for name in GUARDS:
            line = re.search("^- used in .*$", entry(page, name), flags=re.MULTILINE)
            told = set(re.findall(r"(\d\d_\w+)\.ipynb", line[0] if line else ""))
            used = set()
            for folder in ("notebooks", "exercises"):
                for path in (ROOT / folder).glob("*.ipynb"):
                    cells = nbformat.read(path, 4).cells
                    code = "\n".join(cell.source for cell in cells if cell.cell_type == "code")
                    code = re.sub(r'"(?:[^"\\\n]|\\.)*"|#.*|\w+=|\b\w+: ', "", code)
                    used |= {path.stem} if re.search(rf"\b{name}\b", code) else set()
            assert told == used, name

    def test_introduced_where_code_first_uses_it(self, built):
        """An import introduces nothing; code does, then text; a result shows a reason; a solution is not told."""
        page = text_of(built / "notebooks" / "guards_and_reasons.md")
        assert "introduced in [04 The idea](04_ends.ipynb#cell-id=run)\n" in entry(page, "max_steps")
        assert "introduced in [04 More](04_ends.ipynb#cell-id=call)\n" in entry(page, "repeated_call")
        assert "introduced in [04 More](04_ends.ipynb#cell-id=more)\n" in entry(page, "cancelled")
        assert "introduced in [04 The idea](04_ends.ipynb#cell-id=run)\n- seen in chapter [04]" in entry(
            page, "truncated"
        )
        assert "- in no chapter\n" in entry(page, "time_limit")
        assert "used in" not in entry(page, "time_limit")

    def test_facts_are_the_codes(self):
        """Signature, gates, bound and sentence are those of the class."""
        facts = {guard.name: guard for guard in all_guards(ROOT / "docs")}
        assert facts.keys() == GUARDS
        assert facts["token_budget"].signature == "token_budget(n, hard=False, reserve=0)"
        assert facts["max_steps"].fires == "At most `n` steps, that is, `n` model calls."
        for name, guard in facts.items():
            kind = getattr(stoplib, name)
            assert (guard.gates, guard.bounds) == (kind.usual_gates, kind.bounds)
            assert all((guard.fires, guard.blind, guard.then))

    def test_reasons_are_the_trees(self):
        """Each reason has the words that stand beside it in the tree, also where they go on over a line."""
        facts = {reason.name: reason for reason in all_reasons(ROOT / "docs")}
        assert facts.keys() == REASONS
        assert {name for name, reason in facts.items() if reason.complete} == reasons.COMPLETE
        assert facts["refused"].means == "the model refused, or a filter stepped in"
        assert facts["unfinished"].means.endswith("or the model answered and a goal check said no")

    def test_gates_are_the_codes(self):
        """The gates, in their order, with what the module says of them."""
        assert tuple(all_gates()) == guards.GATES
        assert all_gates()["before_call"] == "before the model is called"

    def test_a_page_that_lacks_a_guard_is_named(self, tmp_path):
        """A guard without a row on a page is a mistake that is told."""
        for name in ("reasons.md", "which-guard.md"):
            kept = [line for line in text_of(ROOT / "docs" / name).splitlines() if "| `cancelled" not in line]
            (tmp_path / name).write_text("\n".join(kept), encoding="utf-8")
        with pytest.raises(BuildError, match=r"docs/which-guard.md has no row for cancelled\."):
            all_guards(tmp_path)
        shutil.copyfile(ROOT / "docs" / "which-guard.md", tmp_path / "which-guard.md")
        with pytest.raises(BuildError, match=r"docs/reasons.md has no row for cancelled\."):
            all_guards(tmp_path)


class TestOnePage:
    """The page to print."""

    def test_it_has_all(self):
        """Every gate, guard and reason is on it, with what the caller may do next, and one trap for each chapter."""
        page = text_of(ROOT / "notebooks" / "on_one_page.html")
        shown = " ".join(html.unescape(re.sub(r"<[^>]+>", " ", page)).split())
        for guard in all_guards(ROOT / "docs"):
            assert guard.signature in shown
        for name in [*guards.GATES, *(REASONS - {"goal_reached"})]:
            assert f"<code>{name}</code>" in page
        assert re.findall(r"<li><b>(\d\d) ", page) == [path.stem[:2] for path in CHAPTERS]
        assert "The run counts, and a guard only looks." in shown

    def test_of_the_small_project(self, built):
        """A trap is the first sentence of a pitfall, and what is bold and long is a sentence to keep."""
        page = text_of(built / "notebooks" / "on_one_page.html")
        assert "<li><b>04 Too late.</b> It looks late.</li>" in page
        assert "<p>This whole sentence is bold.</p>" in page

    def test_it_needs_nothing_else(self):
        """It loads no file and runs no script, and both copies are the same."""
        page = text_of(ROOT / "notebooks" / "on_one_page.html")
        assert re.findall(r"<script|<link|<img|url\(|https?:", page) == []
        assert page == text_of(ROOT / "docs" / "on-one-page.html")


class TestMinutes:
    """How long a lesson takes is worked out."""

    @pytest.mark.parametrize(
        ("words", "lines", "checkpoints", "expected"),
        [
            *((0, 0, 0, 5), (740, 0, 0, 5), (760, 0, 0, 10), (1240, 0, 0, 10), (1260, 0, 0, 15)),
            *((0, 43, 0, 5), (0, 45, 0, 10), (400, 18, 0, 5), (500, 18, 0, 10), (0, 0, 3, 10)),
        ],
    )
    def test_of_a_chapter(self, tmp_path, words, lines, checkpoints, expected):
        """100 words or 6 lines are a minute, a checkpoint is three, and the sum is rounded to 5 minutes, at least 5."""
        cells = ["# %% text [markdown]", "# " + "word " * words + "[](a/path/that/is/no/word.md)"]
        cells += ["# %% code", *["x = 1", ""] * lines, "# nothing"] if lines else []
        for number in range(checkpoints):
            cells += [f'# %% q-{number} [markdown] checkpoint="1.{number}" kind="number"', "# - `1` :: " + "why " * 500]
        path = tmp_path / "lessons" / "chapters" / "01_one.py"
        path.parent.mkdir(parents=True)
        path.write_text("\n".join(cells), encoding="utf-8")
        assert minutes(read_lesson(path)) == expected

    def test_of_an_exercise(self, tmp_path):
        """10 minutes for an idea, half a minute for each line of the solution, one for each check."""
        solution = "".join(f"    x = {number}\n" for number in range(20))
        text = EXERCISE.replace("    from stoplib import time_limit\n    return time_limit(1)\n", solution)
        text += "".join(f'\n# %% check-{number} role="check"\nadd()\n' for number in range(4))
        path = project(tmp_path, exercise=text) / "lessons" / "exercises" / "01_add.py"
        assert minutes(read_lesson(path)) == 25  # 10 + 20 / 2 + 5, and less than half a minute to read
        solution_only = '\n# %% why [markdown] only="solution"\n# ' + "word " * 2000
        path.write_text(text + solution_only, encoding="utf-8")
        assert minutes(read_lesson(path)) == 25

    def test_they_are_filled_in(self, built):
        """A lesson's own minutes, and those of an exercise, stand where the lesson asks for them."""
        title = nbformat.read(built / "notebooks" / "04_ends.ipynb", 4).cells[0].source
        assert title.endswith("**Time.** About 5 minutes. Then comes the exercise, 10.")
        for folder in ("exercises", "solutions"):
            assert "About 10 minutes." in nbformat.read(built / folder / "01_add.ipynb", 4).cells[0].source

    def test_an_exercise_that_is_not_there(self, tmp_path):
        """Asking for the minutes of a missing exercise is a mistake that is told."""
        root = project(tmp_path, chapter=CHAPTER.replace("of exercise 01", "of exercise 02"))
        said = "lessons/chapters/04_ends.py, line 1, cell 'title': there is no exercise 02."
        assert refused(root, "notebooks/04_ends.ipynb") == said

    @pytest.mark.parametrize("path", [*CHAPTERS, *EXERCISES], ids=lambda path: f"{path.parent.name}-{path.stem}")
    def test_none_is_written_by_hand(self, path):
        """Each lesson's title cell asks for its minutes and leads to the pages; nowhere stands a number of minutes."""
        title, *rest = [cell.source for cell in read_lesson(path).cells if cell.type == "markdown"]
        assert title.count("**Time.** About {minutes} minutes.") == 1
        targets = {span.text.rpartition("/")[2] for span in spans(title) if span.kind == "link"}
        assert set(BESIDE) <= targets
        assert re.findall(r"[Aa]bout \d+ minutes", "\n".join([title, *rest])) == []
        linked = [re.search(r"\.\./exercises/\d\d_\w+\.ipynb\)\.", text) for text in rest]
        assert all("{minutes of exercise " in text for text, found in zip(rest, linked, strict=True) if found)

    @pytest.mark.parametrize("path", [*CHAPTERS, *EXERCISES], ids=lambda path: f"{path.parent.name}-{path.stem}")
    def test_readme_and_notebook_agree(self, path):
        """The table of chapters has what the notebook says."""
        folder = "notebooks" if path in CHAPTERS else "exercises"
        title = nbformat.read(ROOT / folder / f"{path.stem}.ipynb", 4).cells[0].source
        told = re.search(r"\*\*Time\.\*\* About (\d+) minutes\.", title)[1]
        readme = text_of(ROOT / "README.md")
        row = rf"\({folder}/{path.stem}\.ipynb\)" + (r" \| (\d+) \|" if path in CHAPTERS else r", (\d+) minutes")
        assert re.findall(row, readme) == [told]


class TestOverview:
    """The table of chapters in README.md."""

    def test_of_the_small_project(self, built):
        """The table is written between its marks, and the rest of the page is left alone."""
        row = "| 04 | [Ends: how?](notebooks/04_ends.ipynb) | 5 | [01](exercises/01_add.ipynb), 10 minutes |"
        table = f"\n| | chapter | minutes | exercise |\n| --- | --- | --- | --- |\n{row}\n"
        assert text_of(built / "README.md") == f"# It\n\n{BEGIN}\n{table}\n{END}\n\nMore.\n"

    @pytest.mark.parametrize("readme", ["# It\n", f"{BEGIN}\n", f"{END}\n{BEGIN}\n", f"{BEGIN}{END}{BEGIN}{END}"])
    def test_without_its_marks(self, tmp_path, readme):
        """A page without the two marks, in this order and once each, is not made, and the marks are named."""
        said = f"README.md: the table of chapters belongs between the lines '{BEGIN}' and '{END}'."
        assert refused(project(tmp_path, readme=readme), "README.md") == said


class TestBuild:
    """The pages are derived files like the notebooks."""

    def test_what_is_stale_is_named(self, built, tmp_path):
        """Each page that was changed by hand, or is missing, is found; after a build it is as it should be."""
        root = tmp_path / "copy"
        shutil.copytree(built, root)
        page = root / "notebooks" / "glossary.md"
        page.write_text(text_of(page).replace("some calls", "all calls"), encoding="utf-8", newline="\n")
        (root / "docs" / "on-one-page.html").unlink()
        assert build(root, "--check", "01") == (
            1,
            "docs/on-one-page.html is missing\n"
            "notebooks/glossary.md differs: line 8: 'It lets all calls through. See [04 The idea](04_ends.ipynb#c' "
            "in the file, 'It lets some calls through. See [04 The idea](04_ends.ipynb#' when built\n",
        )
        code, out = build(root, "01")
        assert code == 0
        assert [line.split()[1] for line in out.splitlines() if line.startswith("built")] == [
            "notebooks/glossary.md",
            "docs/on-one-page.html",
        ]
        assert build(root, "--check", "01") == (0, "")

    def test_what_is_refused_is_not_written(self, built, tmp_path):
        """A page that cannot be made stays as it was, the build says why and fails, and the other pages are made."""
        root = project(shutil.copytree(built, tmp_path / "copy"), readme="# It\n")
        (root / "notebooks" / "glossary.md").unlink()
        code, out = build(root, "01")
        assert code == 1
        assert "README.md: the table of chapters belongs between" in out
        assert text_of(root / "README.md") == "# It\n"
        assert (root / "notebooks" / "glossary.md").exists()

    def test_a_lesson_that_is_not_built_yet(self, tmp_path):
        """Where a notebook is missing, the index says which one."""
        said = "lessons/chapters/04_ends.py has no notebooks/04_ends.ipynb yet. Build it first."
        assert refused(project(tmp_path), "docs/guards-and-reasons.md") == said

    def test_the_learner_gets_them(self):
        """The pages beside the notebooks are copied to the learner's folder like the notebooks."""
        assert {f"notebooks/{name}" for name in BESIDE} <= set(course_files(ROOT))
