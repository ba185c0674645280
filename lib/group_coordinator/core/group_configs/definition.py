"""The definition of a group configuration."""

from __future__ import annotations

from group_coordinator.core.model.responses import ConfigType
from group_coordinator.core.value import Value


class GroupConfig(Value, frozen=True):
    """A group configuration. `default` is Kafka's, except for OFFSETS_RETENTION."""

    name: str
    type: ConfigType
    default: str
    """The default of the broker's setting, in its unit, in the form that is shown."""
    documentation: str
    """The description. All other fields are compared with Kafka in tests."""
    broker_name: str
    """The broker's setting for groups without this configuration; without such a setting, Kafka uses the configuration's name."""
    least: int | None = None
    """The lowest number, independent of the broker's settings."""
    is_internal: bool = False
    """True: listed only for a group that has a value of its own, and with its original text."""
    taken_back_by: str | None = None
    """A value, in the form that is shown, that removes the configuration; None: there is no such value."""
