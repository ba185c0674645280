"""The story of the demo without Kafka and Spark: who does what, in which order."""

from __future__ import annotations

from group_coordinator.demo.gateway.cast import CONSOLE, EVERYBODY
from group_coordinator.demo.gateway.plan import GatewayPlan
from group_coordinator.demo.gateway.story import Storyteller
from group_coordinator.demo.mirror.cast import Application

GROUPS = {application.group_id for application in (*EVERYBODY, CONSOLE)}


class Played:
    """Fleet and command lines, which note what they are told."""

    def __init__(self) -> None:
        self.told: list[str] = []

    def join(self, application: Application) -> None:
        self.told.append(f"{application.group_id} joins")

    def leave(self, application: Application) -> None:
        self.told.append(f"{application.group_id} leaves")

    def run(self, *arguments: str) -> None:
        self.told.append(" ".join(arguments))


def played(duration_s: int) -> tuple[list[str], list[float]]:
    noted = Played()
    scenes = Storyteller(GatewayPlan(duration_s, keep=False), noted, noted, noted).scenes()
    for scene in sorted(scenes, key=lambda each: each.at_s):
        if scene.act is not None:
            scene.act()
    return noted.told, [scene.at_s for scene in scenes]


def test_nobody_is_set_back_or_deleted_before_leaving() -> None:
    told, _ = played(90)

    assert [
        each for each in told if "returns" in each or "--list" in each or "newsletter" in each
    ] == [
        "returns-desk leaves",
        "--list --state",
        "--list --state",
        "newsletter leaves",
    ]
    assert told[told.index("loyalty-points leaves") :][:8] == [
        "loyalty-points leaves",
        "loyalty-points joins",
        "--delete-offsets --group loyalty-points --topic payments",
        "spring-sale leaves",
        "--delete --group spring-sale --group billing",
        "recommendations leaves",
        "--reset-offsets --group recommendations --topic clicks --to-earliest --execute",
        "recommendations joins",
    ]
    named = {word for each in told for word in each.split() if word in GROUPS}
    assert named == {
        *("returns-desk", "console", "checkout", "loyalty-points", "spring-sale", "billing"),
        *("recommendations", "newsletter"),
    }


def test_a_short_story_has_all_but_the_expiry() -> None:
    long, times_s = played(90)
    short, short_times_s = played(20)

    assert (short, len(short_times_s)) == (long, len(times_s) - 1)
    assert max(short_times_s) < 20
