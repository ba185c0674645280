"""The cast: ordinary consumers of a shop's topics, by four clients. Their only change is bootstrap.servers."""

from __future__ import annotations

from group_coordinator.demo.mirror.cast import Application

RETURNS_DESK = Application("returns-desk", ("orders", "shipments"), 2)
"""Leaves, and stays away: it loses its offsets after a minute."""
LOYALTY_POINTS = Application("loyalty-points", ("orders", "payments"), 2, protocol="consumer")
"""A new version reads one topic less, whose offsets an administrator deletes."""
RECOMMENDATIONS = Application("recommendations", ("clicks",), 2)
"""Is stopped, reset to the first record by an administrator, and started again."""
SPRING_SALE = Application("spring-sale", ("clicks",))
"""Is no longer needed: an administrator deletes the group."""
BILLING = Application("billing", ("payments",), 2, client="kafka-python")
"""Is to be deleted by mistake, but has members."""
CHECKOUT = Application("checkout", ("orders", "payments"), 2, protocol="consumer")
"""Gets a third member."""
NEWSLETTER = Application("newsletter", ("reviews",), protocol="consumer")
"""Leaves late: its offsets expire next."""

EVERYBODY = (
    *(RETURNS_DESK, LOYALTY_POINTS, RECOMMENDATIONS, SPRING_SALE, BILLING, CHECKOUT, NEWSLETTER),
    Application("search-index", ("reviews",), client="kafka-python"),
    Application("accounting", ("payments",), client="transactions"),
)

CONSOLE = Application("console", ("shipments",))
"""Kafka's own console consumer, in Java; the others run in the demo's own processes."""
