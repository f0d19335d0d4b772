"""Where a ledger is kept: files, URLs, threads, processes, and processes that die in the middle."""

# ruff: noqa: SIM300

import pickle
import sqlite3
import subprocess
import sys
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from stoplib import ManualClock
from stoplib.ledger import Ledger, LedgerError

ROOT = Path(__file__).parents[2]


@pytest.fixture
def path(tmp_path):
    """A file for a ledger, where a person might have it."""
    folder = tmp_path / "Ausgaben für Köln"
    folder.mkdir()
    return folder / "spend #1 100%.db"


@pytest.fixture
def clock():
    """A clock that moves when it is told to."""
    return ManualClock(1_780_000_000.0)


@pytest.fixture
def ledger(path, clock):
    """A ledger in a file."""
    return Ledger(path, clock=clock)


def states(ledger, who="ada"):
    """How many entries there are of each state."""
    return dict(Counter(entry.state for entry in ledger.entries(who)))


def taken(ledger, who="ada"):
    """(spent, reserved) of today."""
    return ledger.spent(who), ledger.reserved(who)


class TestTheDatabase:
    """Where a ledger is kept."""

    def test_a_path(self, path, clock):
        """Any path, with spaces and characters that mean something in a URL."""
        Ledger(str(path), clock=clock).record("ada", 1)
        assert path.exists()
        assert 1 == Ledger(path, clock=clock).spent("ada")

    def test_a_url(self, tmp_path, clock):
        """Any URL that SQLAlchemy reads."""
        Ledger(f"sqlite:///{tmp_path / 'spend.db'}", clock=clock).record("ada", 1)
        assert 1 == Ledger(tmp_path / "spend.db", clock=clock).spent("ada")

    @pytest.mark.parametrize("name", ["spend.db", "sqlite:///spend.db"])
    def test_it_stays_the_same_file(self, tmp_path, monkeypatch, clock, name):
        """Whoever changes the folder afterwards does not get another ledger."""
        (tmp_path / "elsewhere").mkdir()
        monkeypatch.chdir(tmp_path)
        ledger, sent = Ledger(name, clock=clock), pickle.dumps(Ledger(name))
        monkeypatch.chdir(tmp_path / "elsewhere")
        ledger.record("ada", 1)
        assert 1 == Ledger(tmp_path / "spend.db", clock=clock).spent("ada")
        assert repr(ledger) == repr(pickle.loads(sent))

    def test_it_outlives_its_process(self, path, clock):
        """What one has written another reads."""
        program = "import sys; from stoplib.ledger import Ledger\n"
        program += "Ledger(sys.argv[1], clock=lambda: float(sys.argv[2])).record('ada', 0.5)"
        python(program, str(path), repr(clock()))
        assert 0.5 == Ledger(path, clock=clock).spent("ada")

    def test_it_leaves_other_tables_alone(self, path, clock):
        """A team may put it into a database that it has."""
        with sqlite3.connect(path) as db:
            db.execute("create table days (a)")
        db.close()
        Ledger(path, clock=clock).record("ada", 1)
        assert 1 == Ledger(path, clock=clock).spent("ada")

    @pytest.mark.parametrize(
        "content", [b"this is no database, but a note " * 100, b"SQLite format 3\0" + b"\xff" * 4096]
    )
    def test_a_corrupt_file(self, path, content):
        """It is left as it is, and the error names it."""
        path.write_bytes(content)
        with pytest.raises(LedgerError) as caught:
            Ledger(path)
        assert str(caught.value).startswith(f"the ledger {path}: ")
        assert content == path.read_bytes()

    def test_a_database_with_other_columns(self, path):
        """A table of our name that is none of ours is an error, not a surprise later."""
        with sqlite3.connect(path) as db:
            db.execute("create table stoplib_ledger_settings (a)")
        db.close()
        with pytest.raises(LedgerError, match="has no column named"):
            Ledger(path)

    def test_a_folder_that_is_not_there(self, tmp_path):
        """The error says that it cannot be opened."""
        with pytest.raises(LedgerError, match=r"nowhere.spend\.db: unable to open database file"):
            Ledger(tmp_path / "nowhere" / "spend.db")

    def test_a_later_format(self, path):
        """A ledger that a later version has made is not guessed at."""
        Ledger(path)
        with sqlite3.connect(path) as db:
            db.execute("update stoplib_ledger_settings set value = '2' where name = 'format'")
        db.close()
        with pytest.raises(ValueError, match="was made with the format '2', not '1'"):
            Ledger(path)

    @pytest.mark.parametrize("place", [None, 7, b"spend.db"])
    def test_refuses_what_is_no_place(self, place):
        """It says what it was given."""
        with pytest.raises(TypeError, match="Ledger: url_or_path must be a database URL or a path, not"):
            Ledger(place)

    @pytest.mark.parametrize("url", ["", "nothing://x/y", "://", "sqlite+aiosqlite:///x.db"])
    def test_refuses_a_url_that_leads_nowhere(self, url):
        """What SQLAlchemy cannot use is a ValueError, or says which driver is missing."""
        with pytest.raises((ValueError, ModuleNotFoundError)):
            Ledger(url)

    def test_no_password_is_shown(self):
        """An error with a URL in it can be shown to others."""
        with pytest.raises(ValueError) as caught:
            Ledger("nothing://ada:secret@host/spend")
        assert "secret" not in str(caught.value)
        assert "nothing://ada:***@host/spend" in str(caught.value)

    def test_refuses_a_clock_that_is_none(self):
        """A clock is a function."""
        with pytest.raises(TypeError, match=r"Ledger: clock must be a function, not 12\.0"):
            Ledger("sqlite://", clock=12.0)

    def test_refuses_a_time_that_is_none(self):
        """A clock that shows NaN would put money on no day."""
        with pytest.raises(ValueError, match="Ledger: the time that clock shows must be a finite number .* not nan"):
            Ledger("sqlite://", clock=lambda: float("nan")).spent("ada")

    def test_without_sqlalchemy(self):
        """The error says what to install; the rest of the package does not need it."""
        program = "import sys; sys.modules['sqlalchemy'] = None\nimport stoplib\nimport stoplib.ledger"
        done = python(program, check=False)
        assert "ModuleNotFoundError: a ledger needs SQLAlchemy: pip install sqlalchemy" in done.stderr

    def test_utc_needs_no_list_of_zones(self):
        """The usual zone works where there is none, as on Windows without tzdata."""
        program = "import zoneinfo; zoneinfo.reset_tzpath([]); import sys; sys.modules['tzdata'] = None\n"
        program += "from stoplib.ledger import Ledger; print(Ledger('sqlite://').spent('ada'))"
        assert "0.0" == python(program).stdout.strip()

    def test_it_can_be_sent_to_another_process(self, path):
        """A copy is the same ledger."""
        copy = pickle.loads(pickle.dumps(Ledger(path, zone="Europe/Zurich", stale_after=5)))
        copy.record("ada", 1)
        assert 1 == Ledger(path, zone="Europe/Zurich").spent("ada")
        assert ("Europe/Zurich", 5) == (copy.zone, copy.stale_after)

    def test_one_in_memory_stays_here(self):
        """A copy would be another ledger."""
        with pytest.raises(TypeError, match="another process needs a file or a server"):
            pickle.dumps(Ledger("sqlite://"))

    def test_its_repr_says_which(self, path):
        """It shows the file and the zone."""
        assert f"Ledger({str(path)!r}, zone='UTC')" == repr(Ledger(path))


