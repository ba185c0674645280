"""What each API needs, and how it is refused: the request table of KafkaApis. tests/broker/test_acls.py asks a real broker."""

from __future__ import annotations

import pytest

from group_coordinator.core.acls import Denial, Operation, ResourceType
from group_coordinator.core.model import responses
from group_coordinator.core.model.consumer_group import ConsumerGroup
from group_coordinator.core.model.errors import ErrorCode
from group_coordinator.core.model.group import Group
from group_coordinator.core.model.requests import (
    AlterConfigs,
    ConfigChange,
    ConsumerGroupDescribe,
    DeleteGroup,
    DescribeConfigs,
    DescribeGroup,
    EndTxn,
    Heartbeat,
    OffsetDelete,
    OffsetFetch,
    PartitionCommit,
    Request,
    Tick,
    Topic,
    TopicCommit,
    TopicMetadata,
    TopicPartitions,
    TxnOffsetCommit,
)
from group_coordinator.core.model.responses import (
    FetchedPartition,
    FetchedTopic,
    JoinGroupResponse,
    MemberResult,
    PartitionResult,
    Response,
    TopicResult,
)
from group_coordinator.testing import GroupDriver
from tests.support.acls import authorizer
from tests.unit.core import requests as usual
from tests.unit.core.requests import beat

GROUP, TOPIC, CLUSTER = ResourceType.GROUP, ResourceType.TOPIC, ResourceType.CLUSTER
DENIED, UNSEEN = ErrorCode.GROUP_AUTHORIZATION_FAILED, ErrorCode.TOPIC_AUTHORIZATION_FAILED
NONE, UNKNOWN = ErrorCode.NONE, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
ORDERS = "AAAAAAAAAAAAAAAAAAAAAQ"
SEEN, SECRET = "AAAAAAAAAAAAAAAAAAAAAg", "AAAAAAAAAAAAAAAAAAAAAw"
ALL_OF_G = "ALLOW User:billing ALL GROUP g"
TXN = "ALLOW User:billing WRITE TRANSACTIONAL_ID t"


def driver(*rules: str) -> GroupDriver:
    """Of a group that User:billing asks; ask_freely takes the rules away for a request."""
    made = GroupDriver()
    made.principal, made.client_host = "User:billing", "/10.0.0.7"
    made.acls = authorizer(*rules, super_users=("User:admin",))
    return made


def told(made: GroupDriver, *names: tuple[str, str]) -> GroupDriver:
    """The group, which the job has told of topics with two partitions each."""
    made.principal = "User:admin"
    made.learn_topics(*(Topic(name, topic_id, 2, None) for name, topic_id in names))
    made.principal = "User:billing"
    return made


def txn(*topics: str) -> TxnOffsetCommit:
    commits = tuple(
        TopicCommit(name, None, (PartitionCommit(0, 1, None, "", None),)) for name in topics
    )
    return usual.txn_commit(topics=commits, producer_id=1, producer_epoch=0, transactional_id="t")


def fetch(*topics: str) -> OffsetFetch:
    asked = tuple(TopicPartitions(name, None, (0,)) for name in topics)
    return OffsetFetch("g", None, None, asked, require_stable=False)


def of_orders(code: ErrorCode) -> tuple[TopicResult, ...]:
    return (TopicResult("orders", None, (PartitionResult(0, code),)),)


def described(error: ErrorCode) -> responses.ConsumerGroupDescribeResponse:
    return responses.ConsumerGroupDescribeResponse(error=error, error_message=None, group_id="g")


