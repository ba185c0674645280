"""The timers of consumer groups: sessions, rebalances, heartbeat intervals, to the millisecond."""

from __future__ import annotations

from tests.conformance.language.consumer_script import ConsumerScript
from tests.conformance.language.story import consumer_story

SESSION_MS = 45_000
GONE = "-current:m1 -target:m1 -member:m1"


@consumer_story()
def a_session_ends(s: ConsumerScript) -> None:
    """testSessionTimeoutExpiration: at its very millisecond."""
    s.cluster("orders:2")
    s.enter("m1")
    s.at(999 + SESSION_MS)
    s.at(1_000 + SESSION_MS, f"{GONE} +epoch=3 +targets=3")
    s.look()
    s.beat("m1", sent_epoch=2, error=25)


@consumer_story()
def heartbeats_keep_a_session_alive(s: ConsumerScript) -> None:
    """testSessionTimeoutLifecycle."""
    s.cluster("orders:2")
    s.enter("m1")
    s.at(999 + SESSION_MS)
    s.beat("m1", also="")
    s.at(998 + 2 * SESSION_MS)
    s.beat("m1", also="")
    s.at(997 + 3 * SESSION_MS)
    s.at(998 + 3 * SESSION_MS, f"{GONE} +epoch=3 +targets=3")


@consumer_story()
def a_refused_heartbeat_keeps_nothing_alive(s: ConsumerScript) -> None:
    """Only a heartbeat that succeeds starts the session again."""
    s.cluster("orders:2")
    s.enter("m1")
    s.at(40_000)
    s.beat("m1", sent_epoch=9, error=110)
    s.beat("m1", regex="[", error=128)
    s.beat("m1", assignor="bad", error=112)
    s.commit("orders-0=1", version=9, member="m1", generation=2)
    s.fetch("orders-0", version=9, member="m1", sent_epoch=2)
    s.at(1_000 + SESSION_MS, f"{GONE} +epoch=3 +targets=3")


@consumer_story()
def a_static_session_ends(s: ConsumerScript) -> None:
    """testSessionTimeoutExpirationStaticMember, also when it is away."""
    s.cluster("orders:2")
    s.enter("m1", instance="i1")
    s.at(30_000)
    s.pause("m1")
    s.at(999 + SESSION_MS)
    s.at(1_000 + SESSION_MS, f"{GONE} +epoch=3 +targets=3")
    s.enter("n1", instance="i1", epoch=4, assigned="orders:01")


@consumer_story()
def a_replacement_has_its_own_session(s: ConsumerScript) -> None:
    """The timers of the one that is replaced are gone."""
    s.cluster("orders:2")
    s.enter("m1", instance="i1")
    s.pause("m1")
    s.at(20_000)
    s.enter("n1", instance="i1")
    s.at(1_000 + SESSION_MS)
    s.at(19_999 + SESSION_MS)
    s.at(20_000 + SESSION_MS, "-current:n1 -target:n1 -member:n1 +epoch=3 +targets=3")


@consumer_story()
def who_waits_gets_it_when_a_session_ends(s: ConsumerScript) -> None:
    """testSessionTimeoutExpiration: partitions of the lost are free."""
    s.cluster("orders:4")
    s.enter("m1")
    s.at(20_000)
    s.enter("m2", assigned="")
    s.at(1_000 + SESSION_MS, f"{GONE} +epoch=4")
    s.beat("m2", epoch=4, assigned="orders:0123")


@consumer_story()
def a_member_does_not_give_back_in_time(s: ConsumerScript) -> None:
    """testRebalanceTimeoutExpiration: heartbeats do not help."""
    s.cluster("orders:4")
    s.enter("m1", rebalance=10_000)
    s.enter("m2")
    s.at(2_000)
    s.beat("m1", owns="orders:0123", assigned="orders:01")
    s.at(9_000)
    s.beat("m1", owns="orders:0123")
    s.at(11_999)
    s.beat("m1", owns="orders:0123", also="")
    s.at(12_000, f"{GONE} +epoch=4")
    s.beat("m2", epoch=4, assigned="orders:0123")


@consumer_story()
def a_member_gives_back_at_the_last_moment(s: ConsumerScript) -> None:
    """testRebalanceTimeoutLifecycle."""
    s.cluster("orders:4")
    s.enter("m1", rebalance=10_000)
    s.enter("m2")
    s.at(2_000)
    s.beat("m1", owns="orders:0123", assigned="orders:01")
    s.at(11_999)
    s.beat("m1", owns="orders:01", epoch=3)
    s.at(12_000)
    s.at(13_000)
    s.ack("m2", assigned="orders:23")


@consumer_story()
def the_rebalance_timeout_is_that_of_the_last_heartbeat(s: ConsumerScript) -> None:
    """testRebalanceTimeoutLifecycle: it is armed when partitions are asked for; a later wish changes nothing."""
    s.cluster("orders:4")
    s.enter("m1", rebalance=10_000)
    s.enter("m2")
    s.beat("m1", owns="orders:0123", rebalance=5_000, assigned="orders:01")
    s.at(2_000)
    s.beat("m1", owns="orders:0123", rebalance=90_000)
    s.at(5_999)
    s.at(6_000, f"{GONE} +epoch=4")


