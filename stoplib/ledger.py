"""Who spent what, per day: one ledger for many runs, processes and people.

Money is reserved before a call, settled after it, and released if the call fails. What is spent and what is
reserved never pass the cap together, however many processes reserve at once.

    open       reserved for a call that is running
    settled    the call has been made, and this is what it cost
    released   the call was not made, or failed
    expired    nobody said what became of the call: its process was killed

Amounts are stored as whole billionths of a unit of money. So a database can add and compare them in one
statement, which decimal text does not allow, and a thousand times 0.1 is 100, which floats do not give. They come
back as the float that is nearest to the exact sum.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime, tzinfo
from decimal import Decimal
from fractions import Fraction
from os import PathLike
from typing import Any
from uuid import uuid4
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from stoplib import ledger_database as sql
from stoplib import limits
from stoplib.ledger_database import EXPIRED, LONGEST_NAME, OPEN, RELEASED, SETTLED, Database, LedgerError

__all__ = ["Entry", "Ledger", "LedgerError", "Reservation"]

BILLION = 10**9


@dataclass(frozen=True)
class Reservation:
    """Money set aside for one call: up to `up_to`, on the day on which it was reserved."""

    id: str
    who: str
    day: str
    up_to: float
    expires: float


@dataclass(frozen=True)
class Entry:
    """One line of the ledger. `amount` is None unless it is settled, `closed` until somebody said what became of it."""

    id: str
    who: str
    day: str
    state: str
    up_to: float
    amount: float | None
    made: float
    closed: float | None


class Ledger:
    """A ledger in a database: a file of SQLite, or any database that SQLAlchemy has a URL for.

    url_or_path   `"spend.db"`, or `"postgresql://…"`
    zone          where a day begins and ends; all who share the database must say the same one
    stale_after   seconds after which a reserve no longer counts; longer than the longest call
    clock         seconds since 1970, as `time.time` gives them

    Threads may share one, processes each open their own; it can be sent to another process.

    >>> ledger = Ledger("sqlite://")  # in memory, for a try
    >>> first = ledger.reserve("ada", up_to=0.7, cap=1)
    >>> ledger.reserve("ada", up_to=0.7, cap=1) is None
    True
    >>> ledger.settle(first, 0.25)
    True
    >>> ledger.spent("ada"), ledger.reserved("ada")
    (0.25, 0.0)
    """

    def __init__(
        self,
        url_or_path: str | PathLike[str],
        *,
        zone: str = "UTC",
        stale_after: float = 600.0,
        clock: Callable[[], float] = time.time,
    ) -> None:
        if not callable(clock):
            raise TypeError(f"Ledger: clock must be a function, not {clock!r}")
        self.zone = zone
        self.stale_after = limits.amount("Ledger", "stale_after", stale_after, above_zero=True)
        self.clock = clock
        self._zone = _time_zone(zone)
        self._database = Database(url_or_path, zone)

    def reserve(self, who: str, up_to: float, cap: float) -> Reservation | None:
        """Set aside up to `up_to` for one call of today, or None if that would pass the cap.

        What is spent today, what other calls have reserved and `up_to` together are at most `cap`.
        """
        who, units = _name("reserve", who), _units("reserve", "up_to", up_to)
        room = _units("reserve", "cap", cap) - units
        now, day = self._now()
        made = Reservation(uuid4().hex, who, day, _money(units), now + self.stale_after)
        row = {"id": made.id, "who": who, "day": day, "state": OPEN, "up_to": units}
        with self._database.transaction() as db:
            if not sql.take(db, who, day, units, room):
                sql.hold(db, who, day)
                sql.expire(db, who, day, now)
                if not sql.take(db, who, day, units, room):
                    return None
            sql.add(db, **row, made=now, expires=made.expires)
        return made

    def settle(self, reservation: Reservation, amount: float) -> bool:
        """The call has been made and cost `amount`, which is recorded whatever was reserved for it.

        Also if the reservation has expired or was released: money that was spent is never lost. Settling
        twice changes nothing and gives False; with another amount it is a ValueError.
        """
        return self._close("settle", reservation, SETTLED, _units("settle", "amount", amount))

    def release(self, reservation: Reservation) -> bool:
        """The call was not made, or failed: give its reserve back. False if it no longer counted."""
        return self._close("release", reservation, RELEASED, None)

    def record(self, who: str, amount: float) -> None:
        """Money that was spent today without a reservation."""
        who, units = _name("record", who), _units("record", "amount", amount)
        now, day = self._now()
        row = {"id": uuid4().hex, "who": who, "day": day, "state": SETTLED, "up_to": 0, "amount": units}
        with self._database.transaction() as db:
            sql.hold(db, who, day)
            sql.add(db, **row, made=now, expires=now, closed=now)
            sql.spend(db, who, day, units)

    def spent(self, who: str, day: str | date | None = None) -> float:
        """What `who` has spent on a day, such as `"2026-03-29"`; today if none is given."""
        who, day, _ = self._account("spent", who, day)
        with self._database.transaction(writes=False) as db:
            return _money(sql.spent_on(db, who, day))

    def reserved(self, who: str, day: str | date | None = None) -> float:
        """What is set aside for calls of `who` that are running now; today's, if no day is given."""
        who, day, now = self._account("reserved", who, day)
        with self._database.transaction(writes=False) as db:
            return _money(sql.reserved_on(db, who, day, now))

    def entries(self, who: str, day: str | date | None = None) -> list[Entry]:
        """Every reservation of a day, today if none is given, and what became of it, in order of time."""
        who, day, now = self._account("entries", who, day)
        with self._database.transaction(writes=False) as db:
            return [_entry(row, now) for row in sql.entries_of(db, who, day)]

    def __repr__(self) -> str:
        return f"Ledger({self._database.name!r}, zone={self.zone!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        if self._database.in_memory:
            raise TypeError(f"{self!r} is in this process's memory: another process needs a file or a server")
        url = self._database.url.render_as_string(hide_password=False)
        return _opened, (url, self.zone, self.stale_after, self.clock)

    def _close(self, verb: str, reservation: Reservation, state: str, units: int | None) -> bool:
        if not isinstance(reservation, Reservation):
            raise TypeError(f"{verb}: reservation must be one that reserve(…) gave, not {reservation!r}")
        now, _ = self._now()
        with self._database.transaction() as db:
            sql.hold(db, reservation.who, reservation.day)
            before = sql.entry_of(db, reservation.id)
            if before is None:
                raise ValueError(f"{verb}: {self!r} knows nothing of {reservation!r}")
            if before.state == SETTLED and units is not None and units != before.amount:
                kept = _money(before.amount)
                raise ValueError(f"settle: {reservation!r} was settled with {kept:g}, so not with {_money(units):g}")
            if before.state == SETTLED or (state == RELEASED and before.state != OPEN):
                return False
            if state == RELEASED and before.expires <= now:
                state = EXPIRED
            sql.close(db, before, state, units, now)
        return state != EXPIRED

    def _now(self) -> tuple[float, str]:
        """The time, and the day that it is in the ledger's zone."""
        now = limits.amount("Ledger", "the time that clock shows", self.clock())
        return now, datetime.fromtimestamp(now, self._zone).date().isoformat()

    def _account(self, verb: str, who: str, day: str | date | None) -> tuple[str, str, float]:
        now, today = self._now()
        return _name(verb, who), today if day is None else _day(verb, day), now