@pytest.mark.parametrize(
    ("request_", "version", "needed", "answer"),
    [
        (usual.join("m"), 9, "READ", JoinGroupResponse(DENIED, "")),
        (usual.sync("m", 1), 5, "READ", responses.SyncGroupResponse(DENIED)),
        (Heartbeat("g", 1, "m", None), 4, "READ", responses.HeartbeatResponse(DENIED)),
        (usual.leave(("m", None)), 5, "READ", responses.LeaveGroupResponse(DENIED)),
        (usual.commit(), 9, "READ", responses.OffsetCommitResponse(of_orders(DENIED))),
        (beat("orders"), 1, "READ", responses.ConsumerGroupHeartbeatResponse(DENIED)),
        (fetch("orders"), 9, "DESCRIBE", responses.OffsetFetchResponse(DENIED, "g")),
        (
            DescribeGroup("g"),
            6,
            "DESCRIBE",
            responses.DescribeGroupResponse(
                error=DENIED, error_message=None, group_id="g", state=""
            ),
        ),
        (ConsumerGroupDescribe("g"), 1, "DESCRIBE", described(DENIED)),
        (DeleteGroup("g"), 3, "DELETE", responses.DeleteGroupResponse(DENIED, "g")),
        (OffsetDelete("g", ()), 0, "DELETE", responses.OffsetDeleteResponse(DENIED)),
        (
            DescribeConfigs("g", (), wants_synonyms=False, wants_documentation=False),
            4,
            "DESCRIBE_CONFIGS",
            responses.DescribeConfigsResponse(DENIED, "Group authorization failed.", "g"),
        ),
        (
            AlterConfigs("g", (), validates_only=False),
            1,
            "ALTER_CONFIGS",
            responses.AlterConfigsResponse(DENIED, "Group authorization failed.", "g"),
        ),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Request) else "",
)
def test_an_api_is_refused_without_its_right_on_the_group(
    request_: Request, version: int, needed: str, answer: Response
) -> None:
    operation = Operation(needed)
    all_but_that = driver(
        ALL_OF_G, f"DENY User:billing {needed} GROUP g", "ALLOW User:billing ALL TOPIC *"
    )

    refused = all_but_that.send(request_, version)

    assert refused.response == answer
    assert refused.records == ()
    assert refused.denials == (Denial(operation, GROUP, "g"),)
    assert all_but_that.group.membership is None
    just_that = driver(f"ALLOW User:billing {needed} GROUP g", "ALLOW User:billing ALL TOPIC *")
    assert just_that.send(request_, version).denials == ()


def test_a_denied_request_leaves_no_trace() -> None:
    made = driver()
    made.at(5)
    made.heartbeat("m", 1)

    assert made.group == Group("g")


def test_a_commit_in_a_transaction_needs_its_id_first() -> None:
    nothing = driver().send(txn("orders"), 5)
    no_group = driver(TXN).send(txn("orders"), 5)

    code = ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED
    assert nothing.response == responses.TxnOffsetCommitResponse(of_orders(code))
    kind = ResourceType.TRANSACTIONAL_ID
    assert nothing.denials == (Denial(Operation.WRITE, kind, "t"),)
    assert no_group.response == responses.TxnOffsetCommitResponse(of_orders(DENIED))
    assert no_group.denials == (Denial(Operation.READ, GROUP, "g"),)


@pytest.mark.parametrize("version", [1, 2])
def test_the_first_fetches_have_errors_at_partitions_only(version: int) -> None:
    refused = driver().send(fetch("orders"), version).response

    partitions = (FetchedTopic("orders", None, (FetchedPartition(0),)),)
    topics = partitions if version == 1 else ()
    assert refused == responses.OffsetFetchResponse(DENIED, "g", topics)


@pytest.mark.parametrize(("version", "code"), [(4, 30), (5, 23)])
def test_a_sync_without_its_protocol_hears_of_that_first(version: int, code: int) -> None:
    refused = driver().send(usual.sync("m", 1, name=None), version)

    assert refused.response.error == code


def test_topics_of_a_commit_are_refused_one_by_one_in_the_order_of_the_request() -> None:
    made = driver(
        "ALLOW User:billing READ GROUP g",
        "ALLOW User:billing READ TOPIC orders",
        "ALLOW User:billing DESCRIBE TOPIC seen",
        "ALLOW User:billing READ TOPIC gone",
    )
    told(made, ("orders", ORDERS), ("seen", SEEN), ("secret", SECRET))

    mixed = made.commit({"orders": {0: 7}, "seen": {0: 7}, "gone": {0: 7}, "secret": {1: 7}})

    assert mixed.response == responses.OffsetCommitResponse(
        (
            TopicResult("seen", SEEN, (PartitionResult(0, UNSEEN),)),
            TopicResult("gone", None, (PartitionResult(0, UNKNOWN),)),
            TopicResult("secret", SECRET, (PartitionResult(1, UNSEEN),)),
            TopicResult("orders", ORDERS, (PartitionResult(0, NONE),)),
        )
    )
    assert mixed.denials == (
        Denial(Operation.READ, TOPIC, "seen"),
        Denial(Operation.READ, TOPIC, "secret"),
    )
    assert made.group.offsets.keys() == {"orders"}


