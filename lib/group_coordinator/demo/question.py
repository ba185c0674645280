"""Questions of the closing words."""

from __future__ import annotations

from typing import NamedTuple


class Question(NamedTuple):
    """A question, and its SQL, which has no double quote, so that a shell can quote it with double quotes."""

    text: str
    sql: str
