"""Groups and members as the admin client returns them."""

from __future__ import annotations

from dataclasses import dataclass

from kafka import TopicPartition
from kafka.admin import ACLOperation

from group_coordinator.clients.channel.request import Body
from group_coordinator.clients.errors import ClientError

_NOT_ASKED_FOR = -(2**31)
_FIRST_BIT = 3
"""The numbers below are not operations but words of filters."""


@dataclass(frozen=True, slots=True)
class GroupListing:
    """A group as the tables list it."""

    group_id: str
    group_type: str
    """classic or consumer."""
    state: str
    protocol_type: str

    @property
    def type(self) -> str:
        """The same as `group_type`, under confluent-kafka's name."""
        return self.group_type

    @property
    def is_simple_consumer_group(self) -> bool:
        """Whether the group only stores offsets and has never had members."""
        return not self.protocol_type


@dataclass(frozen=True, slots=True)
class MemberDescription:
    """A member of a live group; in a classic group the assignment is empty unless the group is Stable."""

    member_id: str
    group_instance_id: str | None
    client_id: str
    host: str
    assignment: tuple[TopicPartition, ...] = ()
    """In a consumer group: with the partitions that the member must still give back."""
    target_assignment: tuple[TopicPartition, ...] = ()
    """In consumer groups only."""
    member_epoch: int | None = None
    """None: a member of a classic group."""
    upgraded: bool | None = None
    """Whether a member of a consumer group speaks the consumer protocol; None: a member of a classic group."""


@dataclass(frozen=True, slots=True)
class GroupDescription:
    """A group as the coordinator describes it; a group that does not exist has the state Dead and an error."""

    group_id: str
    state: str
    protocol_type: str = ""
    partition_assignor: str = ""
    members: tuple[MemberDescription, ...] = ()
    error: ClientError | None = None
    group_type: str = "classic"
    """classic or consumer."""
    group_epoch: int | None = None
    """None: a classic group."""
    target_assignment_epoch: int | None = None
    """The group epoch of the members' target assignments; None: a classic group."""
    authorized_operations: frozenset[ACLOperation] | None = None
    """What the one who asks may do with the group; None: that was not asked."""

    @property
    def type(self) -> str:
        """The same as `group_type`, under confluent-kafka's name."""
        return self.group_type

    @property
    def is_simple_consumer_group(self) -> bool:
        """Whether the group only stores offsets and has never had members."""
        return not self.protocol_type


def authorized_operations(group: Body) -> frozenset[ACLOperation] | None:
    """The operations in a described group, a bit each."""
    bits = group.get("authorizedOperations", _NOT_ASKED_FOR)
    if bits == _NOT_ASKED_FOR:
        return None
    known = [operation for operation in ACLOperation if operation >= _FIRST_BIT]
    return frozenset(operation for operation in known if bits & 1 << operation)
