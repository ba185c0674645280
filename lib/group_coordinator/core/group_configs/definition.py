"""What a setting of a group is."""

from __future__ import annotations

from group_coordinator.core.model.responses import ConfigType
from group_coordinator.core.value import Value


class GroupConfig(Value, frozen=True):
    """A setting of a group. `default` is Kafka's, except for OFFSETS_RETENTION."""

    name: str
    type: ConfigType
    default: str
    """Of the broker's setting, in its unit, as it is shown."""
    documentation: str
    """The description. All other fields are compared with Kafka in tests."""
    broker_name: str
    """The broker's setting that applies to a group without its own; where there is none, Kafka says the setting's own name."""
    least: int | None = None
    """The lowest number, whatever the broker's settings are."""
    is_internal: bool = False
    """Listed for a group that was given it alone, and with the text as it was given."""
    taken_back_by: str | None = None
    """A value, as it is shown, that stands for none; None: there is no such value."""
