from __future__ import annotations

from group_coordinator.clients.member.leader import partitions_by_range


def test_ranges_in_order_of_member_ids() -> None:
    assigned = partitions_by_range({"b": ["t"], "a": ["t"]}, {"t": 4})

    assert assigned == {"a": {"t": [0, 1]}, "b": {"t": [2, 3]}}


def test_the_first_members_get_one_more() -> None:
    assigned = partitions_by_range({"a": ["t"], "b": ["t"], "c": ["t"]}, {"t": 5})

    assert assigned == {"a": {"t": [0, 1]}, "b": {"t": [2, 3]}, "c": {"t": [4]}}


def test_each_topic_is_cut_for_those_who_want_it() -> None:
    assigned = partitions_by_range({"a": ["t", "u"], "b": ["u"]}, {"t": 2, "u": 2})

    assert assigned == {"a": {"t": [0, 1], "u": [0]}, "b": {"u": [1]}}


def test_more_members_than_partitions() -> None:
    assigned = partitions_by_range({"a": ["t"], "b": ["t"]}, {"t": 1})

    assert assigned == {"a": {"t": [0]}, "b": {}}


def test_a_topic_that_is_not_there_is_not_assigned() -> None:
    assert partitions_by_range({"a": ["t"]}, {}) == {"a": {}}


def test_a_topic_named_twice_counts_once() -> None:
    assert partitions_by_range({"a": ["t", "t"]}, {"t": 2}) == {"a": {"t": [0, 1]}}
