"""The codec of an API: its versions, its request body as a struct, and the conversion to and from core's values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, NamedTuple, TypeVar

from msgspec import Struct, json

from group_coordinator.codecs.plain_json import JsonObject
from group_coordinator.core.model.requests import Request


class Body(Struct, rename="camel", forbid_unknown_fields=True, gc=False):
    """An object of a request, with the fields of all versions of its API, as in Kafka's message definitions.

    An absent field is UNSET, so that it differs from a default. Unknown names are rejected, as they may be misspelled.
    """


RequestBody = TypeVar("RequestBody", bound=Body)
Response = TypeVar("Response")


class ResponseEncoder(NamedTuple, Generic[Response]):
    """Converts core's response to the body of the request's version."""

    response: type[Response]
    to_body: Callable[[Response, int], JsonObject]


class ApiCodec(NamedTuple, Generic[RequestBody]):
    """Converts request bodies to core's requests and core's responses to bodies. Without encoder the API has no response."""

    versions: range
    decoder: json.Decoder[RequestBody]
    to_request: Callable[[RequestBody, int], Request]
    encoder: ResponseEncoder[Any] | None
