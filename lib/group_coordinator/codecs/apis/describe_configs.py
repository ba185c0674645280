"""DescribeConfigs: an administrator reads group configurations."""

from __future__ import annotations

from msgspec import UNSET, UnsetType

from group_coordinator.codecs.apis.api import Body, Resource, codec, only_group, resource_result
from group_coordinator.codecs.fields import JsonObject, Text, check_unknown
from group_coordinator.core.model import requests, responses

_DOCUMENTATION_SINCE = 3
"""Documentation and types of configurations."""


class DescribedResource(Resource):
    configuration_keys: list[Text] | UnsetType | None = UNSET


class DescribeConfigsBody(Body):
    resources: list[DescribedResource] | UnsetType = UNSET
    include_synonyms: bool | UnsetType = UNSET
    include_documentation: bool | UnsetType = UNSET


def _to_request(body: DescribeConfigsBody, version: int) -> requests.DescribeConfigs:
    if version < _DOCUMENTATION_SINCE:
        asked = body.include_documentation
        check_unknown("includeDocumentation", asked, default=False, version=version)
    resource = only_group(body.resources or [])
    return requests.DescribeConfigs(
        resource.resource_name or "",
        tuple(resource.configuration_keys or ()),
        body.include_synonyms or False,
        body.include_documentation or False,
    )


def _to_body(response: responses.DescribeConfigsResponse, version: int) -> JsonObject:
    result = resource_result(response)
    result["configs"] = [_config(config, version) for config in response.configs]
    return {"throttleTimeMs": 0, "results": [result]}


def _config(config: responses.DescribedConfig, version: int) -> JsonObject:
    described: JsonObject = {
        "name": config.name,
        "value": config.value,
        # Every configuration of a group can be changed, and none is a password.
        "readOnly": False,
        "configSource": config.source,
        "isSensitive": False,
        "synonyms": [
            {"name": synonym.name, "value": synonym.value, "source": synonym.source}
            for synonym in config.synonyms
        ],
    }
    if version >= _DOCUMENTATION_SINCE:
        described["configType"] = config.type
        described["documentation"] = config.documentation
    return described


CODEC = codec(
    range(1, 5), DescribeConfigsBody, _to_request, responses.DescribeConfigsResponse, _to_body
)
