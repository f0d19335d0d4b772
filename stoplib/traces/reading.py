"""Read recorded runs, whatever their format: one after the other, and a report of what was there."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from contextlib import closing, suppress
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any

from stoplib.traces.fields import label_of
from stoplib.traces.files import Paths, Source, encoding_of, files_of
from stoplib.traces.formats import FORMATS, Format, Head, Options
from stoplib.traces.jsonstream import NOT_AS_IT_SHOULD, Broken, broken_by
from stoplib.traces.report import Report
from stoplib.traces.trace import UNKNOWN, Trace

LOOKED_AT = 2000
"""Pieces of a file that are looked at to find out its format."""

UNREADABLE = (OSError, EOFError, NotImplementedError)

NO_STEP = "not one model call"
NO_FORMAT = "no known format"
CUT_SHORT = "cannot be read on"

Labels = Mapping[str, Any]


def read(
    paths: Paths,
    *,
    labels: Labels | str | PathLike[str] | None = None,
    success_at: float = 1.0,
    errors: str | None = None,
) -> Reading:
    """The runs of a file, a folder, or several of them, one after the other.

    paths       files of any of the known formats, told apart by what is in them; also packed with gzip
    labels      success or failure by the id of a run, its task, or its file's name; or a file of them, see `labels_of`
    success_at  the reward from which on a run succeeded, where a format has rewards
    errors      a regular expression: in a format that does not flag failed calls, a result in which it is found is one

    The `report` of what comes back says what was read, dropped and unknown; it is complete when the last run has been
    taken. What cannot be read is dropped and counted, and the rest goes on. Raises FileNotFoundError, and ValueError
    for labels, a reward or a regular expression that are none.

    >>> from tempfile import TemporaryDirectory
    >>> from stoplib import answer, script, run
    >>> with TemporaryDirectory() as folder:
    ...     run(script(answer("4")), "2 + 2").save(Path(folder, "a.jsonl"))
    ...     reading = read(folder, labels={"a": True})
    ...     [(trace.task, len(trace.steps), trace.label) for trace in reading]
    [('2 + 2', 1, 'success')]
    >>> print(reading.report)
    read     1 run: 1 stoplib (1 file)
             1 model call, 0 tool calls
    labels   1 success, 0 failure, 0 unknown
    models   scripted (1)
    known    tokens of 0 of 1 model call
    known    cost in 0 of 1 run, times in 1
    known    failed calls: flagged in 1
    """
    if not math.isfinite(success_at):
        raise ValueError(f"success_at must be a finite number, not {success_at!r}")
    known = {} if labels is None else labels if isinstance(labels, Mapping) else labels_of(labels)
    try:
        pattern = None if errors is None else re.compile(errors)
    except re.error as error:
        raise ValueError(f"errors is no regular expression: {errors!r}: {error}") from None
    return Reading(list(files_of(paths)), known, Options(success_at, pattern))


def labels_of(path: str | PathLike[str]) -> dict[str, Any]:
    """Labels from a file: JSON `{"id": true, …}`, two columns of CSV, or the report of a SWE-bench evaluation.

    Raises ValueError for what is none of these.
    """
    try:
        content = Path(path).read_bytes()
        text = content.decode(encoding_of(content)).removeprefix("\ufeff")
    except UnicodeDecodeError:
        raise ValueError(f"{path} has no labels: it is no text in UTF-8 or UTF-16") from None
    try:
        found: Any = json.loads(text)
    except (ValueError, RecursionError):  # no JSON, or nested deeper than Python can follow
        found = _columns(text, path)
    if not isinstance(found, dict):
        raise ValueError(f"{path} has no labels: it must be an object such as {{'run 1': true}}, not {type(found)}")
    if "resolved_ids" in found:
        found = _evaluation(found, path)
    if all(label_of(value) == UNKNOWN for value in found.values()):
        raise ValueError(f"{path} has no labels: write a run's id and success or failure, with a comma between them")
    return dict(found)


def _evaluation(report: dict[str, Any], path: str | PathLike[str]) -> dict[str, bool]:
    lists = {kind: names for kind, names in report.items() if kind.endswith("_ids")}
    for kind, names in lists.items():
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            raise ValueError(f"{path} has no labels: {kind!r} must be a list of names")
    failed = [name for names in lists.values() for name in names]
    return dict.fromkeys(failed, False) | dict.fromkeys(lists["resolved_ids"], True)


def _columns(text: str, path: str | PathLike[str]) -> dict[str, Any]:
    import csv

    try:
        rows = [row for row in csv.reader(text.splitlines()) if len(row) >= 2]
    except csv.Error as error:
        raise ValueError(f"{path} has no labels: {error}") from None
    return {row[0].strip(): row[1] for row in rows if label_of(row[1]) != UNKNOWN}


class Reading:
    """Runs as they are read, and a report of them. It can be gone through again: each time the files are read anew."""

    def __init__(self, files: list[Path], labels: Labels, options: Options) -> None:
        self.files = files
        self.report = Report()
        self._sizes = [file.stat().st_size for file in files]
        self._labels = labels
        self._options = options
        self._before = 0
        self._source: Source | None = None

    @property
    def size(self) -> int:
        """The bytes of all files."""
        return sum(self._sizes)

    @property
    def position(self) -> int:
        """The bytes that have been read, of `size`."""
        return self._before + (self._source.position if self._source else 0)

    def of(self, file: Path) -> Reading:
        """A reading of this file alone."""
        return Reading([file], self._labels, self._options)

    def __iter__(self) -> Iterator[Trace]:
        self.report = Report()
        self._before = 0
        for file, size in zip(self.files, self._sizes, strict=True):
            self._source = Source(file, size)
            yield from self._runs(self._source)
            self._before += self._source.size
            self._source = None

    def _runs(self, source: Source) -> Iterator[Trace]:
        """The runs of one file; what stops the reading of it stops no other."""
        found = 0
        try:
            form = recognised(source)
            if form is None:
                self.report.drop(str(source.path), "", NO_FORMAT, "" if source.size else "it is empty")
                return
            for trace in self._of_format(source, form):
                found += 1
                self.report.files[form.name] += found == 1
                yield trace
        except UNREADABLE as error:
            self.report.drop(str(source.path), f"after {found} runs", CUT_SHORT, str(error))

    def _of_format(self, source: Source, form: Format) -> Iterator[Trace]:
        for record in form.records(source.items()):
            options = self._options._replace(name=source.name, number=record.number)
            if isinstance(record.value, Broken):
                self.report.drop(str(source.path), record.place, *record.value)
                continue
            try:
                trace = form.trace(record.value, options)
            except NOT_AS_IT_SHOULD as error:
                self.report.drop(str(source.path), record.place, *broken_by(error))
                continue
            if not trace.steps:
                self.report.drop(str(source.path), record.place or trace.id, NO_STEP)
                continue
            yield self._finished(trace, source, form)

    def _finished(self, trace: Trace, source: Source, form: Format) -> Trace:
        label = trace.label
        for name in (trace.id, trace.task, source.name, source.path.name):
            if name in self._labels:
                label = label_of(self._labels[name], self._options.success_at)
                break
        trace = replace(trace, label=label, format=form.name, source=str(source.path))
        self.report.count(trace)
        return trace


def recognised(source: Source) -> Format | None:
    """The format of a file, by what is in it; None if it is none that is known."""
    head = Head()
    with closing(source.items()) as pieces:
        for count, item in enumerate(pieces):
            head.add(item)
            head.whole = head.whole or count == LOOKED_AT  # what has not shown by now will not show
            for form in FORMATS:
                with suppress(*NOT_AS_IT_SHOULD):
                    if form.recognises(head):
                        return form
            if count == LOOKED_AT:
                break
    return None
