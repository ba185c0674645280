"""Share and streams groups (KIP-932, KIP-1071), as far as the expiry and the deletion of offsets depend on them.

Source: ShareGroup and StreamsGroup in Kafka 4.4.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

from msgspec import Struct, json

from group_coordinator.core.offsets.expiration import ExpirationRule
from group_coordinator.mirror.group_kinds import SHARE_MEMBER, STREAMS_MEMBER, STREAMS_TOPOLOGY

OtherKind: TypeAlias = Literal["share", "streams"]


class _Topic(Struct):
    name: str


class _Subtopology(Struct, rename="camel"):
    source_topics: list[str]
    repartition_source_topics: list[_Topic]


class _Topology(Struct):
    subtopologies: list[_Subtopology]


class _TopologyValue(Struct):
    data: _Topology


class _AboutMember(Struct, rename="camel"):
    member_id: str


class _MemberKey(Struct):
    data: _AboutMember


_decode_topology = json.Decoder(_TopologyValue).decode
_decode_member_key = json.Decoder(_MemberKey).decode


class OtherGroup:
    """Who is in the group, and which topics a streams group reads."""

    def __init__(
        self, kind: OtherKind, member_ids: set[str], source_topics: frozenset[str] = frozenset()
    ) -> None:
        self.kind = kind
        self.member_ids = member_ids
        self._source_topics = source_topics

    def apply(self, record_type: int, key: str, value: str | None) -> None:
        """Take a record of the group other than the one that makes or ends it."""
        if record_type in (SHARE_MEMBER, STREAMS_MEMBER):
            member_id = _decode_member_key(key).data.member_id
            if value is None:
                self.member_ids.discard(member_id)
            else:
                self.member_ids.add(member_id)
        elif record_type == STREAMS_TOPOLOGY:
            self._source_topics = frozenset() if value is None else _source_topics(value)

    def rule(self) -> ExpirationRule:
        """How offsets age: a streams group without members protects no topic, and a share group's do not expire."""
        if self.kind == "share":
            return ExpirationRule("never")
        return ExpirationRule("commit", self._source_topics if self.member_ids else frozenset())


def _source_topics(value: str) -> frozenset[str]:
    """What StreamsTopology.computeSourceTopicMap has; topics of a pattern are not among them."""
    found = _decode_topology(value).data.subtopologies
    return frozenset(
        name
        for subtopology in found
        for name in (
            *subtopology.source_topics,
            *(topic.name for topic in subtopology.repartition_source_topics),
        )
    )
