"""Events and responses as JSON: a record's value of the events topic becomes a request to a group, or an InvalidEventError.

The codec of an API is in the module of `apis/` with the name of its handler in `core/apis.py`. Bodies follow the rules of Kafka's
message definitions. An absent field has the version's default. A field that the version does not have is ignored if Kafka calls it
ignorable; otherwise it must have its default.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from msgspec import UNSET, DecodeError, Raw, Struct, UnsetType, ValidationError, json

from group_coordinator.codecs.apis.api import ApiCodec
from group_coordinator.codecs.fields import (
    HIGHEST_INT16,
    HIGHEST_INT32,
    LONGEST_TEXT,
    FieldError,
    Int16,
    JsonObject,
    PartitionNumber,
    Text,
    at_path,
    check_distinct_keys,
    check_text_sizes,
    plain_tree,
)
from group_coordinator.core.apis import APIS, Handler
from group_coordinator.core.model.config import CoordinatorConfig
from group_coordinator.core.model.errors import ErrorCode
from group_coordinator.core.model.requests import Request
from group_coordinator.core.model.responses import Reply


def _codec(handler: Handler[Any]) -> ApiCodec[Any]:
    name = handler.__name__.rpartition(".")[2]
    # By name, so that a new API needs no further list of modules.
    codec: ApiCodec[Any] = import_module(f"group_coordinator.codecs.apis.{name}").CODEC
    return codec


CODECS = {name: _codec(api.handler) for name, api in APIS.items()}
"""The codecs by Kafka's name of the API."""


_UNNAMED_CLIENT_ID = "client"
_UNNAMED_CLIENT_HOST = "/127.0.0.1"
_BODY = "body"
_NO_BODY = Raw(b"")
_EMPTY_BODY = Raw(b"{}")


# gc=False: no cycles, and each event of a batch is such an object.
class Event(Struct, frozen=True, gc=False, kw_only=True):
    """A request and its sender. An event without correlation id gets no response."""

    version: int
    correlation_id: str | None
    client_id: str
    client_host: str
    principal: str | None
    request: Request
    reply_partition: int | None = None


class InvalidEventError(Exception):
    """An invalid event, with the reason. Its readable fields are kept for the error response."""

    def __init__(  # noqa: PLR0913 - the fields of an event
        self,
        reason: str,
        code: ErrorCode,
        *,
        api: str | None = None,
        version: int | None = None,
        correlation_id: str | None = None,
        reply_partition: int | None = None,
        group_id: str | None = None,
    ) -> None:
        super().__init__(reason)
        self.reason = reason
        self.code = code
        self.api = api
        self.version = version
        self.correlation_id = correlation_id
        self.reply_partition = reply_partition
        self.group_id = group_id


class _Envelope(Struct, rename="camel", forbid_unknown_fields=True, gc=False):
    """The JSON object of an event. The decoded body replaces the raw body."""

    api: Text
    version: Int16
    correlation_id: Text | UnsetType | None = UNSET
    reply_partition: PartitionNumber | UnsetType | None = UNSET
    client_id: Text | UnsetType | None = UNSET
    client_host: Text | UnsetType | None = UNSET
    principal: Text | UnsetType | None = UNSET
    body: Raw = _NO_BODY


class _UnsupportedError(Exception):
    """The API or its version is not supported. The event is otherwise valid."""


_decode_envelope = json.Decoder(_Envelope).decode


def decode(value: bytes) -> Event:
    """Read an event. Raises InvalidEventError: the value is no valid event."""
    try:
        return _decode(value)
    # A code of its own, as the sender may retry with another version.
    except _UnsupportedError as fault:
        raise unfit(value, str(fault), ErrorCode.UNSUPPORTED_VERSION) from None
    except FieldError as fault:
        raise unfit(value, str(fault), ErrorCode.INVALID_REQUEST) from None
    except UnicodeDecodeError as fault:
        raise unfit(value, f"not UTF-8: {fault}", ErrorCode.INVALID_REQUEST) from None
    except RecursionError:
        raise unfit(value, "nested too deeply", ErrorCode.INVALID_REQUEST) from None
    except DecodeError as fault:
        raise unfit(value, f"not JSON: {fault}", ErrorCode.INVALID_REQUEST) from None


def unfit(value: bytes, reason: str, code: ErrorCode) -> InvalidEventError:
    """Return the error of an invalid event, with its readable fields."""
    # Read again, leniently: the sender should get an error response if its id is readable.
    tree = plain_tree(value)
    return InvalidEventError(
        reason,
        code,
        api=_text(tree.get("api")),
        version=_number(tree.get("version"), HIGHEST_INT16),
        correlation_id=_text(tree.get("correlationId")),
        reply_partition=_number(tree.get("replyPartition"), HIGHEST_INT32),
        group_id=_group_id(tree.get(_BODY)),
    )


