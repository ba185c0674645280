"""Kafka's wire protocol: conversion between the bytes of requests and responses and the bodies of events.

`schemas/` defines the messages in the notation of `binary`. Decoders and encoders are compiled from the definitions at first
use (`messages.py`, with headers, sizes, and the names, keys and versions of APIs). An API whose responses are only forwarded
has a request but no response.
"""

from __future__ import annotations

from group_coordinator.binary.programs import Part
from group_coordinator.codecs.wire.messages import (
    RequestHeader,
    ResponseOpening,
    WireError,
    api_key,
    api_name,
    decode,
    decode_at,
    encode,
    encode_into,
    fields,
    is_flexible,
    request,
    request_body,
    request_header,
    response,
    response_body,
    response_elements,
    valid_versions,
)

__all__ = [
    "Part",
    "RequestHeader",
    "ResponseOpening",
    "WireError",
    "api_key",
    "api_name",
    "decode",
    "decode_at",
    "encode",
    "encode_into",
    "fields",
    "is_flexible",
    "request",
    "request_body",
    "request_header",
    "response",
    "response_body",
    "response_elements",
    "valid_versions",
]
