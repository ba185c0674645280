"""Whether every event came to what it must come to, once."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from tests.hostile.sent import Fate, Sent

INVALID_REQUEST, UNSUPPORTED_VERSION = 42, 35
Coordinates = tuple[int, int]
"""Partition and offset."""


class Letter(NamedTuple):
    """A dead letter."""

    at: Coordinates
    reason: str
    value: bytes | None


class Expected(NamedTuple):
    """What must become of an event; its bytes only as far as they are needed to know them again."""

    kind: str
    fate: Fate
    answer: dict[str, Any] | None
    digest: bytes | None


def expected(sent: Sent, kept_bytes: int) -> Expected:
    """Of an event whose dead letter keeps at most so many bytes."""
    return Expected(sent.kind, sent.fate, sent.answer, _digest(sent.value, kept_bytes))


def _digest(value: bytes | None, kept_bytes: int) -> bytes | None:
    return None if value is None else hashlib.sha256(value[:kept_bytes]).digest()


def faults(
    events: Mapping[Coordinates, Expected],
    answers: Mapping[Coordinates, list[Any]],
    letters: Iterable[Letter],
) -> list[str]:
    """What went otherwise than it must, in words; answers are bodies by the coordinates of their requests."""
    found = []
    letters_of: dict[Coordinates, list[Letter]] = {}
    for letter in letters:
        letters_of.setdefault(letter.at, []).append(letter)
    found += [f"a dead letter of nothing: {at}" for at in letters_of.keys() - events.keys()]
    for at, event in events.items():
        fault = _fault(event, answers.get(at, []), letters_of.get(at, []))
        if fault:
            found.append(f"{event.kind} at {at}: {fault}")
    return found


def _fault(event: Expected, answers: list[Any], letters: list[Letter]) -> str | None:
    match event.fate:
        case Fate.ANSWERED:
            good = answers == [event.answer] and not letters
        case Fate.UNSUPPORTED:
            codes = [body["errorCode"] for body in answers]
            good = codes == [UNSUPPORTED_VERSION] and not letters
        case Fate.REFUSED:
            codes = [_error_code(body) for body in answers]
            good = [{"errorCode": code} for code in codes] == [event.answer] and not letters
        case Fate.DEAD_LETTER:
            good = len(letters) == 1 and _is_right(event, letters[0])
            good = good and all(body["errorCode"] == INVALID_REQUEST for body in answers)
    return None if good else f"{len(letters)} dead letters {letters[:1]}, answers {answers}"[:500]


def _error_code(body: dict[str, Any]) -> int:
    """Of the whole, or of the one setting's result."""
    code: int = (body.get("responses") or [body])[0]["errorCode"]
    return code


def _is_right(event: Expected, letter: Letter) -> bool:
    value_is_whole = _digest(letter.value, len(letter.value or b"")) == event.digest
    return value_is_whole and bool(letter.reason) and not letter.reason.startswith("defect")


def counted(events: Iterable[Expected]) -> Counter[tuple[str, str]]:
    """How many events of each kind there were, with what must become of them."""
    return Counter((event.kind, str(event.fate)) for event in events)