def test_a_commit_of_denied_topics_makes_no_group() -> None:
    made = driver("ALLOW User:billing READ GROUP g")

    by_name = made.commit({"orders": {0: 7}})
    in_transaction = driver("ALLOW User:billing READ GROUP g", TXN).send(txn("orders"), 5)

    assert by_name.response == responses.OffsetCommitResponse(of_orders(UNSEEN))
    assert in_transaction.response == responses.TxnOffsetCommitResponse(of_orders(UNSEEN))
    assert made.group.membership is None


def test_topics_by_id_are_asked_for_by_their_names() -> None:
    made = told(driver(ALL_OF_G, "ALLOW User:billing READ TOPIC orders"), ("secret", SECRET))

    committed = made.send(usual.commit(topic=None, topic_id=SECRET), 10).response
    fetched = made.send(usual.fetch_by_id(SECRET, 0), 10).response

    assert committed.topics[0].partitions == (PartitionResult(0, UNSEEN),)
    assert fetched.topics == (FetchedTopic(None, SECRET, (FetchedPartition(0, error=UNSEEN),)),)


def test_offsets_of_denied_topics_are_not_deleted() -> None:
    made = driver(
        "ALLOW User:billing READ GROUP g",
        "ALLOW User:admin ALL GROUP g",
        "ALLOW User:billing DELETE GROUP g",
        "ALLOW User:billing READ TOPIC orders",
        "ALLOW User:billing DESCRIBE TOPIC seen",
    )
    made.principal = "User:admin"
    made.commit({"orders": {0: 1}, "seen": {0: 2}})
    made.principal = "User:billing"

    deleted = made.delete_offsets({"orders": [0], "seen": [0]})

    assert deleted.response == responses.OffsetDeleteResponse(
        NONE,
        (
            TopicResult("seen", None, (PartitionResult(0, UNSEEN),)),
            TopicResult("orders", None, (PartitionResult(0, NONE),)),
        ),
    )
    assert made.group.offsets.keys() == {"seen"}


def test_a_fetch_of_named_topics_has_the_denied_ones_at_its_end() -> None:
    made = driver("ALLOW User:billing DESCRIBE GROUP g", "ALLOW User:billing DESCRIBE TOPIC orders")
    made.principal = "User:admin"
    made.commit({"orders": {0: 1}, "secret": {0: 2}})
    made.principal = "User:billing"

    fetched = made.fetch({"secret": [0, 1], "orders": [0]})
    everything = made.fetch()

    orders = FetchedTopic("orders", None, (FetchedPartition(0, 1),))
    refused = tuple(FetchedPartition(number, error=UNSEEN) for number in (0, 1))
    assert fetched.response.topics == (orders, FetchedTopic("secret", None, refused))
    assert fetched.denials == (Denial(Operation.DESCRIBE, TOPIC, "secret"),)
    assert everything.response.topics == (orders,)
    assert everything.denials == ()


def test_a_denied_topic_does_not_say_that_a_transaction_is_open() -> None:
    made = driver("ALLOW User:billing DESCRIBE GROUP g")
    made.principal = "User:admin"
    made.send(txn("secret"), 5)
    made.principal = "User:billing"

    stable = made.send(fetch("secret").replace(require_stable=True), 9).response

    assert stable.topics[0].partitions == (FetchedPartition(0, error=UNSEEN),)


def test_a_heartbeat_names_only_topics_that_its_sender_may_see() -> None:
    made = driver("ALLOW User:billing READ GROUP g", "ALLOW User:billing DESCRIBE TOPIC orders")

    denied = made.send(beat("secret", "orders", "hidden"), 1)
    taken = made.send(beat("orders"), 1)

    assert denied.response == responses.ConsumerGroupHeartbeatResponse(UNSEEN)
    assert denied.denials == (
        Denial(Operation.DESCRIBE, TOPIC, "secret"),
        Denial(Operation.DESCRIBE, TOPIC, "hidden"),
    )
    assert taken.response.error is NONE


