"""Checks before a start, each of a condition without which a run would fail."""
