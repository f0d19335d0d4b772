"""Names in back-ticks exist: in the lessons, in the library's pages and in those of the project.

A code span is read as Python where it can be. Each name in it has to be one of the library's, of Python's or of the
code on the same page; an attribute has to be there, and so has an argument of a function of the library.
"""

import ast
import builtins
import doctest
import importlib
import inspect
import keyword
import pkgutil
import re
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

import stoplib
import stoplib.providers
import stoplib.traces
from stoplib.course.building import lesson
from stoplib.course.building.prose import spans
from stoplib.course.commands import COMMANDS

ROOT = Path(__file__).parents[1]
LESSONS = [path for folder in ("chapters", "exercises") for path in sorted((ROOT / "lessons" / folder).glob("*.py"))]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md"), *(ROOT / "notebooks").glob("*.md")])

# What is not ours, and why it may be named.
NOT_OURS = {
    "docs/names.md": """
        done final step_limit budget deadline budget_spent repeating repeated_state recursion_limit GraphRecursionError
        max_turns MaxTurnsExceeded UsageLimits request_limit total_tokens_limit UsageLimitExceeded
        MaxMessageTermination TokenUsageTermination TimeoutTermination ExternalTermination StopMessage message_limit
        token_limit working_limit cost_limit LimitExceededError max_budget_usd ResultMessage error_max_turns
        error_max_budget_usd""",  # the page is about what others call it
    "docs/grading.md": """
        ann.ipynb submitted grades report.html grades.csv grades.json junit.xml junit feedback finished
        """,  # files and folders that somebody hands in or that the grader writes
    "docs/jupyterhub.md": "Client get_executor Kept write_reports unshare",  # dask's, the grader's, and Linux's
    "docs/lab.md": "edit delete",  # tools of the lab's models
    "docs/ledger.md": "stoplib_ledger_ team",  # how the names of the ledger's tables begin; somebody's name
    "docs/people.md": "no y",  # what a person types
    "docs/your-own-guard.md": "ten",  # what somebody passes by mistake
    "docs/your-own-client.md": """
        OpenAI thinking reasoning extra_body failed queued in_progress __cause__ STOPLIB_LIVE_CHECK ANTHROPIC_API_KEY
        OPENAI_API_KEY""",  # what the clients and their APIs call it, Python's exceptions, and the environment
    "docs/your-own-runs.md": "limits.html reward reward_info Error",  # a file that is made, and fields of others' logs
    "lessons/chapters/02_three_exits.py": "deadline",  # what others call the time budget
    "lessons/chapters/08_ending_well.py": "done",  # what others call a goal
    "lessons/exercises/05_approval.py": "c2 2.txt",  # made by a check for its second call
    "lessons/exercises/10_the_guard_set.py": "rows",  # a field of a tool's JSON
    "lessons/exercises/06_reasons.py": "then",  # the third of three values that have no names in the code
    "CONTRIBUTING.md": "site/",  # mkdocs makes it
}
EVERYWHERE = {
    *("a", "b"),  # any two guards, as in `a | b`
    *("python3", "py"),  # what starts Python
    *("work", *COMMANDS),  # the learner's folder, and what course.py can do
}
OF_A_SOURCE = {"minutes", *lesson.KEYS.union(*lesson.VALUES.values())}  # what a lesson's source may say

# In prose, these words stand for a value of this class.
VALUES = {"outcome": stoplib.Outcome, "event": stoplib.Event, "reply": stoplib.Reply, "usage": stoplib.Usage}

LIBRARY = [
    importlib.import_module(f"{package.__name__}.{module.name}")
    for package in (stoplib, stoplib.guards, stoplib.providers, stoplib.traces)
    for module in pkgutil.iter_modules(package.__path__)
    if not module.ispkg
]
FILE = re.compile(r"[\w.*-]+(?:/[\w.*-]+)+/?|[\w.-]+/|[\w-]+\.(?:csv|html|ipynb|json|md|png|py|toml|txt|yml)")
FENCE = re.compile(r"^```.*", flags=re.MULTILINE)
PYTHON = re.compile(r"^```python\n((?!# %%).*?)^```", flags=re.MULTILINE | re.DOTALL)  # a lesson as text is no Python
COMMAND = re.compile(r"(?:python3?|py|\.venv/bin/\S+|git|pip|jupyter) .*|course\.py .*|-.*")
IDENTIFIER = re.compile(r"[^\W\d]\w*")


@cache
def members(kind):
    """The attributes of a class and of its values."""
    found = {name for base in kind.__mro__ for name in (*vars(base), *getattr(base, "__annotations__", ()))}
    for base in kind.__mro__:
        if base.__module__.startswith("stoplib"):
            source = inspect.cleandoc("\n" + inspect.getsource(base))
            found |= {node.attr for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Attribute)}
    return found


