"""DescribeConfigs and IncrementalAlterConfigs of groups: requests, and settings from responses."""

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
    """Another source of a setting's value."""

    name: str
    value: str | None
    source: ConfigSourceType


@dataclass(frozen=True, slots=True)
class ConfigEntry:
    """Setting of a group with its current value."""

    name: str
    value: str | None
    source: ConfigSourceType
    """DYNAMIC_GROUP_CONFIG: the group's own."""
    synonyms: tuple[ConfigSynonym, ...]
    """Possible sources of the value; the first is in force."""
    type: ConfigType
    documentation: str | None = None
    """None: the request did not include it."""
    is_read_only: bool = False
    is_sensitive: bool = False

    @property
    def is_default(self) -> bool:
        """The setting has its default, for the group and for the coordinator."""
        return bool(self.source is ConfigSourceType.DEFAULT_CONFIG)


Configs: TypeAlias = dict[str, ConfigEntry]
"""Settings of a group by name."""


def describe_configs(
    group_id: str, names: Collection[str] | None, *, include_documentation: bool
) -> Request:
    """Request the settings of a group; None for `names`: all settings."""
    resource = {**_resource(group_id), "configurationKeys": None if names is None else list(names)}
    body = {
        "resources": [resource],
        # The entries show which value is in force, and which would be without it.
        "includeSynonyms": True,
        "includeDocumentation": include_documentation,
    }
    return Request("DescribeConfigs", 4, group_id, body)


def described_configs(body: Body) -> Configs | CoordinatorResponseError:
    """Settings in a DescribeConfigs response, or its error."""
    # An unreadable event has an error of the whole response, and no results.
    error = refusal(body)
    if error is not None:
        return error
    [result] = body["results"]
    return refusal(result) or {config["name"]: _entry(config) for config in result["configs"]}


def alter_configs(
    group_id: str, values: Mapping[str, str | None], *, validate_only: bool
) -> Request:
    """Request an alteration of a group; a value of None removes the group's own value."""
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
    """Error of an IncrementalAlterConfigs response; None: the settings were altered."""
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
