"""Make the notebooks of the course from their sources.

python -m stoplib.course.build             build everything
python -m stoplib.course.build 02          build only the lessons with this number or name
python -m stoplib.course.build --check     build nothing; say what is not up to date

source                       derived
lessons/chapters/NN_*.py     notebooks/NN_*.ipynb
lessons/pages/*.py           notebooks/*.ipynb
lessons/exercises/NN_*.py    exercises/NN_*.ipynb and solutions/NN_*.ipynb
all chapters                 stoplib/course/checkpoints.json
all lessons, glossary.toml   notebooks/glossary.md, notebooks/guards_and_reasons.md, notebooks/on_one_page.html,
                             the same three in docs/, and the table of chapters in README.md
"""

import argparse
import json
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import nbformat

from stoplib.course.building import BuildError
from stoplib.course.building.checkpoints import checkpoints_file
from stoplib.course.building.compare import difference
from stoplib.course.building.derive import FOLDERS, notebook_for, notebook_path
from stoplib.course.building.execute import CellError, check_outputs, execute
from stoplib.course.building.lesson import KINDS, Lesson, read_lesson
from stoplib.course.building.pages import pages

ROOT = Path(__file__).resolve().parents[2]
CHECKPOINTS = Path("stoplib", "course", "checkpoints.json")

Recipe = Callable[[], bytes]


def derived(root: Path = ROOT) -> dict[Path, bytes]:
    """Return the content of every derived file, made anew; nothing is written.

    Raises BuildError for the first one that cannot be made.
    """
    made = dict(_made(recipes(root)))
    for content in made.values():
        if isinstance(content, BuildError):
            raise content
    return {path: content for path, content in made.items() if isinstance(content, bytes)}


def recipes(root: Path = ROOT, names: Sequence[str] = ()) -> dict[Path, Recipe]:
    """Return the derived files, each with the function that makes its content or raises BuildError.

    `names` keeps only the lessons of these numbers (`02`) or names (`02_three_exits`); the checkpoints
    are always among the files, first, and the pages made from all lessons, last. Raises BuildError for a
    name that no lesson has.
    """
    sources = _sources(root)
    chapters = [source for source in sources if source.parent.name == "chapters"]
    found: dict[Path, Recipe] = {root / CHECKPOINTS: partial(_checkpoints_content, chapters)}
    for source in _named(sources, names) if names else sources:
        for kind in KINDS[source.parent.name]:
            found[notebook_path(source, kind)] = partial(_notebook_content, source, kind)
    return found | pages(root, sources)


def _sources(root: Path) -> list[Path]:
    sources = [path for folder in KINDS for path in sorted((root / "lessons" / folder).glob("*.py"))]
    if not sources:
        raise BuildError(
            f"There is no lesson under {root / 'lessons'}. The sources come with the repository "
            "of the course; run this from a clone of it."
        )
    return sources


def _named(sources: list[Path], names: Sequence[str]) -> list[Path]:
    for name in names:
        if not any(_has_name(source, name) for source in sources):
            known = ", ".join(sorted({source.stem for source in sources}))
            raise BuildError(f"No lesson has the number or name {name!r}. There are: {known}.")
    return [source for source in sources if any(_has_name(source, name) for name in names)]


def _has_name(source: Path, name: str) -> bool:
    return name in (source.stem, source.stem[:2])


def _checkpoints_content(chapters: list[Path]) -> bytes:
    cells = [cell for chapter in chapters for cell in read_lesson(chapter).cells]
    return checkpoints_file((cell.place, cell.checkpoint) for cell in cells if cell.checkpoint)


def _notebook_content(source: Path, kind: str) -> bytes:
    lesson = read_lesson(source)
    notebook = notebook_for(lesson, kind)
    path = notebook_path(source, kind)
    path.parent.mkdir(parents=True, exist_ok=True)
    root = source.parents[2]
    try:
        execute(notebook, cwd=path.parent, may_raise=_unsolved(lesson, kind))
        check_outputs(notebook, private=(root, root.resolve(), Path.home()))
    except CellError as error:
        place = lesson.cell(error.cell).place
        raise BuildError(f"{place}, in {_short(path, root)}: the cell {error.problem}.") from error
    nbformat.validate(notebook)
    text: str = nbformat.writes(notebook)  # type: ignore[no-untyped-call]
    return (text + "\n").encode()


