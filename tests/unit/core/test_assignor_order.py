"""The expectations are the orders that TargetAssignmentBuilder of Kafka 4.4.0 gives on OpenJDK 17."""

from __future__ import annotations

from group_coordinator.core.kafka_order import (
    member_order,
    string_spot,
    subscribed_order,
    timeline_order,
    topic_name_order,
    upgraded_member_order,
)


def test_members_in_the_order_of_a_table_of_strings() -> None:
    present = [f"m{number}" for number in range(1, 14)]

    assert member_order(present, "m14") == [
        f"m{number}" for number in (1, 2, 3, 4, 5, 6, 7, 8, 11, 9, 10, 13, 12, 14)
    ]


def test_in_one_bucket_the_newcomer_is_last() -> None:
    assert {string_spot(member_id) % 16 for member_id in ("m1", "mA", "mQ", "ma")} == {4}
    assert member_order(["m1", "mA", "mQ"], "ma") == ["mQ", "mA", "m1", "ma"]


def test_members_that_were_put_twice_may_have_a_larger_table() -> None:
    assert timeline_order(["m1", "mE"]) == ["mE", "m1"]
    assert timeline_order(["m1", "mE"], room=3) == ["m1", "mE"]


def test_an_update_changes_nothing() -> None:
    present = ["m1", "m2", "m3"]

    assert (
        upgraded_member_order(present, "m2") == upgraded_member_order(["m1", "m2"], "m3") == present
    )


def test_a_static_member_takes_the_place_of_another() -> None:
    assert upgraded_member_order(["m1", "m2", "m3"], "m9", replaced="m2") == ["m1", "m3", "m9"]


def test_the_first_member() -> None:
    assert upgraded_member_order([], "m1") == ["m1"]


def test_names_of_topics() -> None:
    eleven = [f"topic-{n}" for n in (6, 7, 0, 1, 2, 10, 3, 11, 4, 12, 5)]
    thirteen = ["topic-6", "topic-7", "topic-8", "topic-9", *eleven[2:]]

    assert topic_name_order(sorted(eleven)) == eleven
    assert topic_name_order(sorted(thirteen)) == thirteen


def test_names_of_one_bucket_stay_as_they_were_told() -> None:
    assert topic_name_order(["bills", "orders", "audit"]) == ["audit", "bills", "orders"]
    assert topic_name_order(["orders", "audit", "bills", "audit"]) == ["audit", "orders", "bills"]


def test_names_beside_a_regex_the_larger_set_comes_first() -> None:
    # In a set of their own: c, then d, then e.
    assert subscribed_order(["e", "d"], ["c"]) == ["d", "e", "c"]
    assert subscribed_order(["d"], ["c", "e"]) == ["c", "e", "d"]
    assert subscribed_order(["d"], ["c"]) == ["c", "d"]
    assert subscribed_order(["c", "d"], ["d", "e", "c"]) == ["c", "d", "e"]
