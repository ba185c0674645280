"""Escapes for characters that standard output cannot encode or a terminal cannot show."""

from __future__ import annotations

import re
import sys
from io import TextIOWrapper

from group_coordinator.report.phrases import is_seen

_NOT_ASCII = re.compile(r"[^\n -~]")


def escape_missing_characters() -> None:
    """Make standard output escape characters that its encoding lacks, instead of a UnicodeEncodeError."""
    if isinstance(sys.stdout, TextIOWrapper):  # not so in a notebook
        sys.stdout.reconfigure(errors="backslashreplace")


def visible_json(document: str, encoding: str | None) -> str:
    r"""Return the document with \uXXXX for characters that are invisible or not in the encoding (None: UTF-8)."""

    def escaped(found: re.Match[str]) -> str:
        character = found[0]
        if is_seen(character) and character.encode(encoding or "utf-8", "ignore"):
            return character
        # JSON's escapes are UTF-16 code units.
        units = character.encode("utf-16-be", "surrogatepass")
        return "".join(f"\\u{units[at : at + 2].hex()}" for at in range(0, len(units), 2))

    return _NOT_ASCII.sub(escaped, document)