class TestThreads:
    """One ledger object, used by several threads at the same time."""

    @pytest.mark.parametrize("place", ["file", "memory"])
    def test_two_threads(self, path, clock, place):
        """The cap holds to the last cent, and nothing is lost."""
        ledger = Ledger(path if place == "file" else "sqlite://", clock=clock)
        gate = threading.Barrier(2)

        def spend(_):
            gate.wait()
            made = [ledger.reserve("ada", 0.1, cap=3) for _ in range(20)]
            return sum(ledger.settle(one, 0.1) for one in made if one)

        with ThreadPoolExecutor(2) as pool:
            settled = list(pool.map(spend, range(2)))
        assert 30 == sum(settled)
        assert (3, 0) == taken(ledger)


class TestKills:
    """Processes that die in the middle."""

    def die_in(self, path, clock, function, verb):
        """Let a process die inside a transaction, where it calls `function`."""
        program = (
            "import os, sys; from stoplib import ledger_database; from stoplib.ledger import Ledger\n"
            "ledger = Ledger(sys.argv[1], clock=lambda: float(sys.argv[2]))\n"
            "one = ledger.reserve('ada', 1, cap=10)\n"
            f"ledger_database.{function} = lambda *args, **kwargs: os._exit(9)\n{verb}"
        )
        assert 9 == python(program, str(path), repr(clock()), check=False).returncode

    def test_while_it_reserves(self, ledger, path, clock):
        """What was half done has not happened."""
        self.die_in(path, clock, "add", "ledger.reserve('ada', 2, cap=10)")
        assert (0, 1) == taken(ledger)
        assert ledger.reserve("ada", 9, cap=10)

    def test_while_it_settles(self, ledger, path, clock):
        """The entry and the sums change together, or not at all."""
        self.die_in(path, clock, "spend", "ledger.settle(one, 0.5)")
        assert (0, 1) == taken(ledger)
        assert {"open": 1} == states(ledger)

    def test_between_the_two(self, ledger, path, clock):
        """Its reserve counts until it is stale."""
        self.die_in(path, clock, "hold", "ledger.release(one)")
        assert ledger.reserve("ada", 10, cap=10) is None
        clock.advance(600)
        assert ledger.reserve("ada", 10, cap=10)

    def test_many_processes(self):
        """Processes that are killed at random: the cap holds at every moment, every settled amount is there.

        The same with 8 processes and 2,000 reservations each is `python benchmarks/ledger.py`.
        """
        start = "fork" if sys.platform == "linux" else "spawn"
        command = [str(ROOT / "benchmarks" / "ledger.py"), "--start", start, "--processes", "4"]
        command += ["--reservations", "40", "--kills", "8", "--every", "0.05"]
        done = subprocess.run([sys.executable, *command], cwd=ROOT, capture_output=True, text=True, encoding="utf-8")
        assert 0 == done.returncode, done.stderr
        assert " 0 of them are missing in the ledger" in done.stdout


def python(program, *args, check=True):
    """Run a program in a process of its own."""
    command = [sys.executable, "-c", program, *args]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, encoding="utf-8", check=check)
