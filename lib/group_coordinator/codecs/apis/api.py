"""What an API consists of: the versions it is served in, its two bodies, and core's values behind them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, NamedTuple, TypeVar

from msgspec import Struct, json

from group_coordinator.codecs.plain_json import JsonObject
from group_coordinator.core.model.requests import Request


class Body(Struct, rename="camel", forbid_unknown_fields=True, gc=False):
    """An object of a request, with the fields of all versions of its API, as in Kafka's message definitions.

    A field that is left out is UNSET, so that what was said can be told from what is assumed. A name that it does not
    know is refused, as it may be a slip of the pen.
    """


RequestBody = TypeVar("RequestBody", bound=Body)
Response = TypeVar("Response")


class Encoder(NamedTuple, Generic[Response]):
    """How core's response becomes the body of the version that was asked."""

    response: type[Response]
    to_body: Callable[[Response, int], JsonObject]


class ApiCodec(NamedTuple, Generic[RequestBody]):
    """How an API's bodies become requests, and its responses bodies. Without encoder it is never answered."""

    versions: range
    decoder: json.Decoder[RequestBody]
    to_request: Callable[[RequestBody, int], Request]
    encoder: Encoder[Any] | None
