"""The database behind a ledger: its tables, and transactions that mean the same on every database.

A transaction that writes changes the row of one person's day first, and so holds it until it is over: all
that happens to this day happens one after the other. SQLite locks the whole file instead, from the start.

Each transaction has a connection of its own. It costs milliseconds, next to a model call of seconds; there
is none to be shared with a forked process, to go stale while the model thinks, or to be left open.
"""

from __future__ import annotations

import os
import sqlite3
import weakref
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from pathlib import Path
from threading import Lock
from typing import Any

try:
    import sqlalchemy as sa
except ModuleNotFoundError as error:
    raise ModuleNotFoundError("a ledger needs SQLAlchemy: pip install sqlalchemy", name=error.name) from None
from sqlalchemy.exc import ArgumentError, DBAPIError, IntegrityError
from sqlalchemy.pool import NullPool, StaticPool

FORMAT = "1"
LONGEST_NAME = 200

OPEN, SETTLED, RELEASED, EXPIRED = "open", "settled", "released", "expired"

SECONDS_TO_WAIT = 60  # for another process to be done with the file

_tables = sa.MetaData()

#: One row per person and day: what they have spent, and what is reserved for calls that are running.
days = sa.Table(
    "stoplib_ledger_days",
    _tables,
    sa.Column("who", sa.Unicode(LONGEST_NAME), primary_key=True),
    sa.Column("day", sa.String(10), primary_key=True),
    sa.Column("spent", sa.BigInteger, nullable=False),
    sa.Column("reserved", sa.BigInteger, nullable=False),
)

#: One row per reservation, and what became of it.
entries = sa.Table(
    "stoplib_ledger_entries",
    _tables,
    sa.Column("id", sa.String(32), primary_key=True),
    sa.Column("who", sa.Unicode(LONGEST_NAME), nullable=False),
    sa.Column("day", sa.String(10), nullable=False),
    sa.Column("state", sa.String(8), nullable=False),
    sa.Column("up_to", sa.BigInteger, nullable=False),
    sa.Column("amount", sa.BigInteger),
    sa.Column("made", sa.Double, nullable=False),
    sa.Column("expires", sa.Double, nullable=False),
    sa.Column("closed", sa.Double),
    sa.Index("stoplib_ledger_entries_by_day", "who", "day", "state"),
)

#: What all who share the database have to agree on.
settings = sa.Table(
    "stoplib_ledger_settings",
    _tables,
    sa.Column("name", sa.String(20), primary_key=True),
    sa.Column("value", sa.String(200), nullable=False),
)


class LedgerError(Exception):
    """The database cannot be reached, or is no ledger."""


class Database:
    """One database, with the tables of a ledger in it. `name` shows it without its password."""

    def __init__(self, url_or_path: Any, zone: str) -> None:
        self.url = _url(url_or_path)
        sqlite = self.url.get_backend_name() == "sqlite"
        self.in_memory = sqlite and self.url.database in (None, "", ":memory:")
        self.name = self.url.database if sqlite and self.url.database else self.url.render_as_string()
        self._turn: AbstractContextManager[Any] = Lock() if self.in_memory else nullcontext()
        self._engine = self._sqlite() if sqlite else self._server()
        weakref.finalize(self, self._engine.dispose)
        try:
            self._set_up(zone)
        except LedgerError:  # another process may have made the tables at the same moment
            self._set_up(zone)

    @contextmanager
    def transaction(self, writes: bool = True) -> Iterator[sa.Connection]:
        """All that is done in it happens, or nothing of it. Raises LedgerError."""
        try:
            with self._turn, self._engine.connect().execution_options(stoplib_writes=writes) as db, db.begin():
                yield db
        except DBAPIError as error:
            raise LedgerError(f"the ledger {self.name}: {error.orig}") from error

    def _sqlite(self) -> sa.Engine:
        options: dict[str, Any] = {"timeout": SECONDS_TO_WAIT}
        if self.in_memory:  # there is one connection, and whoever has its turn uses it
            options["check_same_thread"] = False
        engine = sa.create_engine(self.url, poolclass=StaticPool if self.in_memory else NullPool, connect_args=options)
        sa.event.listen(engine, "connect", _connected)
        sa.event.listen(engine, "begin", _begin)
        return engine

    def _server(self) -> sa.Engine:
        try:
            engine = sa.create_engine(self.url, poolclass=NullPool, isolation_level="READ COMMITTED")
        except ArgumentError as error:
            raise ValueError(f"Ledger: {self.name} cannot be used: {error}") from None
        if engine.dialect.is_async:
            raise ValueError(f"Ledger: {self.name} names an async driver; give one that is not")
        return engine

    def _set_up(self, zone: str) -> None:
        """Make the tables where there are none. Raises ValueError if what is there was made with another zone."""
        with self.transaction() as db:
            _tables.create_all(db)
            for name, value in (("format", FORMAT), ("zone", zone)):
                with suppress(IntegrityError), db.begin_nested():
                    db.execute(settings.insert().values(name=name, value=value))
                kept = db.execute(sa.select(settings.c.value).where(settings.c.name == name)).scalar_one()
                if kept != value:
                    raise ValueError(f"Ledger: {self.name} was made with the {name} {kept!r}, not {value!r}")