def check_size(size: int, config: CoordinatorConfig) -> None:
    """Check the size of a value before it is read. Raises InvalidEventError: MESSAGE_TOO_LARGE, without fields of the event."""
    if size > config.event_max_bytes:
        reason = f"the event has {size} bytes: more than event.max.bytes = {config.event_max_bytes}"
        raise InvalidEventError(reason, ErrorCode.MESSAGE_TOO_LARGE)


def _decode(value: bytes) -> Event:
    try:
        envelope = _decode_envelope(value)
    except ValidationError as fault:
        raise at_path("", fault, value) from None
    api = _api_of(envelope)
    request = _request(value, envelope, api)
    # Both checks need the whole value; they are last, as most invalid events fail before.
    check_distinct_keys(value, envelope)
    check_text_sizes(value)
    client_id, client_host = envelope.client_id, envelope.client_host
    return Event(
        version=envelope.version,
        correlation_id=None if envelope.correlation_id is UNSET else envelope.correlation_id,
        client_id=_UNNAMED_CLIENT_ID if client_id is UNSET or client_id is None else client_id,
        client_host=(
            _UNNAMED_CLIENT_HOST if client_host is UNSET or client_host is None else client_host
        ),
        principal=envelope.principal or None,
        request=request,
        reply_partition=None if envelope.reply_partition is UNSET else envelope.reply_partition,
    )


def _api_of(envelope: _Envelope) -> ApiCodec[Any]:
    api = CODECS.get(envelope.api)
    if api is None:
        raise FieldError(f"api = {envelope.api[:100]}", "unknown")
    # Before the body is read, as the sender of another version should learn the version and not a field.
    if envelope.version not in api.versions:
        first, last = api.versions[0], api.versions[-1]
        raise _UnsupportedError(
            f"version = {envelope.version}: {envelope.api} is supported from {first} to {last}"
        )
    if envelope.body is _NO_BODY:
        # A Tick has nothing to say, so it needs no body.
        if envelope.api != "Tick":
            raise FieldError(_BODY, "is missing")
        envelope.body = _EMPTY_BODY
    return api


def _request(value: bytes, envelope: _Envelope, api: ApiCodec[Any]) -> Request:
    try:
        envelope.body = api.decoder.decode(envelope.body)
    except ValidationError as fault:
        raise at_path(_BODY, fault, value) from None
    try:
        return api.to_request(envelope.body, envelope.version)
    except FieldError as fault:
        raise FieldError(f"{_BODY}.{fault.path}", fault.why) from None


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and len(value) <= LONGEST_TEXT else None


def _number(value: object, highest: int) -> int | None:
    # True is an int for isinstance.
    return value if type(value) is int and 0 <= value <= highest else None


def _group_id(body: object) -> str | None:
    if not isinstance(body, dict):
        return None
    # Each API has its own field for the group. Without exactly one group the error has none.
    if "groupId" in body:
        return _text(body["groupId"])
    # APIs with several groups have a list of names or of objects.
    lists = [
        body[name] for name in ("groups", "groupsNames", "groupIds", "resources") if name in body
    ]
    entries = lists[0] if len(lists) == 1 else None
    if not isinstance(entries, list) or len(entries) != 1:
        return None
    entry = entries[0]
    if isinstance(entry, dict):
        return _text(entry.get("groupId", entry.get("resourceName")))
    return _text(entry)


_BY_RESPONSE = {
    codec.encoder.response: (name, codec.encoder.to_body)
    for name, codec in CODECS.items()
    if codec.encoder
}


def to_json(group_id: str, reply: Reply, at_ms: int) -> JsonObject:
    ticket, response = reply.ticket, reply.response
    api, to_body = _BY_RESPONSE[type(response)]
    return {
        "id": ticket.event_id,
        "correlationId": ticket.correlation_id,
        "api": api,
        "version": ticket.version,
        "groupId": group_id,
        "at": at_ms,
        "body": to_body(response, ticket.version),
    }


def error_response_to_json(
    group_id: str, event_id: str, fault: InvalidEventError, at_ms: int
) -> JsonObject:
    return {
        "id": event_id,
        "correlationId": fault.correlation_id,
        "api": fault.api,
        "version": fault.version,
        "groupId": group_id,
        "at": at_ms,
        "body": {"errorCode": fault.code, "errorMessage": fault.reason},
    }
