"""The codec of an API: its versions, its request body as a struct, and the conversion to and from core's values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, NamedTuple, TypeVar

from msgspec import UNSET, Struct, UnsetType, json

from group_coordinator.codecs.fields import FieldError, Int8, JsonObject, Text, only_entry
from group_coordinator.core.model.requests import Request
from group_coordinator.core.model.responses import AlterConfigsResponse, DescribeConfigsResponse


class Body(Struct, rename="camel", forbid_unknown_fields=True, gc=False):
    """An object of a request, with the fields of all versions of its API. Unknown names are rejected, as they may be misspelled."""


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


def codec(
    versions: range,
    body: type[RequestBody],
    to_request: Callable[[RequestBody, int], Request],
    response: type[Response],
    to_body: Callable[[Response, int], JsonObject],
) -> ApiCodec[RequestBody]:
    return ApiCodec(versions, json.Decoder(body), to_request, ResponseEncoder(response, to_body))


_GROUP = 32
"""The number of groups among Kafka's types of resources."""


class Resource(Body):
    resource_type: Int8 | UnsetType = UNSET
    resource_name: Text | UnsetType = UNSET


AnyResource = TypeVar("AnyResource", bound=Resource)


def only_group(resources: list[AnyResource]) -> AnyResource:
    """Return the only resource, which must be a group. Raises FieldError: there are none or several, or it has another type."""
    only_entry("resources", [resource.resource_name or "" for resource in resources])
    [resource] = resources
    if resource.resource_type != _GROUP:
        raise FieldError(
            f"resources[0].resourceType = {resource.resource_type or 0}",
            f"must be {_GROUP}: only groups have settings here",
        )
    return resource


def resource_result(response: DescribeConfigsResponse | AlterConfigsResponse) -> JsonObject:
    return {
        "errorCode": response.error,
        "errorMessage": response.error_message,
        "resourceType": _GROUP,
        "resourceName": response.group_id,
    }
