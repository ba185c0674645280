"""Groups for the assignors, in few words."""

from __future__ import annotations

from collections.abc import Mapping

from group_coordinator.core.assignors.spec import Assignment, MemberSpec, TopicSpec

ORDERS = "ordersAAAAAAAAAAAAAAAA"
PAYMENTS = "paymentsAAAAAAAAAAAAAA"
CLICKS = "clicksAAAAAAAAAAAAAAAA"
UNKNOWN = "unknownAAAAAAAAAAAAAAA"


def member(
    *topic_ids: str, holds: Assignment | None = None, instance: str | None = None
) -> MemberSpec:
    return MemberSpec(None, instance, frozenset(topic_ids), holds or {})


def topics(**sizes: int) -> dict[str, TopicSpec]:
    """Numbers of partitions by the names of the topics."""
    ids = {"orders": ORDERS, "payments": PAYMENTS, "clicks": CLICKS}
    return {ids[name]: TopicSpec(size, None) for name, size in sizes.items()}


def again(
    members: Mapping[str, MemberSpec], targets: Mapping[str, Assignment]
) -> dict[str, MemberSpec]:
    """The same members, each with its new target."""
    return {
        member_id: spec.replace(assignment=targets[member_id])
        for member_id, spec in members.items()
    }
