"""DescribeConfigs and IncrementalAlterConfigs of groups: the requests, and settings from the answers."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from kafka.admin import AlterConfigOp, ConfigResourceType, ConfigSourceType, ConfigType

from group_coordinator.clients.channel.channel import Body, Request
from group_coordinator.clients.errors import CoordinatorResponseError
from group_coordinator.clients.results import refusal


@dataclass(frozen=True, slots=True)
class ConfigSynonym:
    """Another place that a setting's value could come from."""

    name: str
    value: str | None
    source: ConfigSourceType


@dataclass(frozen=True, slots=True)
class ConfigEntry:
    """A setting of a group as it counts now."""

    name: str
    value: str | None
    source: ConfigSourceType
    """DYNAMIC_GROUP_CONFIG: the group's own."""
    synonyms: tuple[ConfigSynonym, ...]
    """Where the value could come from; the first one counts."""
    type: ConfigType
    documentation: str | None = None
    """None: it was not asked for."""
    is_read_only: bool = False
    is_sensitive: bool = False

    @property
    def is_default(self) -> bool:
        """Whether nobody has set it, for the group or for the coordinator."""
        return bool(self.source is ConfigSourceType.DEFAULT_CONFIG)


Configs: TypeAlias = dict[str, ConfigEntry]
"""The settings of a group, by name."""


def describe_configs(
    group_id: str, names: Collection[str] | None, *, include_documentation: bool
) -> Request:
    """A DescribeConfigs of one group; no names: all settings."""
    resource = {**_resource(group_id), "configurationKeys": None if names is None else list(names)}
    body = {
        "resources": [resource],
        "includeSynonyms": True,
        "includeDocumentation": include_documentation,
    }
    return Request("DescribeConfigs", 4, group_id, body)


def described_configs(body: Body) -> Configs | CoordinatorResponseError:
    """The settings in a DescribeConfigs answer, or its error."""
    error = refusal(body)
    if error is not None:
        return error
    [result] = body["results"]
    return refusal(result) or {config["name"]: _entry(config) for config in result["configs"]}


def alter_configs(
    group_id: str, values: Mapping[str, str | None], *, validate_only: bool
) -> Request:
    """An IncrementalAlterConfigs of one group; a value of None takes the group's own back."""
    changes = [
        {
            "name": name,
            "configOperation": int(AlterConfigOp.DELETE if value is None else AlterConfigOp.SET),
            "value": value,
        }
        for name, value in values.items()
    ]
    resource = {**_resource(group_id), "configs": changes}
    body = {"resources": [resource], "validateOnly": validate_only}
    return Request("IncrementalAlterConfigs", 1, group_id, body)


def alteration_error(body: Body) -> CoordinatorResponseError | None:
    """The error in an IncrementalAlterConfigs answer; None: the settings were taken."""
    error = refusal(body)
    if error is not None:
        return error
    [result] = body["responses"]
    return refusal(result)


def _resource(group_id: str) -> Body:
    return {"resourceType": int(ConfigResourceType.GROUP), "resourceName": group_id}


def _entry(config: Body) -> ConfigEntry:
    return ConfigEntry(
        name=config["name"],
        value=config["value"],
        source=ConfigSourceType(config["configSource"]),
        synonyms=tuple(
            ConfigSynonym(one["name"], one["value"], ConfigSourceType(one["source"]))
            for one in config["synonyms"]
        ),
        type=ConfigType(config["configType"]),
        documentation=config["documentation"],
        is_read_only=config["readOnly"],
        is_sensitive=config["isSensitive"],
    )