def arguments(function):
    """The names of a function's arguments."""
    return set(inspect.signature(function).parameters)


@cache
def of_the_library():
    """Every name that the library gives: to modules, classes, what they have, what is passed, and words as values."""
    found = {"stoplib"}
    for module in LIBRARY:
        found |= {module.__name__.rpartition(".")[2], *keys(module)}
        for name, value in vars(module).items():
            if name.startswith("_") or getattr(value, "__module__", module.__name__) != module.__name__:
                continue
            found |= {name, *words(value)}
            if inspect.isclass(value):
                methods = [method for method in vars(value).values() if inspect.isfunction(method)]
                found |= {name for name in members(value) if not name.startswith("_")}.union(*map(arguments, methods))
            elif callable(value):
                found |= arguments(value)
    return found


def words(value):
    """The words that a constant holds, such as the gates or the words of an API."""
    return {value} if isinstance(value, str) else set(value) if isinstance(value, tuple | frozenset | dict) else set()


def keys(module):
    """The keys of the dictionaries that a module writes, such as those of a message."""
    for node in ast.walk(ast.parse(inspect.getsource(module))):
        if isinstance(node, ast.Dict):
            yield from (key.value for key in node.keys if isinstance(key, ast.Constant))


OF_PYTHON = {*dir(builtins), *keyword.kwlist, *keyword.softkwlist, *sys.stdlib_module_names}


def of_the_code(code):
    """The names in a piece of code, its whole strings among them: a file's name is one, and so is a word of a reply."""
    for node in ast.walk(ast.parse(code)):
        match node:
            case ast.Name(id=name) | ast.arg(arg=name) | ast.Attribute(attr=name) | ast.keyword(arg=str(name)):
                yield name
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name) | ast.Constant(value=str(name)):
                yield name
            case ast.alias(name=name, asname=other):
                yield from (name, other or name)


@dataclass(frozen=True)
class Page:
    """A text with its code spans and the names that its own code has."""

    name: str
    spans: tuple[str, ...]
    names: frozenset[str]

    @property
    def known(self):
        """Every name that may stand on this page."""
        of_the_page = {*self.names, *NOT_OURS.get(self.name, "").split()}
        of_authors = OF_A_SOURCE if self.name == "CONTRIBUTING.md" else set()
        return of_the_page | of_the_library() | OF_PYTHON | EVERYWHERE | of_authors


def page(path):
    """A lesson or a page, read."""
    name = path.relative_to(ROOT).as_posix()
    if path.suffix == ".py":
        cells = lesson.read_lesson(path).cells
        texts = [cell.source for cell in cells if cell.type == "markdown"]
        code = [cell.source for cell in cells if cell.type == "code"]
        code += [inspect.getsource(module) for module in of_the_exercise("\n".join(code))]
    else:
        texts = [path.read_text(encoding="utf-8")]
        code = [example.source for example in doctest.DocTestParser().get_examples(FENCE.sub("", texts[0]))]
        code += PYTHON.findall(texts[0])
    found = (span.text.strip() for text in texts for span in spans(text) if span.kind == "code")
    return Page(name, tuple(dict.fromkeys(found)), frozenset(name for one in code for name in of_the_code(one)))


def of_the_exercise(code):
    """The modules with the scenarios and checks of an exercise, which its code imports."""
    found = re.findall(r"from stoplib\.course\.exercises(?:\.| import )(\w+)", code)
    return [importlib.import_module(f"stoplib.course.exercises.{name}") for name in dict.fromkeys(found)]


def unknown(span, page):
    """What in a code span is not there, as a list of names."""
    if span in NOT_OURS.get(page.name, "").split():
        return []
    if COMMAND.fullmatch(span):
        return unknown_in_command(span)
    if FILE.fullmatch(span):
        in_code = any(span in name for name in page.names)
        return [] if in_code or list(ROOT.glob(span.rstrip("/"))) else [span]
    tree = parsed(span)
    if tree is None:  # a piece of text: only what cannot be an ordinary word is a name
        return [name for name in IDENTIFIER.findall(span) if "_" in name and name not in page.known]
    return [name for node in ast.walk(tree) for name in unknown_in(node, page)]


def parsed(span):
    """A code span as Python, or None; `if x:` and `raise …` are Python, too."""
    code = span.replace("…", "...")
    for form in (code, f"{code} pass", f"{code}: pass", f"{code}\n    pass"):
        try:
            return ast.parse(form)
        except SyntaxError:
            continue
    return None


