from __future__ import annotations

from group_coordinator.demo.timeline import (
    EMPTY,
    OFFSETS_ONLY,
    WITH_MEMBERS,
    LogRow,
    Loss,
    timeline,
)


def group(
    at_s: float, name: str, reason: str, *, members: bool = False, gone: bool = False
) -> LogRow:
    return LogRow(at_s, name, 2, reason, None, None, gone, members)


def consumer(
    at_s: float,
    name: str,
    record_type: int,
    reason: str,
    member_id: str | None = None,
    *,
    gone: bool = False,
) -> LogRow:
    return LogRow(at_s, name, record_type, reason, None, None, gone, False, member_id)


def offset(at_s: float, name: str, reason: str, partition: int = 0) -> LogRow:
    return LogRow(at_s, name, 1, reason, "orders", partition, reason != "offset-commit", False)


def test_a_group_with_members_becomes_empty_and_goes() -> None:
    curves = timeline(
        [
            group(0.0, "billing", "join"),
            group(3.0, "billing", "sync", members=True),
            group(9.0, "billing", "leave"),
            group(70.0, "billing", "group-expired", gone=True),
        ]
    )

    assert curves.times_s == [0.0, 3.0, 9.0, 70.0]
    assert curves.groups[WITH_MEMBERS] == [0, 1, 0, 0]
    assert curves.groups[EMPTY] == [1, 0, 1, 0]


def test_a_consumer_group_has_members_one_by_one() -> None:
    curves = timeline(
        [
            consumer(0.0, "billing", 3, "join"),
            consumer(0.0, "billing", 5, "join", "m1"),
            consumer(0.0, "billing", 8, "join", "m1"),
            consumer(2.0, "billing", 5, "join", "m2"),
            consumer(4.0, "billing", 5, "leave", "m1", gone=True),
            consumer(4.0, "billing", 3, "leave"),
            consumer(6.0, "billing", 5, "leave", "m2", gone=True),
            consumer(9.0, "billing", 6, "group-deleted", gone=True),
            consumer(9.0, "billing", 3, "group-deleted", gone=True),
        ]
    )

    assert curves.times_s == [0.0, 2.0, 4.0, 6.0, 9.0]
    assert curves.groups[WITH_MEMBERS] == [1, 1, 1, 0, 0]
    assert curves.groups[EMPTY] == [0, 0, 0, 1, 0]
    assert curves.losses == [Loss(9.0, "billing", "deleted", 0)]


def test_an_upgraded_group_is_still_one_group() -> None:
    curves = timeline(
        [
            group(0.0, "billing", "sync", members=True),
            group(5.0, "billing", "upgrade", gone=True),
            consumer(5.0, "billing", 5, "upgrade", "m1"),
            consumer(5.0, "billing", 3, "upgrade"),
        ]
    )

    assert curves.groups[WITH_MEMBERS] == [1, 1]


def test_a_group_without_a_record_of_its_own_only_has_offsets() -> None:
    curves = timeline(
        [offset(0.0, "export", "offset-commit"), offset(5.0, "export", "offset-commit")]
    )

    assert curves.groups[OFFSETS_ONLY] == [1, 1]
    assert curves.offsets == [1, 1]
    assert curves.commit_times_s == [0.0, 5.0]


def test_losses_of_one_time_are_one_loss() -> None:
    curves = timeline(
        [
            offset(0.0, "billing", "offset-commit", 0),
            offset(0.0, "billing", "offset-commit", 1),
            offset(60.0, "billing", "offset-expired", 0),
            offset(60.0, "billing", "offset-expired", 1),
        ]
    )

    assert curves.times_s == [0.0, 60.0]
    assert curves.offsets == [2, 0]
    assert curves.losses == [Loss(60.0, "billing", "expired", 2)]


def test_a_deleted_group_loses_its_offsets_by_deletion() -> None:
    curves = timeline(
        [
            offset(0.0, "billing", "offset-commit"),
            offset(4.0, "billing", "group-deleted"),
            group(4.0, "billing", "group-deleted", gone=True),
        ]
    )

    assert curves.losses == [Loss(4.0, "billing", "deleted", 1)]
