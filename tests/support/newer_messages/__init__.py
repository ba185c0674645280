"""Messages that kafka-python has, with the versions that it does not have yet, in the form of its schemas."""

from __future__ import annotations

from kafka.protocol.api_message import ApiMessage


class TxnOffsetCommitRequest(ApiMessage, load_json=__name__): ...  # type: ignore[call-arg,misc]


class TxnOffsetCommitResponse(ApiMessage, load_json=__name__): ...  # type: ignore[call-arg,misc]


class DeleteGroupsRequest(ApiMessage, load_json=__name__): ...  # type: ignore[call-arg,misc]


class DeleteGroupsResponse(ApiMessage, load_json=__name__): ...  # type: ignore[call-arg,misc]
