"""The cast: applications of a shop, each a consumer group, and the topics that they read."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count, islice
from typing import Literal, NamedTuple

PARTITION_COUNTS = {"orders": 6, "payments": 4, "shipments": 4, "clicks": 6, "reviews": 2}
"""The shop's topics, with their partitions."""

UNLIMITED = 2**31


class Application(NamedTuple):
    """A consumer group with its topics and its number of members."""

    group_id: str
    topics: tuple[str, ...]
    member_count: int
    session_timeout_ms: int = 30_000
    records_a_commit: int = UNLIMITED
    """Records of a partition that it can process between two commits."""
    group_protocol: Literal["classic", "consumer"] = "classic"
    """Protocol of its members; in the consumer protocol (KIP-848) the coordinator sets the session timeout."""


class CastError(ValueError):
    """The members are too few for the groups."""


RETURNS_DESK = Application("returns-desk", ("orders", "shipments"), 3)
"""Leaves, and stays away: it loses its offsets, then its name."""
LOYALTY_POINTS = Application("loyalty-points", ("orders", "payments"), 3, group_protocol="consumer")
"""Leaves, and returns before the retention is over: it loses nothing."""
RECOMMENDATIONS = Application("recommendations", ("clicks", "orders"), 4)
"""Unsubscribes from one topic: it loses the offsets of that topic only."""
SPRING_SALE = Application("spring-sale", ("clicks",), 2)
"""Is no longer needed: an administrator deletes it."""
WAREHOUSE = Application("warehouse", ("payments", "shipments"), 3)
"""Unsubscribes, and an administrator deletes the offsets that it no longer needs."""
MOBILE_PUSH = Application("mobile-push", ("orders", "payments"), 4, session_timeout_ms=15_000)
"""A member falls silent, and its session ends."""
FRAUD_CHECK = Application("fraud-check", ("payments",), 2)
"""Gets more members: a rebalance."""
NEWSLETTER = Application("newsletter", ("reviews",), 2, group_protocol="consumer")
"""Leaves late: its offsets expire next."""
SALES_REPORT = Application(
    "sales-report", ("orders",), 2, records_a_commit=4, group_protocol="consumer"
)
"""Reads more slowly than the shop sells: its lag grows."""
CHECKOUT = Application("checkout", ("orders", "payments"), 3, session_timeout_ms=12_000)
"""Is upgraded while it works: members of the new protocol join singly, and those of the old protocol leave."""
NEW_CHECKOUT = CHECKOUT._replace(group_protocol="consumer")
"""The same application with the newer client."""

LEADING_ROLES = (
    *(RETURNS_DESK, LOYALTY_POINTS, RECOMMENDATIONS, SPRING_SALE, WAREHOUSE),
    *(MOBILE_PUSH, FRAUD_CHECK, NEWSLETTER, SALES_REPORT, CHECKOUT),
)

NIGHTLY_EXPORT = Application("nightly-export", ("orders",), 0)
"""A simple group, which only stores offsets: stops committing, and loses them by their age."""
SEARCH_INDEX = Application("search-index", ("reviews",), 0)
"""A simple group that continues to commit: it loses nothing."""

SIMPLE_COMMITTERS = (NIGHTLY_EXPORT, SEARCH_INDEX)

_EXTRAS = (
    *("billing", "invoicing", "accounting", "tax-report", "credit-score", "inventory", "pricing"),
    *("discounts", "customer-care", "order-status", "order-history", "delivery-slots", "payouts"),
    *("parcel-labels", "route-planning", "driver-app", "supplier-feed", "purchasing", "refunds"),
    *("stock-alerts", "finance-export", "data-lake", "search-ranking", "ad-targeting", "warranty"),
    *("email-receipts", "sms-alerts", "chat-bot", "partner-api", "web-shop", "mobile-shop"),
    *("site-metrics", "bot-detection", "session-replay", "review-moderation", "rating-summary"),
    *("chargebacks", "seller-portal", "gift-cards", "price-watch", "demand-forecast"),
)
_INTERESTS = (
    *(("orders",), ("orders", "payments"), ("shipments",), ("clicks",)),
    *(("payments",), ("clicks", "reviews"), ("orders", "shipments")),
)
LATER_MEMBERS = 3
"""Members that join FRAUD_CHECK in the middle of the demo."""


def extras(group_count: int, member_count: int) -> list[Application]:
    """Return the applications without a leading role, with the remaining groups and members, evenly divided.

    Raises:
        CastError: an application would have no member.
    """
    groups = group_count - len(LEADING_ROLES) - len(SIMPLE_COMMITTERS)
    members = member_count - sum(role.member_count for role in LEADING_ROLES) - LATER_MEMBERS
    # Each of these applications needs a member, or it would not be a group.
    if groups < 1 or members < groups:
        least = member_count - members + max(groups, 1)
        raise CastError(
            f"{group_count} groups with {member_count} members cannot tell the story: it takes at least "
            f"{group_count - groups + 1} groups, and {least} members for so many groups"
        )
    share, remainder = divmod(members, groups)
    return [
        Application(
            name,
            _INTERESTS[number % len(_INTERESTS)],
            share + (number < remainder),
            group_protocol="consumer" if number % 2 else "classic",
        )
        for number, name in enumerate(islice(_names(), groups))
    ]


def _names() -> Iterator[str]:
    yield from _EXTRAS
    for number in count(2):
        yield from (f"{name}-{number}" for name in _EXTRAS)
