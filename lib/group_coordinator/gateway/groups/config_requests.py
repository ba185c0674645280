"""Configs requests: the job answers for groups, the brokers for all other resources of the same request."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Sequence
from typing import Any, TypeAlias

from group_coordinator.clients.channel import Body
from group_coordinator.core.config_checks import GroupConfigError
from group_coordinator.core.handlers.alter_configs import check_form
from group_coordinator.core.model.errors import ErrorCode
from group_coordinator.core.model.requests import ConfigChange, ConfigOperation
from group_coordinator.gateway.api_versions import GROUP_RESOURCE, MALFORMED
from group_coordinator.gateway.groups.error_responses import error_response

Resource: TypeAlias = dict[str, Any]

RESULTS = {
    "DescribeConfigs": "results",
    "AlterConfigs": "responses",
    "IncrementalAlterConfigs": "responses",
}
"""Field of the resources in an API's response."""
NAMED_TWICE = "Each resource must appear at most once."
_DESCRIBED = {2, 4, 8, 16, GROUP_RESOURCE}
"""Types of resources that DescribeConfigs knows: topics, brokers, their loggers, client metrics and groups."""


def split(resources: Sequence[Resource]) -> tuple[list[Resource], list[Resource]]:
    groups = [one for one in resources if one["resourceType"] == GROUP_RESOURCE]
    return groups, [one for one in resources if one["resourceType"] != GROUP_RESOURCE]


def unknown_type(api: str, version: int, body: Body) -> Body | None:
    """Error response to a DescribeConfigs with a type of resource that brokers do not know, which they reject as a whole."""
    types = {one["resourceType"] for one in body["resources"]}
    if api != "DescribeConfigs" or types <= _DESCRIBED:
        return None
    return error_response(api, version, body, ErrorCode.INVALID_REQUEST, MALFORMED)


def unknown_operation(api: str, version: int, body: Body) -> Body | None:
    """Error response to an IncrementalAlterConfigs with an unknown operation, which brokers reject as a whole."""
    asked = body["resources"]
    # A broker checks the form of each resource before; the parts then have their own errors.
    if api != "IncrementalAlterConfigs" or len(set(map(_key, asked))) < len(asked):
        return None
    operations = {each["configOperation"] for one in asked for each in one["configs"]}
    if operations <= set(ConfigOperation) or any(map(form_error, asked)):
        return None
    return error_response(api, version, body, ErrorCode.UNKNOWN_SERVER_ERROR)


def form_error(resource: Resource) -> GroupConfigError | None:
    """Fault that a broker finds in an IncrementalAlterConfigs before the controller checks rights."""
    changes = [
        ConfigChange(each["name"], each["configOperation"], each["value"])
        for each in resource["configs"]
    ]
    try:
        check_form(changes)
    except GroupConfigError as fault:
        return fault
    return None


def merged(api: str, asked: Sequence[Resource], groups: Body, others: Body) -> Body:
    """Merge the results of both responses, in the order of the request."""
    results = RESULTS[api]
    # A request may name a resource several times, and each entry has its own result.
    found: defaultdict[tuple[int, str], deque[Resource]] = defaultdict(deque)
    for one in (*groups[results], *others[results]):
        found[_key(one)].append(one)
    in_order = [found[_key(one)].popleft() for one in asked if found[_key(one)]]
    left_over = [one for several in found.values() for one in several]
    # An entry that the request did not name is a broker's own, and is kept.
    return {**others, results: [*in_order, *left_over]}


def error_response_of_groups(groups: Sequence[Resource]) -> Body:
    """Error response for groups: AlterConfigs replaces all settings of a group at once, and the job does not support that."""
    message = "Settings of a group are altered by IncrementalAlterConfigs."
    return {
        "responses": [
            {
                "errorCode": ErrorCode.INVALID_REQUEST,
                "errorMessage": message,
                "resourceType": GROUP_RESOURCE,
                "resourceName": one["resourceName"],
            }
            for one in groups
        ]
    }


def shows_groups(asked_types: Sequence[int], others: Body) -> bool:
    """Return True if the response of ListConfigResources lists groups: not if the broker's response is an error."""
    # An empty list asks for all types.
    is_wanted = not asked_types or GROUP_RESOURCE in asked_types
    return is_wanted and others["errorCode"] == ErrorCode.NONE


def with_groups(groups: Sequence[str], others: Body) -> Body:
    """Response of ListConfigResources with the job's groups in place of the brokers' groups."""
    _, kept = split(others["configResources"])
    kept += [{"resourceName": name, "resourceType": GROUP_RESOURCE} for name in sorted(groups)]
    return {**others, "configResources": kept}


def _key(resource: Resource) -> tuple[int, str]:
    return resource["resourceType"], resource["resourceName"]
