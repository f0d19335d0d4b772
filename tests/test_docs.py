"""The library's pages: their examples run, their links lead somewhere, and their tables say what the code says."""

import ast
import doctest
import html
import importlib
import importlib.util
import inspect
import pkgutil
import re
import subprocess
import sys
from pathlib import Path
from urllib.parse import unquote

import pytest
import yaml

import stoplib
from stoplib import fakes, guards, reasons
from stoplib.guards import GATES, Guard

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PACKAGE = ROOT / "stoplib"
PAGES = sorted(DOCS.glob("*.md"))
BLOCK = re.compile(r"^```(\w*).*?\n(.*?)^```$", flags=re.MULTILINE | re.DOTALL)
WITHOUT_EXAMPLES = {"api.md", "architecture.md", "glossary.md", "guards-and-reasons.md"}

# Every guard there is: the classes of the package's modules that have a guard's lower-case name.
GUARDS = {
    name: kind
    for module in pkgutil.iter_modules(guards.__path__)
    for name, kind in vars(importlib.import_module(f"stoplib.guards.{module.name}")).items()
    if isinstance(kind, type) and issubclass(kind, Guard) and name.islower() and not name.startswith("_")
}
REASONS = reasons.RESERVED | reasons.COMPLETE | set(GUARDS)


def text_of(page):
    """The text of a page of docs/."""
    return (DOCS / page).read_text(encoding="utf-8")


def tables(page):
    """The page's tables as {(heads): [row, …]}; a row is a list of cells."""
    found = {}
    for block in re.findall(r"(?:^\|.*\n)+", text_of(page), flags=re.MULTILINE):
        head, _, *rows = [[cell.strip() for cell in line[1:-1].split("|")] for line in block.splitlines()]
        found[tuple(head)] = rows
    return found


def names(cell):
    """The names in a cell's code spans: `max_steps(n)` is max_steps."""
    return re.findall(r"`([\w.]+)[^`]*`", cell)


def spans(page):
    """Every code span of the page, blocks apart."""
    return re.findall(r"`([^`\n]+)`", BLOCK.sub("", text_of(page)))


class PageParser(doctest.DocTestParser):
    """Reads the examples of a Markdown page: the fence that closes a block is no part of what is expected."""

    def parse(self, string, name="<string>"):
        """The page as text and examples, with each fence as an empty line, so that lines keep their numbers."""
        return super().parse(re.sub(r"^```.*$", "", string, flags=re.MULTILINE), name)


def run_examples(page, out=None):
    """(failed, tried) of the page's examples; what failed is printed, or given to `out`."""
    test = PageParser().get_doctest(page.read_text(encoding="utf-8"), {}, page.name, str(page), 0)
    failed, tried, *_ = doctest.DocTestRunner(verbose=False).run(test, out=out)
    return failed, tried


class TestExamples:
    """What a page shows is what happens."""

    def test_the_parser_sees_a_wrong_example(self, tmp_path):
        """An example with another result than the page says is found, also at the end of a block."""
        page = tmp_path / "page.md"
        page.write_text("# Page\n\n```pycon\n>>> 1 + 1\n2\n```\n\n```pycon\n>>> 1 + 1\n3\n```\n", encoding="utf-8")
        said = []
        assert run_examples(page, said.append) == (1, 2)
        assert "Expected:\n    3\nGot:\n    2\n" in said[0] and "line 9" in said[0]

    @pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
    def test_examples(self, page):
        """Every `>>>` of the page runs, in order, with exactly the result that is shown."""
        failed, tried = run_examples(page)
        assert failed == 0
        assert (tried == 0) == (page.name in WITHOUT_EXAMPLES)

    @pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
    def test_no_python_without_a_run(self, page):
        """Blocks of Python are examples, so nothing is shown that has not been run."""
        kinds = {kind for kind, body in BLOCK.findall(text_of(page.name)) if not body.startswith(">>> ")}
        assert kinds <= {"sh", "text"}


# Builds the site and refuses every connection, so that a build that asks the network for something fails.
BUILD = """
import socket, sys
def refuse(*_):
    raise OSError("the build asks the network")
socket.socket.connect = socket.socket.connect_ex = socket.getaddrinfo = refuse
from mkdocs.__main__ import cli
cli(["build", "--strict", "--site-dir", sys.argv[1]])
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The folder of the site, built strictly: what is wrong with a link or a name is an error."""
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-W", "ignore", "-c", BUILD, str(folder)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, encoding="utf-8", timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def shown(path):
    """What a page of the site shows, as text."""
    body = path.read_text(encoding="utf-8").split('role="main"')[1]
    return html.unescape(re.sub(r"<[^>]+>", "", body))


