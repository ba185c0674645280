"""Texts inside the SQL that DataFusion is asked, without Spark."""

from __future__ import annotations


def in_datafusion(text: str) -> str:
    """A text as DataFusion's SQL writes it: unlike in Spark's, a backslash stands for itself."""
    return "'" + text.replace("'", "''") + "'"
