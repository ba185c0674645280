"""The state machine as a session of lines: one line of JSON in, its outputs out. `group-coordinator replay-events` uses it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Annotated, Any, TypeAlias

from msgspec import UNSET, Meta, Raw, Struct, UnsetType, json, to_builtins

from group_coordinator.codecs import events, group_view
from group_coordinator.codecs import events as responses
from group_coordinator.codecs.acls import AclEntry, acls_of
from group_coordinator.codecs.apis.topic_metadata import ExistingTopic, known_topics
from group_coordinator.codecs.events import Event, InvalidEventError
from group_coordinator.codecs.fields import FieldError, Text
from group_coordinator.codecs.records import log_entry
from group_coordinator.core import coordinator
from group_coordinator.core.acls import Authorizer, Rights
from group_coordinator.core.apis import api_of
from group_coordinator.core.coordinator import Step
from group_coordinator.core.model.config import CoordinatorConfig
from group_coordinator.core.model.group import Group
from group_coordinator.core.model.records import ConfigRecord
from group_coordinator.core.model.requests import Topic, TopicMetadata
from group_coordinator.core.offsets.pending import awaited_markers
from group_coordinator.runtime.event_handling import (
    event_id_at,
    fresh_id,
    result_of_invalid,
    rights_of,
    take,
)

Output: TypeAlias = dict[str, Any]

_DONE: Output = {"kind": "done"}
_NO_EVENT = Raw(b"")


class _Line(Struct, rename="camel", forbid_unknown_fields=True):
    at: Annotated[int, Meta(ge=0, le=2**63 - 1)] | UnsetType = UNSET
    topics: list[ExistingTopic] | UnsetType = UNSET
    acls: list[AclEntry] | UnsetType | None = UNSET
    super_users: list[Text] | UnsetType = UNSET
    allow_everyone_if_no_acl_found: bool | UnsetType = UNSET
    event: Raw = _NO_EVENT
    describe: Text | UnsetType = UNSET


_decode_line = json.Decoder(_Line).decode


class Replay:
    """Any number of groups with one clock, which the lines move.

    Deadlines of all groups fire in the order of their times, equal times in the order of group ids. There is no slack.
    """

    def __init__(self, config: CoordinatorConfig, new_id: Callable[[str], str] = fresh_id) -> None:
        """Begin without groups. `new_id` makes the uuid text of a new member id from an event's coordinates."""
        self._config = config
        self._new_id = new_id
        self._groups: dict[str, Group] = {}
        self._topics: dict[str, Topic] | None = None
        self._topics_version = 0
        self._acls: Authorizer | None = None
        self._now_ms = 0
        self._lines = 0

    def line(self, text: str) -> list[Output]:
        """Return the outputs of a line as JSON objects. The last output marks their end."""
        self._lines += 1
        try:
            line = _decode_line(text)
        except (ValueError, RecursionError) as fault:
            return [_error(f"not a line: {fault}"), _DONE]
        return [*self._outputs(line), _DONE]

    def awaited_markers(self, group_id: str) -> dict[int, int]:
        """Return the transaction markers that a group awaits: the first possible offset of each, by producer id."""
        group = self._groups.get(group_id)
        return {} if group is None else awaited_markers(group)

    def _outputs(self, line: _Line) -> Iterator[Output]:
        if line.at is UNSET:
            if line.describe is UNSET:
                yield _error("a line needs `at` or `describe`")
            elif _says_what_happens(line):
                yield _error("an event, topics and acls need `at`")
            else:
                yield self._described(line.describe)
        elif line.at < self._now_ms:
            yield _error(f"time never goes back: at = {line.at}, but it is {self._now_ms} already")
        else:
            yield from self._moment(line, line.at)

    def _moment(self, line: _Line, at_ms: int) -> Iterator[Output]:
        self._now_ms = at_ms
        # Deadlines of earlier times fire before the line, and those that it makes due right after.
        yield from self._pass_time(at_ms)
        if line.topics is not UNSET:
            yield from self._learn(line.topics)
        yield from self._set_rules(line)
        if line.event is not _NO_EVENT:
            yield from self._take(bytes(line.event))
        yield from self._pass_time(at_ms)
        if line.describe is not UNSET:
            yield self._described(line.describe)

    def _pass_time(self, to_ms: int) -> Iterator[Output]:
        while (first := self._first_deadline(to_ms)) is not None:
            due_ms, group_id = first
            for step in coordinator.advance(self._groups[group_id], due_ms, self._config):
                yield from _step(group_id, step)

    def _first_deadline(self, to_ms: int) -> tuple[int, str] | None:
        deadlines = (
            (deadline_ms, group.group_id)
            for group in self._groups.values()
            if group.wake_ms <= to_ms
            and (deadline_ms := coordinator.next_deadline(group, self._config)) is not None
            and deadline_ms <= to_ms
        )
        return min(deadlines, default=None)

    def _learn(self, given: list[ExistingTopic]) -> Iterator[Output]:
        try:
            topics = {topic.name: topic for topic in known_topics(list(map(_placed, given)))}
        except FieldError as fault:
            yield _error(str(fault))
            return
        # A topic that is missing or has another id now was deleted.
        for name, before in (self._topics or {}).items():
            after = topics.get(name)
            if after is not None and after.topic_id == before.topic_id:
                # Kafka never removes partitions of a topic.
                topics[name] = max(after, before, key=lambda topic: topic.num_partitions)
        deleted = tuple(
            (topic.name, topic.topic_id)
            for topic in (self._topics or {}).values()
            if topic.name not in topics or topics[topic.name].topic_id != topic.topic_id
        )
        # A topic that was created again was missing in one version of the cluster's metadata.
        self._topics_version += 2 if any(name in topics for name, _ in deleted) else 1
        self._topics = topics
        for group_id, group in sorted(self._groups.items()):
            yield from _step(group_id, self._send_metadata(group, topics, deleted))

    def _set_rules(self, line: _Line) -> Iterator[Output]:
        if line.acls is UNSET:
            if line.super_users is not UNSET or line.allow_everyone_if_no_acl_found is not UNSET:
                yield _error("superUsers and allowEveryoneIfNoAclFound need `acls`")
            return
        # `acls` null: no authorizer, all operations are allowed.
        if line.acls is None:
            self._acls = None
            return
        allow_everyone = line.allow_everyone_if_no_acl_found or False
        try:
            acls = acls_of(line.acls, line.super_users or (), allow_everyone=allow_everyone)
        except FieldError as fault:
            yield _error(str(fault))
            return
        self._acls = Authorizer(acls)

    def _take(self, value: bytes) -> Iterator[Output]:
        try:
            events.check_size(len(value), self._config)
            event = events.decode(value)
        except InvalidEventError as fault:
            yield from self._invalid(fault)
            return
        group = self._group(event.request.group_id)
        yield from self._authorized(group, event)
        # Such a group has no data: the cluster's topics are known without it.
        if group.is_forgotten or (group.has_no_data and self._topics is not None):
            del self._groups[group.group_id]

    def _authorized(self, group: Group, event: Event) -> Iterator[Output]:
        rights = None if self._acls is None else rights_of(event, self._acls)
        yield from _step(group.group_id, self._handled(group, event, rights))
        if rights is None:
            # Deadlines that the event makes due fire with the rights of its sender.
            return
        for step in coordinator.advance(group, self._now_ms, self._config, rights=rights):
            yield from _step(group.group_id, step)
        for denial in rights.denials:
            yield {
                "kind": "denial",
                "groupId": group.group_id,
                "at": self._now_ms,
                "api": api_of(event.request).name,
                "principal": rights.caller.principal,
                "clientHost": event.client_host,
                "operation": denial.operation,
                "resourceType": denial.resource_type,
                "resourceName": denial.resource_name,
            }

    def _group(self, group_id: str) -> Group:
        # A new group, or a group that was removed, gets the cluster's topic metadata first.
        group = self._groups.setdefault(group_id, Group(group_id))
        if group.topics is None and self._topics is not None:
            self._send_metadata(group, self._topics, ())
        return group

    def _send_metadata(
        self, group: Group, topics: Mapping[str, Topic], deleted: tuple[tuple[str, str], ...]
    ) -> Step:
        request = TopicMetadata(
            group.group_id, tuple(topics.values()), deleted, self._topics_version
        )
        event = Event(
            version=0,
            correlation_id=None,
            client_id="",
            client_host="",
            principal=None,
            request=request,
        )
        return self._handled(group, event)

    def _handled(self, group: Group, event: Event, rights: Rights | None = None) -> Step:
        return take(
            group,
            event,
            self._event_id,
            now_ms=self._now_ms,
            config=self._config,
            new_id=self._new_id,
            rights=rights,
        )

    @property
    def _event_id(self) -> str:
        # Each line counts as a record of an events topic with one partition.
        return event_id_at("replay", 0, self._lines)

    def _invalid(self, fault: InvalidEventError) -> Iterator[Output]:
        result = result_of_invalid(fault)
        if result.is_answered:
            group_id = fault.group_id or ""
            response = responses.error_response_to_json(
                group_id, self._event_id, fault, self._now_ms
            )
            yield {"kind": "response", **to_builtins(response)}
        if result.is_dead_letter:
            yield {
                "kind": "deadLetter",
                "reason": fault.reason,
                "groupId": fault.group_id,
                "correlationId": fault.correlation_id,
                "at": self._now_ms,
            }

    def _described(self, group_id: str) -> Output:
        group = self._groups.get(group_id, Group(group_id))
        deadline_ms = coordinator.next_deadline(group, self._config)
        return {"kind": "group", **group_view.to_json(group, self._config, deadline_ms)}


def _says_what_happens(line: _Line) -> bool:
    is_silent = line.topics is UNSET and line.acls is UNSET and line.super_users is UNSET
    return line.event is not _NO_EVENT or not is_silent


def _placed(topic: ExistingTopic) -> ExistingTopic:
    # Without racks a topic has one broker, in a rack without a name, as in tests/conformance.
    if topic.racks is UNSET:
        topic.racks = [[""]] * topic.num_partitions
    return topic


def _step(group_id: str, step: Step) -> Iterator[Output]:
    for record in step.records:
        if isinstance(record, ConfigRecord):
            continue  # Kafka keeps it in its metadata log
        entry = log_entry.encode(group_id, record)
        yield {
            "kind": "record",
            "groupId": group_id,
            "at": step.at_ms,
            "reason": str(record.reason),
            "key": to_builtins(entry.key),
            "value": to_builtins(entry.value),
        }
    for reply in step.replies:
        if reply.ticket.correlation_id is not None:
            response = responses.to_json(group_id, reply, step.at_ms)
            yield {"kind": "response", **to_builtins(response)}


def _error(message: str) -> Output:
    return {"kind": "error", "message": message}
