"""EndTxn (our own event, with Kafka's fields): a transaction coordinator's marker for the log of a group."""

from __future__ import annotations

from msgspec import UNSET, UnsetType

from group_coordinator.codecs.apis.api import Body, codec
from group_coordinator.codecs.fields import (
    ABSENT,
    FieldError,
    Int16,
    Int64,
    JsonObject,
    LogOffset,
    Text,
    number_or_none,
    or_default,
)
from group_coordinator.core.model import requests, responses


class EndTxnBody(Body):
    group_id: Text
    producer_id: Int64
    committed: bool
    producer_epoch: Int16 | UnsetType = UNSET
    marker_offset: LogOffset | UnsetType | None = UNSET
    since_offset: LogOffset | UnsetType | None = UNSET


def _to_request(body: EndTxnBody, _version: int) -> requests.EndTxn:
    # -1 stands for no producer in other requests.
    if body.producer_id == ABSENT:
        raise FieldError(f"producerId = {ABSENT}", "a marker has a producer")
    return requests.EndTxn(
        group_id=body.group_id,
        producer_id=body.producer_id,
        is_commit=body.committed,
        producer_epoch=number_or_none(body.producer_epoch),
        marker_offset=or_default(body.marker_offset, None),
        since_offset=or_default(body.since_offset, None),
    )


def _to_body(response: responses.EndTxnResponse, _version: int) -> JsonObject:
    return {"throttleTimeMs": 0, "errorCode": response.error}


CODEC = codec(range(1), EndTxnBody, _to_request, responses.EndTxnResponse, _to_body)