@consumer_story()
def more_to_give_back_starts_the_rebalance_timeout_again(s: ConsumerScript) -> None:
    """testUnrevokedPartitionsToUnrevokedPartitions: every new request has its own time."""
    s.cluster("orders:6")
    s.enter("m1", rebalance=10_000)
    s.enter("m2")
    s.beat("m1", owns="orders:012345", assigned="orders:012")
    s.at(5_000)
    s.enter("m3")
    s.beat("m1", owns="orders:012", epoch=2)
    s.at(11_000)
    s.at(14_999)
    s.at(15_000, f"{GONE} +epoch=5")


@consumer_story()
def a_rebalance_timeout_ends_with_its_epoch(s: ConsumerScript) -> None:
    """testRebalanceTimeoutExpiration: a member that has moved on is left alone."""
    s.cluster("orders:4")
    s.enter("m1", rebalance=10_000)
    s.enter("m2")
    s.beat("m1", owns="orders:0123")
    s.at(5_000)
    s.quit("m2")
    s.beat("m1", owns="orders:01", epoch=4, assigned="orders:0123")
    s.at(11_000)
    s.at(12_000)
    s.ack("m1", also="")


@consumer_story()
def a_static_member_that_went_away_while_revoking(s: ConsumerScript) -> None:
    """-2 gives back: the rebalance timeout does not matter any more."""
    s.cluster("orders:4")
    s.enter("m1", instance="i1", rebalance=10_000)
    s.enter("m2")
    s.beat("m1", owns="orders:0123")
    s.at(5_000)
    s.pause("m1")
    s.at(11_000)
    s.at(40_000)
    s.ack("m2", assigned="orders:23")
    s.at(45_999)
    s.at(50_000, f"{GONE} +epoch=4")


@consumer_story()
def a_rebalance_timeout_of_zero(s: ConsumerScript) -> None:
    """It is over as soon as something is asked for."""
    s.cluster("orders:4")
    s.enter("m1", rebalance=0)
    s.enter("m2")
    s.beat("m1", owns="orders:0123", epoch=2)
    s.at(1_001)
    s.look()


@consumer_story()
def nobody_waits_for_ever_for_partitions(s: ConsumerScript) -> None:
    """Who waits for others has no timeout but its session."""
    s.cluster("orders:4")
    s.enter("m1")
    s.enter("m2", rebalance=1_000, assigned="")
    s.at(40_000)
    s.beat("m1", owns="orders:0123")
    s.beat("m2", owns="", epoch=3)
    s.at(80_000)
    s.beat("m1", owns="orders:01", epoch=3)
    s.beat("m2", owns="", assigned="orders:23")


@consumer_story(
    group_consumer_session_timeout_ms=50_000, group_consumer_heartbeat_interval_ms=7_000
)
def sessions_and_intervals_of_the_broker(s: ConsumerScript) -> None:
    """testConfigs: the broker's own values, where the group has none."""
    s.cluster("orders:2")
    s.enter("m1")
    s.at(50_999)
    s.at(51_000, f"{GONE} +epoch=3 +targets=3")


@consumer_story()
def sessions_and_intervals_of_the_group(s: ConsumerScript) -> None:
    """testConsumerGroupDynamicConfigs, testUpdateConsumerGroupHeartbeatConfigSuccessful: from the next heartbeat on."""
    s.cluster("orders:2")
    s.enter("m1")
    s.configure(consumer_session_timeout_ms=50_000, consumer_heartbeat_interval_ms=10_000)
    s.at(2_000)
    s.ack("m1", also="")
    s.at(1_000 + SESSION_MS)
    s.at(51_999)
    s.at(52_000, f"{GONE} +epoch=3 +targets=3")
    s.enter("m1")
    s.configure(consumer_session_timeout_ms=None)
    s.at(60_000)
    s.ack("m1")
    s.at(104_999)
    s.at(105_000, f"{GONE} +epoch=5 +targets=5")


@consumer_story()
def configs_of_a_group_have_bounds(s: ConsumerScript) -> None:
    """testInvalidProps, testInvalidConfigName: INVALID_CONFIG, and nothing is changed."""
    s.configure(consumer_session_timeout_ms=44_999, error=40)
    s.configure(consumer_session_timeout_ms=60_001, error=40)
    s.configure(consumer_heartbeat_interval_ms=4_999, error=40)
    s.configure(consumer_heartbeat_interval_ms=15_001, error=40)
    s.configure(consumer_assignment_interval_ms=15_001, error=40)
    s.configure(consumer_nonsense="1", error=40)
    s.configure(consumer_session_timeout_ms=60_000)
    s.cluster("orders:2")
    s.enter("m1")
    s.at(60_999)
    s.at(61_000, f"{GONE} +epoch=3 +targets=3")


@consumer_story()
def two_sessions_of_one_group_end(s: ConsumerScript) -> None:
    """Each at its own time, and the group is empty."""
    s.cluster("orders:4")
    s.enter("m1")
    s.at(2_000)
    s.enter("m2")
    s.at(46_000, f"{GONE} +epoch=4")
    s.at(47_000, "-current:m2 -target:m2 -member:m2 +epoch=5 +targets=5")
    s.describe_consumers(state="Empty", epoch=5)
