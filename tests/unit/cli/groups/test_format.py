"""Every table here was printed by Kafka 4.3.1's kafka-consumer-groups for the same groups."""

from __future__ import annotations

from kafka import OffsetAndMetadata, TopicPartition

from group_coordinator.cli.groups import actions, describe
from group_coordinator.cli.groups.output import table
from group_coordinator.clients.admin.descriptions import (
    GroupDescription,
    GroupListing,
    MemberDescription,
)
from group_coordinator.clients.cluster.cluster import Broker
from group_coordinator.clients.errors import (
    GroupSubscribedToTopicError,
    UnknownTopicOrPartitionError,
)

ORDERS = [TopicPartition("orders", number) for number in range(3)]
PAYMENTS = [TopicPartition("payments-and-refunds", number) for number in range(2)]
ALPHA = MemberDescription(
    "alpha-8bae30c5-9e73-458f-8ba8-941e15d7450d",
    None,
    "alpha",
    "/127.0.0.1",
    (*PAYMENTS, ORDERS[0]),
)
GAMMA = MemberDescription(
    "gamma-944854a7-1531-459b-a570-c369a45f9847", None, "gamma", "/127.0.0.1", (ORDERS[2],)
)
BETA = MemberDescription(
    "beta-9bbbbe04-7223-42fe-a677-fb55472cde7a", None, "beta", "/127.0.0.1", (ORDERS[1],)
)
STABLE = GroupDescription(
    "stable-group-with-a-long-name", "Stable", "consumer", "range", (GAMMA, ALPHA, BETA)
)
STATIC = GroupDescription(
    "static-group",
    "Stable",
    "consumer",
    "range",
    (
        MemberDescription(
            "instance-1-5fd60185-5e69-47d4-83d6-5167183ee929",
            "instance-1",
            "st",
            "/127.0.0.1",
            tuple(ORDERS),
        ),
    ),
)
SIMPLE = GroupDescription("simple-group", "Empty")
OLD = MemberDescription(
    "old-8bae30c5-9e73-458f-8ba8-941e15d7450d",
    None,
    "old",
    "/127.0.0.1",
    (ORDERS[0], ORDERS[1]),
    (ORDERS[0],),
    member_epoch=4,
    upgraded=False,
)
NEW = MemberDescription(
    "rrcMLkrqRw61HaKM72SUyg",
    None,
    "new",
    "/127.0.0.1",
    (),
    (ORDERS[1], ORDERS[2]),
    member_epoch=5,
    upgraded=True,
)
MOVING = GroupDescription(
    "moving-group",
    "Reconciling",
    "consumer",
    "uniform",
    (OLD, NEW),
    group_type="consumer",
    group_epoch=6,
    target_assignment_epoch=5,
)
ENDS = {ORDERS[0]: 4, ORDERS[1]: 3, ORDERS[2]: 3, PAYMENTS[0]: 2, PAYMENTS[1]: 2}


def lines(text: str) -> list[str]:
    return text.split("\n")


def test_listing_with_types_and_states() -> None:
    listings = [
        GroupListing("static-group", "classic", "Stable", "consumer"),
        GroupListing("stable-group-with-a-long-name", "classic", "Stable", "consumer"),
    ]

    text = table(actions.LISTING[frozenset({"type", "state"})], listings)

    assert lines(text) == [
        "GROUP                                   TYPE                 STATE               ",
        "static-group                            Classic              Stable              ",
        "stable-group-with-a-long-name           Classic              Stable              ",
    ]


def test_listing_of_no_groups() -> None:
    text = table(actions.LISTING[frozenset({"state"})], [])

    assert text == "GROUP                     STATE               "


def test_offsets_of_a_stable_group() -> None:
    rows = describe.offset_rows(STABLE, {}, ENDS)

    assert lines(table(describe.OFFSETS, rows)) == [
        "GROUP                         TOPIC                PARTITION  CURRENT-OFFSET  LOG-END-OFFSET  LAG             CONSUMER-ID                                HOST            CLIENT-ID",
        "stable-group-with-a-long-name orders               0          -               4               -               alpha-8bae30c5-9e73-458f-8ba8-941e15d7450d /127.0.0.1      alpha",
        "stable-group-with-a-long-name payments-and-refunds 0          -               2               -               alpha-8bae30c5-9e73-458f-8ba8-941e15d7450d /127.0.0.1      alpha",
        "stable-group-with-a-long-name payments-and-refunds 1          -               2               -               alpha-8bae30c5-9e73-458f-8ba8-941e15d7450d /127.0.0.1      alpha",
        "stable-group-with-a-long-name orders               2          -               3               -               gamma-944854a7-1531-459b-a570-c369a45f9847 /127.0.0.1      gamma",
        "stable-group-with-a-long-name orders               1          -               3               -               beta-9bbbbe04-7223-42fe-a677-fb55472cde7a  /127.0.0.1      beta",
    ]


