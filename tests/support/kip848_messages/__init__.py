"""Messages of KIP-848 that kafka-python does not have, in the form of its schemas."""

from __future__ import annotations

from kafka.protocol.api_message import ApiMessage


class ConsumerGroupHeartbeatRequest(ApiMessage, load_json=__name__): ...  # type: ignore[call-arg,misc]


class ConsumerGroupHeartbeatResponse(ApiMessage, load_json=__name__): ...  # type: ignore[call-arg,misc]


class ConsumerGroupDescribeRequest(ApiMessage, load_json=__name__): ...  # type: ignore[call-arg,misc]


class ConsumerGroupDescribeResponse(ApiMessage, load_json=__name__): ...  # type: ignore[call-arg,misc]
