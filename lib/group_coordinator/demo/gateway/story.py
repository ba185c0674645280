"""The scenes and their times, each with a sentence for a new user."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple, Protocol

from group_coordinator.demo.gateway.cast import (
    BILLING,
    CHECKOUT,
    CONSOLE,
    LOYALTY_POINTS,
    NEWSLETTER,
    RECOMMENDATIONS,
    RETURNS_DESK,
    SPRING_SALE,
)
from group_coordinator.demo.gateway.plan import STORY_S, GatewayPlan
from group_coordinator.demo.mirror.cast import Application
from group_coordinator.demo.scenes import Scene

# Just before the next sweep, which comes a minute after the first departure.
_EXPIRY_AT_S = 59


class Applications(Protocol):
    def join(self, application: Application) -> None:
        """Start all members of the application."""

    def leave(self, application: Application) -> None:
        """Return when all its members have left."""


class CommandLine(Protocol):
    """The part of Administrator for kafka-consumer-groups."""

    def run(self, *arguments: str) -> None: ...


class Storyteller(NamedTuple):
    """Author of the scenes, which knows all acting parts."""

    plan: GatewayPlan
    fleet: Applications
    through_gateway: CommandLine
    at_broker: CommandLine

    def scenes(self) -> list[Scene]:
        """Return the whole story; the times are shares of its duration."""
        told = [*self._looks(), *self._departures(), *self._administration()]
        share = min(1.0, self.plan.duration_s / STORY_S)
        return [*(scene._replace(at_s=scene.at_s * share) for scene in told), *self._expiry()]

    def _looks(self) -> list[Scene]:
        return [
            Scene(
                4,
                "Kafka's own tool lists the groups: the gateway answers it.",
                partial(self.through_gateway.run, "--list", "--state"),
            ),
            Scene(
                9,
                "The same question to the broker itself: it knows none of them.",
                partial(self.at_broker.run, "--list", "--state"),
            ),
            Scene(
                14,
                f"{CONSOLE.group_id} is Kafka's console consumer, a program in Java: offsets by the job, ends by the broker.",
                partial(self._run, "--describe", CONSOLE),
            ),
            Scene(
                17,
                f"{CHECKOUT.group_id} gets two more consumers: its partitions (KIP-848) are shared out anew, one by one.",
                partial(self.fleet.join, CHECKOUT),
            ),
            Scene(
                29,
                f"Who has what in {CHECKOUT.group_id}?",
                partial(self._run, "--describe", CHECKOUT, "--members", "--verbose"),
            ),
        ]

    def _departures(self) -> list[Scene]:
        return [
            Scene(
                1,
                f"{RETURNS_DESK.group_id}: its consumers leave. The group is Empty, and from now on its offsets have one "
                "minute to live.",
                partial(self.fleet.leave, RETURNS_DESK),
            ),
            Scene(
                78,
                f"{NEWSLETTER.group_id}: its consumer leaves. What the group has will expire after this demo.",
                partial(self.fleet.leave, NEWSLETTER),
            ),
        ]

    def _administration(self) -> list[Scene]:
        return [
            Scene(
                34,
                f"{LOYALTY_POINTS.group_id}: a new version is deployed, which reads orders, and payments no more. An "
                "administrator deletes the offsets that it has left behind.",
                self._deploy_loyalty_points,
            ),
            Scene(
                44,
                f"{SPRING_SALE.group_id}: the sale is over. An administrator deletes the group, and {BILLING.group_id} by "
                "mistake: that one has members.",
                self._delete_spring_sale,
            ),
            Scene(
                54,
                f"{RECOMMENDATIONS.group_id} is stopped, and an administrator sets it back to the first record.",
                self._reset_recommendations,
            ),
            Scene(
                64,
                f"{RECOMMENDATIONS.group_id} is started again, and reads everything once more.",
                partial(self.fleet.join, RECOMMENDATIONS),
            ),
        ]

    def _deploy_loyalty_points(self) -> None:
        self.fleet.leave(LOYALTY_POINTS)
        self.fleet.join(LOYALTY_POINTS._replace(topics=("orders",)))
        self._run("--delete-offsets", LOYALTY_POINTS, "--topic", "payments")

    def _delete_spring_sale(self) -> None:
        self.fleet.leave(SPRING_SALE)
        self._run("--delete", SPRING_SALE, "--group", BILLING.group_id)

    def _reset_recommendations(self) -> None:
        self.fleet.leave(RECOMMENDATIONS)
        [topic] = RECOMMENDATIONS.topics
        self._run(
            "--reset-offsets", RECOMMENDATIONS, "--topic", topic, "--to-earliest", "--execute"
        )

    def _expiry(self) -> Sequence[Scene]:
        if not self.plan.sees_expiry:
            return []
        tell = f"{RETURNS_DESK.group_id} has been Empty for a minute: the next sweep removes its offsets, and the log keeps why."
        return [Scene(_EXPIRY_AT_S, tell)]

    def _run(self, action: str, application: Application, *more: str) -> None:
        self.through_gateway.run(action, "--group", application.group_id, *more)
