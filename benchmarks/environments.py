"""The peers: each in a virtual environment of its own, measured by its own scripts in `peers/<name>/`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import venv
from pathlib import Path
from statistics import median
from typing import Any

from ours import fresh

HERE = Path(__file__).parent
NAMES = sorted(path.parent.name for path in (HERE / "peers").glob("*/run.py"))

# Scripts find workload.py and this stoplib; nothing is looked up or reported over a network while it is measured.
SETTINGS = {
    "PYTHONPATH": f"{HERE}{os.pathsep}{HERE.parent}",
    "PYTHONIOENCODING": "utf-8",
    "HF_HUB_OFFLINE": "1",
    "LANGSMITH_TRACING": "false",
    "OPENAI_AGENTS_DISABLE_TRACING": "1",
    "OTEL_SDK_DISABLED": "true",
}

Facts = dict[str, Any]


def say(what: str) -> None:
    """Progress, apart from the tables."""
    print(what, file=sys.stderr, flush=True)


def measured(name: str, sizes: list[int], envs: Path, patience: float) -> list[Facts]:
    """One row of facts for each of the peer's scripts; a peer that cannot be installed says so in its row."""
    try:
        python = environment(name, envs)
    except subprocess.CalledProcessError as error:
        return [{"name": name, "limits": "", "sizes": {}, "failed": f"not installed: {_last_line(error)}"}]
    scripts = sorted((HERE / "peers" / name).glob("*.py"), key=lambda script: (script.stem != "run", script.stem))
    rows = [row(python, script, sizes, patience) for script in scripts]
    rows[0]["import_ms"] = import_ms(python, scripts[0])
    return rows


def environment(name: str, envs: Path) -> Path:
    """The Python of a peer's environment; it is made where it is missing or its requirements have changed."""
    folder, wanted = envs / name, HERE / "peers" / name / "requirements.txt"
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    mark = folder / "installed.txt"
    if mark.exists() and mark.read_text() == wanted.read_text():
        return python
    say(f"{name}: making an environment in {folder} and installing {', '.join(wanted.read_text().split())}")
    envs.mkdir(parents=True, exist_ok=True)
    (envs / ".gitignore").write_text("*\n")
    venv.create(folder, clear=True, with_pip=True)
    command = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r", wanted]
    subprocess.run(command, check=True, capture_output=True, text=True)
    mark.write_text(wanted.read_text())
    return python


def row(python: Path, script: Path, sizes: list[int], patience: float) -> Facts:
    """What one script measures at each size, each next to stoplib in a fresh process of its own."""
    label = f"{script.parent.name}/{script.stem}"
    facts: Facts = {"name": label, "limits": "", "sizes": {}}
    for n in sizes:
        say(f"{label}, {n} steps")
        ours = line(Path(sys.executable), HERE / "ours.py", n, patience)
        if "failed" in ours:
            raise RuntimeError(f"stoplib itself could not be measured: {ours['failed']}")
        theirs = line(python, script, n, patience)
        facts["sizes"][n] = theirs
        if "failed" in theirs:
            break
        facts |= {key: theirs[key] for key in ("name", "version", "limits")}
        theirs["ratio"] = theirs["cpu_us_per_step"] / ours["cpu_us_per_step"] if theirs["complete"] else None
    return facts


def import_ms(python: Path, script: Path) -> float | None:
    """CPU milliseconds to import what the script needs of the peer, the median of three fresh processes."""
    load = f"import workload, runpy; runpy.run_path({str(script)!r})"
    env = os.environ | SETTINGS
    try:
        return median(fresh(load, python, env=env)[0] - fresh("import workload", python, env=env)[0] for _ in range(3))
    except subprocess.CalledProcessError:
        return None


def line(python: Path, script: Path, n: int, patience: float) -> Facts:
    """The line of JSON that a script prints, or what went wrong."""
    command = [python, script, str(n)]
    try:
        done = subprocess.run(
            command, env=os.environ | SETTINGS, capture_output=True, encoding="utf-8", check=True, timeout=patience
        )
    except subprocess.TimeoutExpired:
        return {"failed": f"over {patience:g} s"}
    except subprocess.CalledProcessError as error:
        return {"failed": _last_line(error)}
    facts: Facts = json.loads(done.stdout.splitlines()[-1])
    return facts


def _last_line(error: subprocess.CalledProcessError) -> str:
    return (error.stderr.strip().splitlines() or ["no message"])[-1]
