"""Requests about several groups: one question a group to the job, one answer to the client."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache
from typing import NamedTuple, TypeVar

from group_coordinator.clients.channel.channel import Body
from group_coordinator.codecs import wire
from group_coordinator.gateway.served import GROUP_APIS

MOST_GROUPS = 2_500
"""Of one request that are asked about: as many as a client may have events wait for the producer. A request may name 30,000."""
AT_ONCE = 100
"""Of those so many are dealt with before others have their turn."""
_Entry = TypeVar("_Entry")


class ListFields(NamedTuple):
    """Where an API names its groups, and where its answer has one entry for each."""

    asked: str
    given: str


@cache
def fields_of(api: str, version: int) -> ListFields | None:
    """A group API without a group id lists its groups. None: a request of this version is about one group."""
    request, response = f"{api}Request", f"{api}Response"
    if api not in GROUP_APIS or _has_group_id(request, version):
        return None
    return ListFields(_array(request, version), _array(response, version))


def _has_group_id(message: str, version: int) -> bool:
    return any(field.name == "groupId" for field in wire.fields(message, version))


def _array(message: str, version: int) -> str:
    [name] = [field.name for field in wire.fields(message, version) if field.is_array]
    return name


def named_twice(body: Body) -> frozenset[str]:
    """The groups that a request about settings names more than once."""
    names = Counter(resource["resourceName"] for resource in body["resources"])
    return frozenset(name for name, count in names.items() if count > 1)


class OfOneGroup(NamedTuple):
    """The part of a request that is about one group."""

    group_id: str
    body: Body


def split(fields: ListFields, api: str, body: Body) -> Iterator[OfOneGroup]:
    """A request for each group. Kafka deletes a group once that is named twice."""
    entries = body[fields.asked]
    if api == "DeleteGroups":
        entries = dict.fromkeys(entries)
    for entry in entries:
        yield OfOneGroup(group_of(entry), {**body, fields.asked: [entry]})


def slices(entries: Sequence[_Entry]) -> Iterator[Sequence[_Entry]]:
    """AT_ONCE of them each."""
    return (entries[at : at + AT_ONCE] for at in range(0, len(entries), AT_ONCE))


def merged(fields: ListFields, answers: Sequence[Body]) -> Body:
    """The answers as one, in the order asked."""
    whole = {"throttleTimeMs": 0, **(answers[0] if answers else {})}
    return {**whole, fields.given: [entry for answer in answers for entry in answer[fields.given]]}


def group_of(entry: str | Body) -> str:
    """Which group an entry of a list, or a request about one group, is about."""
    if isinstance(entry, str):
        return entry
    group_id: str = entry["groupId"] if "groupId" in entry else entry["resourceName"]
    return group_id
