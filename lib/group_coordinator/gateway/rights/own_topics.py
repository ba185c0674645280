"""The coordinator's topics of events and responses: closed to the gateway's clients, and removed from brokers' responses.

A writer of events may name any user, and a reader of either topic sees all groups. Only a request with the bytes of such a
topic's name or id is decoded, and denied if a text in it is that name or id. Brokers' responses about all topics leave the topics
out. Produce is parsed as its bytes arrive (connections/produce_request.py).
"""

from __future__ import annotations

import logging
from base64 import urlsafe_b64decode
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from group_coordinator.binary.notation import varint_bytes
from group_coordinator.clients.channel import Body
from group_coordinator.codecs import wire
from group_coordinator.codecs.fields import ZERO_UUID
from group_coordinator.core.model.errors import ErrorCode
from group_coordinator.gateway.api_versions import APIS, ClientRequest, ServedApi
from group_coordinator.gateway.frames import FrameError
from group_coordinator.gateway.groups.error_responses import error_response
from group_coordinator.gateway.groups.offset_topics import TopicCache

_log = logging.getLogger(__name__)
_TOPIC = wire.Part("topics", is_element=True)
_SIZE_BYTES = 4
_ERROR_CODE_BYTES = 2
"""bytes before a topic's name in a response: its error code."""
_CURSOR_BYTES = 6
"""bytes behind the name in the cursor at the end of a DescribeTopicPartitions: a partition, and tags. A topic has more."""
_LEGAL = frozenset(b"-._0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz")
_TWO_BYTES = 0x80
"""Lengths from here on have two bytes, as names have at most 249."""


def without_topics(
    api: str, version: int, response: bytes, instead: Mapping[str, Body | None]
) -> bytes:
    """Remove or replace topics in a broker's response to Metadata or DescribeTopicPartitions, its size first.

    `instead` has by the name of each hidden topic the entry in its place; None: no entry. Raises WireError: no valid response.
    """
    message, is_flexible = f"{api}Response", wire.is_flexible(f"{api}Response", version)
    opening = wire.ResponseOpening(api, version, "topics", response, _SIZE_BYTES)
    names = {_name_bytes(name, is_flexible=is_flexible): each for name, each in instead.items()}
    end = len(response) - (_CURSOR_BYTES + 1 if api == "DescribeTopicPartitions" else 0)
    found = sorted(
        (start, name) for name in names for start in _places(response, name, opening.end, end)
    )
    kept, at = [], opening.end
    for name_at, _ in found:
        start = name_at - _ERROR_CODE_BYTES
        kept.append(response[at:start])
        # The length of a topic's entry is known only after it is decoded.
        _, at = wire.decode_at(message, version, response, start, _TOPIC)
    bodies = [body for _, name in found if (body := names[name]) is not None]
    put = bytearray()
    for body in bodies:
        wire.encode_into(put, message, version, body, _TOPIC)
    opening.fields["topics"] += len(bodies) - len(found)
    return opening.followed_by(put, *kept, response[at:])


def _name_bytes(name: str, *, is_flexible: bool) -> bytes:
    encoded = name.encode()
    length = len(encoded)
    return (varint_bytes(length + 1) if is_flexible else length.to_bytes(2)) + encoded


def _places(response: bytes, name: bytes, at: int, end: int) -> Iterator[int]:
    # In a large response this takes less time than a pattern.
    while (at := response.find(name, at, end)) >= 0:
        if name[0] not in _LEGAL or not _is_inside_of_name(response, at, at + len(name)):
            yield at
        at += 1


def _is_inside_of_name(response: bytes, at: int, end: int) -> bool:
    """Return True at the end of a longer name: the length byte before the name may be a letter of the longer name."""
    before = at - 1
    while not _reaches(response, before, end):
        if response[before] not in _LEGAL:
            return False
        before -= 1
    return True


def _reaches(response: bytes, at: int, end: int) -> bool:
    """Return True if a name whose length ends with this byte would reach `end`. Of two length bytes the second is 1."""
    last, before = response[at], response[at - 1]
    # A varint of two bytes has its low seven bits first, with the highest bit set; names are shorter than 256.
    if last == 1 and before >= _TWO_BYTES:
        return at + before >= end
    return last < _TWO_BYTES and at + last >= end


