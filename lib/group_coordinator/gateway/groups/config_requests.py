"""Configs requests: the job answers for groups, the brokers for all other resources of the same request."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Sequence
from typing import Any, TypeAlias

from group_coordinator.clients.channel import Body
from group_coordinator.core.model.errors import ErrorCode
from group_coordinator.gateway.api_versions import GROUP_RESOURCE

Resource: TypeAlias = dict[str, Any]

RESULTS = {
    "DescribeConfigs": "results",
    "AlterConfigs": "responses",
    "IncrementalAlterConfigs": "responses",
}
"""Field of the resources in an API's response."""


def split(resources: Sequence[Resource]) -> tuple[list[Resource], list[Resource]]:
    groups = [one for one in resources if one["resourceType"] == GROUP_RESOURCE]
    return groups, [one for one in resources if one["resourceType"] != GROUP_RESOURCE]


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
