"""Groups as resources in the APIs of configurations. An event has a single group."""

from __future__ import annotations

from typing import TypeVar

from msgspec import UNSET, UnsetType

from group_coordinator.codecs.apis.api import Body
from group_coordinator.codecs.apis.body_checks import only_entry
from group_coordinator.codecs.fields import FieldError, Int8, Text
from group_coordinator.codecs.plain_json import JsonObject
from group_coordinator.core.model.responses import AlterConfigsResponse, DescribeConfigsResponse

_GROUP = 32
"""The number of groups among Kafka's types of resources."""


class Resource(Body):
    """A resource that has configurations."""

    resource_type: Int8 | UnsetType = UNSET
    resource_name: Text | UnsetType = UNSET


AnyResource = TypeVar("AnyResource", bound=Resource)


def only_group(resources: list[AnyResource]) -> AnyResource:
    """Return the single resource of a list, which must be a group.

    Raises:
        FieldError: there are none or several, or the resource has another type.
    """
    only_entry("resources", [resource.resource_name or "" for resource in resources])
    [resource] = resources
    if resource.resource_type != _GROUP:
        raise FieldError(
            f"resources[0].resourceType = {resource.resource_type or 0}",
            f"must be {_GROUP}: only groups have settings here",
        )
    return resource


def resource_result(response: DescribeConfigsResponse | AlterConfigsResponse) -> JsonObject:
    """Return the result of the request for the group."""
    return {
        "errorCode": response.error,
        "errorMessage": response.error_message,
        "resourceType": _GROUP,
        "resourceName": response.group_id,
    }
