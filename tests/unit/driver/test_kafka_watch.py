from __future__ import annotations

from threading import Event, Thread

import pytest

from group_coordinator.clients.errors import BrokerUnreachableError
from group_coordinator.core.deadlines import Outage
from group_coordinator.driver.tasks import monitors
from group_coordinator.driver.tasks.monitors import OUTAGE_MS, KafkaMonitor
from tests.support.until import until


class Scene:
    """A broker that is away or not, and clocks that are moved by hand; the wall clock is a day ahead of the other."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now_ms = 0
        self.is_away = False
        self.outages: list[Outage] = []
        self.stop = Event()
        monkeypatch.setattr(monitors, "time", self)
        self.watch = KafkaMonitor(self._ask, self.outages.append, self.stop)

    def monotonic(self) -> float:
        return self.now_ms / 1_000

    def time_ns(self) -> int:
        return (86_400_000 + self.now_ms) * 1_000_000

    def look_after(self, duration_ms: int) -> None:
        self.now_ms += duration_ms
        self.watch.look()

    def _ask(self) -> None:
        if self.is_away:
            raise BrokerUnreachableError("no Kafka broker responds")


@pytest.fixture
def scene(monkeypatch: pytest.MonkeyPatch) -> Scene:
    return Scene(monkeypatch)


def test_an_outage_is_from_the_last_contact_to_the_next(scene: Scene) -> None:
    scene.look_after(2_000)
    scene.is_away = True
    scene.look_after(60_000)
    assert scene.outages == []
    scene.is_away = False
    scene.look_after(30_000)
    scene.look_after(2_000)

    assert scene.outages == [Outage(86_402_000, 86_492_000, was_heard=False)]


def test_short_silence_is_none(scene: Scene) -> None:
    scene.look_after(OUTAGE_MS)
    assert scene.outages == []

    scene.look_after(OUTAGE_MS + 1)
    assert len(scene.outages) == 1


def test_a_batch_in_an_outage_waits_until_it_is_noted(scene: Scene) -> None:
    scene.now_ms = OUTAGE_MS + 1
    noted: list[int] = []

    def begin_batch() -> None:
        scene.watch.await_contact()
        noted.append(len(scene.outages))

    batch = Thread(target=begin_batch)
    batch.start()
    batch.join(0.3)
    assert batch.is_alive()

    scene.watch.look()
    batch.join(10)

    assert noted == [1]


def test_the_end_of_the_run_ends_the_waiting(scene: Scene) -> None:
    scene.now_ms = OUTAGE_MS + 1
    batch = Thread(target=scene.watch.await_contact)
    batch.start()

    scene.stop.set()

    until(lambda: not batch.is_alive(), seconds=10, awaited="the end of the wait")
