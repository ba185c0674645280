"""What Spark reads is what the operator writes; a column of another type would be null without a word."""

from __future__ import annotations

from group_coordinator.tables.failed_events import DEAD_LETTER_LINE, DENIAL_LINE


def test_the_line_of_a_dead_letter() -> None:
    assert DEAD_LETTER_LINE.simpleString() == (
        "struct<group_id:string,source_partition:int,source_offset:bigint,reason:string,"
        "value:string,event_time_ms:bigint>"
    )


def test_the_line_of_a_denial() -> None:
    assert DENIAL_LINE.simpleString() == (
        "struct<group_id:string,source_partition:int,source_offset:bigint,api:string,"
        "principal:string,client_host:string,operation:string,resource_type:string,"
        "resource_name:string,event_time_ms:bigint>"
    )