def _unsolved(lesson: Lesson, kind: str) -> set[str]:
    """Return the names of the cells that raise as long as the learner has not solved the exercise."""
    return {cell.name for cell in lesson.cells if kind == "exercise" and cell.role == "check"}


def _made(todo: dict[Path, Recipe]) -> Iterator[tuple[Path, bytes | BuildError]]:
    """Yield each path with its content or with what went wrong, as many at a time as there are cores."""
    with ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        yield from zip(todo, pool.map(_attempt, todo.values()), strict=True)


def _attempt(recipe: Recipe) -> bytes | BuildError:
    try:
        return recipe()
    except BuildError as error:
        return error


def _orphans(root: Path) -> list[Path]:
    """Return the derived notebooks whose source is gone. A learner's own notebooks are not among them."""
    expected = recipes(root).keys()
    notebooks = [path for folder in sorted(set(FOLDERS.values())) for path in sorted((root / folder).glob("*.ipynb"))]
    return [path for path in notebooks if path not in expected and _is_derived(path)]


def _is_derived(notebook: Path) -> bool:
    try:
        content = json.loads(notebook.read_bytes())
        source = content["metadata"]["stoplib"]["source"]
    except (ValueError, KeyError, TypeError):
        return False
    # A copy that a learner made of a course notebook has another name than its source.
    return isinstance(source, str) and Path(source).stem == notebook.stem


def build(root: Path = ROOT, names: Sequence[str] = ()) -> bool:
    """Write what is out of date, saying what happens to each file; return whether all went well.

    Without names it also removes derived notebooks that no longer have a source. Raises BuildError
    for a name that no lesson has.
    """
    problems: list[str] = []
    for stage in _stages(recipes(root, names), root):
        for path, content in _made(stage):
            if isinstance(content, BuildError):
                problems.append(str(content))
                continue
            print(f"{_write(path, content):<9}  {_short(path, root)}", flush=True)
    for path in [] if names else _orphans(root):
        path.unlink()
        print(f"removed    {_short(path, root)}, which no longer has a source")
    for problem in dict.fromkeys(problems):
        print(f"\n{problem}", file=sys.stderr)
    return not problems


def _stages(todo: dict[Path, Recipe], root: Path) -> Iterator[dict[Path, Recipe]]:
    """The checkpoints, the notebooks, which read the checkpoints when they run, and the pages, which read notebooks."""
    stages: tuple[dict[Path, Recipe], ...] = ({}, {}, {})
    for path, recipe in todo.items():
        stages[0 if path == root / CHECKPOINTS else 1 if path.suffix == ".ipynb" else 2][path] = recipe
    yield from stages


def _write(path: Path, content: bytes) -> str:
    if path.exists() and path.read_bytes() == content:
        return "unchanged"
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(path.name + ".new")
    draft.write_bytes(content)
    draft.replace(path)  # at once, so that nobody reads half a file
    return "built"


def check(root: Path = ROOT, names: Sequence[str] = ()) -> bool:
    """Say which derived files are not what a build would write; return whether there are none.

    Raises BuildError for a name that no lesson has.
    """
    todo = recipes(root, names)
    findings = [f"{_short(path, root)} is missing" for path in todo if not path.exists()]
    for path, content in _made({path: recipe for path, recipe in todo.items() if path.exists()}):
        if isinstance(content, BuildError):
            findings.append(str(content))
        elif content != path.read_bytes():
            findings.append(f"{_short(path, root)} differs: {difference(path.read_bytes(), content)}")
    findings += [f"{_short(path, root)} has no source" for path in ([] if names else _orphans(root))]
    for finding in dict.fromkeys(findings):
        print(finding)
    return not findings


def _short(path: Path, root: Path) -> str:
    return path.relative_to(root).as_posix()


def main(arguments: Sequence[str] | None = None, root: Path = ROOT) -> int:
    """Run the command and return its exit code: 0, or 1 if something is wrong."""
    parser = argparse.ArgumentParser(
        prog="python -m stoplib.course.build", description="Make the notebooks of the course from their sources."
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="a lesson, such as 02 or 02_three_exits")
    parser.add_argument("--check", action="store_true", help="write nothing; report what is not up to date")
    options = parser.parse_args(arguments)
    work = check if options.check else build
    try:
        return 0 if work(root, options.names) else 1
    except BuildError as error:
        print(error, file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
