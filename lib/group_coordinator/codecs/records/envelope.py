"""What all records of the log have in common: a key with a record type, a value with a version."""

from __future__ import annotations

from typing import Any, Generic, TypeVar

from msgspec import Struct

Data = TypeVar("Data")


class Key(Struct, Generic[Data], frozen=True, gc=False):
    """What a record is about."""

    type: int
    data: Data


class Value(Struct, Generic[Data], frozen=True, gc=False, kw_only=True, rename="camel"):
    """What a record says; the version is written and not asked for: older values have less."""

    version: int = 0
    data: Data


class LogEntry(Struct, frozen=True, gc=False):
    """A record as the log keeps it: what becomes JSON, and the facts that tables ask for."""

    key: Key[Any]
    value: Value[Any] | None
    topic: str | None = None
    partition: int | None = None
    member_id: str | None = None
    offset: int | None = None
