"""Two published sources of recorded runs. They are no part of the project, and tests that need them say so."""

import os
from pathlib import Path

import pytest

FOLDER = Path(os.environ.get("STOPLIB_TRACES") or Path(__file__).parents[3] / "shared" / "traces")
TAU, TAU2 = FOLDER / "tau-bench", FOLDER / "tau2-bench"

needs_shared_runs = pytest.mark.skipif(
    not (TAU.is_dir() and TAU2.is_dir()),
    reason="needs the recorded runs of tau-bench and tau2-bench beside the project, or where STOPLIB_TRACES says",
)
