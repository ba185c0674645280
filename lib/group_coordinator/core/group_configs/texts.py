"""Which texts stand for a value of a setting, and how Kafka shows it.

Source: ConfigDef.parseType and its validators, ShareGroupAutoOffsetResetStrategy in Kafka 4.4.
"""

from __future__ import annotations

import re

from group_coordinator.core.group_configs.definition import GroupConfig
from group_coordinator.core.group_configs.foreign import ISOLATION_LEVEL, OFFSET_RESET
from group_coordinator.core.java_text import java_duration_ns, java_number, java_trimmed
from group_coordinator.core.model.errors import ErrorCode
from group_coordinator.core.model.responses import ConfigType

_HIGHEST = {ConfigType.INT: 2**31 - 1, ConfigType.LONG: 2**63 - 1}
_COMMA = re.compile(r"\s*,\s*", re.ASCII)
_TRUTHS = ("true", "false")
_ISOLATION_LEVELS = ("read_committed", "read_uncommitted")
_BY_DURATION = "by_duration:"


class GroupConfigError(ValueError):
    """Settings that Kafka refuses, in Kafka's words."""

    def __init__(self, code: ErrorCode, message: str | None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


def shown(definition: GroupConfig, text: str) -> str:
    """The value that a text stands for, as Kafka shows it.

    Raises:
        GroupConfigError: INVALID_CONFIG, it stands for none.
    """
    if definition.type is ConfigType.BOOLEAN:
        return _truth(definition, text)
    if definition.type is ConfigType.LIST:
        return ",".join(_entries(definition, text))
    if definition.type is ConfigType.STRING:
        return _checked_string(definition, java_trimmed(text))
    return str(_number(definition, text))


def entries(text: str) -> list[str]:
    """The entries of a list, which may be empty themselves."""
    trimmed = java_trimmed(text)
    return _COMMA.split(trimmed) if trimmed else []


def _truth(definition: GroupConfig, text: str) -> str:
    truth = java_trimmed(text).lower()
    if truth not in _TRUTHS:
        raise _invalid_value(definition, text, "Expected value to be either true or false")
    return truth


def _entries(definition: GroupConfig, text: str) -> list[str]:
    found = entries(text)
    if not all(found):
        message = f"Configuration '{definition.name}' values must not be empty."
        raise GroupConfigError(ErrorCode.INVALID_CONFIG, message)
    return found


def _checked_string(definition: GroupConfig, value: str) -> str:
    if definition is ISOLATION_LEVEL and value not in _ISOLATION_LEVELS:
        known = ", ".join(_ISOLATION_LEVELS)
        raise _invalid_value(definition, value, f"String must be one of: {known}")
    if definition is OFFSET_RESET and not _is_offset_reset(value):
        why = (
            f"Invalid value `{value}` for configuration {definition.name}. The value must be either "
            "'earliest', 'latest' or of the format 'by_duration:<PnDTnHnMn.nS>'."
        )
        raise _invalid_value(definition, value, why)
    return value


def _is_offset_reset(value: str) -> bool:
    if not value.startswith(_BY_DURATION):
        return value in ("earliest", "latest")
    duration_ns = java_duration_ns(value.removeprefix(_BY_DURATION))
    return duration_ns is not None and duration_ns >= 0


def _number(definition: GroupConfig, text: str) -> int:
    value = java_number(java_trimmed(text))
    highest = _HIGHEST[definition.type]
    if value is None or not -highest - 1 <= value <= highest:
        raise _invalid_value(definition, text, f"Not a number of type {definition.type.name}")
    least, none = definition.least, definition.taken_back_by
    if least is not None and value < least and str(value) != none:
        also = "" if none is None else f", or {none} to take it back"
        raise _invalid_value(definition, value, f"Value must be at least {least}{also}")
    return value


def _invalid_value(definition: GroupConfig, value: object, why: str) -> GroupConfigError:
    message = f"Invalid value {value} for configuration {definition.name}: {why}"
    return GroupConfigError(ErrorCode.INVALID_CONFIG, message)