class TestSite:
    """The pages as a site."""

    def test_every_page_has_its_place(self):
        """Each page of docs/ is in the navigation, once."""
        nav = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))["nav"]
        listed = [page for entry in nav for page in entry.values()]
        assert sorted(listed) == [page.name for page in PAGES]

    def test_every_page_is_built(self, site):
        """The strict build makes each page, and needs no network."""
        assert {page.stem for page in PAGES} <= {path.stem for path in site.glob("*.html")}

    def test_links_lead_somewhere(self, site):
        """Every link inside the site leads to a file, and every `#…` to a place in it."""
        pages = {path.name: path.read_text(encoding="utf-8") for path in site.glob("*.html")}
        ids = {name: set(re.findall(r'\bid="([^"]+)"', text)) for name, text in pages.items()}
        links = [
            (name, html.unescape(target))
            for name, text in pages.items()
            if name != "404.html"  # its links start at the root of a server
            for target in re.findall(r'\b(?:href|src)="([^"]*)"', text)
            if not re.match(r"[a-z]+:", target)
        ]
        broken = []
        for name, target in links:
            file, _, place = unquote(target).partition("#")
            file = file.split("?")[0] or name
            if not (site / file).exists() or (place and place not in ids.get(file, ())):
                broken.append((name, target))
        assert len(links) > 100
        assert broken == []

    def test_nothing_is_loaded_from_elsewhere(self, site):
        """A page loads no script, style, font or picture from another server."""
        loads = r'<(?:script|img|iframe|source)\b[^>]*\bsrc="(?:https?:)?//|<link\b[^>]*\bhref="(?:https?:)?//'
        assert [path.name for path in site.glob("*.html") if re.search(loads, path.read_text(encoding="utf-8"))] == []
        sheets = [
            path for path in site.rglob("*.css") if re.search(r"url\(['\"]?(https?:)?//", path.read_text("utf-8"))
        ]
        assert sheets == []

    def test_the_reference_has_every_public_name(self, site):
        """Everything that `import stoplib` promises has its entry."""
        ids = re.findall(r'\bid="stoplib\.(\w+)"', (site / "api.html").read_text(encoding="utf-8"))
        assert set(stoplib.__all__) - set(ids) == set()

    def test_arguments_are_shown_as_a_table(self, site):
        """Each argument of `run` is a row of its own."""
        rows = re.findall(r"<tr>\s*<td><code>(\w+)</code></td>", (site / "api.html").read_text(encoding="utf-8"))
        assert set(inspect.signature(stoplib.run).parameters) - set(rows) == set()

    @pytest.mark.parametrize(
        "signature",
        [
            "max_steps(n, *, gate=None)",
            "going_in_circles(times=2, longest=8, *, gate=None)",
            "Reply(text='', calls=(), usage=NO_USAGE, stop=None)",
            "Usage(input=0, output=0, cache_read=0, cache_write=0)",
        ],
    )
    def test_signatures_are_shown(self, site, signature):
        """A class shows the arguments that it takes, also where they are made from its annotations."""
        assert signature in shown(site / "api.html")


