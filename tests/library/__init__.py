"""Tests of the library's core, one file per module."""
