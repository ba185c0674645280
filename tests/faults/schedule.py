"""Scheduled runs: the job is started every minute, takes what is there, fires what is due, and ends."""

from __future__ import annotations

import time
from contextlib import closing

from kafka import KafkaProducer

from group_coordinator.clients.offset_messages import MemberIdentity
from tests.end_to_end.installation import Installation, Row
from tests.faults.events import as_json, commit
from tests.faults.result import Result
from tests.faults.scene import Scene, drain

_MINUTE_S = 60
_RETENTION_MS = 150_000
_SETTINGS = (
    "events.topic=events-drains",
    f"offsets.retention.ms={_RETENTION_MS}",
    "offsets.retention.check.interval.ms=1000",
)
_SQL = "SELECT group_id, reason, event_time, value FROM coordinator_log ORDER BY event_time"


def drain_every_minute(scene: Scene, minutes: int) -> Result:
    """Nothing to read at first; then one commit, which must go when its time has come; and one every minute."""
    installation = scene.installation("drains", *_SETTINGS)
    seconds = [_drained_s(installation)]
    _commit(installation, "once", 1)
    for minute in range(minutes):
        _commit(installation, "steady", minute)
        seconds.append(_drained_s(installation))
        if minute < minutes - 1:
            time.sleep(max(0, _MINUTE_S - seconds[-1]))
    log = installation.rows(_SQL)
    problems = [*_steady(log, minutes), *_once(log)]
    figures = {"longest_s": max(seconds)}
    return Result("drain-every-minute", len(seconds), 0, 0, problems, figures)


def _drained_s(installation: Installation) -> float:
    start_s = time.monotonic()
    drain(installation)
    return round(time.monotonic() - start_s, 1)


def _commit(installation: Installation, group: str, offset: int) -> None:
    event = as_json(commit(MemberIdentity(group), offset), None)
    topic = installation.settings.job.events_topic
    with closing(KafkaProducer(bootstrap_servers=installation.bootstrap_servers)) as producer:
        producer.send(topic, key=group.encode(), value=event)


def _steady(log: list[Row], minutes: int) -> list[str]:
    reasons = [row["reason"] for row in log if row["group_id"] == "steady"]
    expected = ["offset-commit"] * minutes
    return [] if reasons == expected else [f"the steady group's log: {reasons}"]


def _once(log: list[Row]) -> list[str]:
    """Its offset goes at the first look after its retention, and the group with it; each once."""
    rows = [row for row in log if row["group_id"] == "once"]
    reasons = [row["reason"] for row in rows]
    if reasons != ["offset-commit", "offset-expired", "group-expired"]:
        return [f"the silent group's log: {reasons}"]
    lived_ms = (rows[1]["event_time"] - rows[0]["event_time"]).total_seconds() * 1_000
    if _RETENTION_MS <= lived_ms < _RETENTION_MS + 1_000:
        return []
    return [f"its offset lived for {lived_ms} ms"]