def test_a_pattern_matches_topics_that_the_sender_of_the_heartbeat_may_see() -> None:
    made = driver("ALLOW User:billing READ GROUP g", "ALLOW User:billing READ TOPIC orders")
    told(made, ("orders", ORDERS), ("secret", SECRET))

    joined = made.consumers.join("m", topic_regex=".*")

    assert joined.denials == ()
    assert isinstance(made.group.membership, ConsumerGroup)
    assert made.group.membership.regexes[".*"].topics == ("orders",)


def test_a_group_with_a_topic_that_one_may_not_see_is_not_described() -> None:
    made = driver(
        "ALLOW User:billing READ GROUP g",
        "ALLOW User:billing READ TOPIC orders",
        "ALLOW User:audit DESCRIBE GROUP g",
    )
    told(made, ("orders", ORDERS))
    made.consumers.join("m", ["orders"])

    seen = made.consumers.describe()
    made.principal = "User:audit"
    unseen = made.consumers.describe()

    assert seen.response.error is NONE
    message = "The group has described topic(s) that the client is not authorized to describe."
    assert unseen.response == responses.ConsumerGroupDescribeResponse(
        error=UNSEEN, error_message=message, group_id="g"
    )
    assert unseen.denials == (Denial(Operation.DESCRIBE, TOPIC, "orders"),)


def test_authorized_operations_tell_the_truth() -> None:
    made = driver("ALLOW User:billing READ GROUP g", "ALLOW User:billing ALTER_CONFIGS GROUP g")
    read, describe, describe_configs, alter_configs = 1 << 3, 1 << 8, 1 << 10, 1 << 11

    classic = made.send(DescribeGroup("g", asks_for_operations=True), 5)
    made.consumers.join("m", topic_regex="x")
    consumer = made.send(ConsumerGroupDescribe("g", asks_for_operations=True), 1)

    operations = read | describe | describe_configs | alter_configs
    assert (classic.response.operations, consumer.response.operations) == (operations, operations)
    assert classic.denials == ()


def test_other_faults_of_altered_settings_come_before_a_missing_right() -> None:
    twice = (ConfigChange("a", 0, "1"), ConfigChange("a", 0, "2"))
    refused = driver().send(AlterConfigs("g", twice, validates_only=False), 1)

    assert (refused.response.error, refused.denials) == (ErrorCode.INVALID_REQUEST, ())


@pytest.mark.parametrize(
    ("request_", "answer"),
    [
        (TopicMetadata("g", (Topic("orders", ORDERS, 1, None),), ()), None),
        (
            EndTxn(group_id="g", producer_id=1, is_commit=True),
            responses.EndTxnResponse(ErrorCode.CLUSTER_AUTHORIZATION_FAILED),
        ),
    ],
)
def test_events_of_the_system_are_obeyed_from_those_who_may_act_as_brokers(
    request_: Request, answer: Response | None
) -> None:
    stranger = driver(ALL_OF_G, "ALLOW User:billing ALL TOPIC *")
    broker = driver("ALLOW User:billing CLUSTER_ACTION CLUSTER kafka-cluster")

    refused = stranger.send(request_, 0)

    assert refused.denials == (Denial(Operation.CLUSTER_ACTION, CLUSTER, "kafka-cluster"),)
    assert (refused.records, stranger.group.topics) == ((), None)
    assert [*refused.responses.values()] == ([] if answer is None else [answer])
    assert broker.send(request_, 0).denials == ()


def test_a_tick_needs_no_right() -> None:
    assert driver().send(Tick("g"), 0).denials == ()


def test_without_rules_nobody_needs_any() -> None:
    made = GroupDriver()
    made.principal = "User:nobody"

    assert made.send(usual.leave(("m", None)), 5).response == responses.LeaveGroupResponse(
        NONE, (MemberResult("m", None, ErrorCode.UNKNOWN_MEMBER_ID),)
    )
