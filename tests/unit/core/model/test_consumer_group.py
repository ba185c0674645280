from __future__ import annotations

from group_coordinator.core.kafka_order import timeline_order
from group_coordinator.core.model.consumer_group import ConsumerGroup
from group_coordinator.core.model.consumer_member import NO_METADATA, ConsumerMember

WISH = NO_METADATA.replace(topic_names=("orders",))


def test_a_group_that_was_larger_once_finds_its_members_in_the_order_of_then() -> None:
    """Seen in Kafka 4.4.0: stories/migration/downgrading.py."""
    group = ConsumerGroup()
    for member_id in 2 * ("m1", "c5", "c2", "m2", "m3"):
        group.put(ConsumerMember(member_id, WISH))
    for member_id in ("m2", "m3"):
        group.remove(member_id)
    group.put(ConsumerMember("m1", WISH))

    assert group.member_room == 6
    assert [*group.members] == ["m1", "c5", "c2"]
    assert timeline_order(group.members, group.member_room) == ["c5", "m1", "c2"]
    assert timeline_order(group.members, 4) == ["c2", "c5", "m1"]
