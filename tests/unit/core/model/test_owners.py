from __future__ import annotations

from group_coordinator.core.model.consumer_group import Owners


def test_partitions_have_the_owner_that_was_named_last() -> None:
    owners = Owners()
    owners.give("orders", [0, 1, 300], "a")
    owners.give("orders", [1], "b")
    owners.give("bills", [1], "c")

    assert [owners.owner_of("orders", number) for number in (0, 1, 2, 300)] == ["a", "b", None, "a"]
    assert owners.owner_of("bills", 1) == "c"
    assert owners.owner_of("carts", 1) is None


def test_a_partition_is_taken_from_its_owner_alone() -> None:
    owners = Owners()
    owners.give("orders", [0, 1, 300], "a")
    owners.give("orders", [1], "b")

    owners.take("orders", [0, 1, 2, 300, 600], "a")

    assert [owners.owner_of("orders", number) for number in (0, 1, 300)] == [None, "b", None]
    assert owners
    owners.take("orders", [1], "b")
    assert not owners
