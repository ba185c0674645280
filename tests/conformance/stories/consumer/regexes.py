"""Subscriptions by regular expression: resolved after the heartbeat, kept in record 16, refreshed."""

from __future__ import annotations

from tests.conformance.language.consumer_script import UNCHANGED, ConsumerScript
from tests.conformance.language.story import consumer_story

FRESH_MS = 10_000
"""A refresh comes no sooner after another."""
OLD_MS = 600_000
"""What was resolved so long ago is resolved again."""


@consumer_story()
def a_member_joins_with_an_expression(s: ConsumerScript) -> None:
    """testConsumerGroupMemberJoinsWithNewRegex: nothing at first, then what it resolves to."""
    s.cluster("orders:2", "oranges:1", "audit:1")
    s.enter(
        "m1",
        None,
        regex="or.*",
        epoch=1,
        assigned="",
        also="+member:m1 +current:m1 +regex:or.* +epoch=2",
    )
    s.describe_consumers(state="Assigning", epoch=2, target_epoch=1)
    s.beat("m1", epoch=2, assigned="orders:01 oranges:0")
    s.describe_consumers(state="Stable", epoch=2)


@consumer_story()
def an_expression_that_is_already_resolved(s: ConsumerScript) -> None:
    """testConsumerGroupMemberPicksUpExistingResolvedRegularExpression."""
    s.cluster("orders:2", "oranges:2")
    s.enter("m1", None, regex="or.*")
    s.beat("m1", epoch=2)
    s.enter("m2", None, regex="or.*", epoch=3, assigned="")
    s.settle("m1", "m2")
    s.describe_consumers(state="Stable", epoch=3)


@consumer_story()
def another_expression(s: ConsumerScript) -> None:
    """testConsumerGroupMemberJoinsWithUpdatedRegex: the old one goes, the new one is resolved."""
    s.cluster("orders:2", "audit:2")
    s.enter("m1", None, regex="or.*")
    s.ack("m1", epoch=2, assigned="orders:01")
    s.at(2_000)
    s.beat("m1", regex="au.*", epoch=2, assigned="", also="+member:m1 -regex:or.* +current:m1")
    s.ack("m1", epoch=2, also="+current:m1 +regex:au.* +epoch=3")
    s.ack("m1", epoch=3, assigned="audit:01")
    s.describe_consumers(state="Stable", holds={"m1": "audit:01"})


@consumer_story()
def another_expression_before_the_first_is_refreshed(s: ConsumerScript) -> None:
    """testConsumerGroupMemberJoinsWithRegexAndUpdatesItBeforeResolutionCompleted: refreshes have a distance of 10 s."""
    s.cluster("orders:2", "audit:2")
    s.enter("m1", None, regex="or.*")
    s.beat("m1", epoch=2, assigned="orders:01")
    s.beat("m1", regex="au.*", owns="orders:01")
    s.beat("m1", regex="bi.*", owns="orders:01")
    s.at(1_000 + FRESH_MS)
    s.beat("m1", regex="au.*", owns="orders:01")
    s.at(1_001 + FRESH_MS)
    s.beat("m1", owns="")
    s.beat("m1", owns="")
    s.describe_consumers(state="Stable", holds={"m1": "audit:01"})


@consumer_story()
def an_expression_and_names(s: ConsumerScript) -> None:
    """testSubscribedTopicNameAndResolvedRegularExpression: both count."""
    s.cluster("orders:2", "audit:2")
    s.enter("m1", "orders", regex="au.*", epoch=2, assigned="orders:01")
    s.ack("m1", epoch=3, assigned="orders:01 audit:01")
    s.describe_consumers(state="Stable", epoch=3)


@consumer_story()
def an_expression_is_taken_back(s: ConsumerScript) -> None:
    """testConsumerGroupMemberClearsRegex."""
    s.cluster("orders:2", "audit:2")
    s.enter("m1", "audit", regex="or.*")
    s.ack("m1", assigned="orders:01 audit:01")
    s.beat("m1", regex="", owns="orders:01 audit:01", assigned="audit:01")
    s.ack("m1")
    s.describe_consumers(state="Stable", holds={"m1": "audit:01"})
    s.beat("m1", regex="", also="")


