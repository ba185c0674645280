"""What a body must not say, although each of its fields is well formed."""

from __future__ import annotations

from msgspec import UNSET, UnsetType

from group_coordinator.codecs.field_errors import FieldError
from group_coordinator.codecs.plain_json import shortened


def check_unknown(field: str, value: object, default: object, version: int) -> None:
    """A field that the version does not know, and that Kafka does not call ignorable, must have its default.

    Raises:
        FieldError: it has another value.
    """
    if value is not UNSET and value != default:
        shown = "" if isinstance(value, list) else f" = {shortened(value)}"
        raise FieldError(f"{field}{shown}", f"version {version} has no such field")


def topic_name(name: str | UnsetType | None) -> str:
    """The name of a topic, which may be null only in versions that go by topic id.

    Raises:
        FieldError: it is null.
    """
    if name is None:
        raise FieldError("topics.name", "must not be null")
    return name or ""


def only_entry(field: str, names: list[str]) -> str:
    """The one entry of a list: groups are apart, so an event is about one; clients split longer lists.

    Raises:
        FieldError: there are none or several.
    """
    if len(names) != 1:
        raise FieldError(field, f"must have exactly one entry, not {len(names)}")
    return names[0]
