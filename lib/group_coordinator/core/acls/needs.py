"""Which rights each API needs, by the API's name.

Source: KafkaApis, ConfigHelper and AclEntry of Kafka 4.4. What an API needs beside this table is where it is asked for: the
topics of ConsumerGroupHeartbeat and ConsumerGroupDescribe, the transactional id of TxnOffsetCommit.
"""

from __future__ import annotations

from group_coordinator.core.acls.rule import Operation

ON_GROUPS: dict[str, Operation] = {
    "JoinGroup": Operation.READ,
    "SyncGroup": Operation.READ,
    "Heartbeat": Operation.READ,
    "LeaveGroup": Operation.READ,
    "OffsetCommit": Operation.READ,
    "TxnOffsetCommit": Operation.READ,
    "ConsumerGroupHeartbeat": Operation.READ,
    "OffsetFetch": Operation.DESCRIBE,
    "DescribeGroups": Operation.DESCRIBE,
    "ConsumerGroupDescribe": Operation.DESCRIBE,
    "DeleteGroups": Operation.DELETE,
    "OffsetDelete": Operation.DELETE,
    "DescribeConfigs": Operation.DESCRIBE_CONFIGS,
    "IncrementalAlterConfigs": Operation.ALTER_CONFIGS,
}
"""A listing needs none to be answered."""
ON_TOPICS: dict[str, Operation] = {
    "OffsetCommit": Operation.READ,
    "TxnOffsetCommit": Operation.READ,
    "OffsetDelete": Operation.READ,
    "OffsetFetch": Operation.DESCRIBE,
}
"""What is missing is refused topic by topic."""
TO_SEE_TOPICS = Operation.DESCRIBE
"""Of those that a member subscribes to or is assigned, and of those whose offsets are shown to who named none."""
ON_TRANSACTIONAL_IDS = Operation.WRITE
OF_THE_SYSTEM = Operation.CLUSTER_ACTION
"""On the cluster: what brokers and controllers ask of one another, markers of transactions among it."""
GROUP_OPERATIONS = (
    Operation.READ,
    Operation.DELETE,
    Operation.DESCRIBE,
    Operation.DESCRIBE_CONFIGS,
    Operation.ALTER_CONFIGS,
)
"""All that can be done with a group."""

GROUP_DENIED = "Group authorization failed."
"""What answers about settings say."""
UNSEEN_TOPICS = "The group has described topic(s) that the client is not authorized to describe."
