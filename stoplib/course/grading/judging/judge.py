"""The judge: runs a check cell of the course, with the learner's names in it, in a process that is not theirs."""

from __future__ import annotations

import ast
import builtins
import hashlib
import hmac
import io
import pickle
from collections.abc import Iterator, Mapping
from contextlib import redirect_stdout
from dataclasses import dataclass
from typing import Any

from stoplib.course import checks
from stoplib.course.checks import ChecksFailed, NotSolvedYet
from stoplib.course.grading.judging.channel import Broken
from stoplib.course.grading.judging.link import Link

MOST_SAID = 20_000
LONGEST_ERROR = 300


@dataclass(frozen=True)
class Verdict:
    """What came of one check: what it said, and if it is not passed, its last sentence.

    `unsolved` means that the answer is still the stub; `broken`, that the learner's process did not last.
    """

    passed: bool
    said: str
    error: str = ""
    unsolved: bool = False
    broken: bool = False


class Judge:
    """Runs the check cells of one exercise. `secret` decides the cases that nobody can know before."""

    def __init__(self, cells: Mapping[str, str], secret: str) -> None:
        self._cells, self._secret = cells, secret

    def verdict(self, check: str, link: Link) -> Verdict:
        """Run one check on what is at the other end of the link."""
        link.forget()
        said = io.StringIO()
        with redirect_stdout(said), checks.fresh_cases(self._secret):
            error, unsolved = self._outcome(check, link)
        text = said.getvalue()
        if len(text) > MOST_SAID:
            text = f"{text[:MOST_SAID]}\n(cut here)\n"
        if link.broken is not None:  # then nothing of what a check has seen after that is the learner's
            return Verdict(False, text, str(link.broken), broken=True)
        return Verdict(error is None, text, error or "", unsolved)

    def receipt(self, check: str) -> str:
        """What the learner's process gets for a check that is passed, and cannot make itself.

        >>> one, other = Judge({}, "secret"), Judge({}, "another")
        >>> one.receipt("check-steps") == one.receipt("check-steps")
        True
        >>> one.receipt("check-steps") == other.receipt("check-steps")
        False
        """
        return hmac.new(self._secret.encode(), check.encode(), hashlib.sha256).hexdigest()

    def serve(self, check: str, link: Link) -> Verdict:
        """Give the verdict, and let the learner's process know it."""
        verdict = self.verdict(check, link)
        if not verdict.broken:
            receipt = self.receipt(check) if verdict.passed else None
            answer = {"do": "verdict", "said": verdict.said, "error": verdict.error, "receipt": receipt}
            try:
                link.pipe.send(pickle.dumps((pickle.dumps(answer), {})))
            except (OSError, Broken) as error:
                return Verdict(False, verdict.said, str(error), broken=True)
        return verdict

    def _outcome(self, check: str, link: Link) -> tuple[str | None, bool]:
        """(why it is not passed or None, whether it is because nothing has been written yet)."""
        try:
            exec(compile(self._cells[check], f"<{check}>", "exec"), {}, Names(link, self._imports()))
        except NotSolvedYet as error:
            return str(error), True
        except ChecksFailed as error:
            return str(error), False
        except Broken as error:
            return str(error), False
        except BaseException as error:
            return f"{type(error).__name__}: {error}"[:LONGEST_ERROR], False
        return None, False

    def _imports(self) -> dict[str, Any]:
        """The modules of checks that any of the cells has imported."""
        found: dict[str, Any] = {}
        for source in self._cells.values():
            for line in _imports_of(source):
                exec(line, {}, found)
        return found


def _imports_of(source: str) -> Iterator[str]:
    for node in ast.parse(source).body:
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("stoplib.course.exercises"):
            yield ast.unparse(node)


class Names(dict[str, Any]):
    """The names of a check cell: its own, and else the learner's."""

    def __init__(self, link: Link, own: Mapping[str, Any]) -> None:
        super().__init__(own)
        self._link = link

    def __missing__(self, name: str) -> Any:
        if hasattr(builtins, name):
            raise KeyError(name)
        return self._link.name(name)