@consumer_story()
def an_expression_that_matches_nothing(s: ConsumerScript) -> None:
    """testUnresolvedRegularExpression: resolved to no topics, no new epoch."""
    s.cluster("orders:2")
    s.enter(
        "m1",
        None,
        regex="nothing",
        epoch=1,
        assigned="",
        also="+member:m1 +current:m1 +regex:nothing",
    )
    s.ack("m1", epoch=1, also="")
    s.describe_consumers(state="Stable", epoch=1)


@consumer_story()
def expressions_match_whole_names(s: ConsumerScript) -> None:
    """testBasicMatching: RE2, the whole name, letters as they are."""
    s.cluster("orders:1", "orders-old:1", "Orders:1", "a:1")
    s.enter("m1", None, regex="orders")
    s.ack("m1", assigned="orders:0")
    other = s.other("h")
    other.enter("m1", None, regex="(?i)ORDERS|^a$")
    other.ack("m1")
    other.describe_consumers()
    third = s.other("i")
    third.enter("m1", None, regex=".*")
    third.ack("m1")
    third.describe_consumers()
    letters = s.other("j")
    letters.enter("m1", None, regex=r"\é|\p{L}{1,249}")
    letters.ack("m1")
    letters.describe_consumers(holds={"m1": "orders:0 Orders:0 a:0"})


@consumer_story()
def what_is_no_expression(s: ConsumerScript) -> None:
    """testConsumerHeartbeatRegexValidation, testConsumerGroupHeartbeatWithInvalidRegularExpression: 128."""
    s.cluster("orders:1")
    s.enter("m1", None, regex="[", error=128)
    s.enter("m1", None, regex="(?=orders)", error=128)
    s.enter("m1", None, regex=r"(a)\1", error=128)
    s.enter("m1", None, regex="**", error=128)
    s.enter("m1", None, regex="a{1001}", error=128)
    s.enter("m1", None, regex="(?<é>orders)", error=128)
    s.look()
    s.enter("m1", "orders", epoch=2)
    s.beat("m1", regex="[", error=128, also="")
    s.ack("m1", also="")


@consumer_story()
def an_expression_of_the_rebalance_test(s: ConsumerScript) -> None:
    """testConsumerGroupHeartbeatWithRegularExpression: two members, one expression."""
    s.cluster("foo:4")
    s.enter("m1", None, regex="foo*")
    s.beat("m1", epoch=2, assigned="foo:0123")
    s.enter("m2", None, regex="foo*", epoch=3)
    s.settle("m1", "m2")
    s.quit("m1")
    s.settle("m2")
    s.describe_consumers(state="Stable", holds={"m2": "foo:0123"})


@consumer_story()
def a_new_topic_matches_after_ten_seconds(s: ConsumerScript) -> None:
    """testConsumerGroupMemberJoinRefreshesExpiredRegexes: a heartbeat after a new topic, not sooner than 10 s."""
    s.cluster("orders:2")
    s.enter("m1", None, regex="or.*")
    s.ack("m1", epoch=2, assigned="orders:01")
    s.cluster("orders:2", "oranges:1")
    s.ack("m1", epoch=2, also="")
    s.at(999 + FRESH_MS)
    s.ack("m1", epoch=2, also="")
    s.at(1_000 + FRESH_MS)
    s.ack("m1", epoch=2, also="")
    s.at(1_001 + FRESH_MS)
    s.ack("m1", epoch=2, also="+regex:or.* +epoch=3")
    s.ack("m1", epoch=3)
    s.describe_consumers(state="Stable", epoch=3, holds={"m1": "orders:01 oranges:0"})


@consumer_story()
def a_new_topic_that_matches_nothing(s: ConsumerScript) -> None:
    """It is resolved again all the same, and written again."""
    s.cluster("orders:2")
    s.enter("m1", None, regex="or.*")
    s.ack("m1")
    s.cluster("orders:2", "audit:1")
    s.at(20_000)
    s.ack("m1", epoch=2, also="+regex:or.*")
    s.ack("m1", epoch=2, also="")
    s.at(40_000)
    s.ack("m1", epoch=2, also="")


@consumer_story()
def a_deleted_topic_is_not_looked_for_again(s: ConsumerScript) -> None:
    """Deletion starts no refresh; the topic is in the list until the next."""
    s.cluster("orders:2", "oranges:1")
    s.enter("m1", None, regex="or.*")
    s.ack("m1", epoch=2)
    s.cluster("orders:2")
    s.at(20_000)
    s.ack("m1", epoch=2, assigned="orders:01")
    s.ack("m1", epoch=3)
    s.describe_consumers(state="Stable", epoch=3, holds={"m1": "orders:01"})
    s.cluster("orders:2", "audit:1")
    s.ack("m1")
    s.describe_consumers()


