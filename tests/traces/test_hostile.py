"""Whatever stands in a file: reading goes on to its end, and what is broken is told."""

# ruff: noqa: SIM300

import gzip
import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from stoplib.traces import limits, read

SAMPLES = sorted(Path(__file__).with_name("samples").iterdir())
VALUES = st.sampled_from([None, True, 17, -1, 1e400, "", "x", [], {}, [None], {"type": "text"}, [[]], {"a": 1}])


def places(value, path=()):
    """Where a value has values inside."""
    yield path
    if isinstance(value, dict | list):
        for key in value if isinstance(value, dict) else range(len(value)):
            yield from places(value[key], (*path, key))


def changed(value, path, new):
    """The same with another value in one place."""
    if not path:
        return new
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[path[0]] = changed(value[path[0]], path[1:], new)
    return copy


def documents(path):
    """What a sample holds: its lines, or one document."""
    text = path.read_text(encoding="utf-8")
    try:
        return [json.loads(text)]
    except ValueError:
        return [json.loads(line) for line in text.splitlines() if line.endswith(("}", '"', "7")) and _parses(line)]


def _parses(line):
    try:
        json.loads(line)
    except ValueError:
        return False
    return True


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.name)
@given(data=st.data())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
def test_any_value_anywhere(path, data, tmp_path):
    """Up to three values of a sample are replaced by others: nothing is raised, and each run can be replayed."""
    found = documents(path)
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.sampled_from(list(places(found))[1:]))
        found = changed(found, at, data.draw(VALUES))
    file = tmp_path / "runs"
    file.write_text("\n".join(map(json.dumps, found)), encoding="utf-8")
    reading = read(file)
    for trace in reading:
        assert len(trace.steps) == len(trace.outcome().trace)
        assert trace.tool_calls == trace.outcome().tool_calls
    assert reading.report.total + reading.report.dropped.total() > 0 or found


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.name)
@given(end=st.floats(0, 1), junk=st.binary(max_size=20))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=30)
def test_cut_off_anywhere(path, end, junk, tmp_path):
    """A file that is cut off, with anything behind it, packed or not: nothing is raised."""
    whole = path.read_bytes()
    for name, content in (("plain", whole), ("packed", gzip.compress(whole))):
        (tmp_path / name).write_bytes(content[: int(end * len(content))] + junk)
    reading = read(tmp_path)
    list(reading)
    assert reading.report.total or reading.report.dropped


def test_a_packed_file_that_is_cut_off_gives_what_is_there(tmp_path):
    """Not only what comes before the last megabyte."""
    lines = [json.dumps({"messages": [{"role": "assistant", "content": f"{n}" * 50}]}) for n in range(500)]
    packed = gzip.compress("\n".join(lines).encode())
    (tmp_path / "a.gz").write_bytes(packed[: len(packed) // 2])
    (tmp_path / "b.gz").write_bytes(packed[:-8] + b"\0" * 100 + packed)
    reading = read(tmp_path / "a.gz")
    assert 100 < len(list(reading)) < 500
    assert {"no JSON": 1} == reading.report.dropped
    broken = read(tmp_path / "b.gz")
    list(broken)
    assert ["cannot be read on"] == list(broken.report.dropped)


def test_packed_files_one_behind_the_other(tmp_path):
    """As `cat` puts them."""
    line = json.dumps({"messages": [{"role": "assistant", "content": "x"}]}).encode() + b"\n"
    (tmp_path / "a.gz").write_bytes(gzip.compress(line * 3) + gzip.compress(line * 2))
    assert 5 == len(list(read(tmp_path)))


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"])
def test_files_as_windows_writes_them(tmp_path, encoding):
    """What PowerShell's `>` makes of a program's output: two bytes a letter, a mark at the beginning, `\\r\\n`."""
    mark = "\ufeff" if encoding.endswith(("le", "be")) else ""
    line = json.dumps({"messages": [{"role": "assistant", "content": "läuft"}]}, ensure_ascii=False)
    (tmp_path / "runs.jsonl").write_bytes(f"{mark}{line}\r\n{line}\r\n".encode(encoding))
    labels = tmp_path / ".labels.csv"
    labels.write_bytes(f"{mark}runs#1,success\r\nruns#2,failure\r\n".encode(encoding))
    runs = list(read(tmp_path, labels=labels))
    assert [("läuft", "success"), ("läuft", "failure")] == [(run.steps[0].text, run.label) for run in runs]


def test_an_empty_file_is_told_as_such(tmp_path):
    """There is nothing to find a format in."""
    (tmp_path / "a.jsonl").touch()
    reading = read(tmp_path)
    assert [] == list(reading)
    assert str(reading.report).endswith("a.jsonl: no known format: it is empty")


def test_many_conversations_without_a_tool(tmp_path):
    """A file is recognised although nothing tells its format for thousands of lines."""
    line = json.dumps({"messages": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]})
    (tmp_path / "a.jsonl").write_text(f"{line}\n" * 3000, encoding="utf-8")
    assert 3000 == len(list(read(tmp_path)))


def test_limits_of_hostile_runs(tmp_path):
    """What cannot be true in a log, such as endless numbers of tokens, does not stop the sweep."""
    usage = {"prompt_tokens": 10**30, "completion_tokens": 1}
    message = {"role": "assistant", "content": "\ud800", "tool_calls": [], "usage": usage}
    lines = [json.dumps({"task_id": n, "success": n % 2 == 0, "messages": [message] * 3}) for n in range(60)]
    (tmp_path / "a.jsonl").write_text("\n".join(lines), encoding="utf-8")
    found = limits(tmp_path)
    assert 60 == found.report.total
    assert json.dumps(found.as_dict(), allow_nan=False) and found.as_html() and str(found)
