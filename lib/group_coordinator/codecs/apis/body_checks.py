"""Checks of whole bodies, and the results of requests by partition."""

from __future__ import annotations

from msgspec import UNSET, UnsetType

from group_coordinator.codecs.fields import FieldError, uuid_on_wire
from group_coordinator.codecs.plain_json import JsonObject, shortened
from group_coordinator.core.model.responses import PartitionResult, TopicResult


def check_unknown(field: str, value: object, default: object, version: int) -> None:
    """Check a field that the version does not have and Kafka does not call ignorable: it must have its default.

    Raises:
        FieldError: the field has another value.
    """
    if value is not UNSET and value != default:
        shown = "" if isinstance(value, list) else f" = {shortened(value)}"
        raise FieldError(f"{field}{shown}", f"version {version} has no such field")


def topic_name(name: str | UnsetType | None) -> str:
    """Return the name of a topic. It may be null only in versions with topic ids.

    Raises:
        FieldError: the name is null.
    """
    if name is None:
        raise FieldError("topics.name", "must not be null")
    return name or ""


def only_entry(field: str, names: list[str]) -> str:
    """Return the single entry of a list. An event is about a single group; clients split longer lists.

    Raises:
        FieldError: the list has none or several.
    """
    # An event's key is its group, and only events of one group keep their order.
    if len(names) != 1:
        raise FieldError(field, f"must have exactly one entry, not {len(names)}")
    return names[0]


def results_by_name(topic: TopicResult) -> JsonObject:
    """Return the errors of a topic's partitions, with the topic's name."""
    return {"name": topic.name or "", "partitions": _errors(topic.partitions)}


def results_by_id(topic: TopicResult) -> JsonObject:
    """Return the errors of a topic's partitions, with the topic's id."""
    return {"topicId": uuid_on_wire(topic.topic_id), "partitions": _errors(topic.partitions)}


def _errors(results: tuple[PartitionResult, ...]) -> list[JsonObject]:
    return [{"partitionIndex": result.partition, "errorCode": result.error} for result in results]
