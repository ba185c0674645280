from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from group_coordinator.tables.compaction.spark import Range, ranges_of


def test_few_groups_are_named_one_by_one() -> None:
    assert ranges_of(["b", "o'hara", "a"]) == [
        Range("a", "a"),
        Range("b", "b"),
        Range("o'hara", "o'hara"),
    ]


def test_many_groups_share_128_ranges() -> None:
    ranges = ranges_of([f"group-{number:05}" for number in range(9_999, -1, -1)])

    assert len(ranges) == 127
    assert ranges[0] == Range("group-00000", "group-00078")
    assert ranges[-1] == Range("group-09954", "group-09999")


@given(st.lists(st.text(min_size=1), unique=True, max_size=500))
def test_each_group_is_in_a_range_in_the_order_of_deltas_statistics(groups: list[str]) -> None:
    ranges = [(first.encode(), last.encode()) for first, last in ranges_of(groups)]

    assert len(ranges) <= 128
    assert all(any(first <= group.encode() <= last for first, last in ranges) for group in groups)
