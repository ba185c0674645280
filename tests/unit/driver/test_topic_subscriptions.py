from __future__ import annotations

from group_coordinator.driver.tasks.topic_subscriptions import GroupSubscription, TopicSubscriptions


def names(*topics: str) -> GroupSubscription:
    return GroupSubscription(topics, ())


def pattern(*regexes: str) -> GroupSubscription:
    return GroupSubscription((), regexes)


def test_groups_are_found_by_the_topics_that_they_name_or_match() -> None:
    subscriptions = TopicSubscriptions()
    groups = {"g": names("orders"), "h": names("orders", "pay"), "p": pattern("pay.*")}
    subscriptions.take(groups, {"orders", "pay"})

    assert subscriptions.concerned({"orders"}) == {"g", "h"}
    assert subscriptions.concerned({"pay", "audits"}) == {"h", "p"}
    assert subscriptions.concerned({"pay-2"}) == set()
    assert subscriptions.all_wanted() == {"orders", "pay"}
    assert subscriptions.has_patterns

    subscriptions.topics_came({"pay-2", "audits"})
    assert subscriptions.concerned({"pay-2"}) == {"p"}
    assert subscriptions.wanted("p") == {"pay", "pay-2"}
    subscriptions.topics_went({"pay"})
    assert subscriptions.wanted("p") == {"pay-2"}
    assert subscriptions.wanted("h") == {"orders", "pay"}


def test_who_leaves_leaves_nothing_behind() -> None:
    subscriptions = TopicSubscriptions()
    subscriptions.take({"g": names("orders"), "p": pattern("pay.*", "or.*")}, {"orders"})

    subscriptions.take({"g": None, "p": pattern("pay.*")}, {"orders"})
    assert subscriptions.concerned({"orders"}) == set()
    assert subscriptions.all_wanted() == set()

    subscriptions.take({"p": None}, {"orders"})
    assert not subscriptions.has_patterns
