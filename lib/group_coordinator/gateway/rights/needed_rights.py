"""Which rights a request of the group APIs needs."""

from __future__ import annotations

from collections.abc import Iterator

from group_coordinator.clients.channel.channel import Body
from group_coordinator.core.acls.needs import ON_TRANSACTIONAL_IDS, TO_SEE_TOPICS
from group_coordinator.core.acls.rule import ResourceType, Right
from group_coordinator.gateway.groups import lists
from group_coordinator.gateway.served import GROUP_APIS

ON_GROUPS = {name: rights.on_group for name, rights in GROUP_APIS.items()}
ON_TOPICS = {name: rights.on_topics for name, rights in GROUP_APIS.items() if rights.on_topics}


def needed(api: str, version: int, body: Body) -> Iterator[Right]:
    """All that must be known before the job is asked; a topic by an id that nobody knows needs none, as it does not exist."""
    on_groups = ON_GROUPS.get(api)
    if on_groups is None:
        return
    fields = lists.fields_of(api, version)
    entries = [body] if fields is None else body[fields.asked]
    for entry in entries:
        yield Right(on_groups, ResourceType.GROUP, lists.group_of(entry))
    if api in ON_TOPICS:
        named = (topic for entry in entries for topic in entry["topics"] or ())
        names = (topic["name"] for topic in named if "name" in topic)
        yield from (Right(ON_TOPICS[api], ResourceType.TOPIC, name) for name in names)
    for name in body.get("subscribedTopicNames") or ():
        yield Right(TO_SEE_TOPICS, ResourceType.TOPIC, name)
    if api == "TxnOffsetCommit":
        yield Right(ON_TRANSACTIONAL_IDS, ResourceType.TRANSACTIONAL_ID, body["transactionalId"])
