"""The elements that Kafka's messages are made of, as their JSON spells them."""

from __future__ import annotations

from typing import Annotated, TypeVar

from msgspec import UNSET, Meta, UnsetType

from group_coordinator.binary import elements

Field = TypeVar("Field")

HIGHEST_INT16 = 2**15 - 1
HIGHEST_INT32 = elements.HIGHEST_INT32
HIGHEST_INT64 = 2**63 - 1
LONGEST_TEXT = elements.LONGEST_TEXT

Int8 = Annotated[int, Meta(ge=-(2**7), le=2**7 - 1)]
Int16 = Annotated[int, Meta(ge=-(2**15), le=HIGHEST_INT16)]
Int32 = Annotated[int, Meta(ge=-(2**31), le=HIGHEST_INT32)]
PartitionNumber = Annotated[int, Meta(ge=0, le=HIGHEST_INT32)]
LogOffset = Annotated[int, Meta(ge=0, le=2**63 - 1)]
"""Of a record in a partition."""
Int64 = Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)]
Text = Annotated[str, Meta(max_length=LONGEST_TEXT)]

ABSENT = -1
"""What an absent number is on the wire: epoch, generation, timestamp, offset."""

NOT_ASKED_FOR = -(2**31)
"""Of authorized operations."""


def number_or_none(number: int | UnsetType) -> int | None:
    """The number, None where it is left out or says that there is none."""
    return None if number is UNSET or number == ABSENT else number


def number_on_wire(number: int | None) -> int:
    """The inverse of number_or_none."""
    return ABSENT if number is None else number


def or_default(value: Field | UnsetType, default: Field) -> Field:
    """The value, or the default where it is left out."""
    return default if value is UNSET else value


def unset_if_none(value: Field | None) -> Field | UnsetType:
    """The inverse of or_default for None."""
    return UNSET if value is None else value


def operations_on_wire(operations: int | None) -> int:
    """The operations that a principal may do, a bit each; None: it did not ask for them."""
    return NOT_ASKED_FOR if operations is None else operations
