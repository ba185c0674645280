"""IncrementalAlterConfigs 0-1 of a group: all configurations of a request are set or deleted, or none.

Source: ConfigAdminManager.preprocess and ConfigurationControlManager in Kafka 4.4. Kafka keeps configurations in its metadata log.
Here a record of each, in the form of Kafka's ConfigRecord, is in the group's own log.
Stories: stories/consumer/assignment_interval.py, stories/consumer/consumer_timers.py.
"""

from __future__ import annotations

from collections.abc import Sequence

from group_coordinator.core.acls import GROUP_DENIED, Operation, ResourceType, Rights
from group_coordinator.core.config_checks import GroupConfigError, check, shown
from group_coordinator.core.group_configs import GROUP_CONFIGS, GroupConfig
from group_coordinator.core.kafka_order import new_hash_map_order
from group_coordinator.core.model.changes import Decision
from group_coordinator.core.model.config import CoordinatorConfig
from group_coordinator.core.model.errors import ErrorCode
from group_coordinator.core.model.group import Group
from group_coordinator.core.model.records import ConfigRecord, Reason, Record
from group_coordinator.core.model.requests import (
    AlterConfigs,
    ConfigChange,
    ConfigOperation,
    RequestContext,
)
from group_coordinator.core.model.responses import AlterConfigsResponse, Reply

_LIST_OPERATIONS = (ConfigOperation.APPEND, ConfigOperation.SUBTRACT)


def decide(
    group: Group, request: AlterConfigs, context: RequestContext, config: CoordinatorConfig
) -> Decision:
    """Return a record for each changed configuration; none if the request only validates."""
    response = AlterConfigsResponse(ErrorCode.NONE, None, group.group_id)
    records: list[Record] = []
    try:
        check_form(request.changes)
        _check_rights(group.group_id, context.rights)
        altered = _altered(group, request.changes)
        _check_name(group.group_id)
        check(altered, config)
    except GroupConfigError as error:
        response = response.replace(error=error.code, error_message=error.message)
    else:
        if not request.validates_only:
            records = _records(group.configs, altered)
    return Decision(records, [Reply(context.ticket, response)])


def check_form(changes: Sequence[ConfigChange]) -> None:
    """Raise GroupConfigError: a configuration is named twice, or has no value."""
    if len({change.name for change in changes}) < len(changes):
        raise GroupConfigError(ErrorCode.INVALID_REQUEST, "Error due to duplicate config keys")
    without_value = [
        change.name
        for change in changes
        if change.value is None and change.operation != ConfigOperation.DELETE
    ]
    if without_value:
        message = f"Null value not supported for : {', '.join(without_value)}"
        raise GroupConfigError(ErrorCode.INVALID_REQUEST, message)


def _check_rights(group_id: str, rights: Rights | None) -> None:
    # A broker checks the request's form, then the controller checks rights. The errors follow it.
    if rights is not None and not rights.has(Operation.ALTER_CONFIGS, ResourceType.GROUP, group_id):
        raise GroupConfigError(ErrorCode.GROUP_AUTHORIZATION_FAILED, GROUP_DENIED)


def _check_name(group_id: str) -> None:
    if not group_id:
        message = "Default group resources are not allowed."
        raise GroupConfigError(ErrorCode.INVALID_REQUEST, message)


def _altered(group: Group, changes: Sequence[ConfigChange]) -> dict[str, str]:
    altered = dict(group.configs)
    by_name = {change.name: change for change in changes}
    for name in new_hash_map_order(by_name):
        change = by_name[name]
        if change.operation == ConfigOperation.DELETE:
            altered.pop(name, None)
        elif change.operation == ConfigOperation.SET and change.value is not None:
            altered[name] = change.value
        # Kafka has one list among the configurations, and does not treat it as a list here.
        elif change.operation in _LIST_OPERATIONS:
            operation = ConfigOperation(change.operation).name
            message = f"Can't {operation} to key {name} because its type is not LIST."
            raise GroupConfigError(ErrorCode.INVALID_CONFIG, message)
        else:
            raise GroupConfigError(ErrorCode.UNKNOWN_SERVER_ERROR, None)
    return altered


def _records(before: dict[str, str], altered: dict[str, str]) -> list[Record]:
    # Compared with the stored texts, so that a repeated request writes no record.
    values = {name: _kept_as(GROUP_CONFIGS[name], text) for name, text in altered.items()}
    return [
        ConfigRecord(name, values.get(name), Reason.CONFIG)
        for name in GROUP_CONFIGS
        if values.get(name) != before.get(name)
    ]


def _kept_as(definition: GroupConfig, text: str) -> str | None:
    # Kafka stores internal configurations as they were given; a certain value removes ours.
    value = text if definition.is_internal else shown(definition, text)
    return None if value == definition.taken_back_by else value