@pytest.fixture(scope="module")
def as_markdown():
    """The function that docs/_docstrings.py reshapes a docstring with."""
    spec = importlib.util.spec_from_file_location("_docstrings", DOCS / "_docstrings.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.as_markdown


class TestDocstrings:
    """Docstrings as Markdown."""

    def test_columns(self, as_markdown):
        """Names with their meaning become a table, and a line that goes on is one cell."""
        columns = "About it.\n\nsteps, cost  what was\n             spent\nreason       why"
        table = "|  |  |\n| --- | --- |\n| `steps`, `cost` | what was spent |\n| `reason` | why |"
        assert as_markdown(columns) == f"About it.\n\n{table}"

    def test_examples(self, as_markdown):
        """Examples become a block, which Markdown would take for quotations."""
        assert as_markdown("Say.\n\n>>> 1\n1") == "Say.\n\n```pycon\n>>> 1\n1\n```"

    def test_trees(self, as_markdown):
        """A tree keeps its lines."""
        assert as_markdown("a\n├── b") == "```text\na\n├── b\n```"

    @pytest.mark.parametrize("text", ["Two lines\nof text.", "    code  as it is", "One  line. And more."])
    def test_text(self, as_markdown, text):
        """All else stays as it is."""
        assert as_markdown(text) == text


class TestGuards:
    """The pages know every guard."""

    def test_which_guard(self):
        """Each guard has its row on the page that helps to choose one, with what it does not see and a limit."""
        rows = tables("which-guard.md")["what goes wrong", "guard", "what it does not see", "where to start"]
        assert sorted(names(row[1])[0] for row in rows) == sorted(GUARDS)
        assert all(len(row) == 4 and all(row) for row in rows)

    def test_what_bounds(self):
        """The page names exactly the guards that end every run."""
        sentence = re.search(r"^`.*?end every run", text_of("which-guard.md"), flags=re.MULTILINE | re.DOTALL)[0]
        assert set(names(sentence)) == {name for name, kind in GUARDS.items() if kind.bounds is True}

    def test_gates(self):
        """The table of gates is that of the code."""
        rows = tables("which-reason-wins.md")["gates", "who looks there"]
        told = {name: tuple(names(gates)) for gates, who in rows for name in names(who)}
        assert told == {name: kind.usual_gates for name, kind in GUARDS.items()}
        assert {gate for gates in told.values() for gate in gates} == set(GATES)

    def test_what_a_class_can_say(self):
        """The attributes of a guard's class and what they are unless one sets them."""
        rows = tables("your-own-guard.md")["attribute of the class", "what it says", "unless you set it"]
        assert {names(row[0])[0]: ast.literal_eval(row[2].strip("`")) for row in rows} == {
            name: getattr(Guard, name) for name in ("usual_gates", "bounds", "caps_calls", "summary_after")
        }

    def test_what_a_guard_can_look_at(self):
        """What the page says of a run is there."""
        rows = tables("your-own-guard.md")["attribute of the run", "what it is"]
        told = {name for row in rows for name in [*names(row[0]), *(n for n in names(row[1]) if "." in n)]}
        run = stoplib.Run("a task", stoplib.TickClock())
        run.trace.append(None)
        assert "repeats.call" in told and "steps" in told
        for name in told:
            value = run
            for part in name.split("."):
                value = getattr(value, part)


class TestReasons:
    """The pages know every way to end."""

    def test_each_has_its_meaning(self):
        """Every reason has a row that says what it means and what the caller may do next."""
        rows = tables("reasons.md")["reason", "what it means", "next"]
        assert sorted(names(row[0])[0] for row in rows) == sorted(REASONS)
        assert all(len(row) == 3 and all(row) for row in rows)

    def test_each_has_its_test(self):
        """The table of exits to copy has every reason that needs no database."""
        told = set(re.findall(r'^\.\.\. {5}"(\w+)": ends\(', text_of("testing.md"), flags=re.MULTILINE))
        assert told == REASONS - {"daily_cap"}

    def test_the_words_of_the_apis(self):
        """The table of the APIs' words has each word that is known, with what it comes to."""
        rows = tables("your-own-model.md")["the API's word", "what happens"]
        ends = {word: names(row[1]) for row in rows for word in names(row[0])}
        assert set(ends) == reasons.TURN_ENDED | reasons.TOOLS_ASKED | reasons.PAUSED | set(reasons.CUT_OFF)
        assert {word: ends[word] for word in reasons.CUT_OFF} == {w: [end] for w, end in reasons.CUT_OFF.items()}
        assert {tuple(ends[word]) for word in reasons.TURN_ENDED} == {("answered", "empty_reply")}

    def test_lessons(self):
        """The first column of the lessons' names is ours."""
        [(head, rows)] = [(head, rows) for head, rows in tables("names.md").items() if head[0] == "ours"]
        assert {names(row[0])[0] for row in rows} <= REASONS
        assert {len(row) for row in rows} == {len(head)} == {5}


class TestOtherTables:
    """The pages name what there is."""

    def test_fakes(self):
        """Every scripted model has its row."""
        told = [
            name for row in tables("testing.md")["model", "its habit", "what should end it"] for name in names(row[0])
        ]
        public = {name for name, value in vars(fakes).items() if getattr(value, "__module__", "") == fakes.__name__}
        assert sorted(told) == sorted(public - {"script", "said"})

    def test_what_a_tool_can_declare(self):
        """Every option of `tool` has its row, and the guards that it changes are guards."""
        rows = tables("tools.md")["option", "it says", "it changes"]
        assert {names(row[0])[0] for row in rows} == set(inspect.signature(stoplib.tool).parameters) - {"function"}
        assert {name for row in rows for name in names(row[2])} <= set(GUARDS)

    @pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
    def test_modules_and_files_exist(self, page):
        """`stoplib.…` in the text can be imported, and a path is one of the project."""
        for span in spans(page.name):
            if re.fullmatch(r"stoplib(\.\w+)+", span):
                module, _, name = span.rpartition(".")
                assert hasattr(importlib.import_module(module), name) or importlib.util.find_spec(span), span
            if re.fullmatch(r"[\w.-]+/[\w./-]*|[\w-]+\.(?:toml|py|yml)", span):
                assert (ROOT / span).exists(), span


def drawing():
    """The files of the drawing as {folder: {name}}, and the lines of the library from top to bottom."""
    folder, drawn, lines = None, {}, []
    for line in BLOCK.search(text_of("architecture.md"))[2].splitlines():
        found = re.match(r"( *)([\w./]+(?:, \w+)*)(?:  |$)", line)
        if not found:
            continue
        indent, row = len(found[1]), found[2].split(", ")
        if row[0].endswith("/"):
            inner = indent > 0
            folder = f"stoplib/{row[0]}".rstrip("/") if inner else row[0].rstrip("/")
            drawn[folder] = set()
            if inner:
                lines.append({"guards"})
        elif indent:
            if folder == "stoplib/guards" and indent == 4:
                folder = "stoplib"
            drawn[folder].update(row)
            if not folder.endswith("course"):
                room = folder.removeprefix("stoplib").removeprefix("/")
                lines.append({f"{room}.{name}" if room else name for name in row})
    return drawn, lines


def imports(path):
    """The library's modules that a file imports: (when it is loaded, inside its functions)."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    loaded, used = set(), set()

    def visit(node, into):
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
                continue
            inside = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
            if isinstance(child, ast.Import):
                into.update(alias.name for alias in child.names)
            elif isinstance(child, ast.ImportFrom):
                into.update(f"{child.module}.{alias.name}" for alias in child.names)
            visit(child, used if inside else into)

    visit(tree, loaded)
    return loaded, used


class TestArchitecture:
    """The drawing of the floors is that of the files."""

    def floors(self):
        """Each module of the library with the number of its line, from the top."""
        return {name: number for number, row in enumerate(drawing()[1]) for name in row}

    def known(self, modules):
        """The names in the drawing that full names such as `stoplib.guards.core.Guard` belong to."""
        floors = self.floors()
        parts = [module.removeprefix("stoplib.").split(".") for module in modules if module.startswith("stoplib.")]
        found = (next((n for n in (".".join(part[:2]), part[0]) if n in floors), None) for part in parts)
        return {name for name in found if name}

    def files(self):
        """The library's files by their name in the drawing."""
        for name in self.floors():
            if name not in ("guards", "traces.formats"):
                yield name, PACKAGE / f"{name.replace('.', '/')}.py"

    def test_every_file_is_drawn(self):
        """Each file and folder of the package is in the drawing, and what is drawn is there."""
        inner = ("course", "guards", "providers", "traces")
        rooms = {"stoplib": set(inner), **{f"stoplib/{name}": set() for name in inner}}
        found = {
            folder: {path.stem for path in (ROOT / folder).iterdir() if path.suffix == ".py" or path.is_dir()}
            - {"__init__", "__pycache__"}
            - inner
            for folder, inner in rooms.items()
        }
        assert drawing()[0] == found

    def test_arrows_point_down(self):
        """When it is loaded, a file imports only what stands below it."""
        floors = self.floors()
        upward = [
            (name, other)
            for name, path in self.files()
            for other in self.known(imports(path)[0])
            if floors[other] <= floors[name]
        ]
        assert upward == []

    def test_what_reaches_up_is_told(self):
        """What a file imports from above it inside its functions is in the table."""
        floors = self.floors()
        upward = {
            (name, other)
            for name, path in self.files()
            for other in self.known(imports(path)[1])
            if floors[other] <= floors[name]
        }
        rows = tables("architecture.md")["file", "knows, when it is used"]
        assert {(names(file)[0], other) for file, others in rows for other in names(others)} == upward
