"""The scenes and their times, each with a sentence for a new user."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from group_coordinator.demo.commands import Administrator
from group_coordinator.demo.mirror.cast import (
    BILLING,
    CUSTOMER_CARE,
    LOYALTY_POINTS,
    MOBILE_PUSH,
    NEWSLETTER,
    PARTITION_COUNTS,
    RECOMMENDATIONS,
    RETURNS_DESK,
    SPRING_SALE,
    WAREHOUSE,
    Application,
)
from group_coordinator.demo.mirror.fleet import Fleet
from group_coordinator.demo.mirror.plan import STORY_S, MirrorPlan
from group_coordinator.demo.mirror.shop import Shop
from group_coordinator.demo.scenes import Scene

_CLICKS, _GIFT_CARDS, _PAYMENTS = "clicks", "gift-cards", "payments"
# A minute after the first departure, which is in the first second, and after the next sweep.
_EXPIRY_AT_S = 62


class Storyteller:
    """Author of the scenes, which knows all acting parts.

    Args:
        plan: the times of the scenes are shares of its duration.
        fleet: the applications.
        shop: writes the topics.
        administrator: Kafka's own admin API at a command line.
        start_mirror: starts `group-coordinator mirror`.
    """

    def __init__(
        self,
        plan: MirrorPlan,
        fleet: Fleet,
        shop: Shop,
        administrator: Administrator,
        start_mirror: Callable[[], None],
    ) -> None:
        self._plan = plan
        self._fleet = fleet
        self._shop = shop
        self._administrator = administrator
        self._start_mirror = start_mirror

    def scenes(self) -> list[Scene]:
        told = [
            *self._departure(),
            *self._troubles(),
            *self._reset(),
            *self._deletions(),
            self._late_departure(),
        ]
        share = min(1.0, self._plan.duration_s / STORY_S)
        return [*(scene._replace(at_s=scene.at_s * share) for scene in told), *self._expiry()]

    def _departure(self) -> list[Scene]:
        return [
            Scene(
                1,
                f"{self._name(RETURNS_DESK)}: both members leave. The group is Empty, and the cluster will forget its offsets "
                "when their retention is over.",
                partial(self._fleet.leave, RETURNS_DESK),
            ),
            Scene(
                2,
                "The mirror starts, as anybody would start it: Spark Structured Streaming. It reads what was before it, too.",
                self._start_mirror,
            ),
        ]

    def _troubles(self) -> list[Scene]:
        return [
            Scene(
                4,
                f"{self._name(WAREHOUSE)}: its database is down. Its member stays in the group, reads nothing, and commits the "
                "same offsets again and again.",
                partial(self._fleet.pause, WAREHOUSE),
            ),
            Scene(
                7,
                f"{self._name(MOBILE_PUSH)}: its application hangs. Kafka hears heartbeats, but no commits.",
                partial(self._fleet.hang, MOBILE_PUSH),
            ),
        ]

    def _reset(self) -> list[Scene]:
        name = self._name(RECOMMENDATIONS)
        return [
            Scene(
                12,
                f"{name} is stopped, and an administrator sets it back to the first record.",
                self._reset_recommendations,
            ),
            Scene(
                22,
                f"{name} is started again, and reads everything once more.",
                partial(self._fleet.join, RECOMMENDATIONS),
            ),
            Scene(
                26,
                f"{name} reads on; no tool of Kafka tells any more where it was before.",
            ),
        ]

    def _reset_recommendations(self) -> None:
        self._fleet.leave(RECOMMENDATIONS)
        group, partitions = self._name(RECOMMENDATIONS), self._partitions_of(_CLICKS)
        self._administrator.run(
            "groups", "reset-offsets", "-g", group, *partitions, "-s", "earliest"
        )

    def _deletions(self) -> list[Scene]:
        return [
            Scene(
                30,
                f"{self._name(LOYALTY_POINTS)}: a new version is deployed, which reads orders, and payments no more. An "
                "administrator deletes the offsets that it has left behind.",
                self._deploy_loyalty_points,
            ),
            Scene(
                38,
                f"{self._name(SPRING_SALE)}: the sale is over. An administrator deletes the group, and {self._name(BILLING)} by "
                "mistake: that one has members.",
                self._delete_spring_sale,
            ),
            Scene(
                46,
                f"Somebody deletes the topic {self._plan.named(_GIFT_CARDS)}, which {self._name(CUSTOMER_CARE)} reads.",
                self._delete_gift_cards,
            ),
        ]

    def _deploy_loyalty_points(self) -> None:
        self._fleet.leave(LOYALTY_POINTS)
        self._fleet.join(LOYALTY_POINTS._replace(topics=("orders",)))
        group, partitions = self._name(LOYALTY_POINTS), self._partitions_of(_PAYMENTS)
        self._administrator.run("groups", "delete-offsets", "-g", group, *partitions)

    def _delete_spring_sale(self) -> None:
        self._fleet.leave(SPRING_SALE)
        for application in (SPRING_SALE, BILLING):
            group = self._name(application)
            self._administrator.run("groups", "delete", "-g", group)

    def _delete_gift_cards(self) -> None:
        topic = self._plan.named(_GIFT_CARDS)
        self._shop.give_up(topic)
        self._administrator.run("topics", "delete", "-t", topic)

    def _late_departure(self) -> Scene:
        return Scene(
            85,
            f"{self._name(NEWSLETTER)}: its member leaves. What the group has will expire after this demo.",
            partial(self._fleet.leave, NEWSLETTER),
        )

    def _expiry(self) -> list[Scene]:
        # The broker's minute does not depend on the length of the story.
        if not self._plan.sees_expiry:
            return []
        tell = f"{self._name(RETURNS_DESK)} has been Empty for a minute: the broker removes its offsets, without a word."
        return [Scene(_EXPIRY_AT_S, tell)]

    def _partitions_of(self, topic: str) -> list[str]:
        here = self._plan.named(topic)
        return [
            word for number in range(PARTITION_COUNTS[topic]) for word in ("-p", f"{here}:{number}")
        ]

    def _name(self, application: Application) -> str:
        return self._plan.named(application.group_id)
