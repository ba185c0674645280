from __future__ import annotations

from base64 import b64encode

import pytest

from group_coordinator.clients.member.classic import assignments, partitions_by_range
from group_coordinator.core.embedded_protocol import encode_assignment, encode_subscription


def member(member_id: str, group_instance_id: str | None) -> dict[str, object]:
    metadata = b64encode(encode_subscription(("t",))).decode()
    return {"memberId": member_id, "groupInstanceId": group_instance_id, "metadata": metadata}


@pytest.mark.parametrize(
    ("members", "first_to_last"),
    [
        ([("b", None), ("a", None)], ["a", "b"]),
        ([("a", None), ("z", "i")], ["z", "a"]),
        ([("a", "2"), ("b", "10"), ("c", "1")], ["c", "b", "a"]),
        ([("\U0001f600", None), ("\uff5e", None)], ["\U0001f600", "\uff5e"]),
    ],
    ids=["by id", "static first", "by instance id", "as Java compares"],
)
def test_members_have_their_ranges_in_kafkas_order(
    members: list[tuple[str, str | None]], first_to_last: list[str]
) -> None:
    """MemberInfo.compareTo in Kafka's AbstractPartitionAssignor."""
    joined = {"members": [member(*one) for one in members]}

    assert assignments(joined, {"t": 3 * len(members)}) == {
        one: encode_assignment({"t": [3 * place, 3 * place + 1, 3 * place + 2]})
        for place, one in enumerate(first_to_last)
    }


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
