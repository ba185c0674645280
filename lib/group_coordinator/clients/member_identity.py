"""Identity of a member in its group."""

from __future__ import annotations

from dataclasses import dataclass

from group_coordinator.clients.channel.channel import Body


@dataclass(frozen=True, slots=True)
class MemberIdentity:
    """Identity with the fields of Kafka's ConsumerGroupMetadata. An administrator has only the group id."""

    group_id: str
    member_id: str = ""
    generation_id: int = -1
    """Generation of a classic group, or member epoch in a consumer group."""
    group_instance_id: str | None = None
    """None: a dynamic member."""

    def commit_fields(self) -> Body:
        """Fields of the member in an OffsetCommit."""
        return {
            "generationIdOrMemberEpoch": self.generation_id,
            "memberId": self.member_id,
            "groupInstanceId": self.group_instance_id,
        }
