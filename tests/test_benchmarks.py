"""The benchmarks run and print what they promise. How long anything takes is never tested."""

import asyncio
import importlib
import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
BENCHMARKS = ROOT / "benchmarks"
PEERS = sorted(path.parent for path in (BENCHMARKS / "peers").glob("*/run.py"))
SCRIPTS = sorted((BENCHMARKS / "peers").glob("*/*.py"))


def benchmark(*options):
    """One run of the benchmarks' command."""
    command = [sys.executable, BENCHMARKS / "run.py", *options]
    return subprocess.run(command, cwd=ROOT, capture_output=True, encoding="utf-8")


@pytest.fixture
def module(monkeypatch):
    """Import a module of the benchmarks by its name, as their own scripts do."""
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    return importlib.import_module


def test_a_small_run_prints_ratios_and_costs(tmp_path):
    """One command prints ratios first, then microseconds; the same is in the file."""
    file = tmp_path / "report.json"
    done = benchmark("--sizes", "10,100", "--peers", "none", "--repeats", "1", "--json", file)
    assert done.returncode == 0, done.stderr
    titles = ["Ratios of CPU time", "Growth: ", "Replay with all guards, ", "CPU microseconds per step", "Noise: "]
    places = [done.stdout.find(title) for title in titles]
    assert -1 not in places and places == sorted(places)
    report = json.loads(file.read_text(encoding="utf-8"))
    for pair, by_size in report["ratios"].items():
        assert pair in done.stdout
        assert list(by_size) == ["10", "100"] and all(ratio > 0 for ratio in by_size.values())
    assert report["peers"] == [] and "Peers" not in done.stdout


def test_recorded_runs_are_read_and_swept():
    """Its own command says how many steps were gone through, how fast, and in how much memory."""
    command = [sys.executable, BENCHMARKS / "limits.py", "--runs", "40"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, encoding="utf-8")
    assert done.returncode == 0, done.stderr
    for said in ("read ", "read and held against ", "40 runs, ", "the most memory"):
        assert said in done.stdout


def test_grading_beside_kernels_alone():
    """The grader and the bare kernels take turns, and the ratio of their times is printed."""
    command = [sys.executable, BENCHMARKS / "grading.py", "--learners", "2", "--exercise", "06"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, encoding="utf-8")
    assert done.returncode == 0, done.stderr
    assert "2 learners, 1 exercises each, 2 at a time; 12 points given" in done.stdout
    assert float(done.stdout.split()[-1]) > 0


def test_a_peer_that_does_not_exist_is_refused():
    """The message names it, and those that exist."""
    done = benchmark("--peers", "nobody")
    assert done.returncode == 2 and "there is no peer called nobody" in done.stderr
    assert all(folder.name in done.stderr for folder in PEERS)


@pytest.mark.parametrize("n", [7, 1001])
def test_every_way_is_the_same_run(module, n):
    """Whatever is timed makes n model calls, runs n tools and ends at its step cap; `per_step` checks it."""
    ours = module("ours")
    with asyncio.Runner() as runner:
        for prepare in ours.WAYS.values():
            ours.per_step(prepare, n, runner)


def test_stoplib_is_measured_as_a_peer_is(module):
    """As a script, `ours.py` prints the line that every peer's script prints."""
    facts = module("environments").line(Path(sys.executable), BENCHMARKS / "ours.py", 10, 60)
    assert facts["name"] == "stoplib" and facts["stopped"] == "max_steps" and facts["complete"]
    assert {"steps", "cpu_us_per_step", "wall_us_per_step", "peak_mb", "limits"} <= set(facts)


def test_the_full_set_holds_every_kind_of_guard(module):
    """Eleven guards, no two of a kind; those that judge an answer or guess tokens are not among them."""
    names = [guard.name for guard in module("ours").full_set(5)]
    assert len(names) == len(set(names)) == 11


def test_another_run_is_not_measured(module):
    """A way that ends for another reason is refused, so no number stands for something else."""
    ours = module("ours")
    with asyncio.Runner() as runner, pytest.raises(RuntimeError, match="ended with answered"):
        ours.per_step(lambda n, work: lambda: "answered", 10, runner)


@pytest.mark.parametrize("folder", PEERS, ids=lambda folder: folder.name)
def test_requirements_are_pinned(folder):
    """Each peer says exactly which version was measured."""
    lines = (folder / "requirements.txt").read_text(encoding="utf-8").split()
    assert lines and all("==" in line for line in lines)


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: f"{script.parent.name}-{script.stem}")
def test_scripts_compile(script):
    """Each is Python, says what it measures, and says it to `main`."""
    source = script.read_text(encoding="utf-8")
    code = compile(source, script.name, "exec")
    assert code.co_consts[0].strip() and "prepare" in source and "main(" in source


class TestWhatGoesWrong:
    """A peer that cannot be measured stays in the tables, with the reason."""

    def test_not_installed(self, module, monkeypatch, tmp_path):
        environments = module("environments")

        def fails(name, envs):
            raise subprocess.CalledProcessError(1, "pip", stderr="a warning\nNo matching distribution\n")

        monkeypatch.setattr(environments, "environment", fails)
        rows = environments.measured("strands", [10], tmp_path, 1)
        assert [row["failed"] for row in rows] == ["not installed: No matching distribution"]

    @pytest.mark.parametrize(
        ("script", "shown"),
        [
            ("raise SystemExit('no such class')", "no such class"),
            ("import time; time.sleep(60)", "over 0.5 s"),
        ],
    )
    def test_a_script_that_fails(self, module, tmp_path, script, shown):
        environments, table = module("environments"), module("table")
        path = tmp_path / "peer.py"
        path.write_text(script)
        found = environments.line(Path(sys.executable), path, 10, 0.5)
        assert found == {"failed": shown}
        report = {"peer_sizes": [10], "peers": [{"name": "x", "limits": "", "sizes": {10: found}}]}
        assert shown in table.peer_ratios(report) and shown in table.peer_costs(report)

    def test_a_run_that_ended_early(self, module):
        sizes = {10: {"complete": False, "stopped": "RecursionError in turn 5"}}
        report = {"peer_sizes": [10, 100], "peers": [{"name": "x", "limits": "steps", "sizes": sizes}]}
        assert "RecursionError in turn 5" in module("table").peer_costs(report)
