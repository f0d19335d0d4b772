"""`stoplib limits` on the command line."""

# ruff: noqa: SIM300

import json
import os
import subprocess
import sys
from contextlib import nullcontext
from io import StringIO
from pathlib import Path

import pytest

from stoplib.__main__ import main
from stoplib.traces.command import main as limits
from stoplib.traces.progress import Bar
from stoplib.traces.sweep import Progress
from tests.traces.making import population

SAMPLES = Path(__file__).with_name("samples")


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """A folder with 120 labelled runs in two files."""
    folder = tmp_path_factory.mktemp("runs")
    lines = []
    for trace in population():
        messages = [{"role": "user", "content": trace.task}]
        for one in trace.steps:
            calls = [{"id": "c", "function": {"name": c.name, "arguments": json.dumps(c.args)}} for c in one.calls]
            usage = {"prompt_tokens": one.usage.input, "completion_tokens": one.usage.output}
            messages.append({"role": "assistant", "content": one.text, "tool_calls": calls, "usage": usage})
            messages += [{"role": "tool", "tool_call_id": "c", "content": r.text} for r in one.results]
        lines.append(json.dumps({"task_id": trace.task, "label": trace.label, "messages": messages}))
    (folder / "a.jsonl").write_text("\n".join(lines[:50]), encoding="utf-8")
    (folder / "b.jsonl").write_text("\n".join(lines[50:]), encoding="utf-8")
    return folder


class TestLimits:
    """What it prints and writes."""

    def test_the_table(self, runs, capsys):
        """Printed unless a file is asked for."""
        assert 0 == main(["limits", str(runs)])
        out, err = capsys.readouterr()
        assert "read     120 runs: 120 OpenAI messages (2 files)" in out
        assert "GUARDS = [" in out
        assert "" == err

    def test_files(self, runs, tmp_path, capsys):
        """Each form in its file, and nothing printed."""
        names = ("csv", "json", "html", "python", "chart")
        files = [tmp_path / f"out.{'png' if name == 'chart' else name}" for name in names]
        options = [part for name, file in zip(names, files, strict=True) for part in (f"--{name}", str(file))]
        assert 0 == limits([str(runs), *options])
        assert ("", "") == capsys.readouterr()
        assert [True] * 5 == [file.stat().st_size > 500 for file in files]
        assert 120 == json.loads(files[1].read_text("utf-8"))["report"]["runs"]["OpenAI messages"]
        compile(files[3].read_text("utf-8"), "guards.py", "exec")

    def test_printed_instead(self, runs, capsys):
        """`-` stands for the terminal."""
        assert 0 == limits([str(runs), "--csv", "-"])
        assert capsys.readouterr().out.startswith("guard,name,number,cut,runs")

    @pytest.mark.parametrize("form", [[], ["--csv", "-"], ["--json", "-"]], ids=str)
    def test_on_several_processes(self, runs, form):
        """The same text with two processes as with one, and whatever order Python's sets have."""
        texts = [
            subprocess.run(
                [sys.executable, "-m", "stoplib", "limits", str(runs), "--workers", workers, *form],
                env={**os.environ, "PYTHONHASHSEED": seed},
                stdout=subprocess.PIPE,
                check=True,
            ).stdout
            for workers, seed in (("1", "1"), ("1", "2"), ("2", "3"))
        ]
        assert 1 == len(set(texts))

    def test_labels_beside(self, runs, tmp_path, capsys):
        """A file of labels goes before those in the runs."""
        labels = tmp_path / "labels.csv"
        labels.write_text("\n".join(f"task {n},failure" for n in range(30)), encoding="utf-8")
        assert 0 == limits([str(runs), "--labels", str(labels)])
        assert "labels   0 success, 120 failure, 0 unknown" in capsys.readouterr().out

    @pytest.mark.parametrize(
        ("price", "guards"),
        [("3,15", True), ("input=3,output=15,cache_read=0.3", True), (None, False)],
    )
    def test_prices(self, runs, capsys, price, guards):
        """Money per million tokens, by place or by name."""
        assert 0 == limits([str(runs), *(["--price", price] if price else [])])
        assert guards == ("cost_budget(" in capsys.readouterr().out)

    @pytest.mark.parametrize(
        ("options", "said"),
        [
            (["nowhere"], "there is no file or folder 'nowhere'"),
            ([str(SAMPLES), "--price", "3"], "--price takes money per million tokens"),
            ([str(SAMPLES), "--price", "in=3"], "Price takes no argument 'in'"),
            ([str(SAMPLES), "--headroom", "0"], "headroom must be a finite number above 0, not 0.0"),
            ([str(SAMPLES), "--errors", "("], "errors is no regular expression"),
            ([str(SAMPLES), "--labels", "nowhere"], "stoplib limits: nowhere: No such file or directory"),
            ([__file__], "there is not one run to learn from"),
            ([str(SAMPLES), "--success-at", "nan"], "success_at must be a finite number, not nan"),
            ([str(SAMPLES), "--workers", "0"], "--workers: N must be a whole number of at least 1, not 0"),
        ],
    )
    def test_what_cannot_be_done(self, capsys, options, said):
        """Is said in a sentence, with exit code 2."""
        assert 2 == limits(options)
        out, err = capsys.readouterr()
        assert said in err and err.startswith("stoplib limits: ")
        assert "" == out

    def test_labels_that_are_no_text(self, tmp_path, capsys):
        """A file of labels that holds no text is named."""
        (tmp_path / "labels.csv").write_bytes(b"\xca\xfe\x00")
        assert 2 == limits([str(SAMPLES), "--labels", str(tmp_path / "labels.csv")])
        assert "labels.csv has no labels: it is no text in UTF-8" in capsys.readouterr().err

    @pytest.mark.parametrize("form", ["csv", "json", "html", "python", "chart"])
    def test_what_cannot_be_written(self, form, tmp_path, capsys, monkeypatch):
        """Is said before the runs are read, which may take long: a folder, or a file in a folder that there is not."""
        monkeypatch.setattr("stoplib.traces.command.limits", None)
        assert 2 == limits([str(SAMPLES), f"--{form}", str(tmp_path)])
        assert f"{tmp_path} is a folder; name a file in it" in capsys.readouterr().err
        assert 2 == limits([str(SAMPLES), f"--{form}", str(tmp_path / "none" / "out.svg")])
        assert f"there is no folder '{tmp_path / 'none'}' to write out.svg into" in capsys.readouterr().err

    @pytest.mark.parametrize("file", ["-", "chart.txt", "chart"])
    def test_a_picture_that_is_none(self, file, capsys, monkeypatch):
        """A picture needs a file whose name says its kind; the terminal is none."""
        monkeypatch.setattr("stoplib.traces.command.limits", None)
        assert 2 == limits([str(SAMPLES), "--chart", file])
        assert f"--chart takes a file that ends in .png, .svg, .pdf, not '{file}'" in capsys.readouterr().err

    def test_no_more_processes_than_processors(self, capsys, monkeypatch):
        """A pool starts all of its processes at once, so a number that is too large is not taken at its word."""
        asked = []
        monkeypatch.setattr("stoplib.traces.command.MOST_WORKERS", 3)
        monkeypatch.setattr("stoplib.traces.command.ProcessPoolExecutor", lambda n: asked.append(n) or nullcontext())
        for workers in ("2", "3", "4", "999999999"):
            assert 0 == limits([str(SAMPLES), "--workers", workers])
        assert [2, 3, 3, 3] == asked
        assert "" == capsys.readouterr().err

    def test_runs_that_carry_no_proposal(self, capsys):
        """Are no error: what they do say is printed, and why there is no proposal."""
        assert 0 == limits([str(SAMPLES)])
        assert "# No guard set is proposed: there are 5 successes to learn from" in capsys.readouterr().out


