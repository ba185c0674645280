"""The basis of responses: all that decides them besides a group's events. A gateway that answers by itself needs it.

A Tick in every partition announces another basis. The job handles each event before these Ticks with the basis before, and changes it
between two batches behind them. Behind a Tick a gateway uses only states that the job read with the announced basis.
"""

from __future__ import annotations

import zlib
from base64 import b64decode
from functools import cached_property
from hashlib import sha256
from typing import Any

from msgspec import Struct, field, json

from group_coordinator.core.acls import Acls


class DecidingSettings(Struct, frozen=True, kw_only=True):
    """The settings that influence responses."""

    program_version: str
    coordinator: dict[str, Any]
    timer_slack_ms: int
    response_max_bytes: int
    announces_topics: bool = field(name="tells_topics")
    checks_acls: bool


class Basis(Struct, frozen=True, dict=True):
    """Deciding settings, and the packed ACLs (task_properties.py); None: no ACLs are checked."""

    settings: DecidingSettings
    acls: str | None

    @cached_property
    def encoded(self) -> bytes:
        return json.encode(self)

    @cached_property
    def id(self) -> str:
        """Sixteen hexadecimal digits, other ones for another basis."""
        return sha256(self.encoded).hexdigest()[:16]


def unpacked_acls(text: str) -> Acls:
    """Decode the ACLs of a basis or of a task. Values that Kafka 4.4 would reject are kept, as a cluster may have them."""
    return json.decode(zlib.decompress(b64decode(text)), type=Acls)
