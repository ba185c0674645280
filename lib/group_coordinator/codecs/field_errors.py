"""What is wrong with an event, in words: the field, its value, the reason."""

from __future__ import annotations

import re
from typing import Any

import msgspec

from group_coordinator.codecs.plain_json import plain_tree, shortened

_PATH = re.compile(r"(?P<why>.*?)(?: - at `\$(?P<path>.*)`)?", re.DOTALL)
_STEP = re.compile(r"\.(?P<name>[^.\[]+)|\[(?P<index>\d+)\]")


class FieldError(ValueError):
    """A field of an event has a value that it must not have."""

    def __init__(self, path: str, why: str) -> None:
        super().__init__(f"{path}: {why}")
        self.path = path
        self.why = why


def at_path(prefix: str, fault: msgspec.ValidationError, value: bytes) -> FieldError:
    """Say of a misfit where it is and, if it is short, what is there."""
    found = _PATH.fullmatch(str(fault))
    why, path = (found["why"], found["path"] or "") if found else (str(fault), "")
    full_path = f".{prefix}{path}" if prefix else path
    misfit = _node_at(plain_tree(value), full_path)
    shown = "" if isinstance(misfit, dict | list) else f" = {shortened(misfit)}"
    return FieldError(f"{full_path.removeprefix('.') or 'event'}{shown}", why)


def _node_at(tree: Any, path: str) -> Any:
    for step in _STEP.finditer(path):
        try:
            tree = tree[step["name"] or int(step["index"])]
        except (KeyError, IndexError, TypeError):
            return {}
    return tree