class TestMain:
    """`stoplib` and `python -m stoplib`."""

    @pytest.mark.parametrize("arguments", [[], ["help"], ["-h"], ["--help"]])
    def test_help(self, capsys, arguments):
        """Names the commands."""
        assert 0 == main(arguments)
        assert "stoplib limits PATH" in capsys.readouterr().out

    def test_an_unknown_command(self, capsys):
        """Is refused with those that there are."""
        assert 2 == main(["limit"])
        assert "stoplib has no command 'limit'. It has: limits.\n" == capsys.readouterr().err

    def test_as_a_module(self):
        """`python -m stoplib` is the same."""
        done = subprocess.run(
            [sys.executable, "-m", "stoplib", "limits", str(SAMPLES), "--csv", "-"],
            capture_output=True,
            encoding="utf-8",
        )
        assert (0, "") == (done.returncode, done.stderr)
        assert done.stdout.startswith("guard,")

    def test_a_terminal_without_letters(self, tmp_path):
        """What it cannot show is shown as an escape."""
        record = {"model": "modèle", "messages": [{"role": "assistant", "content": "Fertig."}]}
        (tmp_path / "läufe.json").write_text(json.dumps(record), encoding="utf-8")
        done = subprocess.run(
            [sys.executable, "-X", "utf8=0", "-m", "stoplib", "limits", str(tmp_path)],
            capture_output=True,
            env={**os.environ, "PYTHONIOENCODING": "ascii"},
        )
        assert (0, b"") == (done.returncode, done.stderr)
        assert b"mod\\xe8le" in done.stdout

    def test_the_installed_script(self):
        """The console script calls it."""
        import tomllib

        project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
        assert {"stoplib": "stoplib.__main__:main"} == project["scripts"]


class Terminal(StringIO):
    """A stream that is a terminal."""

    def isatty(self):
        """It is."""
        return True


class TestBar:
    """The progress bar."""

    def test_on_a_terminal(self):
        """Drawn on one line, which is empty in the end."""
        terminal = Terminal()
        times = iter((0.0, 1.0, 2.0))
        with Bar(terminal, clock=lambda: next(times)) as bar:
            for done in (0, 50, 100):
                bar.show(Progress(done, 100, done * 20))
        lines = terminal.getvalue().split("\r")
        assert ["0 %", "50 %  1,000 runs", "100 %  2,000 runs"] == [
            line.partition("]")[2].strip() for line in lines[1:4]
        ]
        assert "" == lines[-2].strip() == lines[-1]
        assert "\n" not in terminal.getvalue()

    def test_not_too_often(self):
        """Ten times a second at most."""
        terminal = Terminal()
        times = iter((0.0, 0.05, 0.09, 0.11))
        with Bar(terminal, clock=lambda: next(times)) as bar:
            for done in range(4):
                bar.show(Progress(done, 4, 0))
        assert ["0 %", "75 %"] == [line.partition("]")[2].strip() for line in terminal.getvalue().split("\r")[1:3]]

    @pytest.mark.parametrize(("stream", "shown"), [(StringIO(), True), (Terminal(), False)])
    def test_elsewhere(self, stream, shown):
        """Where there is no terminal, or nobody wants it, nothing is drawn."""
        with Bar(stream, shown) as bar:
            bar.show(Progress(1, 2, 3))
        assert "" == stream.getvalue()

    def test_of_nothing(self):
        """Files without a byte are done."""
        terminal = Terminal()
        with Bar(terminal) as bar:
            bar.show(Progress(0, 0, 0))
        assert "100 %" in terminal.getvalue()
