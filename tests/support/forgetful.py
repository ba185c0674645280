"""Groups of which nothing is remembered: whatever they keep as bytes must be made anew."""

from __future__ import annotations

import copy

from group_coordinator.core.model.group import Group
from group_coordinator.core.model.stored_values import StoredValues
from group_coordinator.core.model.topic_offsets import TopicOffsets


def forgetful(group: Group) -> Group:
    """The same group as one that never was in a snapshot."""
    new = copy.copy(group)
    new.offsets = StoredValues.of(
        {topic: TopicOffsets.of(offsets) for topic, offsets in group.offsets.items()}
    )
    if group.classic is not None:
        new.membership = classic = group.classic.copy()
        classic.members = StoredValues.of(classic.members)
        classic.known_index = None
    elif group.consumer is not None:
        new.membership = consumer = copy.copy(group.consumer)
        consumer.members = StoredValues.of(consumer.members)
        consumer.targets = StoredValues.of(consumer.targets)
        consumer.owners = copy.copy(consumer.owners)
        consumer.owners.by_neighbours = StoredValues.of(consumer.owners.by_neighbours)
    return new
