"""IncrementalAlterConfigs: an administrator changes group configurations."""

from __future__ import annotations

from msgspec import UNSET, UnsetType

from group_coordinator.codecs.apis.api import Body, Resource, codec, only_group, resource_result
from group_coordinator.codecs.fields import Int8, JsonObject, Text, or_default
from group_coordinator.core.model import requests, responses


class AlteredConfig(Body):
    name: Text | UnsetType = UNSET
    config_operation: Int8 | UnsetType = UNSET
    value: Text | UnsetType | None = UNSET


class AlteredResource(Resource):
    configs: list[AlteredConfig] | UnsetType = UNSET


class IncrementalAlterConfigsBody(Body):
    resources: list[AlteredResource] | UnsetType = UNSET
    validate_only: bool | UnsetType = UNSET


def _to_request(body: IncrementalAlterConfigsBody, _version: int) -> requests.AlterConfigs:
    resource = only_group(body.resources or [])
    return requests.AlterConfigs(
        resource.resource_name or "",
        tuple([_change(entry) for entry in resource.configs or ()]),
        body.validate_only or False,
    )


def _change(entry: AlteredConfig) -> requests.ConfigChange:
    # An absent value is an empty text, as in Kafka's messages. Null is different.
    value = or_default(entry.value, "")
    return requests.ConfigChange(entry.name or "", entry.config_operation or 0, value)


def _to_body(response: responses.AlterConfigsResponse, _version: int) -> JsonObject:
    return {"throttleTimeMs": 0, "responses": [resource_result(response)]}


CODEC = codec(
    range(2), IncrementalAlterConfigsBody, _to_request, responses.AlterConfigsResponse, _to_body
)
