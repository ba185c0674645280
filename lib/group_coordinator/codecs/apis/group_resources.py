"""What the bodies of the requests about settings say in each version; one event is about one group."""

from __future__ import annotations

from typing import TypeVar

from msgspec import UnsetType

from group_coordinator.codecs import versions
from group_coordinator.codecs.apis import api as bodies
from group_coordinator.codecs.field_errors import FieldError, check_unknown, only
from group_coordinator.codecs.fields import given
from group_coordinator.core.model import requests

Resource = TypeVar("Resource", bodies.DescribedResource, bodies.AlteredResource)

GROUP_RESOURCE = 32
"""The number of groups among Kafka's types of resources."""


def describe_configs(body: bodies.DescribeConfigsBody, version: int) -> requests.DescribeConfigs:
    """DescribeConfigs 1-4."""
    if version < versions.CONFIG_DOCUMENTATION_SINCE:
        asked = body.include_documentation
        check_unknown("includeDocumentation", asked, default=False, version=version)
    resource = _only_group(body.resources or [])
    return requests.DescribeConfigs(
        resource.resource_name or "",
        tuple(resource.configuration_keys or ()),
        body.include_synonyms or False,
        body.include_documentation or False,
    )


def alter_configs(body: bodies.IncrementalAlterConfigsBody, version: int) -> requests.AlterConfigs:  # noqa: ARG001
    """IncrementalAlterConfigs 0-1."""
    resource = _only_group(body.resources or [])
    changes = [
        requests.ConfigChange(entry.name or "", entry.config_operation or 0, _value(entry.value))
        for entry in resource.configs or ()
    ]
    return requests.AlterConfigs(
        resource.resource_name or "", tuple(changes), body.validate_only or False
    )


def _value(value: str | UnsetType | None) -> str | None:
    """Left out it is an empty text, as in Kafka's messages."""
    return given(value, "")


def _only_group(resources: list[Resource]) -> Resource:
    only("resources", [resource.resource_name or "" for resource in resources])
    [resource] = resources
    if resource.resource_type != GROUP_RESOURCE:
        raise FieldError(
            f"resources[0].resourceType = {resource.resource_type or 0}",
            f"must be {GROUP_RESOURCE}: only groups have settings here",
        )
    return resource
