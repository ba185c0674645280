from __future__ import annotations

import pytest

from group_coordinator.core.model.topic_offsets import (
    CommittedOffset,
    OffsetAges,
    ages_of,
    soonest_of,
)
from tests.unit.core.requests import committed_offset


def committed(at_ms: int, expire_ms: int | None = None) -> CommittedOffset:
    return committed_offset(7, commit_timestamp_ms=at_ms, expire_timestamp_ms=expire_ms)


def test_the_ages_of_no_offsets() -> None:
    assert ages_of([]) == OffsetAges(None, None)


def test_an_offset_ages_from_its_commit_or_says_when_it_expires() -> None:
    offsets = [committed(5), committed(3), committed(1, 9), committed(2, 8)]

    assert ages_of(offsets) == OffsetAges(3, 8)


@pytest.mark.parametrize(
    ("new", "expected"),
    [
        (committed(4), OffsetAges(3, 8)),
        (committed(2), OffsetAges(2, 8)),
        (committed(4, 7), OffsetAges(3, 7)),
        (committed(4, 9), OffsetAges(3, 8)),
    ],
)
@pytest.mark.parametrize("old", [None, committed(5), committed(1, 9)])
def test_a_commit_may_only_bring_something_sooner(
    old: CommittedOffset | None, new: CommittedOffset, expected: OffsetAges
) -> None:
    assert OffsetAges(3, 8).after(old, new) == expected


@pytest.mark.parametrize("old", [committed(3), committed(1, 8)])
def test_where_the_first_one_is_committed_anew_only_a_look_at_the_others_can_tell(
    old: CommittedOffset,
) -> None:
    assert OffsetAges(3, 8).after(old, committed(5)) is None


def test_the_first_offset_is_the_first_of_its_kind() -> None:
    assert OffsetAges(None, None).after(None, committed(5)) == OffsetAges(5, None)
    assert OffsetAges(5, None).after(None, committed(4, 6)) == OffsetAges(5, 6)


def test_several_are_due_when_the_first_of_them_is() -> None:
    assert soonest_of([]) == OffsetAges(None, None)
    assert soonest_of([OffsetAges(5, None), OffsetAges(None, 8), OffsetAges(3, 9)]) == OffsetAges(
        3, 8
    )
