"""The scenes of the coordinator's show and their times."""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

from group_coordinator.demo.coordinator.applications import (
    CHECKOUT,
    FRAUD_CHECK,
    LATER_MEMBERS,
    LOYALTY_POINTS,
    MOBILE_PUSH,
    NEW_CHECKOUT,
    NEWSLETTER,
    NIGHTLY_EXPORT,
    RECOMMENDATIONS,
    RETURNS_DESK,
    SALES_REPORT,
    SPRING_SALE,
    WAREHOUSE,
)
from group_coordinator.demo.coordinator.members import ShopGroups
from group_coordinator.demo.stage import Administrator
from group_coordinator.demo.story import DemoOptions, Scene

_EXPIRY_AT_S = 60


class CoordinatorScenes(NamedTuple):
    options: DemoOptions
    groups: ShopGroups
    administrator: Administrator

    def all(self) -> list[Scene]:
        return self.options.scaled(
            [*self._departures(), *self._rebalances(), *self._upgrade(), *self._deletions()],
            Scene(_EXPIRY_AT_S, "From now on offsets expire that were not protected for a minute."),
        )

    def _departures(self) -> list[Scene]:
        groups = self.groups
        return [
            Scene(
                2,
                f"{RETURNS_DESK.group_id}: all members leave. The group is Empty, and its offsets expire in a minute.",
                partial(groups.leave, RETURNS_DESK),
            ),
            Scene(
                5,
                f"{LOYALTY_POINTS.group_id}: all members leave too, but they will be back in time.",
                partial(groups.leave, LOYALTY_POINTS),
            ),
            Scene(
                11,
                f"{NIGHTLY_EXPORT.group_id} has no members, it only stores offsets. It stops its commits: a minute after the "
                "last commit its offsets expire.",
                partial(groups.stop_committing, NIGHTLY_EXPORT),
            ),
            Scene(
                14,
                f"{SPRING_SALE.group_id}: the sale is over, all members leave.",
                partial(groups.leave, SPRING_SALE),
            ),
            Scene(
                46,
                f"{LOYALTY_POINTS.group_id}: the members are back within the minute, so no offset expires.",
                partial(groups.join, LOYALTY_POINTS, LOYALTY_POINTS.member_count),
            ),
            Scene(
                54,
                f"{NEWSLETTER.group_id}: all members leave. The group's offsets will expire after this demo.",
                partial(groups.leave, NEWSLETTER),
            ),
        ]

    def _rebalances(self) -> list[Scene]:
        groups = self.groups
        return [
            Scene(
                8,
                f"{RECOMMENDATIONS.group_id} unsubscribes from clicks, and continues to read orders. Its offsets of clicks are "
                "no longer protected.",
                partial(groups.subscribe, RECOMMENDATIONS, ["orders"]),
            ),
            Scene(
                17,
                f"{WAREHOUSE.group_id} unsubscribes from payments.",
                partial(groups.subscribe, WAREHOUSE, ["shipments"]),
            ),
            Scene(
                26,
                f"{MOBILE_PUSH.group_id}: a member crashes. After 15 seconds without a heartbeat the coordinator gives its "
                "partitions to the others.",
                partial(groups.stop_heartbeats, MOBILE_PUSH),
            ),
            Scene(
                40,
                f"{FRAUD_CHECK.group_id} has too much to do: {LATER_MEMBERS} more members join, and the partitions are "
                "assigned again.",
                partial(groups.join, FRAUD_CHECK, LATER_MEMBERS),
            ),
        ]

    def _upgrade(self) -> list[Scene]:
        name, groups = NEW_CHECKOUT.group_id, self.groups
        replaced = f"{name}: a client of the old version leaves, a client of the new version joins."
        return [
            Scene(
                19,
                f"{name}: its clients get a new version, one by one. With the first member of the new protocol (KIP-848) the "
                "classic group becomes a consumer group, and all members continue to read.",
                partial(groups.join, NEW_CHECKOUT),
            ),
            Scene(31, replaced, self._replace_client),
            Scene(
                36,
                f"{name}: members of both protocols share a group, see UPGRADED.",
                partial(
                    self.administrator.run,
                    *("groups", "--describe", "--group", name, "--members", "--verbose"),
                ),
            ),
            Scene(42, replaced, self._replace_client),
            Scene(
                53,
                f"{name}: the last client of the old version leaves. The upgrade is done, and no member has stopped.",
                partial(groups.leave_eldest, CHECKOUT),
            ),
        ]

    def _replace_client(self) -> None:
        self.groups.leave_eldest(CHECKOUT)
        self.groups.join(NEW_CHECKOUT)

    def _deletions(self) -> list[Scene]:
        run, topic = partial(self.administrator.run, "groups"), self.options.named
        both_groups = ("--group", SPRING_SALE.group_id, "--group", FRAUD_CHECK.group_id)
        both_topics = ("--topic", topic("payments"), "--topic", topic("shipments"))
        return [
            Scene(
                21,
                f"An administrator deletes {SPRING_SALE.group_id}, and {FRAUD_CHECK.group_id} by mistake: that group has "
                "members.",
                partial(run, "--delete", *both_groups),
            ),
            Scene(
                33,
                f"An administrator deletes {WAREHOUSE.group_id}'s offsets of payments, and of shipments, which the group still "
                "reads.",
                partial(run, "--delete-offsets", "--group", WAREHOUSE.group_id, *both_topics),
            ),
            Scene(
                50,
                f"{SALES_REPORT.group_id} reads more slowly than the shop sells: see LAG.",
                partial(run, "--describe", "--group", SALES_REPORT.group_id),
            ),
        ]
