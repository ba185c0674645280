"""Applications of a shop, each a consumer group, and the topics that they read."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count, islice
from typing import Literal, NamedTuple

PARTITION_COUNTS = {"orders": 6, "payments": 4, "shipments": 4, "clicks": 6, "reviews": 2}
"""The shop's topics, with their partitions."""

UNLIMITED = 2**31


class ShopGroup(NamedTuple):
    """A consumer group with its topics and its number of members; without members it only stores offsets."""

    group_id: str
    topics: tuple[str, ...]
    member_count: int
    session_timeout_ms: int = 30_000
    records_a_commit: int = UNLIMITED
    """Records of a partition that it can process between two commits."""
    group_protocol: Literal["classic", "consumer"] = "classic"
    """Protocol of its members; in the consumer protocol (KIP-848) the coordinator sets the session timeout."""


class TooFewMembersError(ValueError):
    """The members are too few for the groups."""


RETURNS_DESK = ShopGroup("returns-desk", ("orders", "shipments"), 3)
"""Leaves, and stays away: it loses its offsets, then its name."""
LOYALTY_POINTS = ShopGroup("loyalty-points", ("orders", "payments"), 3, group_protocol="consumer")
"""Leaves, and returns before the retention is over: it loses nothing."""
RECOMMENDATIONS = ShopGroup("recommendations", ("clicks", "orders"), 4)
"""Unsubscribes from one topic: it loses the offsets of that topic only."""
SPRING_SALE = ShopGroup("spring-sale", ("clicks",), 2)
"""Is no longer needed: an administrator deletes it."""
WAREHOUSE = ShopGroup("warehouse", ("payments", "shipments"), 3)
"""Unsubscribes, and an administrator deletes the offsets that it no longer needs."""
MOBILE_PUSH = ShopGroup("mobile-push", ("orders", "payments"), 4, session_timeout_ms=15_000)
"""A member stops its heartbeats, and its session ends."""
FRAUD_CHECK = ShopGroup("fraud-check", ("payments",), 2)
"""Gets more members: a rebalance."""
NEWSLETTER = ShopGroup("newsletter", ("reviews",), 2, group_protocol="consumer")
"""Leaves late: its offsets expire next."""
SALES_REPORT = ShopGroup(
    "sales-report", ("orders",), 2, records_a_commit=4, group_protocol="consumer"
)
"""Reads more slowly than the shop sells: its lag grows."""
CHECKOUT = ShopGroup("checkout", ("orders", "payments"), 3, session_timeout_ms=12_000)
"""Is upgraded while it works: members of the new protocol join singly, and those of the old protocol leave."""
NEW_CHECKOUT = CHECKOUT._replace(group_protocol="consumer")
"""The same application with the newer client."""

LEADING = (
    *(RETURNS_DESK, LOYALTY_POINTS, RECOMMENDATIONS, SPRING_SALE, WAREHOUSE),
    *(MOBILE_PUSH, FRAUD_CHECK, NEWSLETTER, SALES_REPORT, CHECKOUT),
)
"""Groups that the story names."""

NIGHTLY_EXPORT = ShopGroup("nightly-export", ("orders",), 0)
"""Stops its commits, and loses its offsets by their age."""
SEARCH_INDEX = ShopGroup("search-index", ("reviews",), 0)
"""Continues to commit: it loses nothing."""

WITHOUT_MEMBERS = (NIGHTLY_EXPORT, SEARCH_INDEX)

_OTHERS = (
    *("billing", "invoicing", "accounting", "tax-report", "credit-score", "inventory", "pricing"),
    *("discounts", "customer-care", "order-status", "order-history", "delivery-slots", "payouts"),
    *("parcel-labels", "route-planning", "driver-app", "supplier-feed", "purchasing", "refunds"),
    *("stock-alerts", "finance-export", "data-lake", "search-ranking", "ad-targeting", "warranty"),
    *("email-receipts", "sms-alerts", "chat-bot", "partner-api", "web-shop", "mobile-shop"),
    *("site-metrics", "bot-detection", "session-replay", "review-moderation", "rating-summary"),
    *("chargebacks", "seller-portal", "gift-cards", "price-watch", "demand-forecast"),
)
_SUBSCRIPTIONS = (
    *(("orders",), ("orders", "payments"), ("shipments",), ("clicks",)),
    *(("payments",), ("clicks", "reviews"), ("orders", "shipments")),
)
LATER_MEMBERS = 3
"""Members that join FRAUD_CHECK in the middle of the demo."""


def other_groups(group_count: int, member_count: int) -> list[ShopGroup]:
    """Return the other groups, with the remaining members, evenly divided. Raises TooFewMembersError."""
    groups = group_count - len(LEADING) - len(WITHOUT_MEMBERS)
    members = member_count - sum(group.member_count for group in LEADING) - LATER_MEMBERS
    if groups < 1 or members < groups:
        least = member_count - members + max(groups, 1)
        raise TooFewMembersError(
            f"{group_count} groups with {member_count} members are too few for the story: set --groups to at least "
            f"{group_count - groups + 1}, and --members to at least {least} for so many groups"
        )
    share, remainder = divmod(members, groups)
    return [
        ShopGroup(
            name,
            _SUBSCRIPTIONS[number % len(_SUBSCRIPTIONS)],
            share + (number < remainder),
            group_protocol="consumer" if number % 2 else "classic",
        )
        for number, name in enumerate(islice(_names(), groups))
    ]


def _names() -> Iterator[str]:
    yield from _OTHERS
    for number in count(2):
        yield from (f"{name}-{number}" for name in _OTHERS)
