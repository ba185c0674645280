"""The scenes and their times, each with a sentence for a new user."""

from __future__ import annotations

from functools import partial

from group_coordinator.demo.cast import (
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
    Application,
)
from group_coordinator.demo.commands import Administrator
from group_coordinator.demo.fleet import Fleet
from group_coordinator.demo.plan import Plan
from group_coordinator.demo.scenes import Scene


def scenes(fleet: Fleet, administrator: Administrator, plan: Plan) -> list[Scene]:
    return [
        *_departures(fleet),
        *_unsubscriptions(fleet),
        *_members_come_and_go(fleet),
        *_upgrade(fleet, administrator),
        *_administration(administrator, plan),
    ]


def _departures(fleet: Fleet) -> list[Scene]:
    return [
        Scene(
            2,
            f"{RETURNS_DESK.group_id}: all members leave. The group is Empty, and from now on its offsets have "
            "one minute to live.",
            partial(fleet.leave, RETURNS_DESK),
        ),
        Scene(
            5,
            f"{LOYALTY_POINTS.group_id}: all members leave too, but they will be back in time.",
            partial(fleet.leave, LOYALTY_POINTS),
        ),
        Scene(
            11,
            f"{NIGHTLY_EXPORT.group_id} has no members, it only stores offsets. It stops: they age from their "
            "last commit.",
            partial(fleet.stop_committing, NIGHTLY_EXPORT),
        ),
        Scene(
            14,
            f"{SPRING_SALE.group_id}: the sale is over, all members leave.",
            partial(fleet.leave, SPRING_SALE),
        ),
        Scene(
            46,
            f"{LOYALTY_POINTS.group_id}: the members are back within the minute, so nothing was lost.",
            partial(_join, fleet, LOYALTY_POINTS, LOYALTY_POINTS.member_count),
        ),
        Scene(
            54,
            f"{NEWSLETTER.group_id}: all members leave. What the group has will expire after this demo.",
            partial(fleet.leave, NEWSLETTER),
        ),
    ]


def _unsubscriptions(fleet: Fleet) -> list[Scene]:
    return [
        Scene(
            8,
            f"{RECOMMENDATIONS.group_id} unsubscribes from clicks, and goes on reading orders. Its offsets of "
            "clicks are no longer protected.",
            partial(fleet.subscribe, RECOMMENDATIONS, ["orders"]),
        ),
        Scene(
            17,
            f"{WAREHOUSE.group_id} unsubscribes from payments.",
            partial(fleet.subscribe, WAREHOUSE, ["shipments"]),
        ),
    ]


def _members_come_and_go(fleet: Fleet) -> list[Scene]:
    return [
        Scene(
            26,
            f"{MOBILE_PUSH.group_id}: one member crashes without a word. After 15 seconds of silence the "
            "coordinator gives its partitions to the others.",
            partial(fleet.fall_silent, MOBILE_PUSH),
        ),
        Scene(
            40,
            f"{FRAUD_CHECK.group_id} has too much to do: {LATER_MEMBERS} more members join, and the partitions "
            "are shared out again.",
            partial(_join, fleet, FRAUD_CHECK, LATER_MEMBERS),
        ),
    ]


def _upgrade(fleet: Fleet, administrator: Administrator) -> list[Scene]:
    name = NEW_CHECKOUT.group_id
    return [
        Scene(
            19,
            f"{name}: its clients get a new version, one by one. The first one that speaks the new protocol (KIP-848) joins "
            "the classic group, which becomes a consumer group while everybody goes on reading.",
            partial(fleet.join, NEW_CHECKOUT),
        ),
        *(
            Scene(
                at_s,
                f"{name}: a client of the old version leaves, one of the new version joins.",
                partial(_replace_one, fleet),
            )
            for at_s in (31, 42)
        ),
        Scene(
            36,
            f"{name}: members of both protocols share one group, see UPGRADED.",
            partial(
                administrator.run,
                "groups",
                *("--describe", "--group", name, "--members", "--verbose"),
            ),
        ),
        Scene(
            53,
            f"{name}: the last client of the old version leaves. The upgrade is done, nobody has stopped.",
            partial(fleet.leave_eldest, CHECKOUT),
        ),
    ]


def _replace_one(fleet: Fleet) -> None:
    fleet.leave_eldest(CHECKOUT)
    fleet.join(NEW_CHECKOUT)


def _administration(administrator: Administrator, plan: Plan) -> list[Scene]:
    return [
        Scene(
            21,
            f"An administrator deletes {SPRING_SALE.group_id}, and {FRAUD_CHECK.group_id} as well by mistake: "
            "that group has members.",
            partial(
                administrator.run,
                "groups",
                *("--delete", "--group", SPRING_SALE.group_id, "--group", FRAUD_CHECK.group_id),
            ),
        ),
        Scene(
            33,
            f"An administrator deletes {WAREHOUSE.group_id}'s offsets of payments, and of shipments, which the "
            "group still reads.",
            partial(
                administrator.run,
                "groups",
                *("--delete-offsets", "--group", WAREHOUSE.group_id),
                *("--topic", plan.topic("payments"), "--topic", plan.topic("shipments")),
            ),
        ),
        Scene(
            50,
            f"{SALES_REPORT.group_id} reads more slowly than the shop sells: see LAG.",
            partial(administrator.run, "groups", "--describe", "--group", SALES_REPORT.group_id),
        ),
        Scene(
            60,
            "From here on the offsets expire that nobody has protected for a minute.",
        ),
    ]


def _join(fleet: Fleet, application: Application, count: int) -> None:
    for _ in range(count):
        fleet.join(application)
