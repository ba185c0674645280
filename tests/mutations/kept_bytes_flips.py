"""Wrong rules of what a group keeps as bytes of its snapshot, and of what is counted beside it."""

from __future__ import annotations

from tests.mutations.flip import Flip

KEPT_BYTES = (
    Flip(
        "a value that is set keeps the bytes of the one before",
        "model/stored_values.py",
        "        self._stored[key] = _REPLACED\n",
        "        self._stored.setdefault(key, _REPLACED)\n",
    ),
    Flip(
        "a commit leaves the bytes of its neighbours as they were",
        "model/topic_offsets.py",
        "bucket.known_ages = bucket.encoded = None",
        "bucket.known_ages = None",
    ),
    Flip(
        "a commit leaves the ages of its neighbours as they were",
        "model/topic_offsets.py",
        "bucket.known_ages = bucket.encoded = None",
        "bucket.encoded = None",
    ),
    Flip(
        "a partition is taken from whoever has it",
        "model/consumer_group.py",
        "{partition for partition in taken if owners.get(partition) == member_id}",
        "set(taken)",
    ),
    Flip(
        "another rebalance timeout of a member is not counted",
        "model/consumer_member.py",
        "if new.rebalance_timeout_ms != old.rebalance_timeout_ms:",
        "if False:",
    ),
    Flip(
        "a subscription stays when its last subscriber is gone",
        "model/consumer_group.py",
        "        if not shared.subscribers:\n            del self.by_digest[digest]\n",
        "",
    ),
    Flip(
        "protocols of classic members that left a consumer group count on",
        "model/consumer_group.py",
        "        self._count_classic(metadata.classic, -1)\n",
        "",
    ),
)
