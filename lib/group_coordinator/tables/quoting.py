"""Literals in the SQL of DataFusion, which runs without Spark."""

from __future__ import annotations


def in_datafusion(text: str) -> str:
    # Unlike in Spark's SQL, a backslash stands for itself.
    return "'" + text.replace("'", "''") + "'"
