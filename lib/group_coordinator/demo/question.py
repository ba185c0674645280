"""What the closing words ask the tables."""

from __future__ import annotations

from typing import NamedTuple


class Question(NamedTuple):
    """A question, and the SQL that answers it; without a double quote, so that a shell can have it in such."""

    text: str
    sql: str
