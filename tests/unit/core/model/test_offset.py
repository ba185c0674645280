from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from group_coordinator.core.model import group as group_module
from group_coordinator.core.model.group import Group
from group_coordinator.core.model.offset import CommittedOffset, OffsetAges, ages_of

TIMES_MS = st.integers(0, 5)
OFFSETS = st.builds(
    lambda at_ms, expire_ms: CommittedOffset(7, None, "", at_ms, expire_ms, None),
    TIMES_MS,
    st.none() | TIMES_MS,
)


def committed(at_ms: int, expire_ms: int | None = None) -> CommittedOffset:
    return CommittedOffset(7, None, "", at_ms, expire_ms, None)


def test_the_ages_of_no_offsets() -> None:
    assert ages_of([]) == OffsetAges(None, None)


def test_an_offset_ages_from_its_commit_or_says_when_it_expires() -> None:
    offsets = [committed(5), committed(3), committed(1, 9), committed(2, 8)]

    assert ages_of(offsets) == OffsetAges(3, 8)


@given(changes=st.lists(st.tuples(st.integers(0, 3), st.none() | OFFSETS, st.booleans())))
def test_a_group_knows_the_ages_of_its_offsets_as_they_are(
    changes: list[tuple[int, CommittedOffset | None, bool]],
) -> None:
    group = Group("g")
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(group_module, "_MANY_OFFSETS", 2)
        for partition, offset, is_asked in changes:
            if offset is None:
                group.remove_offset("orders", partition)
            else:
                group.store_offset("orders", partition, offset)
            if is_asked and group.offsets:
                assert group.offset_ages("orders") == ages_of(group.offsets["orders"].values())


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
