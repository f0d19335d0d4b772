"""A report as plain text, ratios first."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ours import ARUN, BARE, CAP_ALONE, FULL, NO_GC, REPLAY, SAME_REPLIES, STEPS

Report = dict[str, Any]
Cells = Iterable[str]

PAIRS = [(FULL, BARE), (FULL, SAME_REPLIES), (CAP_ALONE, BARE), (STEPS, FULL), (ARUN, FULL), (REPLAY, FULL)]


def text(report: Report) -> str:
    """All tables."""
    parts = [about(report), ratios(report), growth(report), peer_ratios(report)]
    parts += [in_short(report), costs(report), peer_costs(report), noise(report)]
    return "\n\n".join(part for part in parts if part)


def about(report: Report) -> str:
    """What was measured where."""
    return "stoplib {stoplib}, Python {python}, {system}, {date}".format(**report["about"])


def ratios(report: Report) -> str:
    """What costs how many times as much as what."""
    rows = [(pair, map(number, by_size.values())) for pair, by_size in report["ratios"].items()]
    return table("Ratios of CPU time per step, by steps in the run", report["sizes"], rows)


def growth(report: Report) -> str:
    """The cost of a step in longer runs, over its cost in shorter ones."""
    sizes = report["sizes"]
    base = 100 if 100 in sizes else sizes[0]
    rows = []
    for way in (BARE, FULL, NO_GC, REPLAY):
        cost = report["cost"][way]
        rows.append((way, [number(cost[n]["median"] / cost[base]["median"]) for n in sizes]))
    return table(f"Growth: CPU time per step over that in a run of {base:,} steps", sizes, rows)


def peer_ratios(report: Report) -> str:
    """What the peers cost over what stoplib costs with all guards."""
    sizes = report["peer_sizes"]
    rows = [(peer["name"], [_cell(peer, n, "ratio") for n in sizes]) for peer in report["peers"]]
    title = f"Peers: CPU time per step over that of '{FULL}', measured next to it"
    return table(title, sizes, rows) if rows else ""


def in_short(report: Report) -> str:
    """Facts with one number each."""
    most, imported, memory = report["sizes"][-1], report["import"], report["memory"]
    speeds = [f"{1e6 / cost['median']:,.0f} ({n:,} steps)" for n, cost in report["cost"][REPLAY].items()]
    lines = [
        f"Replay with all guards, steps per second of CPU time: {', '.join(speeds)}",
        f"import stoplib: {imported['import_ms']:.1f} ms of CPU time over bare Python ({imported['bare_ms']:.1f} ms),"
        f" {imported['modules']:.0f} more modules",
        *(
            f"Memory, {way}: {b * most / 2**20:,.1f} MB at most in a run of {most:,} steps, {b:,.0f} bytes a step"
            for way, b in memory.items()
        ),
        f"Memory, ratio: {memory[FULL] / memory[BARE]:.1f}",
    ]
    return "\n".join(lines)


def costs(report: Report) -> str:
    """Microseconds per step."""
    sizes = report["sizes"]
    rows = [(way, [number(cost[n]["median"]) for n in sizes]) for way, cost in report["cost"].items()]
    return table("CPU microseconds per step, by steps in the run (median)", sizes, rows)


def peer_costs(report: Report) -> str:
    """Microseconds per step of the peers, and what else is known of them."""
    sizes = report["peer_sizes"]
    rows = []
    for peer in report["peers"]:
        more = [f"{peer['import_ms']:,.0f}" if peer.get("import_ms") else "-", _peak(peer)]
        rows.append((_versioned(peer), [*(_cell(peer, n, "cpu_us_per_step") for n in sizes), *more, peer["limits"]]))
    heads = [*sizes, "import ms", "peak MB", "limits that were on"]
    return table("Peers: CPU microseconds per step, import, memory of the process", heads, rows) if rows else ""


def noise(report: Report) -> str:
    """How far the repeats of one cell lie apart."""
    spreads = [cell["max"] / cell["min"] for cost in report["cost"].values() for cell in cost.values()]
    return (
        f"Noise: within a cell the slowest repeat took up to {max(spreads):.1f} times as long as the fastest, in the"
        f" median cell {sorted(spreads)[len(spreads) // 2]:.2f} times."
    )


def table(title: str, heads: Iterable[Any], rows: Iterable[tuple[str, Cells]]) -> str:
    """A title and aligned columns: names to the left, numbers to the right."""
    lines = [("", *(f"{h:,}" if isinstance(h, int) else h for h in heads)), *((name, *cells) for name, cells in rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    body = ["  ".join([one[0].ljust(widths[0]), *map(str.rjust, one[1:], widths[1:])]).rstrip() for one in lines]
    return "\n".join([title, *body])


def number(value: float) -> str:
    """Three digits, or more before the point."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def _cell(peer: Report, n: int, field: str) -> str:
    found = peer["sizes"].get(n)
    if found is None:
        return "-"
    if "failed" in found:
        return str(found["failed"])[:40]
    return number(found[field]) if found["complete"] else str(found["stopped"])[:40]


def _peak(peer: Report) -> str:
    peaks = [found["peak_mb"] for found in peer["sizes"].values() if found.get("peak_mb")]
    return f"{max(peaks):,.0f}" if peaks else "-"


def _versioned(peer: Report) -> str:
    return f"{peer['name']} {peer.get('version') or ''}".rstrip() + (f" ({peer['failed']})" if "failed" in peer else "")
