"""What the members of a consumer group subscribe to. Many want the same, which is kept once.

A snapshot names a subscription by its digest, so that a member is written the same whatever the others want.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from hashlib import blake2b

from msgspec import Struct, msgpack

from group_coordinator.core.model.consumer_member import SubscriptionMetadata

_DIGEST_BYTES = 16


class SharedSubscription(Struct, array_like=True):
    """A subscription, and how many members have it."""

    topic_names: tuple[str, ...]
    topic_regex: str | None
    server_assignor: str | None
    subscribers: int = 0


@dataclass(slots=True)
class SharedSubscriptions:
    """The subscriptions of all members."""

    by_digest: dict[bytes, SharedSubscription] = field(default_factory=dict)

    def add(self, metadata: SubscriptionMetadata) -> None:
        """A member has this subscription from now on."""
        digest = digest_of(metadata)
        shared = self.by_digest.get(digest)
        if shared is None:
            shared = self.by_digest[digest] = SharedSubscription(
                metadata.topic_names, metadata.topic_regex, metadata.server_assignor
            )
        shared.subscribers += 1

    def remove(self, metadata: SubscriptionMetadata) -> None:
        """A member that had this subscription has it no more."""
        digest = digest_of(metadata)
        shared = self.by_digest[digest]
        shared.subscribers -= 1
        if not shared.subscribers:
            del self.by_digest[digest]

    def __iter__(self) -> Iterator[SharedSubscription]:
        return iter(self.by_digest.values())


def digest_of(metadata: SubscriptionMetadata) -> bytes:
    """By what a snapshot names the subscription."""
    wanted = (metadata.topic_names, metadata.topic_regex, metadata.server_assignor)
    return blake2b(msgpack.encode(wanted), digest_size=_DIGEST_BYTES).digest()
