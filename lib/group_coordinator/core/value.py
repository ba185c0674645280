"""The base of all values of the core: immutable, compared by content, free of behaviour.

Nothing but speed speaks for a library here: a rebalance or a commit makes a dozen values, and a Struct takes a fifth of
a named tuple's time.
"""

from __future__ import annotations

from typing import Any, Self

from msgspec import Struct, structs


class Value(Struct, frozen=True, array_like=True, gc=False):
    """Fields are given by position or by name; as JSON or msgpack a value is an array of its fields in their order."""

    def replace(self, **changes: Any) -> Self:
        """The same with other fields."""
        return structs.replace(self, **changes)
