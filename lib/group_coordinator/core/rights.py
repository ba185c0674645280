"""The rights of a request's sender, its denials, and the operations that requests need in addition to those in `core/apis.py`.

Source: KafkaApis, ConfigHelper and AclEntry of Kafka 4.4.
"""

from __future__ import annotations

from group_coordinator.core.acls import BITS, Authorizer, Operation, RequestSender, ResourceType
from group_coordinator.core.value import Value

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


ALL_OPERATIONS = sum(BITS[operation] for operation in GROUP_OPERATIONS)
"""The operations on a group that a broker without an authorizer allows to all principals."""


class Denial(Value, frozen=True):
    """A missing right of a request's sender."""

    operation: Operation
    resource_type: ResourceType
    resource_name: str


class Rights:
    """The rights of a request's sender. `denials` has the missing rights afterwards."""

    __slots__ = ("_authorizer", "_denials", "_identities", "caller")

    def __init__(self, authorizer: Authorizer, caller: RequestSender) -> None:
        self.caller = caller
        self._authorizer = authorizer
        self._identities = authorizer.identities(caller)
        self._denials: dict[Denial, None] = {}

    def may(self, operation: Operation, kind: ResourceType, name: str) -> bool:
        """Return True if the sender may do an operation. A negative result is no denial, as the request does not need this right."""
        identities = self._identities
        return identities is None or self._authorizer.allows(identities, operation, kind, name)

    def has(self, operation: Operation, kind: ResourceType, name: str) -> bool:
        """Return True if the sender has a right that its request needs. A missing right becomes a denial."""
        if self.may(operation, kind, name):
            return True
        # A dict keeps the order of the checks and drops repetitions.
        self._denials[Denial(operation, kind, name)] = None
        return False

    @property
    def denials(self) -> tuple[Denial, ...]:
        """The denials without repetition, in the order of the checks."""
        return tuple(self._denials)

    def operations_on(self, group_id: str) -> int:
        """Return the operations that the sender may do with a group, as bits."""
        return sum(
            BITS[operation]
            for operation in GROUP_OPERATIONS
            if self.may(operation, ResourceType.GROUP, group_id)
        )


def operations_on(group_id: str, rights: Rights | None) -> int:
    """Return the operations that a sender may do with a group, as bits: all without an authorizer."""
    return ALL_OPERATIONS if rights is None else rights.operations_on(group_id)
