"""The rights of who sent a request, and what it was denied."""

from __future__ import annotations

from group_coordinator.core.acls.authorizer import Authorizer, Caller
from group_coordinator.core.acls.needs import GROUP_OPERATIONS
from group_coordinator.core.acls.rule import BITS, Operation, ResourceType
from group_coordinator.core.value import Value

ALL_OPERATIONS = sum(BITS[operation] for operation in GROUP_OPERATIONS)
"""What a broker without an authorizer lets everybody do with a group."""


class Denial(Value, frozen=True):
    """A right that a request needed and its sender did not have."""

    operation: Operation
    resource_type: ResourceType
    resource_name: str


class Rights:
    """Of the sender of one request; a host asks afterwards what was denied."""

    __slots__ = ("_authorizer", "_denials", "_identities", "caller")

    def __init__(self, authorizer: Authorizer, caller: Caller) -> None:
        self.caller = caller
        self._authorizer = authorizer
        self._identities = authorizer.identities(caller)
        self._denials: dict[Denial, None] = {}

    def may(self, operation: Operation, kind: ResourceType, name: str) -> bool:
        """Whether it may do that; a no is nothing that one would tell: nobody asked for just this."""
        identities = self._identities
        return identities is None or self._authorizer.allows(identities, operation, kind, name)

    def has(self, operation: Operation, kind: ResourceType, name: str) -> bool:
        """Whether it has a right that its request needs; a no is a denial."""
        if self.may(operation, kind, name):
            return True
        self._denials[Denial(operation, kind, name)] = None
        return False

    @property
    def denials(self) -> tuple[Denial, ...]:
        """What was denied, each once, in the order in which it was asked for."""
        return tuple(self._denials)

    def operations_on(self, group_id: str) -> int:
        """What it may do with a group, a bit each."""
        return sum(
            BITS[operation]
            for operation in GROUP_OPERATIONS
            if self.may(operation, ResourceType.GROUP, group_id)
        )


def operations_on(group_id: str, rights: Rights | None) -> int:
    """What the sender of a request may do with a group; without rules all."""
    return ALL_OPERATIONS if rights is None else rights.operations_on(group_id)
