"""The messages of KIP-848 that kafka-python does not have yet, in the form in which it has the others: a table of fields each."""

from __future__ import annotations

from kafka.protocol.api_message import ApiMessage


class ConsumerGroupHeartbeatRequest(ApiMessage, load_json=__name__):
    """ConsumerGroupHeartbeat 0-1."""


class ConsumerGroupHeartbeatResponse(ApiMessage, load_json=__name__):
    """What a member of a consumer group is told."""