def _opened(url: str, zone: str, stale_after: float, clock: Callable[[], float]) -> Ledger:
    return Ledger(url, zone=zone, stale_after=stale_after, clock=clock)


def _entry(row: Any, now: float) -> Entry:
    state = EXPIRED if row.state == OPEN and row.expires <= now else row.state
    amount = None if row.amount is None else _money(row.amount)
    return Entry(row.id, row.who, row.day, state, _money(row.up_to), amount, row.made, row.closed)


def _units(owner: str, name: str, value: Any) -> int:
    """An amount of money in billionths."""
    checked = limits.amount(owner, name, value)
    units = round(Fraction(value if isinstance(value, (Decimal, Fraction)) else checked) * BILLION)
    if units > BILLION * BILLION:
        raise ValueError(f"{owner}: {name} must be at most a billion, not {value!r}")
    return units


def _money(units: int) -> float:
    return units / BILLION


def _name(owner: str, who: Any) -> str:
    if not isinstance(who, str):
        raise TypeError(f"{owner}: who must be a text, not {who!r}")
    if not 0 < len(who) <= LONGEST_NAME or not who.isprintable():
        raise ValueError(f"{owner}: who must have 1 to {LONGEST_NAME} printable characters, not {who!r}")
    return who


def _day(owner: str, day: Any) -> str:
    wanted = f"{owner}: day must be a date such as '2026-03-29', not {day!r}"
    if isinstance(day, datetime) or not isinstance(day, (str, date)):
        raise TypeError(wanted)
    try:
        return date.fromisoformat(str(day)).isoformat()
    except ValueError:
        raise ValueError(wanted) from None


def _time_zone(name: Any) -> tzinfo:
    if not isinstance(name, str):
        raise TypeError(f"Ledger: zone must be the name of a time zone, such as 'Europe/Zurich', not {name!r}")
    if name == "UTC":  # known everywhere, also where there is no list of time zones
        return UTC
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise ValueError(
            f"Ledger: there is no time zone {name!r}; give a name such as 'Europe/Zurich'."
            " Windows has no list of them: pip install tzdata"
        ) from None