_DECODED_MAX_BYTES = 1024 * 1024
"""Limit of a decoded request. A longer request with such bytes is denied."""
_CODE = ErrorCode.TOPIC_AUTHORIZATION_FAILED
_ANSWERED = frozenset(
    {
        *("CreateTopics", "DeleteTopics", "CreatePartitions"),
        *("DescribeConfigs", "AlterConfigs", "IncrementalAlterConfigs"),
    }
)
"""APIs that clients call without Metadata, whose response would show the error first."""


class Closed(NamedTuple):
    """Topics and APIs that are closed to the gateway's clients."""

    topics: frozenset[str] = frozenset()
    users: frozenset[str] = frozenset()
    """Principals that may use these topics."""
    apis: frozenset[str] = frozenset()


class OwnTopics:
    """Access to the coordinator's own topics."""

    def __init__(self, closed: Closed, topics: TopicCache) -> None:
        self._names, self._users, hidden_apis = closed
        self.apis: Mapping[int, ServedApi] = {
            key: api for key, api in APIS.items() if api.name not in hidden_apis
        }
        self._in_order = tuple(sorted(self._names))
        self.encoded = frozenset(name.encode() for name in self._names)
        self._topics = topics

    def traces(self, principal: str) -> Sequence[bytes]:
        """Byte strings, none for users of the topics: each request with the name or id of a closed topic contains one at least."""
        if principal in self._users or not self._names:
            return ()
        return _bytes_of(self._in_order, tuple(map(self._topics.id_of, self._in_order)))

    def named_in(self, request: ClientRequest, principal: str) -> frozenset[str]:
        """Names and ids of the closed topics in a request. Raises WireError: a request that may name such a topic does not parse.

        FrameError: it is too long to be decoded.
        """
        # Separate searches take a tenth of the time of one pattern in a long request, whatever it contains.
        if not any(trace in request.frame for trace in self.traces(principal)):
            return frozenset()
        if len(request.frame) > _DECODED_MAX_BYTES:
            raise FrameError(f"{request.api.name} with a topic of the coordinator itself")
        body = wire.request_body(memoryview(request.frame)[4:])
        ids = {self._topics.id_of(name) for name in self._names} - {None, ZERO_UUID}
        return frozenset(_texts(body)) & (self._names | ids)

    def error_response(self, request: ClientRequest, named: Collection[str]) -> bytes:
        """Error response to the whole request, which names closed topics. Raises FrameError: the API has no response for clients."""
        api, version = request.api.name, request.version
        name = ", ".join(sorted(named))
        _log.debug("rights: api=%s denied=%r reason=coordinator-topic", api, name)
        if api not in _ANSWERED:
            raise FrameError(f"{api} with {name}, a topic of the coordinator itself")
        body = wire.request_body(memoryview(request.frame)[4:])
        message = f"{name}: clients of a gateway have no access to the coordinator's own topics."
        response = error_response(api, version, body, _CODE, message)
        return wire.response(api, version, request.correlation_id, response)

    def hide(self, request: ClientRequest, named: Collection[str], response: bytes) -> bytes:
        """Remove closed topics from the response, its size first; `named` topics get an error, as from brokers."""
        instead = {name: self._error(name, named) for name in self._names}
        return without_topics(request.api.name, request.version, response, instead)

    def _error(self, name: str, named: Collection[str]) -> Body | None:
        if name in named:
            return {"errorCode": _CODE, "name": name}
        # A client that named the topic by id gets the id back, and never the name.
        topic_id = self._topics.id_of(name)
        return (
            {"errorCode": _CODE, "name": None, "topicId": topic_id} if topic_id in named else None
        )


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for each in value.values():
            yield from _texts(each)
    elif isinstance(value, list):
        for each in value:
            yield from _texts(each)


# Searched in every request, and computed again only if a topic got another id.
@lru_cache
def _bytes_of(names: Sequence[str], ids: Sequence[str | None]) -> tuple[bytes, ...]:
    there = (urlsafe_b64decode(f"{one}==") for one in ids if one not in (None, ZERO_UUID))
    return (*(name.encode() for name in names), *there)
