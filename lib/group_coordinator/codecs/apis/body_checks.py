"""Checks of whole bodies, and the results of requests about partitions."""

from __future__ import annotations

from msgspec import UNSET, UnsetType

from group_coordinator.codecs.fields import FieldError, uuid_on_wire
from group_coordinator.codecs.plain_json import JsonObject, shortened
from group_coordinator.core.model.responses import PartitionResult, TopicResult


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


def results_by_name(topic: TopicResult) -> JsonObject:
    """The errors of a topic's partitions, with the name of the topic."""
    return {"name": topic.name or "", "partitions": _errors(topic.partitions)}


def results_by_id(topic: TopicResult) -> JsonObject:
    """The errors of a topic's partitions, with the id of the topic."""
    return {"topicId": uuid_on_wire(topic.topic_id), "partitions": _errors(topic.partitions)}


def _errors(results: tuple[PartitionResult, ...]) -> list[JsonObject]:
    return [{"partitionIndex": result.partition, "errorCode": result.error} for result in results]
