"""Recorded runs in the formats that people have: read them, and choose limits from what they did."""

from stoplib.traces.findings import Findings
from stoplib.traces.ladders import Ladder
from stoplib.traces.limits import limits
from stoplib.traces.reading import Reading, labels_of, read
from stoplib.traces.report import Report
from stoplib.traces.trace import FAILURE, SUCCESS, UNKNOWN, Trace, TraceStep

__all__ = [
    "FAILURE",
    "SUCCESS",
    "UNKNOWN",
    "Findings",
    "Ladder",
    "Reading",
    "Report",
    "Trace",
    "TraceStep",
    "labels_of",
    "limits",
    "read",
]
