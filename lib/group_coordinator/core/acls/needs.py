"""Which rights requests need in addition to those in `core/apis.py`.

Source: KafkaApis, ConfigHelper and AclEntry of Kafka 4.4.
"""

from __future__ import annotations

from group_coordinator.core.acls.rule import Operation

TO_CHANGE_OFFSETS = Operation.READ
"""On the topics of commits and deletions; without it they are refused topic by topic."""
TO_SEE_TOPICS = Operation.DESCRIBE
"""On the topics of a fetch, and on those that a member subscribes to or is assigned."""
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
