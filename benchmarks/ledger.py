"""Many processes at one ledger, some of them killed in the middle: is the cap ever passed, is money ever lost?

    python benchmarks/ledger.py                        8 processes, 2,000 reservations each
    python benchmarks/ledger.py --processes 4 --reservations 60 --kills 4
    python benchmarks/ledger.py --url postgresql://…   a database that is empty

Each process reserves up to 1, then settles less than that, releases it, or leaves it. What it has settled it writes
to a file of its own, once the ledger has said that it is recorded. Processes are killed at random moments, and others
take up their work. There are two rounds. In the second one it is later than `stale_after`, so what was
reserved by those who were killed in the first no longer counts: the room is given to others, by many at once.

Meanwhile the parent looks at the ledger every second. In the end it compares it with the files. A broken promise is
an AssertionError.
"""

from __future__ import annotations

import argparse
import multiprocessing
import random
import tempfile
from decimal import Decimal
from pathlib import Path
from time import perf_counter, sleep

from stoplib.ledger import Ledger

START = 1_780_000_000.0
STALE_AFTER = 600.0
WHO = "the team"


def ledger_at(url: str, number: int) -> Ledger:
    """The ledger in one of the rounds. Time stands still, so how fast a process is does not matter to what expires."""
    now = START + number * (STALE_AFTER + 1)
    return Ledger(url, zone="Europe/Zurich", stale_after=STALE_AFTER, clock=lambda: now)


def work(url: str, number: int, cap: float, seed: str, notes: Path, until: int) -> None:
    """Make reservations until there are so many lines in the notes."""
    ledger, chance = ledger_at(url, number), random.Random(seed)
    done = notes.read_text(encoding="utf-8").count("\n")
    with notes.open("a", encoding="utf-8") as file:
        for _ in range(done, until):
            file.write(one_call(ledger, chance, cap) + "\n")
            file.flush()


def one_call(ledger: Ledger, chance: random.Random, cap: float) -> str:
    """Reserve, and say what became of it."""
    up_to = round(chance.uniform(0.001, 1), 6)
    amount = round(chance.uniform(0, up_to), 6)
    what = chance.choices(["settled", "released", "left"], [8, 1, 1])[0]
    reservation = ledger.reserve(WHO, up_to, cap)
    if reservation is None:
        return "refused"
    if what == "settled":
        ledger.settle(reservation, amount)
    if what == "released":
        ledger.release(reservation)
    return f"{what} {reservation.id} {amount!r}"


