"""Uuids in JSON: the text of binary/uuids.py, and the one that stands for none."""

from __future__ import annotations

from typing import Annotated

from msgspec import UNSET, Meta, UnsetType

from group_coordinator.binary import uuids

Uuid = Annotated[str, Meta(pattern=r"^[A-Za-z0-9_-]{21}[AQgw]\Z")]
"""The last character has only two bits."""

ZERO_UUID = uuids.ZERO_UUID
"""What an absent topic id is on the wire."""


def uuid_or_none(uuid: str | UnsetType | None) -> str | None:
    """The uuid, None where it is left out or says that there is none."""
    return None if uuid is UNSET or uuid == ZERO_UUID else uuid


def uuid_on_wire(uuid: str | None) -> str:
    """The inverse of uuid_or_none."""
    return uuid or ZERO_UUID
