"""The base of all values of the core: immutable, compared by content, without behaviour.

A library is used here only for its speed: a rebalance or a commit makes a dozen values, and a Struct takes a fifth of a named
tuple's time.
"""

from __future__ import annotations

from typing import Any, Self

from msgspec import Struct, structs


class Value(Struct, frozen=True, array_like=True, gc=False):
    """A value with fields by position or by name. In JSON and msgpack it is an array of its fields in their order."""

    def replace(self, **changes: Any) -> Self:
        """Return a copy with other fields."""
        return structs.replace(self, **changes)