def unknown_in(node, page):
    """What a node of a parsed code span names that is not there."""
    match node:
        case ast.Name(id=name) if name not in page.known:
            yield name
        case ast.Constant(value=str(word)) if IDENTIFIER.fullmatch(word) and word not in page.known:
            yield word
        case ast.Attribute(value=value, attr=name) if not has(value, name, page):
            yield ast.unparse(node)
        case ast.Call(func=ast.Name(id=name), keywords=given) if callable(getattr(stoplib, name, None)):
            function = getattr(stoplib, name)
            free = any(p.kind is p.VAR_KEYWORD for p in inspect.signature(function).parameters.values())
            yield from (one.arg for one in given if one.arg and not free and one.arg not in arguments(function))
        case ast.Call(keywords=given):
            yield from (one.arg for one in given if one.arg and one.arg not in page.known)


def has(value, name, page):
    """Whether what stands before the dot has the attribute."""
    base = ast.unparse(value)
    if base in VALUES:
        return name in members(VALUES[base]) or base in page.names and name in page.names
    root = base.partition(".")[0]
    if root in ("stoplib", *sys.stdlib_module_names) and resolves(f"{base}.{name}"):
        return True
    is_module = root == "stoplib" or root in sys.stdlib_module_names and root not in page.names
    return name in page.known and not is_module


def resolves(dotted):
    """Whether `package.module.name` is there."""
    try:
        pkgutil.resolve_name(dotted)
    except (ImportError, AttributeError):
        return False
    return True


def unknown_in_command(span):
    """What a command names that is not there: a command of course.py, or a lesson."""
    found = re.search(r"course\.py (\w+)", span)
    stems = {path.stem for path in LESSONS}
    lessons = [word for word in re.findall(r"\b\d\d_\w+", span) if word not in stems]
    return lessons + ([found[1]] if found and found[1] not in COMMANDS else [])


@pytest.mark.parametrize("path", [*LESSONS, *PAGES], ids=lambda path: path.relative_to(ROOT).as_posix())
def test_names_in_back_ticks_exist(path):
    """Nothing that stands in back-ticks on this page is made up."""
    read = page(path)
    assert {span: missing for span in read.spans if (missing := unknown(span, read))} == {}


CHAPTER = page(ROOT / "lessons" / "chapters" / "02_three_exits.py")


@pytest.mark.parametrize(
    ("span", "missing"),
    [
        ("max_step", ["max_step"]),
        ("maxsteps(3)", ["maxsteps"]),
        ("max_steps(limit=3)", ["limit"]),
        ("run(model, max_steps=3)", ["max_steps"]),
        ("outcome.raeson", ["outcome.raeson"]),
        ("outcome.usage.input", []),
        ("outcome.answer or outcome.sumary", ["outcome.sumary"]),
        ("stoplib.reason", ["stoplib.reason"]),
        ("stoplib.reasons.COMPLETED", ["stoplib.reasons.COMPLETED"]),
        ("time.monotonix", ["time.monotonix"]),
        ('{"type": "finale"}', ["finale"]),
        ("run_with_limit", ["run_with_limit"]),
        ("if time_budgets:", ["time_budgets"]),
        ("a run_loop_9 more", ["run_loop_9"]),
        ("docs/nowhere.md", ["docs/nowhere.md"]),
        ("nowhere.toml", ["nowhere.toml"]),
        ("python3 course.py fresch 02_three_exits", ["fresch"]),
        ("python3 course.py fresh 02_four_exits", ["02_four_exits"]),
    ],
)
def test_a_wrong_name_is_found(span, missing):
    """A name that is misspelled, or that belongs to something else, is found wherever it stands."""
    assert unknown(span, CHAPTER) == missing


@pytest.mark.parametrize(
    "span",
    [
        *("max_steps", "max_steps(3)", "token_budget(n, hard=True)", "run(model, guards=[…])", "outcome.reason"),
        *(
            "stoplib.reasons",
            "stoplib.run",
            "time.monotonic",
            "run_with_limits",
            "if time_budget:",
            "None",
            "answers_at",
        ),
        *("docs/index.md", "lessons/", "python3 course.py fresh 02_three_exits", "2 calls, 1 run", "end_turn"),
    ],
)
def test_a_right_name_is_known(span):
    """What is there is not complained about, whoever it belongs to."""
    assert unknown(span, CHAPTER) == []


def test_the_list_of_what_is_not_ours_is_used():
    """Each name that is listed as not ours stands on its page."""
    listed = {(name, word) for name, words in NOT_OURS.items() for word in words.split()}
    told = {
        (name, word)
        for name in NOT_OURS
        for span in page(ROOT / name).spans
        for word in [span, *IDENTIFIER.findall(span)]
    }
    assert listed - told == set()


def test_every_page_is_read():
    """Lessons and pages have many code spans, so the test above looks at something."""
    assert sum(len(page(path).spans) for path in [*LESSONS, *PAGES]) > 1000
