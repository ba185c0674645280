"""Which classic groups with members are upgraded, and which are not."""

from __future__ import annotations

from tests.conformance.language.consumer_script import ConsumerScript
from tests.conformance.language.embedded import embedded_assignment, embedded_subscription
from tests.conformance.language.lines import PARKED, named_partitions
from tests.conformance.language.story import consumer_story
from tests.conformance.stories.migration.groups import lead_classic_group

NO_GROUP = 69


@consumer_story()
def an_upgrade_without_assignments(s: ConsumerScript) -> None:
    """testConsumerGroupHeartbeatToClassicGroupWithEmptyAssignmentMember."""
    s.cluster("orders:4")
    s.classic("c1", version=3, chosen_id=False, error=PARKED)
    s.at(4_000, "JoinGroup=0")
    s.sync("c1", 1)
    s.enter("m1", epoch=2)
    s.describe_consumers()


@consumer_story()
def an_upgrade_of_a_group_with_user_data(s: ConsumerScript) -> None:
    """testOnlineMigrationWithNonEmptyUserDataInAssignment, testConsumerGroupHeartbeatWithCustomAssignorClassicGroup."""
    s.cluster("orders:4")
    s.classic("c1", version=3, chosen_id=False, error=PARKED)
    s.at(4_000, "JoinGroup=0")
    with_user_data = embedded_assignment(named_partitions("orders:0123"), user_data=b"mine")
    s.sync("c1", 1, {"c1": with_user_data})
    s.enter("m1", error=NO_GROUP, also="")
    s.heartbeat("c1", 1)
    s.look()


@consumer_story()
def an_upgrade_of_assignments_that_nobody_can_read(s: ConsumerScript) -> None:
    """testConsumerGroupHeartbeatWithCustomAssignorClassicGroup."""
    s.cluster("orders:4")
    s.classic("c1", version=3, chosen_id=False, error=PARKED)
    s.at(4_000, "JoinGroup=0")
    s.sync("c1", 1, {"c1": b"\x00"})
    s.enter("m1", error=(NO_GROUP,), also="")
    s.look()


@consumer_story()
def an_upgrade_of_another_kind_of_group(s: ConsumerScript) -> None:
    """testConsumerGroupHeartbeatWithNonEmptyClassicGroup: only those of protocol type "consumer"."""
    s.cluster("orders:4")
    s.join("c1", version=3, protocol_type="connect", error=PARKED)
    s.at(4_000, "JoinGroup=0")
    s.enter("m1", error=NO_GROUP, also="")
    s.look()


@consumer_story()
def an_upgrade_of_unreadable_subscriptions(s: ConsumerScript) -> None:
    """Embedded metadata must be read to be converted."""
    s.cluster("orders:4")
    s.join("c1", version=3, protocols={"range": b""}, error=PARKED)
    s.at(4_000, "JoinGroup=0")
    s.enter("m1", error=NO_GROUP, also="")
    s.look()


@consumer_story()
def an_upgrade_of_lengths_beyond_the_end(s: ConsumerScript) -> None:
    """testConsumerGroupHeartbeatWithStableClassicGroupFailsOnMalformedProtocol, and the same of an assignment."""
    s.cluster("orders:4")
    readable = embedded_subscription(["orders"])
    embedded = {
        "c1": (b"\0\1\xff\xff\xff\xff", b""),
        "c2": (b"\0\1\0\0\0\5", b""),
        "c3": (readable, b"\0\1\xff\xff\xff\xff"),
        "c4": (readable, b"\0\1\0\0\0\1\0\5a"),
    }
    for name, (subscription, _) in embedded.items():
        s.other(name).join(name, version=3, protocols={"range": subscription}, error=PARKED)
    s.at(4_000, " ".join(["JoinGroup=0"] * len(embedded)))
    for name, (_, assignment) in embedded.items():
        group = s.other(name)
        group.sync(name, 1, {name: assignment})
        group.enter("m1", error=NO_GROUP, also="")
        group.look()


@consumer_story()
def an_upgrade_with_two_faults(s: ConsumerScript) -> None:
    """One member's subscription cannot be read, another does not know the protocol: Kafka's table decides who is looked at first."""
    s.cluster("orders:4")
    readable = embedded_subscription(["orders"])
    s.join("c1", version=3, protocols={"sticky": b"", "range": readable}, error=PARKED)
    s.at(4_000, "JoinGroup=0")
    s.join("c2", version=3, protocols={"range": readable}, error=PARKED)
    s.enter("m1", error=NO_GROUP, also="JoinGroup=27")
    s.look()


@consumer_story()
def a_static_member_is_told_to_join_again_and_stays_away(s: ConsumerScript) -> None:
    """The upgrade fails, but has answered it: at the end of the initial delay the group begins to wait for anybody."""
    s.classic("d1", chosen_id=False, instance="i1", rebalance=100, session=30_000, error=PARKED)
    s.enter("m1", error=-1, also="JoinGroup=27")
    s.at(4_000)
    s.at(10_030)
    s.classic("d2", chosen_id=False, instance="i2", rebalance=100, error=PARKED, also="")
    s.at(10_099)
    s.at(10_100, "JoinGroup=0")


@consumer_story(group_consumer_migration_policy="disabled")
def no_upgrade_where_it_is_disabled(s: ConsumerScript) -> None:
    """testUpgradeWithDisabledMigrationPolicy."""
    s.cluster("orders:4")
    lead_classic_group(s, {"c1": "orders:0123"})
    s.enter("m1", error=NO_GROUP, also="")
    s.heartbeat("c1", 1)


@consumer_story(group_consumer_migration_policy="downgrade")
def no_upgrade_where_only_downgrades_are_allowed(s: ConsumerScript) -> None:
    """testUpgradeMigrationPolicy."""
    s.cluster("orders:4")
    lead_classic_group(s, {"c1": "orders:0123"})
    s.enter("m1", error=NO_GROUP, also="")
    s.heartbeat("c1", 1)


@consumer_story(group_consumer_migration_policy="UPGRADE")
def an_upgrade_where_only_upgrades_are_allowed(s: ConsumerScript) -> None:
    """testUpgradeMigrationPolicy: the name of a policy in any case; there is no way back."""
    s.cluster("orders:4")
    lead_classic_group(s, {"c1": "orders:0123"})
    s.enter("m1", epoch=2)
    s.quit("m1", also="-current:m1 -target:m1 -member:m1 +epoch=3")
    s.describe_consumers(epoch=3)
