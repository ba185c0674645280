from __future__ import annotations

from typing import Any

import pytest

from tests.hostile.events import COMMITTED
from tests.hostile.sent import Fate, Sent
from tests.hostile.verdict import Letter, expected, faults

AT = (3, 7)
UNSUPPORTED = {"errorCode": 35}
LETTER = Letter(AT, "not JSON", b"nope")


def outcome(fate: Fate, answers: list[Any], letters: list[Letter]) -> int:
    event = expected(Sent("a kind", b"g", b"nope", fate, COMMITTED), 1_000)
    return len(faults({AT: event}, {AT: answers}, letters))


@pytest.mark.parametrize(
    ("fate", "answers", "letters"),
    [
        (Fate.ANSWERED, [COMMITTED], []),
        (Fate.UNSUPPORTED, [UNSUPPORTED], []),
        (Fate.DEAD_LETTER, [], [LETTER]),
        (Fate.DEAD_LETTER, [{"errorCode": 42}], [LETTER]),
    ],
)
def test_the_right_outcome_is_no_fault(
    fate: Fate, answers: list[Any], letters: list[Letter]
) -> None:
    assert outcome(fate, answers, letters) == 0


@pytest.mark.parametrize(
    ("fate", "answers", "letters"),
    [
        (Fate.ANSWERED, [], []),
        (Fate.ANSWERED, [COMMITTED, COMMITTED], []),
        (Fate.ANSWERED, [COMMITTED | {"topics": []}], []),
        (Fate.ANSWERED, [COMMITTED], [LETTER]),
        (Fate.UNSUPPORTED, [{"errorCode": 42}], []),
        (Fate.UNSUPPORTED, [UNSUPPORTED], [LETTER]),
        (Fate.DEAD_LETTER, [], []),
        (Fate.DEAD_LETTER, [], [LETTER, LETTER]),
        (Fate.DEAD_LETTER, [UNSUPPORTED], [LETTER]),
        (Fate.DEAD_LETTER, [], [LETTER._replace(value=b"nop")]),
        (Fate.DEAD_LETTER, [], [LETTER._replace(reason="")]),
        (Fate.DEAD_LETTER, [], [LETTER._replace(reason="defect: ZeroDivisionError: planted")]),
        (Fate.DEAD_LETTER, [], [LETTER, LETTER._replace(at=(3, 8))]),
    ],
)
def test_every_other_outcome_is_a_fault(
    fate: Fate, answers: list[Any], letters: list[Letter]
) -> None:
    assert outcome(fate, answers, letters) == 1
