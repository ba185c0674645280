from __future__ import annotations

import pytest

from group_coordinator.codecs import wire


def test_names_and_keys() -> None:
    assert wire.api_name(8) == "OffsetCommit"
    assert wire.api_key("OffsetCommit") == 8
    assert wire.api_key("DescribeTopicPartitions") == 75


def test_what_only_brokers_say_and_groups_of_other_kinds_are_unknown() -> None:
    assert [wire.api_name(key) for key in (-1, 4, 27, 76, 88, 200)] == [None] * 6
    with pytest.raises(KeyError, match="WriteTxnMarkers"):
        wire.api_key("WriteTxnMarkers")


def test_versions_of_the_requests() -> None:
    assert wire.valid_versions("OffsetCommit") == range(2, 11)
    assert wire.valid_versions("OffsetDelete") == range(1)
    assert wire.valid_versions("Produce") == range(3, 14)
