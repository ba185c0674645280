"""Checks before a start: a run would fail by what they find."""
