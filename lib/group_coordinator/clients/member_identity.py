"""Who a member is to its group."""

from __future__ import annotations

from dataclasses import dataclass

from group_coordinator.clients.channel.channel import Body


@dataclass(frozen=True, slots=True)
class MemberIdentity:
    """As Kafka's ConsumerGroupMetadata. An administrator has only the group id."""

    group_id: str
    member_id: str = ""
    generation_id: int = -1
    """The generation of a classic group, or the member epoch in a consumer group."""
    group_instance_id: str | None = None
    """None: a dynamic member."""

    def commit_fields(self) -> Body:
        """How OffsetCommit names the member."""
        return {
            "generationIdOrMemberEpoch": self.generation_id,
            "memberId": self.member_id,
            "groupInstanceId": self.group_instance_id,
        }