def take(db: sa.Connection, who: str, day: str, units: int, room: int) -> bool:
    """Reserve `units` if no more than `room` is taken. One statement, so that nobody comes in between."""
    fits = days.c.spent + days.c.reserved <= room
    taken = days.update().where(_of(days, who, day), fits).values(reserved=days.c.reserved + units)
    return db.execute(taken).rowcount == 1


def hold(db: sa.Connection, who: str, day: str) -> None:
    """Hold the row of this day until the transaction is over; make it if there is none."""
    unchanged = days.update().where(_of(days, who, day)).values(reserved=days.c.reserved)
    if not db.execute(unchanged).rowcount:
        with suppress(IntegrityError), db.begin_nested():  # another process may be making it too
            db.execute(days.insert().values(who=who, day=day, spent=0, reserved=0))
        db.execute(unchanged)


def expire(db: sa.Connection, who: str, day: str, now: float) -> None:
    """Take back the reserves that nobody came back for. The day is held."""
    still_open = _of(entries, who, day) & (entries.c.state == OPEN)
    if db.execute(entries.update().where(still_open, entries.c.expires <= now).values(state=EXPIRED)).rowcount:
        left = sa.select(sa.func.coalesce(sa.func.sum(entries.c.up_to), 0)).where(still_open)
        db.execute(days.update().where(_of(days, who, day)).values(reserved=left.scalar_subquery()))


def add(db: sa.Connection, **row: Any) -> None:
    """Write a new entry."""
    db.execute(entries.insert().values(**row))


def close(db: sa.Connection, entry: Any, state: str, units: int | None, now: float) -> None:
    """Write down what became of an entry, and what that changes for its day, which is held."""
    db.execute(entries.update().where(entries.c.id == entry.id).values(state=state, amount=units, closed=now))
    spend(db, entry.who, entry.day, units or 0, back=entry.up_to if entry.state == OPEN else 0)


def spend(db: sa.Connection, who: str, day: str, units: int, back: int = 0) -> None:
    """Add to what is spent on a day, and give back what was reserved for it."""
    sums = {"spent": days.c.spent + units, "reserved": days.c.reserved - back}
    db.execute(days.update().where(_of(days, who, day)).values(**sums))


def entry_of(db: sa.Connection, id: str) -> Any:
    """The row of one entry, or None."""
    return db.execute(sa.select(entries).where(entries.c.id == id)).one_or_none()


def entries_of(db: sa.Connection, who: str, day: str) -> Any:
    """The rows of all entries of one day, in order."""
    return db.execute(sa.select(entries).where(_of(entries, who, day)).order_by(entries.c.made, entries.c.id)).all()


def spent_on(db: sa.Connection, who: str, day: str) -> int:
    """What is spent on one day."""
    return db.execute(sa.select(days.c.spent).where(_of(days, who, day))).scalar() or 0


def reserved_on(db: sa.Connection, who: str, day: str, now: float) -> int:
    """What is reserved on one day and has not expired."""
    running = _of(entries, who, day) & (entries.c.state == OPEN) & (entries.c.expires > now)
    return int(db.execute(sa.select(sa.func.sum(entries.c.up_to)).where(running)).scalar() or 0)


def _of(table: sa.Table, who: str, day: str) -> sa.ColumnElement[bool]:
    return (table.c.who == who) & (table.c.day == day)


def _url(url_or_path: Any) -> sa.URL:
    """The address of the database. A file is named from the root, so that it stays the same file."""
    if isinstance(url_or_path, sa.URL):
        url = url_or_path
    elif isinstance(url_or_path, str) and "://" in url_or_path:
        try:
            url = sa.make_url(url_or_path)
        except ArgumentError:
            scheme = url_or_path.partition("://")[0]  # the rest may hold a password
            raise ValueError(f"Ledger: the database URL {scheme}://… cannot be read") from None
    elif isinstance(url_or_path, (str, os.PathLike)) and isinstance(os.fspath(url_or_path), str):
        if url_or_path == "":
            raise ValueError("Ledger: url_or_path must be a database URL or a path, not ''")
        url = sa.URL.create("sqlite", database=os.fspath(url_or_path))
    else:
        raise TypeError(f"Ledger: url_or_path must be a database URL or a path, not {url_or_path!r}")
    file = url.database
    if url.get_backend_name() != "sqlite" or not file or file == ":memory:" or file.startswith("file:"):
        return url
    return url.set(database=str(Path(file).absolute()))


def _connected(connection: Any, _: Any) -> None:
    """Transactions begin when we say so. The write-ahead log lets readers read on, where the file system can do it."""
    connection.isolation_level = None
    with suppress(sqlite3.OperationalError):
        connection.execute("PRAGMA journal_mode=WAL")


def _begin(db: sa.Connection) -> None:
    writes = db.get_execution_options().get("stoplib_writes", True)
    db.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")
