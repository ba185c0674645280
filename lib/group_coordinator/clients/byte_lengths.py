"""Rewriting of SQL queries that count the bytes of a binary column, such as `length(key)` of dead_letters.

DataFusion's length functions accept text only: `length` casts binary values to UTF-8 and fails, `octet_length` rejects
them. In a query about dead_letters the argument becomes a text with a letter for each byte.
"""

from __future__ import annotations

import re

import pyarrow as pa

_TABLE = re.compile(r"\bdead_letters\b", re.IGNORECASE)
_COLUMN = r'(?:(?:\w+|"[^"]*")\s*\.\s*)*(?:key|value|"key"|"value")'
_CALL = re.compile(
    r"'[^']*'|--[^\n]*|/\*.*?\*/"
    r"|\b(?P<function>(?:char_|character_|octet_|bit_)?length\s*\(\s*)"
    rf"(?P<column>{_COLUMN})(?=\s*\))"
    r'|"[^"]*"',
    re.IGNORECASE | re.DOTALL,
)
"""Pattern that also matches literals, comments and quoted names, so that no call is found inside them."""
_AS_LETTERS = (
    "CASE WHEN arrow_typeof({0}) LIKE '%Binary%' THEN regexp_replace(encode(arrow_cast({0}, 'Binary'), 'hex'), '..', 'x', 'g') "
    "ELSE arrow_cast({0}, 'Utf8') END"
)
"""SQL whose CASE tests the type: a column of the same name in another table may be text."""
_IN_HEADINGS = re.compile(r'CASE WHEN arrow_typeof\((.*?)\) LIKE Utf8\("%Binary%"\) .*? END')


def with_lengths_of_bytes(sql: str) -> str:
    """Rewrite the query for the engine."""
    return _CALL.sub(_rewritten, sql) if _TABLE.search(sql) else sql


def _rewritten(found: re.Match[str]) -> str:
    if found["function"] is None:
        return found[0]
    return found["function"] + _AS_LETTERS.format(found["column"])


def with_headings_restored(answer: pa.Table) -> pa.Table:
    """Restore the headings that the query had before it was rewritten."""
    return answer.rename_columns([_IN_HEADINGS.sub(r"\1", name) for name in answer.column_names])