class Hammer:
    """The processes, the kills, and what the parent sees meanwhile."""

    def __init__(self, url: str, folder: Path, args: argparse.Namespace) -> None:
        self.url, self.args = url, args
        self.notes = [folder / f"notes {name}.txt" for name in range(args.processes)]
        self.chance = random.Random(args.seed)
        self.context = multiprocessing.get_context(args.start)
        self.cap = args.processes * args.reservations * 0.15
        self.killed = self.looks = 0
        for notes in self.notes:
            notes.touch()

    def round(self, number: int) -> None:
        """Let every process come to its share of this round."""
        ledger = ledger_at(self.url, number)
        running = {notes: self.start(notes, number) for notes in self.notes}
        sizes = {notes: notes.stat().st_size for notes in running}
        next_look = next_kill = perf_counter()
        to_kill = self.args.kills // 2
        while running:
            sleep(0.01)
            if perf_counter() > next_look:
                self.look(ledger)
                next_look = perf_counter() + 1
            for notes in [notes for notes, process in running.items() if process.exitcode is not None]:
                assert running.pop(notes).exitcode == 0, "a process failed"
            at_work = [notes for notes in running if notes.stat().st_size > sizes[notes]]
            if to_kill and at_work and perf_counter() > next_kill:
                notes = self.chance.choice(at_work)
                running[notes].kill()
                running[notes].join()
                self.killed, to_kill = self.killed + 1, to_kill - 1
                running[notes] = self.start(notes, number)
                sizes[notes] = notes.stat().st_size
                next_kill = perf_counter() + self.chance.expovariate(1 / self.args.every)
        self.look(ledger)

    def start(self, notes: Path, number: int) -> multiprocessing.process.BaseProcess:
        """A process that goes on where the one before it was killed, maybe in the middle of a line."""
        text = notes.read_bytes()
        notes.write_bytes(text[: text.rfind(b"\n") + 1])
        seed = f"{self.args.seed} {notes.name} {number} {self.killed}"
        until = self.args.reservations * (number + 1) // 2
        process: multiprocessing.process.BaseProcess = self.context.Process(
            target=work, args=(self.url, number, self.cap, seed, notes, until)
        )
        process.start()
        return process

    def look(self, ledger: Ledger) -> None:
        """At this very moment, what is spent and what is reserved for calls that are running is at most the cap."""
        entries = ledger.entries(WHO)
        taken = sum((exact(e.amount) for e in entries if e.state == "settled"), Decimal(0))
        taken += sum(exact(e.up_to) for e in entries if e.state == "open")
        assert taken <= exact(self.cap), f"{taken} spent or reserved of {self.cap}"
        self.looks += 1

    def check(self) -> str:
        """Compare the ledger with what the processes have noted."""
        ledger = ledger_at(self.url, 1)
        spent, reserved = exact(ledger.spent(WHO)), exact(ledger.reserved(WHO))
        entries = ledger.entries(WHO)
        settled = {entry.id: exact(entry.amount) for entry in entries if entry.state == "settled"}
        lines = [line.split() for notes in self.notes for line in notes.read_text(encoding="utf-8").splitlines()]
        kinds = [line[0] for line in lines]
        noted = {line[1]: exact(float(line[2])) for line in lines if line[0] == "settled"}
        missing = [id for id, amount in noted.items() if settled.get(id) != amount]
        assert len(lines) == self.args.processes * self.args.reservations
        assert missing == [], f"{len(missing)} settled amounts are not in the ledger"
        assert spent == sum(settled.values()), f"{spent} spent, but the entries say {sum(settled.values())}"
        assert spent + reserved <= exact(self.cap), f"{spent} spent and {reserved} reserved of {self.cap}"
        assert reserved == sum(exact(entry.up_to) for entry in entries if entry.state == "open")
        assert len(settled) - len(noted) <= self.killed
        self.check_that_reserves_expire(float(exact(self.cap) - spent))
        return (
            f"{len(lines)} reservations: {len(settled)} settled, {kinds.count('released')} released,"
            f" {kinds.count('left')} left open, {kinds.count('refused')} refused; {self.killed} processes killed\n"
            f"cap {self.cap:.6f}, spent {spent}, still reserved {reserved}; never more in {self.looks} looks\n"
            f"{len(noted)} settled amounts were noted, {len(missing)} of them are missing in the ledger;"
            f" {len(settled) - len(noted)} more are there, of processes killed before they could note them"
        )

    def check_that_reserves_expire(self, rest: float) -> None:
        """Later, exactly what is not spent can be reserved."""
        ledger = ledger_at(self.url, 2)
        assert ledger.reserve(WHO, rest + 0.000001, self.cap) is None, "there is more room than there can be"
        assert ledger.reserve(WHO, rest, self.cap) is not None, "stale reserves still count"


def exact(amount: float | None) -> Decimal:
    """An amount as the decimal number that it shows."""
    return Decimal(repr(amount))


def main() -> None:
    """Run it and print what came of it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--processes", type=int, default=8)
    parser.add_argument("--reservations", type=int, default=2000)
    parser.add_argument("--kills", type=int, default=100, help="at most so many processes are killed")
    parser.add_argument("--every", type=float, default=0.5, help="seconds between two kills, on average")
    parser.add_argument("--seed", default="1")
    parser.add_argument("--start", default="spawn", help="how processes are started: spawn, fork, forkserver")
    parser.add_argument("--url", help="the database; a new file if none is given")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        hammer = Hammer(args.url or str(Path(folder) / "spend.db"), Path(folder), args)
        begun = perf_counter()
        hammer.round(0)
        hammer.round(1)
        print(f"{args.processes} processes × {args.reservations} in {perf_counter() - begun:.1f} s")
        print(hammer.check())


if __name__ == "__main__":
    main()
