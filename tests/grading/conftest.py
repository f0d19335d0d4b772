"""These tests take several minutes, so they run only where somebody asks for them."""

import os

import pytest


def pytest_collection_modifyitems(items):
    """Skip the tests of this folder, and say how to run them."""
    if os.environ.get("STOPLIB_GRADING_TESTS"):
        return
    for item in items:
        if "grading" in item.path.parts and "tests" in item.path.parts:
            item.add_marker(pytest.mark.skip(reason="several minutes: set STOPLIB_GRADING_TESTS=1"))
