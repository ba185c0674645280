"""Which rights a request of the group APIs needs.

Source: KafkaApis of Kafka 4.4.
"""

from __future__ import annotations

from collections.abc import Iterator

from group_coordinator.gateway.group_part import Body
from group_coordinator.gateway.groups import lists
from group_coordinator.gateway.groups.known_topics import KnownTopics
from group_coordinator.gateway.rights.rights_questions import Operation, Right

ON_GROUPS: dict[str, Operation] = {
    "JoinGroup": "READ",
    "SyncGroup": "READ",
    "Heartbeat": "READ",
    "LeaveGroup": "READ",
    "OffsetCommit": "READ",
    "TxnOffsetCommit": "READ",
    "ConsumerGroupHeartbeat": "READ",
    "OffsetFetch": "DESCRIBE",
    "DescribeGroups": "DESCRIBE",
    "ConsumerGroupDescribe": "DESCRIBE",
    "DeleteGroups": "DELETE",
    "OffsetDelete": "DELETE",
    "DescribeConfigs": "DESCRIBE_CONFIGS",
    "IncrementalAlterConfigs": "ALTER_CONFIGS",
}
"""By API; a listing needs none to be answered."""
ON_TOPICS: dict[str, Operation] = {
    "OffsetCommit": "READ",
    "TxnOffsetCommit": "READ",
    "OffsetDelete": "READ",
    "OffsetFetch": "DESCRIBE",
}
"""By API; what is missing is refused topic by topic."""


def needed(api: str, version: int, body: Body, topics: KnownTopics) -> Iterator[Right]:
    """All that must be known before the job is asked."""
    on_groups = ON_GROUPS.get(api)
    if on_groups is None:
        return
    fields = lists.fields_of(api, version)
    entries = [body] if fields is None else body[fields.asked]
    for entry in entries:
        yield Right(on_groups, "GROUP", lists.group_of(entry))
    if api in ON_TOPICS:
        named = (topic for entry in entries for topic in entry["topics"] or ())
        names = filter(None, (name_of(topic, topics) for topic in named))
        yield from (Right(ON_TOPICS[api], "TOPIC", name) for name in names)
    for name in body.get("subscribedTopicNames") or ():
        yield Right("DESCRIBE", "TOPIC", name)
    if api == "TxnOffsetCommit":
        yield Right("WRITE", "TRANSACTIONAL_ID", body["transactionalId"])


def name_of(topic: Body, topics: KnownTopics) -> str | None:
    """None: it goes by an id that nobody knows."""
    if "name" in topic:
        return str(topic["name"])
    return topics.name_of(topic["topicId"])
