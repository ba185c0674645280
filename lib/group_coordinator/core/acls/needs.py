"""The operations that requests need in addition to those in `core/apis.py`.

Source: KafkaApis, ConfigHelper and AclEntry of Kafka 4.4.
"""

from __future__ import annotations

from group_coordinator.core.acls.rule import Operation

TO_CHANGE_OFFSETS = Operation.READ
"""The operation for topics of commits and deletions. A topic without it gets an error of its own."""
TO_SEE_TOPICS = Operation.DESCRIBE
"""The operation for topics of a fetch, and for topics that a member subscribes to or is assigned."""
ON_TRANSACTIONAL_IDS = Operation.WRITE
OF_THE_SYSTEM = Operation.CLUSTER_ACTION
"""The operation for the cluster that brokers and controllers need for their own requests, such as transaction markers."""
GROUP_OPERATIONS = (
    Operation.READ,
    Operation.DELETE,
    Operation.DESCRIBE,
    Operation.DESCRIBE_CONFIGS,
    Operation.ALTER_CONFIGS,
)
"""All operations on a group."""

GROUP_DENIED = "Group authorization failed."
"""The error message of responses about configs."""
UNSEEN_TOPICS = "The group has described topic(s) that the client is not authorized to describe."
