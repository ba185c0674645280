"""The elements that Kafka's messages are made of, as their JSON spells them."""

from __future__ import annotations

from typing import Annotated, TypeVar

from msgspec import UNSET, Meta, UnsetType

Given = TypeVar("Given")

HIGHEST_INT16 = 2**15 - 1
LONGEST_TEXT = HIGHEST_INT16
"""The length of a string is an int16 on the wire."""

Int8 = Annotated[int, Meta(ge=-(2**7), le=2**7 - 1)]
Int16 = Annotated[int, Meta(ge=-(2**15), le=HIGHEST_INT16)]
Int32 = Annotated[int, Meta(ge=-(2**31), le=2**31 - 1)]
Int64 = Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)]
Text = Annotated[str, Meta(max_length=LONGEST_TEXT)]

Uuid = Annotated[str, Meta(pattern=r"^[A-Za-z0-9_-]{21}[AQgw]\Z")]
"""A uuid as Kafka prints it: 16 bytes in url-safe base64, whose last character has only two bits."""

ZERO_UUID = "A" * 22
"""What an absent topic id is on the wire."""

ABSENT = -1
"""What an absent number is on the wire: epoch, generation, timestamp, offset."""


def number_or_none(number: int | UnsetType) -> int | None:
    """The number, None where it is left out or says that there is none."""
    return None if number is UNSET or number == ABSENT else number


def number_on_wire(number: int | None) -> int:
    """The inverse of number_or_none."""
    return ABSENT if number is None else number


def given(value: Given | UnsetType, default: Given) -> Given:
    """The value, or the default where it is left out."""
    return default if value is UNSET else value
