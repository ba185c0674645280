"""Requests as bytes with null, empty, missing or surplus parts, for a broker and for the gateway."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from struct import pack
from typing import NamedTuple

from group_coordinator.codecs import wire
from tests.broker.gateway.ask import Ask
from tests.broker.gateway.conversation import (
    beat,
    commit,
    committed,
    delete,
    delete_offsets,
    describe,
    describe_consumers,
    fetch,
    fetched,
    heartbeat,
    join,
    leave,
    listing,
    sync,
)
from tests.broker.gateway.settings_of_groups import altered, described

PREFIX = "frame-"
"""Of the groups that these requests are about."""
CLIENT_ID = "someone"
_NO_TAGS, _UNKNOWN_TAG = b"\0", b"\1\x63\2ab"


class Frame(NamedTuple):
    """A request and the name of its oddity; the bytes begin with their size."""

    api: str
    version: int
    oddity: str
    data: bytes


class Parts(NamedTuple):
    """A request in parts; without flexible fields it has no tags."""

    head: bytes
    client_id: bytes
    tags: bytes
    body: bytes
    group: bytes


def frames() -> Iterator[Frame]:
    """Yield each oddity in each version of each group API."""
    seen = set()
    for version, (oddity, change) in product(range(11), _ODDITIES.items()):
        group = f"{PREFIX}{version}-{oddity}"
        for ask in _asks(version, group):
            parts = change(_parts(ask, group))
            if parts is not None and (name := (ask.api, ask.version, oddity)) not in seen:
                seen.add(name)
                data = b"".join(parts[:4])
                yield Frame(*name, pack(">i", len(data)) + data)


def _asks(version: int, group: str) -> Iterator[Ask]:
    """One request of each API in a version, or in its lowest or highest."""
    commits, fetches = max(2, version), max(1, version)
    topic = "orders" if version < 10 else "nowhere"
    yield join(min(version, 9), group)
    # A broker shows a group of pending members (JoinGroup 4 and later) some time after its answer.
    yield describe(min(version, 6), group if version < 4 else f"{group}-gone")
    yield sync(min(version, 5), group, memberId="nobody", assignments=[])
    yield heartbeat(min(version, 4), group, memberId="nobody")
    yield commit(commits, group, [committed(commits, 0, topic=topic)], memberId="nobody")
    yield fetch(fetches, group, [fetched(fetches, 0, topic=topic)])
    yield delete_offsets(group, orders=[0])
    yield leave(min(version, 5), group, "nobody")
    yield listing(min(version, 5), ["Stable"])
    yield beat(min(version, 1), f"{group}-consumers")
    yield describe_consumers(min(version, 1), f"{group}-consumers")
    yield described(max(1, min(version, 4)), group, keys=["consumer.session.timeout.ms"])
    yield altered(min(version, 1), group, validate=True, nonsense="1")
    yield delete(min(version, 3), f"{group}-gone")


def _parts(ask: Ask, group: str) -> Parts:
    head, client_id = 8, 2 + len(CLIENT_ID)
    whole = wire.request(ask.api, ask.version, 7, CLIENT_ID, ask.body)[4:]
    body = wire.encode(f"{ask.api}Request", ask.version, ask.body)
    tags = whole[head + client_id : len(whole) - len(body)]
    return Parts(whole[:head], whole[head : head + client_id], tags, body, group.encode())


def _from_client(client_id: bytes | None) -> Callable[[Parts], Parts]:
    text = pack(">h", -1) if client_id is None else pack(">h", len(client_id)) + client_id
    return lambda parts: parts._replace(client_id=text)


def _unknown_tag_in_header(parts: Parts) -> Parts | None:
    return parts._replace(tags=_UNKNOWN_TAG) if parts.tags else None


def _unknown_tag_in_body(parts: Parts) -> Parts | None:
    body = parts.body.removesuffix(_NO_TAGS) + _UNKNOWN_TAG
    return parts._replace(body=body) if parts.tags else None


def _group_is_null(parts: Parts) -> Parts:
    length = bytes([len(parts.group) + 1]) if parts.tags else pack(">h", len(parts.group))
    null = _NO_TAGS if parts.tags else pack(">h", -1)
    return parts._replace(body=parts.body.replace(length + parts.group, null))


_ODDITIES: dict[str, Callable[[Parts], Parts | None]] = {
    "no client id": _from_client(None),
    "empty client id": _from_client(b""),
    "client id without UTF-8": _from_client(b"a\xff\xc3"),
    "unknown tag in the header": _unknown_tag_in_header,
    "unknown tag in the body": _unknown_tag_in_body,
    "no body": lambda parts: parts._replace(body=b""),
    "a byte too few": lambda parts: parts._replace(body=parts.body[:-1]),
    "bytes too many": lambda parts: parts._replace(body=parts.body + b"hello"),
    "no group": _group_is_null,
}