def test_offsets_that_nobody_reads() -> None:
    offsets = {ORDERS[1]: OffsetAndMetadata(9, "m", 0), ORDERS[0]: OffsetAndMetadata(2, "", -1)}

    rows = describe.offset_rows(SIMPLE, offsets, ENDS)

    assert lines(table(describe.OFFSETS, rows)) == [
        "GROUP           TOPIC           PARTITION  CURRENT-OFFSET  LOG-END-OFFSET  LAG             CONSUMER-ID     HOST            CLIENT-ID",
        "simple-group    orders          0          2               4               2               -               -               -",
        "simple-group    orders          1          9               3               -6              -               -               -",
    ]
    assert lines(table(describe.OFFSETS_VERBOSE, rows)) == [
        "GROUP           TOPIC           PARTITION  LEADER-EPOCH    CURRENT-OFFSET  LOG-END-OFFSET  LAG             CONSUMER-ID     HOST            CLIENT-ID",
        "simple-group    orders          0          -               2               4               2               -               -               -",
        "simple-group    orders          1          0               9               3               -6              -               -               -",
    ]


def test_lag_needs_a_topic_that_exists() -> None:
    [row] = describe.offset_rows(SIMPLE, {ORDERS[0]: OffsetAndMetadata(2, "", -1)}, {})

    assert (row.offset, row.end_offset, row.lag) == (2, None, None)


def test_members_of_a_stable_group() -> None:
    rows = describe.member_rows(STABLE)

    assert lines(table(describe.member_columns(rows, describe.END_OF_LINE), rows)) == [
        "GROUP                         CONSUMER-ID                                HOST            CLIENT-ID       #PARTITIONS     ",
        "stable-group-with-a-long-name gamma-944854a7-1531-459b-a570-c369a45f9847 /127.0.0.1      gamma           1               ",
        "stable-group-with-a-long-name alpha-8bae30c5-9e73-458f-8ba8-941e15d7450d /127.0.0.1      alpha           3               ",
        "stable-group-with-a-long-name beta-9bbbbe04-7223-42fe-a677-fb55472cde7a  /127.0.0.1      beta            1               ",
    ]


def test_members_with_assignments() -> None:
    rows = describe.member_rows(STABLE)[:2]

    assert lines(table(describe.member_columns(rows, describe.ASSIGNMENTS), rows)) == [
        "GROUP                         CONSUMER-ID                                HOST            CLIENT-ID       #PARTITIONS     CURRENT-EPOCH   CURRENT-ASSIGNMENT                TARGET-EPOCH    TARGET-ASSIGNMENT   ",
        "stable-group-with-a-long-name gamma-944854a7-1531-459b-a570-c369a45f9847 /127.0.0.1      gamma           1               -               orders:2                          -               -                   ",
        "stable-group-with-a-long-name alpha-8bae30c5-9e73-458f-8ba8-941e15d7450d /127.0.0.1      alpha           3               -               orders:0;payments-and-refunds:0,1 -               -                   ",
    ]


def test_members_of_both_protocols() -> None:
    rows = describe.member_rows(MOVING)

    assert lines(table(describe.member_columns(rows, describe.ASSIGNMENTS), rows)) == [
        "GROUP           CONSUMER-ID                              HOST            CLIENT-ID       #PARTITIONS     CURRENT-EPOCH   CURRENT-ASSIGNMENT   TARGET-EPOCH    TARGET-ASSIGNMENT    UPGRADED",
        "moving-group    old-8bae30c5-9e73-458f-8ba8-941e15d7450d /127.0.0.1      old             2               4               orders:0,1           5               orders:0             false",
        "moving-group    rrcMLkrqRw61HaKM72SUyg                   /127.0.0.1      new             0               5               -                    5               orders:1,2           true",
    ]
    assert lines(table(describe.member_columns(rows, describe.END_OF_LINE), rows))[0] == (
        "GROUP           CONSUMER-ID                              HOST            CLIENT-ID       #PARTITIONS     "
    )


def test_members_of_the_consumer_protocol_alone_need_no_column_for_it() -> None:
    rows = describe.member_rows(MOVING)[1:]

    assert lines(table(describe.member_columns(rows, describe.ASSIGNMENTS), rows)) == [
        "GROUP           CONSUMER-ID            HOST            CLIENT-ID       #PARTITIONS     CURRENT-EPOCH   CURRENT-ASSIGNMENT   TARGET-EPOCH    TARGET-ASSIGNMENT   ",
        "moving-group    rrcMLkrqRw61HaKM72SUyg /127.0.0.1      new             0               5               -                    5               orders:1,2          ",
    ]


