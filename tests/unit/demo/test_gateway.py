"""The gateway's show without Kafka and Spark."""

from __future__ import annotations

from typing import Any

from group_coordinator.demo.consumers import Application
from group_coordinator.demo.gateway import GatewayCounts, GatewayShow, counts_on
from group_coordinator.demo.story import GATEWAY, DemoOptions
from group_coordinator.gateway.counters import Counters, Gauges, metrics_page


class Diary:
    """Consumers and command lines, which note their calls."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def join(self, application: Application) -> None:
        self.lines.append(f"{application.group_id} joins")

    def leave(self, application: Application) -> None:
        self.lines.append(f"{application.group_id} leaves")

    def run(self, *arguments: str) -> None:
        self.lines.append(" ".join(arguments))


def played(duration_s: int) -> tuple[list[str], list[float]]:
    diary = Diary()
    show: Any = GatewayShow(DemoOptions(GATEWAY, duration_s, keep=False))
    show.consumers = show.through_gateway = show.at_broker = diary
    scenes = sorted(show.scenes(), key=lambda scene: scene.at_s)
    for scene in scenes:
        if scene.act is not None:
            scene.act()
    return diary.lines, [scene.at_s for scene in scenes]


def test_no_group_is_reset_or_deleted_before_its_members_leave() -> None:
    lines, _ = played(90)

    assert lines == [
        "returns-desk leaves",
        "--list --state",
        "--list --state",
        "--describe --group console",
        "checkout joins",
        "--describe --group checkout --members --verbose",
        "loyalty-points leaves",
        "loyalty-points joins",
        "--delete-offsets --group loyalty-points --topic payments",
        "spring-sale leaves",
        "--delete --group spring-sale --group billing",
        "recommendations leaves",
        "--reset-offsets --group recommendations --topic clicks --to-earliest --execute",
        "recommendations joins",
        "newsletter leaves",
    ]


def test_a_short_story_has_all_scenes_but_the_expiration() -> None:
    long, times_s = played(90)
    short, short_times_s = played(20)

    assert (short, len(short_times_s)) == (long, len(times_s) - 1)
    assert max(short_times_s) < 20


def page(waits_s: dict[str, list[float]]) -> str:
    counters = Counters()
    counters.requests["Fetch", 15, 1] = 500
    counters.requests["Heartbeat", 4, None] = 12
    for api, waits in waits_s.items():
        for seconds in waits:
            counters.count_answer(api, seconds)
    gauges = Gauges(
        connections=7, open_requests=3, parked_requests=2, nodes_without_port=0, throttled=0
    )
    return metrics_page(counters, gauges, {})


def test_joins_count_as_responses_and_not_as_waits() -> None:
    counts = counts_on(
        page({"Heartbeat": [0.3] * 10 + [0.7] * 9 + [1.5], "JoinGroup": [40.0] * 30})
    )

    assert counts == GatewayCounts(
        connections=7, pending=2, requests=512, responses=50, half_within_s=0.5, most_within_s=1.0
    )


def test_a_wait_beyond_the_last_bound_has_none() -> None:
    assert counts_on(page({"Heartbeat": [11.0, 12.0]})).half_within_s is None
    assert counts_on(page({})) == GatewayCounts(7, 2, 512, 0, None, None)
