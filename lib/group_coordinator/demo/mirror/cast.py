"""The cast: applications that read a shop's topics with ordinary Kafka clients, without any knowledge of the mirror."""

from __future__ import annotations

from typing import Literal, NamedTuple

PARTITION_COUNTS = {
    "orders": 3,
    "payments": 2,
    "shipments": 2,
    "clicks": 3,
    "reviews": 2,
    "gift-cards": 2,
}
"""The topics that the shop writes."""

LEDGER_TOPIC = "ledger"
"""The topic that an application writes, in transactions; it has one partition."""

UNLIMITED = 500
"""More records than the shop writes between two polls."""


class Application(NamedTuple):
    """A consumer group with its topics, client and protocol."""

    group_id: str
    topics: tuple[str, ...]
    member_count: int = 1
    client: Literal["librdkafka", "kafka-python", "transactions"] = "librdkafka"
    """Library of its members; `transactions`: they read, write and commit in a transaction, by librdkafka."""
    protocol: Literal["classic", "consumer"] = "classic"
    """Protocol of the members; `consumer` is the new protocol (KIP-848)."""
    records_a_poll: int = UNLIMITED


RETURNS_DESK = Application("returns-desk", ("orders", "shipments"), 2)
"""Leaves, and stays away: it loses its offsets after a minute."""
WAREHOUSE = Application("warehouse", ("shipments",), client="kafka-python")
"""The database is down: it stays in its group, and repeatedly commits the same offsets."""
MOBILE_PUSH = Application("mobile-push", ("reviews",))
"""Hangs: its heartbeats continue, its commits do not."""
RECOMMENDATIONS = Application("recommendations", ("clicks",), 2)
"""Is stopped, reset to the first record by an administrator, and started again."""
LOYALTY_POINTS = Application("loyalty-points", ("orders", "payments"), 2, protocol="consumer")
"""A new version reads one topic less, whose offsets an administrator deletes."""
SPRING_SALE = Application("spring-sale", ("clicks",))
"""Is no longer needed: an administrator deletes the group."""
CUSTOMER_CARE = Application("customer-care", ("payments", "gift-cards"))
"""Reads a topic that an administrator deletes."""
SALES_REPORT = Application("sales-report", ("orders",), protocol="consumer", records_a_poll=2)
"""Reads more slowly than the shop writes: its lag grows."""
NEWSLETTER = Application("newsletter", ("reviews",), protocol="consumer")
"""Leaves late: its offsets expire next."""
BILLING = Application("billing", ("payments",), 2, client="kafka-python")
"""Is to be deleted by mistake, but has members."""

EVERYBODY = (
    *(RETURNS_DESK, WAREHOUSE, MOBILE_PUSH, RECOMMENDATIONS, LOYALTY_POINTS, SPRING_SALE),
    *(CUSTOMER_CARE, SALES_REPORT, NEWSLETTER, BILLING),
    Application("checkout", ("orders", "payments"), 3, protocol="consumer"),
    Application("fraud-check", ("payments",), 2, protocol="consumer"),
    Application("search-index", ("reviews",), client="kafka-python"),
    Application("accounting", ("payments",), client="transactions"),
)