def test_topics_of_an_assignment_are_sorted_with_their_partitions() -> None:
    member = MemberDescription("m", None, "c", "h", (ORDERS[0], TopicPartition("orders-2", 1)))

    assert describe.MemberLine("g", member, None).assignment == "orders-2:1;orders:0"


def test_the_state_of_a_consumer_group() -> None:
    row = describe.StateRow(MOVING, Broker("127.0.0.1", 39092, 1))

    assert lines(table(describe.STATES_VERBOSE, [row])) == [
        "GROUP           COORDINATOR (ID)          ASSIGNMENT-STRATEGY  STATE                GROUP-EPOCH     TARGET-ASSIGNMENT-EPOCH   #MEMBERS",
        "moving-group    127.0.0.1:39092  (1)      uniform              Reconciling          6               5                         2",
    ]
    assert describe.notice(MOVING) == "\nWarning: Consumer group 'moving-group' is rebalancing."


def test_static_members() -> None:
    rows = describe.member_rows(STATIC)

    assert lines(table(describe.member_columns(rows, describe.ASSIGNMENTS), rows)) == [
        "GROUP           CONSUMER-ID                                     GROUP-INSTANCE-ID HOST            CLIENT-ID       #PARTITIONS     CURRENT-EPOCH   CURRENT-ASSIGNMENT   TARGET-EPOCH    TARGET-ASSIGNMENT   ",
        "static-group    instance-1-5fd60185-5e69-47d4-83d6-5167183ee929 instance-1        /127.0.0.1      st              3               -               orders:0,1,2         -               -                   ",
    ]


def test_members_of_an_empty_group() -> None:
    rows = describe.member_rows(SIMPLE)

    text = table(describe.member_columns(rows, describe.END_OF_LINE), rows)

    assert (
        text == "GROUP           CONSUMER-ID     HOST            CLIENT-ID       #PARTITIONS     "
    )


def test_states() -> None:
    row = describe.StateRow(STABLE, Broker("127.0.0.1", 39092, 1))

    assert lines(table(describe.STATES, [row])) == [
        "GROUP                         COORDINATOR (ID)          ASSIGNMENT-STRATEGY  STATE                #MEMBERS",
        "stable-group-with-a-long-name 127.0.0.1:39092  (1)      range                Stable               3",
    ]
    assert lines(table(describe.STATES_VERBOSE, [row])) == [
        "GROUP                         COORDINATOR (ID)          ASSIGNMENT-STRATEGY  STATE                GROUP-EPOCH     TARGET-ASSIGNMENT-EPOCH   #MEMBERS",
        "stable-group-with-a-long-name 127.0.0.1:39092  (1)      range                Stable               -               -                         3",
    ]


def test_the_state_of_a_simple_group() -> None:
    text = table(describe.STATES, [describe.StateRow(SIMPLE, None)])

    assert lines(text)[1] == (
        "simple-group    -                         -                    Empty                0"
    )


def test_statuses_of_deleted_offsets() -> None:
    statuses = actions.partition_statuses(
        {
            PAYMENTS[0]: None,
            TopicPartition("orders", 9): UnknownTopicOrPartitionError(),
            TopicPartition("orders", 10): None,
            ORDERS[0]: GroupSubscribedToTopicError(),
            TopicPartition("missing", -1): UnknownTopicOrPartitionError(),
        }
    )

    assert lines(table(actions.PARTITION_STATUSES, statuses)) == [
        "TOPIC                PARTITION  STATUS         ",
        "missing              -          Error: org.apache.kafka.common.errors.UnknownTopicOrPartitionException: This server does not host this topic-partition.",
        "orders               0          Error: org.apache.kafka.common.errors.GroupSubscribedToTopicException: Deleting offsets of a topic is forbidden while the consumer group is actively subscribed to it.",
        "orders               10         Successful     ",
        "orders               9          Error: org.apache.kafka.common.errors.UnknownTopicOrPartitionException: This server does not host this topic-partition.",
        "payments-and-refunds 0          Successful     ",
    ]


def test_notices() -> None:
    assert describe.notice(STABLE) is None
    assert describe.notice(SIMPLE) == "\nConsumer group 'simple-group' has no active members."
    assert describe.notice(GroupDescription("g", "PreparingRebalance")) == (
        "\nWarning: Consumer group 'g' is rebalancing."
    )
