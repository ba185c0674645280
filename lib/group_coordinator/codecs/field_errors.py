"""What is wrong with an event, in words: the field, its value, the reason."""

from __future__ import annotations

import re
from typing import Any

import msgspec

from group_coordinator.codecs.plain_json import plain_tree, shortened

_BEFORE_PATH = " - at `$"
"""As in "Expected `int`, got `str` - at `$.topics[0].partitions`"; of the whole value, msgspec names no path."""
_STEP = re.compile(r"\.(?P<name>[^.\[]+)|\[(?P<index>\d+)\]")


class FieldError(ValueError):
    """A field has a value that it must not have."""

    def __init__(self, path: str, why: str) -> None:
        super().__init__(f"{path}: {why}")
        self.path = path
        self.why = why


def at_path(
    prefix: str, fault: msgspec.ValidationError, value: bytes, whole: str = "event"
) -> FieldError:
    """The error that says where a misfit is, what is there if that is short, and what is wrong with it.

    `whole` is what the value is called where it is no object at all.
    """
    why, _, path = str(fault).partition(_BEFORE_PATH)
    path = path.removesuffix("`")
    full_path = f".{prefix}{path}" if prefix else path
    misfit = _node_at(plain_tree(value), full_path)
    shown = "" if isinstance(misfit, dict | list) else f" = {shortened(misfit)}"
    return FieldError(f"{full_path.removeprefix('.') or whole}{shown}", why)


def _node_at(tree: Any, path: str) -> Any:
    for step in _STEP.finditer(path):
        try:
            tree = tree[step["name"] or int(step["index"])]
        except (KeyError, IndexError, TypeError):
            return {}
    return tree