@consumer_story()
def expressions_are_refreshed_after_ten_minutes(s: ConsumerScript) -> None:
    """testConsumerGroupMemberJoinRefreshesExpiredRegexes: to the millisecond."""
    s.cluster("orders:2")
    s.enter("m1", None, regex="or.*")
    for at_ms in range(30_000, OLD_MS, 30_000):
        s.jump(at_ms)
        s.ack("m1")
    s.at(999 + OLD_MS)
    s.ack("m1", also="")
    s.at(1_000 + OLD_MS)
    s.ack("m1", also="")
    s.at(1_001 + OLD_MS)
    s.ack("m1", also="+regex:or.*")


@consumer_story()
def expressions_go_with_their_members(s: ConsumerScript) -> None:
    """testResolvedRegularExpressionsRemovedWhenMembersLeaveOrFenced: with the last that wishes it."""
    s.cluster("orders:2", "audit:2")
    s.enter("m1", None, regex="or.*")
    s.ack("m1")
    s.enter("m2", None, regex="or.*")
    s.at(12_000)
    s.enter("m3", None, regex="au.*")
    s.settle("m1", "m2", "m3")
    s.quit("m1")
    s.quit("m2", also="-current:m2 -target:m2 -member:m2 -regex:or.* +epoch=6")
    s.at(56_999)
    s.at(57_000, "-current:m3 -target:m3 -member:m3 -regex:au.* +epoch=7 +targets=7")
    s.look()


@consumer_story()
def a_static_member_returns_with_its_expression(s: ConsumerScript) -> None:
    """A copy with the same expression gets back the same."""
    s.cluster("orders:2")
    s.enter("m1", None, regex="or.*", instance="i1")
    s.ack("m1", epoch=2)
    s.pause("m1")
    s.enter("n1", None, regex="or.*", instance="i1", epoch=2, assigned="orders:01")
    s.ack("n1", epoch=2, also="")


@consumer_story()
def a_static_member_returns_with_another_expression(s: ConsumerScript) -> None:
    """testStaticConsumerGroupMemberJoinsWithUpdatedRegex."""
    s.cluster("orders:2", "audit:2")
    s.enter("m1", None, regex="or.*", instance="i1")
    s.ack("m1", epoch=2)
    s.pause("m1")
    s.at(20_000)
    s.enter("n1", None, regex="au.*", instance="i1")
    s.ack("n1")
    s.settle("n1")
    s.describe_consumers(state="Stable", holds={"n1": "audit:01"})


@consumer_story()
def two_expressions_of_two_members(s: ConsumerScript) -> None:
    """testComputeSubscribedRegularExpressions: each gets what its own matches."""
    s.cluster("orders:2", "oranges:2", "audit:2")
    s.enter("m1", None, regex="ora.*")
    s.settle("m1")
    s.at(12_000)
    s.enter("m2", None, regex="or.*")
    s.settle("m1", "m2")
    s.describe_consumers(state="Stable")


@consumer_story()
def the_same_expression_said_again(s: ConsumerScript) -> None:
    """What does not change is not written."""
    s.cluster("orders:2")
    s.enter("m1", None, regex="or.*")
    s.ack("m1")
    s.beat("m1", regex="or.*", assigned=UNCHANGED, also="")
    s.beat("m1", regex="or.*", rebalance=60_000, owns="orders:01", assigned="orders:01", also="")


@consumer_story(group_consumer_assignment_interval_ms=1_000)
def an_expression_that_is_given_up_makes_members_different(s: ConsumerScript) -> None:
    """Not among Kafka's tests: with the member's record its expression is still there, so the next target is that of
    members that want different topics, although they want the same by then.
    """
    s.cluster("billing:2", "audit:2", "oranges:2", "orders:1")
    s.enter("m3", "orders")
    s.enter("m1", "billing orders", assignor="uniform")
    s.at(1_100)
    s.beat("m3", topics="orders audit", regex="or.*")
    s.at(1_200)
    s.beat("m3", topics="billing orders", regex="", owns="orders:0")
    s.at(2_000)
    s.beat("m3", owns="orders:0")
    s.describe_consumers(targets={"m1": "billing:01", "m3": "orders:0"})
