"""Settings for the property tests: the same examples in every run, and no deadline on a slow computer."""

from hypothesis import settings

settings.register_profile("stoplib", deadline=None, derandomize=True, max_examples=100)
settings.load_profile("stoplib")
